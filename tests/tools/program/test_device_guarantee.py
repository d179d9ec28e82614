"""A guarantee for a model on a real 32-bit MicroPython: its sets match the simulator's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from device_support import (
    Device,
    configuration,
    connected,
    learn,
    nothing_allocated,
    put_device,
    put_learner,
    run_device,
    starting,
)
from program_support import x86

from microshrub_host.evaluation import prequential
from microshrub_host.library.learners import MODELS
from microshrub_host.models import model_files
from microshrub_host.simulation.guarantee import Guarantee, GuaranteeRun
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main
from microshrub_tools.cli.monitor import facts
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import RefusedError
from microshrub_tools.link.messages import (
    CHECKPOINT as SAVE,
)
from microshrub_tools.link.messages import (
    QUERIES,
    RESET,
    STATUS,
    CompanionWords,
    DeviceStatus,
    Prediction,
    companion_words,
    late_label,
    sample,
)
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.device_watch import Watch

SAMPLES = 500
WANTED = Guarantee(80)
WATCHERS = {WANTED.name: WANTED.row}
MODEL: dict[str, Any] = {"features": 3, "classes": 2, "window": 8, "trees": 2, "depth": 2}
CHECKPOINT = {"path": "checkpoint", "seconds": 240}
Start = Callable[..., Device]


@pytest.fixture(scope="module")
def stream() -> Stream:
    return open_stream("synth:sea_a", limit=SAMPLES)


def simulated(stream: Stream, *more: LabelBudget) -> GuaranteeRun:
    run = prequential.evaluate(stream, "shrub", MODEL, companions=[*more, WANTED])
    guarantee = run.companions["guarantee"]
    assert isinstance(guarantee, GuaranteeRun)
    return guarantee


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path, stream: Stream) -> Iterator[Start]:
    def put(**fields: Any) -> None:
        put_learner(tmp_path, stream, MODELS["shrub"], MODEL, **fields)

    with starting(micropython_command, tmp_path, put, "128k") as start:
        yield start


def counts(run: GuaranteeRun) -> tuple[int, ...]:
    """Return a board's counts: labels, covered labels, sets, classes in sets, unsure sets."""
    covered = run.covered[run.covered < 2]
    sizes = run.sizes
    return len(covered), int(covered.sum()), len(sizes), int(sizes.sum()), int((sizes > 1).sum())


def test_the_sets_match_the_simulator(stream: Stream, start: Start) -> None:
    run = simulated(stream)
    with connected(start(watchers=WATCHERS)) as link:
        answer = link.ask(companion_words(0))
        assert isinstance(answer, CompanionWords)
        assert answer.words[:6] == (0, 0, 0, 0, 0, 0)
        for end in (180, SAMPLES):
            learn(link, stream, 0 if end == 180 else 180, end)
        answer = link.ask(companion_words(0))
        with pytest.raises(RefusedError, match="there are 1 watchers"):
            link.ask(companion_words(1))
    assert isinstance(answer, CompanionWords)
    assert answer.words[:5] == counts(run)
    assert answer.words[5] >> 8 == run.confidence[-1]
    assert (answer.words[6] + (1 << 29)).bit_count() == run.sizes[-1]


def test_a_prediction_has_the_calibrated_confidence(stream: Stream, start: Start) -> None:
    run = simulated(stream)
    rows = stream.raw_rows().tolist()
    with connected(start(watchers=WATCHERS)) as link:
        results = []
        for row, label in zip(rows, stream.labels.tolist(), strict=True):
            answer = link.ask(sample(row, label))
            assert isinstance(answer, Prediction)
            results.append(answer.confidence)
    assert results == run.confidence.tolist()
    assert results != run.votes.tolist()


