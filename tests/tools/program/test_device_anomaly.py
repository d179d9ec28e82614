"""Anomaly scores of the device's program on a real 32-bit MicroPython, over the link."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from program_support import PROGRAM_FIELDS
from recorded_board import Clock, observe, put_held_clock

from microshrub_host.evaluation import prequential
from microshrub_host.library.learners import MODELS
from microshrub_host.models import model_files
from microshrub_host.simulation.anomaly import Anomaly, AnomalyRun
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_tools.board import program_config
from microshrub_tools.cli.monitor import facts
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import RefusedError
from microshrub_tools.link.messages import (
    CHECKPOINT as SAVE,
)
from microshrub_tools.link.messages import (
    RESET,
    STATUS,
    THIS_IS_NORMAL,
    AnomalyStatus,
    DeviceStatus,
    anomaly,
)
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.board_words import BoardWords
from microshrub_tools.watch.device_watch import Watch
from microshrub_tools.watch.normal import this_is_normal

SAMPLES = 700
OPTIONS = Anomaly(1 / 50, window=100, reach=2)
MODEL: dict[str, Any] = {"features": 3, "classes": 2, "window": 8, "trees": 2, "depth": 2}
CHECKPOINT = {"path": "checkpoint", "seconds": 240}
Start = Callable[..., Device]


@pytest.fixture(scope="module")
def stream() -> Stream:
    return open_stream("synth:sea_a", limit=SAMPLES)


@pytest.fixture(scope="module")
def wanted(stream: Stream) -> AnomalyRun:
    """The simulator's result."""
    run = prequential.evaluate(stream, "shrub", MODEL, companions=[OPTIONS])
    assert run.anomaly
    return run.anomaly


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path, stream: Stream) -> Iterator[Start]:
    def put(**fields: Any) -> None:
        put_learner(tmp_path, stream, MODELS["shrub"], MODEL, **fields)

    with starting(micropython_command, tmp_path, put, "128k") as start:
        yield start


def test_scores_and_alarms_match_the_simulator(
    stream: Stream, wanted: AnomalyRun, start: Start
) -> None:
    with connected(start(anomaly=OPTIONS.parameters())) as link:
        assert link.ask(anomaly(scores=True)) == AnomalyStatus(0, 0, 0)
        answers = learn(link, stream, 0, SAMPLES)
        reply = link.ask(anomaly(scores=True))
    assert [answer.score for answer in answers] == wanted.scores.tolist()
    assert [answer.anomalous for answer in answers] == wanted.anomalous.tolist()
    assert reply == AnomalyStatus(int(wanted.scores[-1]), wanted.threshold, len(wanted.alarms))
    assert len(wanted.alarms) > 3


def test_a_host_without_the_request_gets_no_scores(stream: Stream, start: Start) -> None:
    """This holds for a host of version 1, and for a new host after another one's hello."""
    device = start(anomaly=OPTIONS.parameters())
    with connected(device) as link:
        assert {answer.score for answer in learn(link, stream, 0, 20)} == {None}
        link.ask(anomaly(scores=True))
        assert None not in {answer.score for answer in learn(link, stream, 20, 40)}
        link.ask(anomaly(scores=False))
        assert {answer.score for answer in learn(link, stream, 40, 60)} == {None}
        link.ask(anomaly(scores=True))
    with connected(device) as link:
        assert {answer.score for answer in learn(link, stream, 60, 80)} == {None}


def test_without_a_score_the_request_is_refused(stream: Stream, start: Start) -> None:
    with connected(start()) as link:
        with pytest.raises(RefusedError, match="of another kind"):
            link.ask(anomaly(scores=True))
        assert {answer.score for answer in learn(link, stream, 0, 20)} == {None}


def test_samples_allocate_nothing(stream: Stream, start: Start) -> None:
    with connected(start(anomaly=OPTIONS.parameters())) as link:
        link.ask(anomaly(scores=True))
        learn(link, stream, 0, 50)
        for end in (300, 600):
            with nothing_allocated(link):
                learn(link, stream, end - 250, end)
                link.ask(anomaly(scores=True))


def test_the_checkpoint_keeps_the_anomaly_state(
    stream: Stream, wanted: AnomalyRun, start: Start
) -> None:
    device = start(anomaly=OPTIONS.parameters(), checkpoint=CHECKPOINT)
    with connected(device) as link:
        learn(link, stream, 0, 300)
        link.ask(SAVE)
        learn(link, stream, 300, 320)
    device.kill()
    device.start()
    with connected(device) as link:
        status = link.ask(STATUS)
        assert isinstance(status, DeviceStatus)
        done = status.samples
        assert done == 300
        link.ask(anomaly(scores=True))
        answers = learn(link, stream, done, SAMPLES)
        assert [answer.score for answer in answers] == wanted.scores[done:].tolist()
        assert [answer.anomalous for answer in answers] == wanted.anomalous[done:].tolist()
        link.ask(RESET)
        assert link.ask(anomaly(scores=True)) == AnomalyStatus(0, 0, 0)


def test_the_monitor_shows_the_score(stream: Stream, wanted: AnomalyRun, start: Start) -> None:
    device = start(anomaly=OPTIONS.parameters())
    with connected(device) as link:
        learn(link, stream, 0, SAMPLES)
    with HostLink(SerialLine(device.port)) as link:
        watch = Watch(link)
        watch.ask()
        shown = dict(facts(watch))
    words = f"score {wanted.scores[-1]}, threshold {wanted.threshold}, {len(wanted.alarms)} alarms"
    assert shown["anomaly"] == words


