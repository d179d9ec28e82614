"""The program that predicts a number, on a real 32-bit MicroPython, compared with `simulate`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_support import (
    Device,
    configuration,
    connected,
    nothing_allocated,
    power_cuts,
    put_device,
    run_device,
    starting,
)

from microshrub_host.boards import board_files
from microshrub_host.evaluation.prequential import fit
from microshrub_host.evaluation.regression import NumberResult, evaluate_numbers
from microshrub_host.library.learners import defaults, learner_name, number_parameters
from microshrub_host.simulation import engines
from microshrub_host.simulation.pipeline import Forecast
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.regression_streams import NumberStream
from microshrub_tools.board import program_config
from microshrub_tools.board.program_options import ProgramOptions
from microshrub_tools.board.program_settings import Checkpoint
from microshrub_tools.cli.main import main
from microshrub_tools.cli.monitor import facts
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import RefusedError
from microshrub_tools.link.messages import (
    FINGERPRINT,
    RESET,
    STATUS,
    DeviceStatus,
    Fingerprint,
    Number,
    Prediction,
    RegressionErrors,
    anomaly,
    confusion,
    late_label,
    regression,
    sample,
)
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.device_watch import Watch
from microshrub_tools.watch.monitor_plot import draw_watch
from microshrub_tools.watch.streaming import NumberRun

SAMPLES = 500
CHECKPOINT = {"path": "checkpoint", "seconds": 240}
MODELS: dict[str, dict[str, Any]] = {
    "linear-regressor": {},
    "shrub-regressor": {"window": 60, "trees": 4, "leaves": 12},
    "thicket-regressor": {"bytes": 3000},
}
TASKS = {"now": (0, 1), "next": (1, 3), "later": (7, 2)}
Start = Callable[..., Device]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A slow wave, noise, and the sum of both; a value is missing now and then."""
    path = tmp_path_factory.mktemp("data") / "wave.csv"
    rng = np.random.default_rng(6)
    t = np.arange(SAMPLES)
    a, noise = 40 * np.sin(t / 9), rng.normal(0, 3, SAMPLES)
    rows = [f"{x:.1f},{x + n + 20:.2f},{n:.1f}" for x, n in zip(a, noise, strict=True)]
    rows[300] = rows[300].rpartition(",")[0] + ","
    path.write_text("a,sum,noise\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def opened(file: Path, task: str) -> NumberStream:
    horizon, lags = TASKS[task]
    return open_numbers(str(file), target="sum", horizon=horizon, lags=lags)


def put_program(
    folder: Path, stream: NumberStream, model: str, interval: float | None = 90, **options: Any
) -> None:
    """Write the program that `build` makes for a stream."""
    shape = number_parameters(model, stream.features, stream.late)
    program_options = ProgramOptions(**{"checkpoint": None} | options)
    program = program_config.of_numbers(
        stream,
        model,
        defaults(model) | MODELS[model] | shape,
        256,
        stream.forecaster(None, interval),
        program_options.config(board_files.load("rpi_pico"), stream.column_names, ()),
    )
    put_device(folder, program.files()["config.json"])
    for name, data in program.files().items():
        (folder / name).write_bytes(data)


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    """A function that starts a device with such a program, in tmp_path."""

    def put(stream: NumberStream, model: str, **options: Any) -> None:
        put_program(tmp_path, stream, model, **options)

    with starting(micropython_command, tmp_path, put, "192k") as start:
        yield start


def simulated(stream: NumberStream, model: str, interval: float | None = 90) -> NumberResult:
    shape = number_parameters(model, stream.features, stream.late)
    parameters = defaults(model) | MODELS[model] | shape
    return evaluate_numbers(stream, model, parameters, interval=interval)


def crc32(link: HostLink) -> int:
    answer = link.ask(FINGERPRINT)
    assert isinstance(answer, Fingerprint)
    return answer.crc32


def take(link: HostLink, stream: NumberStream, begin: int, end: int) -> list[Prediction]:
    rows = stream.raw_rows()[begin:end]
    answers = [pending.answer for pending in link.stream(sample(row.tolist()) for row in rows)]
    assert all(isinstance(answer, Prediction) for answer in answers)
    return answers  # type: ignore[return-value]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("model", MODELS)
def test_the_device_matches_simulate(model: str, task: str, file: Path, start: Start) -> None:
    stream = opened(file, task)
    wanted = simulated(stream, model)
    shape = number_parameters(model, stream.features, stream.late)
    parameters = defaults(model) | MODELS[model] | shape
    target = stream.forecaster(None, 90)
    with engines.start("c", learner_name(model), parameters, [Forecast(target)]) as engine:
        rows = stream.raw_rows()
        fit(engine, rows, 256)
        expected, halves = engine.run(rows), np.frombuffer(engine.outputs(), "<i4")
    with connected(start(stream, model)) as link:
        link.ask(regression(predictions=True))
        answers = take(link, stream, 0, SAMPLES)
        errors = link.ask(regression(predictions=True))
        assert crc32(link) == wanted.state_crc32
    numbers = [answer.number for answer in answers]
    assert [number.predicted for number in numbers if number] == expected.tolist()
    assert [number.half for number in numbers if number] == halves.tolist()
    assert isinstance(errors, RegressionErrors)
    unit = 10.0 ** -int(stream.target_scale.digits[0])
    assert errors.mae * unit == pytest.approx(wanted.errors.mae)
    assert errors.mae_nochange * unit == pytest.approx(wanted.nochange.mae)
    assert errors.scored == wanted.scored
    assert wanted.interval
    share = 100 * errors.inside / errors.scored
    assert share == pytest.approx(wanted.interval.inside, abs=0.3)  # which counts the first, too


def test_the_stream_command_agrees(
    file: Path, start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = opened(file, "later")
    device = start(stream, "thicket-regressor")
    wanted = simulated(stream, "thicket-regressor")
    words = ["stream", str(file), "--target", "sum", "--port", device.port]
    words += ["--build", str(tmp_path)]
    assert main(words) == 0
    output = capsys.readouterr().out
    assert f"{wanted.state_crc32:08x}" in output
    assert re.search(rf"mean absolute error of sum\W+{wanted.errors.mae:.5g}\b", output)
    assert re.search(rf"NoChange \(the last target\)\W+{wanted.nochange.mae:.5g}\b", output)
    assert "agree: 500 samples" in output
    assert main(["stream", "synth:sea_a", "--limit", "9", *words[4:]]) == 2
    assert "name its column with --target" in capsys.readouterr().err
    words[3] = "a"
    assert main(words) == 2
    assert "sum, not a: give --target sum" in capsys.readouterr().err


def test_a_power_cut_loses_nothing_that_was_saved(
    file: Path, start: Start, tmp_path: Path
) -> None:
    """Pending samples, lags, interval and errors all continue from the checkpoint."""
    from microshrub_tools.board.simulated_device import NumberTwin, find_twin

    stream = opened(file, "later")
    device = start(stream, "thicket-regressor", checkpoint=Checkpoint(50))
    cuts = [130, 333]

    with HostLink(SerialLine(device.port)) as link:
        twin = find_twin(link.connect().configuration_hash, tmp_path)
        assert isinstance(twin, NumberTwin)
        run = NumberRun(link, twin, twin.raw_rows(stream), progress=power_cuts(device, cuts))
        wanted = simulated(stream, "thicket-regressor")
        assert run.run() == wanted.state_crc32
        assert run.figures.restarts >= 2
        errors = link.ask(regression(predictions=True))
        assert isinstance(errors, RegressionErrors)
        assert (errors.scored, cuts) == (wanted.scored, [])
        assert twin.mean_errors[0] == pytest.approx(wanted.errors.mae)
        link.ask(RESET)
        assert link.ask(regression(predictions=True)) == RegressionErrors(0, -1, 0, 0, 0, 0, 0, 0)


def test_samples_allocate_nothing(file: Path, start: Start) -> None:
    stream = opened(file, "later")
    with connected(start(stream, "shrub-regressor")) as link:
        link.ask(regression(predictions=True))
        take(link, stream, 0, 50)
        for end in (250, 450):
            with nothing_allocated(link):
                take(link, stream, end - 200, end)
                link.ask(regression(predictions=True))
            after = link.ask(STATUS)
            assert isinstance(after, DeviceStatus)
            assert (after.samples, after.pending) == (end, 7)


def test_a_host_without_the_request_gets_classes(file: Path, start: Start) -> None:
    """A host of version 1 without regression gets a single class, with no confidence."""
    stream = opened(file, "next")
    device = start(stream, "linear-regressor", interval=None)
    with HostLink(SerialLine(device.port)) as link:
        welcome = link.connect()
        assert (welcome.features, welcome.classes) == (3, 1)
        assert set(take(link, stream, 0, 20)) == {Prediction(0, 0, 0)}
        link.ask(regression(predictions=True))
        halves = {answer.number.half for answer in take(link, stream, 20, 30) if answer.number}
        assert halves == {-1}
        for request in (late_label(1, 0), confusion(0), sample([1, 2, 3], 0)):
            with pytest.raises(RefusedError, match="it takes no labels"):
                link.ask(request)
        with pytest.raises(RefusedError, match="of another kind"):
            link.ask(anomaly(scores=True))
    with connected(device) as link:
        assert {answer.number for answer in take(link, stream, 30, 40)} == {None}


def test_a_missing_target_is_not_learned(file: Path, start: Start) -> None:
    stream = opened(file, "now")
    with connected(start(stream, "linear-regressor")) as link:
        link.ask(regression(predictions=True))
        take(link, stream, 0, 100)
        before = crc32(link), link.ask(regression(predictions=True))
        row = stream.raw_rows()[100].tolist()
        row[stream.place] = -(2**29)
        answer = link.ask(sample(row))
        assert isinstance(answer, Prediction)
        assert isinstance(answer.number, Number)
        assert answer.number.outcome == 0
        after = link.ask(regression(predictions=True))
        assert isinstance(before[1], RegressionErrors)
        assert isinstance(after, RegressionErrors)
        assert after.scored == before[1].scored


def test_the_monitor_shows_the_number(file: Path, start: Start) -> None:
    stream = opened(file, "later")
    wanted = simulated(stream, "thicket-regressor")
    device = start(stream, "thicket-regressor")
    with connected(device) as link:
        take(link, stream, 0, SAMPLES)
    with HostLink(SerialLine(device.port)) as link:
        watch = Watch(link)
        watch.ask(matrix=False)
        shown = dict(facts(watch))
    assert shown["mean absolute error"] == f"{wanted.errors.mae:.5g} of {wanted.scored}"
    assert shown["NoChange"] == f"{wanted.nochange.mae:.5g}"
    assert re.fullmatch(
        r"-?\d+\.\d\d, between -?\d+\.\d\d and -?\d+\.\d\d", shown["predicted sum"]
    )
    assert shown["inside the interval"].endswith(" %")
    assert "accuracy" not in shown
    upper = draw_watch(watch.history.moments * 2, "port", watch.unit).axes[0]
    assert upper.get_ylabel() == "mean absolute error"
    assert upper.lines[0].get_ydata()[-1] == pytest.approx(wanted.errors.mae)
    assert upper.lines[1].get_ydata()[-1] == pytest.approx(wanted.nochange.mae)


def test_a_device_may_determine_its_ranges(file: Path, start: Start, tmp_path: Path) -> None:
    """Without ranges, the first `warmup` samples are only observed."""
    stream = opened(file, "later")
    device = start(stream, "shrub-regressor")
    device.kill()
    config = json.loads((tmp_path / "config.json").read_text())
    config["quantizer"] = config["regression"]["ends"] = None
    (tmp_path / "config.json").write_text(json.dumps(config))
    device.start()
    with connected(device) as link:
        link.ask(regression(predictions=True))
        assert {a.number for a in take(link, stream, 0, 256)} == {Number(0, -1, 0)}
        take(link, stream, 0, SAMPLES)
        assert crc32(link) == simulated(stream, "shrub-regressor").state_crc32


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"column": 3}, "column has to be a whole number of 0..2, not 3"),
        ({"lags": 0}, "lags has to be a whole number of 1..256, not 0"),
        ({"lag": 1}, "regression has no option lag; there is: columns, column, ends, horizon"),
        ({"interval": 101}, "interval has to be a number of 50..99, not 101"),
        ({"horizon": "soon"}, "horizon has to be a whole number of 0..1000, not 'soon'"),
        ({"ends": None}, "the quantizer and the ends of regression are both there, or neither is"),
        ({"columns": 9}, "feature_names has to be a list of 9 texts"),
        ({"states": ["gone.state", None]}, "gone.state cannot be read"),
    ],
)
def test_a_wrong_configuration_is_named_in_one_line(
    change: dict[str, Any],
    words: str,
    file: Path,
    tmp_path: Path,
    micropython_command: tuple[str, ...],
) -> None:
    put_program(tmp_path, opened(file, "later"), "linear-regressor")
    config = json.loads((tmp_path / "config.json").read_text())
    config["regression"] |= change
    (tmp_path / "config.json").write_text(json.dumps(config))
    output = run_device(micropython_command, tmp_path)
    assert words in output
    assert "Traceback" not in output


def test_an_alarm_of_classes_is_refused(
    file: Path, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    put_program(tmp_path, opened(file, "now"), "linear-regressor")
    config = json.loads((tmp_path / "config.json").read_text())
    alarm = {"detector": "adwin", "hook": "nothing"}
    (tmp_path / "config.json").write_text(json.dumps(config | {"alarm": alarm}))
    output = run_device(micropython_command, tmp_path)
    assert "alarm is for classes" in output


def test_a_program_of_classes_refuses_numbers(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    parameters = {"features": 2, "classes": 2, "window": 8, "trees": 2}
    put_device(tmp_path, configuration("ShrubEnsemble", parameters))
    with (
        Device(micropython_command, tmp_path) as device,
        connected(device) as link,
        pytest.raises(RefusedError, match="of another kind"),
    ):
        link.ask(regression(predictions=True))