def test_build_keeps_a_models_calibration(
    stream: Stream, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    run = prequential.evaluate(stream, "shrub", MODEL, companions=[WANTED])
    first = prequential.evaluate(
        replace(stream, values=stream.values[:300], labels=stream.labels[:300]),
        "shrub", MODEL, companions=[WANTED],
    )  # fmt: skip
    model_files.write(tmp_path / "m.mshrub", model_files.of_run(first, stream))
    x86(tmp_path)
    where = ["--board", str(tmp_path / "x86.toml"), "--checkpoint-seconds", "0"]
    words = ["build", "--model", str(tmp_path / "m.mshrub"), *where]
    assert main([*words, "--output", str(tmp_path / "new"), "--guarantee", "90%"]) == 0
    assert not (tmp_path / "new" / "guarantee.state").exists()  # the calibration starts again
    assert main([*words, "--output", str(tmp_path / "same")]) == 0
    with (
        Device(micropython_command, tmp_path / "same", "192k") as device,
        connected(device) as link,
    ):
        answer = link.ask(companion_words(0))
        assert isinstance(answer, CompanionWords)
        assert answer.words[:5] == counts(first.companions["guarantee"])
        learn(link, stream, 300, SAMPLES)
        answer = link.ask(companion_words(0))
        assert isinstance(answer, CompanionWords)
        assert answer.words[:5] == counts(run.companions["guarantee"])
        link.ask(RESET)
        answer = link.ask(companion_words(0))
        assert isinstance(answer, CompanionWords)
        assert answer.words[:5] == counts(first.companions["guarantee"])


def test_with_queries_the_answers_calibrate_it(stream: Stream, start: Start) -> None:
    budget = LabelBudget(0.5)
    run = simulated(stream, budget)
    rows = stream.raw_rows().tolist()
    with connected(start(watchers=WATCHERS, queries=budget.budget())) as link:
        for row, label in zip(rows, stream.labels.tolist(), strict=True):
            reply = link.ask(sample(row))
            assert isinstance(reply, Prediction)
            if reply.sample_id:
                link.ask(late_label(reply.sample_id, label))
        answer = link.ask(companion_words(0))
        link.ask(QUERIES)
    assert isinstance(answer, CompanionWords)
    assert answer.words[:5] == counts(run)


def test_a_late_label_calibrates_it(stream: Stream, start: Start) -> None:
    rows = stream.raw_rows().tolist()
    with connected(start(watchers=WATCHERS)) as link:
        reply = link.ask(sample(rows[0]))
        assert isinstance(reply, Prediction)
        link.ask(sample(rows[1]))
        link.ask(late_label(reply.sample_id, 1))
        answer = link.ask(companion_words(0))
    assert isinstance(answer, CompanionWords)
    assert (answer.words[0], answer.words[2]) == (1, 2)


def test_nothing_is_allocated_and_a_checkpoint_keeps_the_calibration(
    stream: Stream, start: Start
) -> None:
    device = start(watchers=WATCHERS, checkpoint=CHECKPOINT)
    with connected(device) as link:
        learn(link, stream, 0, 50)
        with nothing_allocated(link):
            learn(link, stream, 50, 90)
            link.ask(companion_words(0))
        learn(link, stream, 90, 100)
        link.ask(SAVE)
        learn(link, stream, 100, 120)
    device.kill()
    device.start()
    with connected(device) as link:
        answer, status = link.ask(companion_words(0)), link.ask(STATUS)
        assert isinstance(answer, CompanionWords)
        assert isinstance(status, DeviceStatus)
        assert status.samples == 100
        assert answer.words[2] == status.samples
        link.ask(RESET)
        assert link.ask(companion_words(0)) == CompanionWords((0, 0, 0, 0, 0, 0, -(1 << 29)))


def test_the_monitor_shows_the_guarantee(stream: Stream, start: Start) -> None:
    run = simulated(stream)
    device = start(watchers=WATCHERS, class_names=["no", "yes"])
    with connected(device) as link:
        learn(link, stream, 0, SAMPLES)
    with HostLink(SerialLine(device.port)) as link:
        watch = Watch(link)
        watch.ask()
        shown = dict(facts(watch))
    assert shown["guarantee"].startswith(f"{run.coverage:.2f} % of {SAMPLES} labels were in")
    assert shown["right with"] == f"{run.confidence[-1] / 2.56:.0f} %"
    assert set(shown["one of"].split(", ")) <= {"no", "yes", "none"}


def test_without_a_guarantee_the_request_is_refused(start: Start) -> None:
    with connected(start()) as link, pytest.raises(RefusedError, match="of another kind"):
        link.ask(companion_words(0))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"guarantee": ["prediction_sets", "Guarantee", {"percent": 120}]}, "percent has to be"),
        ({"guarantee": ["prediction_sets", "Guarantee", {"shade": 1}]}, "shade"),
        ({"guarantee": ["nothing", "Guarantee", {}]}, "nothing"),
        ({"guarantee": ["prediction_sets", "Guarantee"]}, "has to be [module, class, options"),
        (
            {"guarantee": ["prediction_sets", "Guarantee", {}, 3]},
            "has to be [module, class, options",
        ),
        ({"guarantee": ["prediction_sets", "Guarantee", {}, "none"]}, "none cannot be read"),
        ([1], "watchers has to be an object"),
    ],
)
def test_a_wrong_configuration_is_refused(
    wrong: Any, words: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_device(tmp_path, configuration(MODELS["shrub"], MODEL, watchers=wrong))
    assert words in run_device(micropython_command, tmp_path)
