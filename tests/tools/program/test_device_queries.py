"""Label queries of the device's program on a real 32-bit MicroPython, over the link."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import (
    Device,
    configuration,
    connected,
    nothing_allocated,
    put_device,
    put_learner,
    run_device,
    starting,
)

from microshrub_host import Stream, open_stream, simulate
from microshrub_host.library.learners import MODELS
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_tools.board.simulated_device import Twin
from microshrub_tools.cli.main import main
from microshrub_tools.cli.monitor import facts
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import RefusedError
from microshrub_tools.link.messages import (
    CHECKPOINT,
    FINGERPRINT,
    QUERIES,
    RESET,
    Fingerprint,
    Prediction,
    Query,
    late_label,
    sample,
)
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.device_watch import Watch
from microshrub_tools.watch.query_keys import answer, described

SAMPLES = 600
OPTIONS = {"labels": 1, "samples": 5}
MODEL: dict[str, Any] = {"window": 8, "trees": 2, "depth": 2}
SHAPE = {"features": 3, "classes": 2, **MODEL}
Start = Callable[..., Device]


@pytest.fixture(scope="module")
def stream() -> Stream:
    return open_stream("synth:sea_a", limit=SAMPLES)


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path, stream: Stream) -> Iterator[Start]:
    def put(**fields: Any) -> None:
        model = fields.pop("model_name", (MODELS["shrub"], SHAPE))
        put_learner(tmp_path, stream, *model, **fields)

    with starting(micropython_command, tmp_path, put, "128k") as start:
        yield start


def learn(link: HostLink, stream: Stream, begin: int, end: int) -> list[int]:
    """Send samples, and the queried labels; return the numbers of the queried samples."""
    rows, queried = stream.raw_rows(), []
    for k in range(begin, end):
        answer = link.ask(sample(rows[k].tolist()))
        assert isinstance(answer, Prediction)
        if answer.sample_id:
            queried.append(k)
            link.ask(late_label(answer.sample_id, int(stream.labels[k])))
    return queried


def test_the_device_queries_the_same_labels_as_the_simulator(stream: Stream, start: Start) -> None:
    wanted = simulate(stream, "shrub", companions=[LabelBudget(0.2)], **MODEL).label_budget
    assert wanted
    values = wanted.asked.nonzero()[0].tolist()
    end = values[-1] + 1  # a label comes last
    part = Stream(
        stream.name,
        stream.values[:end],
        stream.labels[:end],
        stream.feature_names,
        stream.class_names,
    )
    crc32 = simulate(part, "shrub", companions=[LabelBudget(0.2)], **MODEL).state_crc32
    companions = {"anomaly": {"period": 50, "window": 20, "reach": 2}}
    with connected(start(queries=OPTIONS, **companions)) as link:
        assert learn(link, stream, 0, end) == values
        assert link.ask(FINGERPRINT) == Fingerprint(crc32)
        answer = link.ask(QUERIES)
        assert isinstance(answer, Query)
        assert (answer.sample_id, answer.label) == (0, -1)
        assert (answer.asked, answer.seen) == (len(values), end)
        assert answer.asked + answer.saved <= 400 + end / 5


@pytest.mark.parametrize("growing", [False, True])
def test_a_thicket_rehearses_as_in_the_simulator(
    growing: bool, stream: Stream, start: Start
) -> None:
    parameters = {"features": 3, "classes": 2, "bytes": 4096}
    rows, labels = stream.values[:300], stream.labels[:300]
    part = Stream(stream.name, rows, labels, stream.feature_names, stream.class_names)
    warmup = 0 if growing else 256
    crc32 = simulate(part, companions=[LabelBudget(0.2)], bytes=4096, warmup=warmup).state_crc32
    ranges: dict[str, Any] = {"quantizer": None, "warmup": None} if growing else {}
    with connected(start(queries=OPTIONS, model_name=("Thicket", parameters), **ranges)) as link:
        learn(link, stream, 0, 100)
        with nothing_allocated(link):
            learn(link, stream, 100, 300)
        assert link.ask(FINGERPRINT) == Fingerprint(crc32)


def test_a_query_waits_for_its_answer(stream: Stream, start: Start) -> None:
    rows = stream.raw_rows()
    with connected(start(queries=OPTIONS, pending=4)) as link:
        ids = [link.ask(sample(row.tolist())).sample_id for row in rows[:6]]  # type: ignore[union-attr]
        assert ids == [1, 2, 3, 4, 5, 6]
        answer = link.ask(QUERIES)
        assert isinstance(answer, Query)
        assert (answer.sample_id, answer.label) == (6, 0)
        with pytest.raises(RefusedError, match="no sample 2 waits"):
            link.ask(late_label(2, 1))
        link.ask(late_label(5, 1))
        assert link.ask(QUERIES) == answer
        link.ask(late_label(6, 1))
        with pytest.raises(RefusedError, match="was given its label before"):
            link.ask(late_label(6, 1))
        assert link.ask(QUERIES) == Query(0, -1, 6, 6, answer.saved)
        link.ask(RESET)
        assert link.ask(QUERIES) == Query(0, -1, 0, 0, 400)


def test_a_device_without_queries_refuses_the_request(start: Start) -> None:
    refused = pytest.raises(RefusedError, match="of another kind")
    with connected(start()) as link, refused:
        link.ask(QUERIES)


def test_samples_and_answers_allocate_nothing(stream: Stream, start: Start) -> None:
    with connected(start(queries=OPTIONS)) as link:
        learn(link, stream, 0, 50)
        for end in (300, 550):
            with nothing_allocated(link):
                learn(link, stream, end - 250, end)
                link.ask(QUERIES)


def test_the_checkpoint_keeps_the_queries(stream: Stream, start: Start) -> None:
    device = start(queries=OPTIONS, checkpoint={"path": "checkpoint", "seconds": 240})
    with connected(device) as link:
        learn(link, stream, 0, 300)
        link.ask(CHECKPOINT)
    device.kill()
    device.start()
    with connected(device) as link:
        answer = link.ask(QUERIES)
        assert isinstance(answer, Query)
        assert 200 <= answer.seen <= 300
        assert 0 < answer.asked <= 400 + answer.seen / 5


def test_the_monitor_shows_the_query_and_keys_answer_it(stream: Stream, start: Start) -> None:
    rows = stream.raw_rows()
    device = start(queries=OPTIONS)
    with connected(device) as link:
        link.ask(sample(rows[0].tolist()))
    with HostLink(SerialLine(device.port)) as link:
        watch = Watch(link)
        watch.ask()
        assert watch.has_new_query()
        assert not watch.has_new_query()
        shown = dict(facts(watch))
        words = "what is sample 1? Predicted: class 0. Press 1 class 0, 2 class 1"
        assert shown["query"] == words
        assert shown["labels asked for"] == "1 of 1 samples, 100.00 %"
        assert watch.query
        names = watch.names.classes
        assert not answer(link, watch.query, names, "x9")
        assert answer(link, watch.query, names, "x2")
        assert not answer(link, watch.query, names, "2")  # already answered
        watch.ask()
        assert not watch.has_new_query()
        assert described(watch.query, names) == "none"
        assert watch.status.samples == 1


def test_stream_sends_only_the_queried_labels(
    start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sea = open_stream("synth:sea_a", limit=SAMPLES)
    names = {"feature_names": sea.feature_names, "class_names": sea.class_names}
    device = start(queries=OPTIONS, quantizer=None, **names)
    words = ["--limit", str(SAMPLES), "--port", device.port, "--build", str(tmp_path)]
    assert main(["stream", "synth:sea_a", *words]) == 0
    output = capsys.readouterr().out
    assert f"Device and simulator agree: {SAMPLES} samples" in output
    assert "labels asked for" in output
    assert "NoChange" not in output
    assert main(["stream", "synth:sea_a", *words]) == 2
    assert "make it forget with --reset" in capsys.readouterr().err
    assert main(["stream", "synth:sea_a", *words, "--reset"]) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": 1}, "queries has no samples"),
        ({"labels": 3, "samples": 2}, "labels has to be a whole number of 1..2, not 3"),
        ({"labels": 1, "samples": 2, "often": 1}, "queries has no option often"),
        ({"labels": 1, "samples": 5, "led": 25}, "this board's MicroPython has no machine.Pin"),
    ],
)
def test_a_wrong_configuration_is_named_in_one_line(
    options: dict[str, Any], words: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_device(tmp_path, configuration(MODELS["shrub"], SHAPE, queries=options))
    output = run_device(micropython_command, tmp_path)
    assert words in output
    assert "Traceback" not in output


def test_the_light_is_on_while_the_newest_query_waits(
    stream: Stream, start: Start, tmp_path: Path
) -> None:
    """In the device's twin, a light that records its values is on while the newest query waits."""

    class Light:
        def __init__(self) -> None:
            self.values: list[bool] = []

        def value(self, on: bool) -> None:
            self.values.append(on)

    start(queries={"labels": 1, "samples": 1})
    app = Twin(tmp_path)._app
    light = app.queries.light = Light()
    app.sample(-1)
    app.sample(-1)
    app.label(1, 0)
    app.label(2, 1)
    assert light.values == [True, True, False]