def test_an_alarm_is_reported_once(stream: Stream, wanted: AnomalyRun, start: Start) -> None:
    first = int(wanted.alarms[0])
    device = start(anomaly=OPTIONS.parameters())
    with HostLink(SerialLine(device.port)) as link:
        watch = Watch(link)
        news = []
        for begin, end in ((0, first), (first, first + 1), (first + 1, first + 2)):
            learn(link, stream, begin, end)
            watch.ask()
            news.append(watch.has_new_alarm())
    assert news == [False, True, False]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": 3}, "anomaly has no option depth; there is: period, window, reach"),
        ({"period": 0}, "period has to be a whole number of 1..536870912, not 0"),
        ({"window": 1000, "reach": "wide"}, "reach has to be a whole number of 1..32, not 'wide'"),
    ],
)
def test_a_wrong_configuration_is_named_in_one_line(
    options: dict[str, Any], words: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_device(tmp_path, configuration(MODELS["shrub"], MODEL, anomaly=options))
    output = run_device(micropython_command, tmp_path)
    assert words in output
    assert "Traceback" not in output


def test_a_saved_model_keeps_its_normal_state(
    stream: Stream, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    options = Anomaly(1 / 50, window=100, reach=2, normal=150)
    run = prequential.evaluate(stream, "shrub", MODEL, warmup=100, companions=[options])
    model_files.write(tmp_path / "m.mshrub", model_files.of_run(run, stream))
    model = model_files.read(tmp_path / "m.mshrub")
    opened = model_files.open_model(tmp_path / "m.mshrub").companions["anomaly"]
    assert opened.save() == run.states.more["anomaly"]
    files = program_config.of_model(model, PROGRAM_FIELDS).files()
    put_device(tmp_path, files["config.json"])
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with Device(micropython_command, tmp_path, "160k") as device, connected(device) as link:
        for _ in range(2):
            assert link.ask(anomaly(scores=False)) == AnomalyStatus(
                opened.score, opened.threshold, opened.alarms
            )
            learn(link, stream, 0, 20)
            link.ask(RESET)
    fields = options.program(())["anomaly"]
    with_pin = program_config.of_model(model, PROGRAM_FIELDS | {"anomaly": fields | {"pin": 3}})
    assert with_pin.config["anomaly"] == fields | {"pin": 3, "states": ["anomaly.state"]}
    other = program_config.of_model(model, PROGRAM_FIELDS | {"anomaly": fields | {"reach": 3}})
    assert other.config["anomaly"] == fields | {"reach": 3}
    assert "anomaly.state" not in other.files()


def test_this_is_normal_over_the_link(stream: Stream, start: Start) -> None:
    """The new normal state is in the next checkpoint at once; predictions stay the same."""
    options = {"period": 50, "window": 100, "reach": 2, "normal": 100}
    device = start(anomaly=options, checkpoint=CHECKPOINT)
    with connected(device) as link:
        learn(link, stream, 0, 150)
        answer = link.ask(THIS_IS_NORMAL)
        assert isinstance(answer, AnomalyStatus)
        assert answer.left == 100
        assert {answer.score for answer in learn(link, stream, 150, 160)} == {None}
        link.ask(SAVE)
    device.kill()
    device.start()
    with connected(device) as link:
        status = link.ask(STATUS)
        assert isinstance(status, DeviceStatus)
        learn(link, stream, status.samples, 300)
        again = link.ask(THIS_IS_NORMAL)
        assert isinstance(again, AnomalyStatus)
        assert again.left == 100


def test_the_monitor_sets_the_normal_state(stream: Stream, start: Start) -> None:
    device = start(anomaly=OPTIONS.parameters())
    with connected(device) as link:
        learn(link, stream, 0, 200)
        assert this_is_normal(link) == "This is normal: what the board has in mind stays so"
        assert this_is_normal(link) == "This is normal: the next 100 samples show it"
    with connected(start()) as link:
        assert "of another kind" in this_is_normal(link)


# One analog pin, and a button at pin 15 with two presses, one of them long
BOARD = """
from held_clock import Held
from microshrub.device.program import main

class Pin:
    n = 0
    def read_u16(self):
        Pin.n += 1
        return 20000 + Pin.n * 37 % 400
    def value(self):
        return int(not (60 < Pin.n <= 62 or 150 < Pin.n <= 170))

class Board(Held):
    def adc(self, pin):
        return Pin()
    def button(self, pin):
        return Pin()

main(Board())
"""


def test_a_button_sets_the_normal_state(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    config = configuration(
        "NearestNeighbours",
        {"features": 1, "classes": 2, "window": 50, "k": 3},
        sensor={"kind": "adc", "pins": [26], "rate": 100},
        anomaly={"period": 100, "window": 40, "normal": 40, "pin": 15},
        warmup=10,
    )
    put_device(tmp_path, config)
    (tmp_path / "main.py").write_text(BOARD)
    put_held_clock(tmp_path)
    clock, words = Clock(tmp_path), BoardWords()
    with (
        Device(micropython_command, tmp_path, "160k") as device,
        HostLink(SerialLine(device.port), on_text=words.feed) as link,
    ):
        link.connect()
        clock.go(240 * 10_000)
        observe(link, 240)
    assert words.last == "this is normal: the next 40 samples show it"
