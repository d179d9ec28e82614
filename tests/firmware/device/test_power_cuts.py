"""Samples that a person teaches are in flash within seconds, whenever the power is cut."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from device_support import configuration
from packet_receiver import group_config
from packet_replay import packet_of
from packet_support import CLASSES, NAMES, rows_of
from taught_board import DeepSleep, TaughtBoard, check, check_acts

from microshrub_tools.link.messages import (
    RESET,
    STATUS,
    THIS_IS_NORMAL,
    Request,
    classes,
    late_label,
    sample,
)

SHAPE = {"features": 3, "classes": 2}
SMALL = SHAPE | {"window": 8, "trees": 2, "depth": 2}
SENSOR: dict[str, Any] = {
    "kind": "own", "module": "taught_sensor", "class": "Sensor", "values": 3, "rate": 10,
    "options": {},
}  # fmt: skip
SAVED = {"path": "checkpoint", "seconds": 240}
WARM = 5  # samples that are only observed
FIRST, GAP = 4.0, 1.3  # seconds
MQTT = {"host": "127.0.0.1", "port": 1, "name": "kitchen", "settle": [3, 230], "events": 4}
SECRETS = {"wifi": ["a", "b"], "group": 64 * "0"}  # a network that is out of reach
Make = Callable[..., TaughtBoard]


def board_of(config: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> TaughtBoard:
    folder.mkdir()
    (folder / "secrets.json").write_text(json.dumps(SECRETS))
    return TaughtBoard(config, folder, monkeypatch)


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    def make(learner: str = "ShrubEnsemble", shape: dict[str, Any] = SMALL, **fields: Any) -> Any:
        usual: dict[str, Any] = {"checkpoint": SAVED, "warmup": WARM}
        config = configuration(learner, shape, **usual | fields)
        return board_of(config, tmp_path / "flash", monkeypatch)

    return make


def learned(app: Any) -> int:
    return int(app.metrics.samples)


def times(labels: int) -> list[float]:
    return [FIRST + GAP * k for k in range(labels)]


def by_button(board: TaughtBoard, labels: int) -> None:
    """Press the button for one reading at a time."""
    for at in times(labels):
        board.doings.append((at, lambda: setattr(board, "teaching", True)))
        board.doings.append((at + 0.1, lambda: setattr(board, "teaching", False)))


def by_mqtt(board: TaughtBoard, labels: int) -> None:
    """Choose a class in Home Assistant, and then no class, for each label."""

    def choose(text: bytes) -> None:
        topic = b"microshrub/kitchen/label/set"
        body = len(topic).to_bytes(2, "big") + topic + text
        start, end = len(topic) + 2, len(body)
        board.service.mqtt.take(bytearray(body), start, end, end, False)
        board.teaching = bool(text)

    for at in times(labels):
        board.doings.append((at, lambda: choose(b"class 1")))
        board.doings.append((at + 0.1, lambda: choose(b"")))


def by_link(board: TaughtBoard, labels: int) -> None:
    def teach(k: int) -> None:
        board.request(sample([k, 300 + k, 7 * k], 1))
        board.given.append(board.seconds)

    _observe(board)
    board.doings += [(at, lambda k=k: teach(k)) for k, at in enumerate(times(labels))]  # type: ignore[misc]


def by_key(board: TaughtBoard, labels: int) -> None:
    """Answer queries with keys, as monitor does."""

    def teach(k: int) -> None:
        board.request(sample([k, 300 + k, 7 * k]), late_label(k + 1, 1))
        board.given.append(board.seconds)

    _observe(board)
    board.doings += [(at, lambda k=k: teach(k)) for k, at in enumerate(times(labels))]  # type: ignore[misc]


def by_page(board: TaughtBoard, labels: int) -> None:
    """Label the board's own samples from the page, which names the last one."""

    def teach() -> None:
        board.request(late_label(board.app.sample_id, 1))
        board.given.append(board.seconds)

    board.doings += [(at, teach) for at in times(labels)]


def _observe(board: TaughtBoard) -> None:
    board.doings.append((0.0, lambda: board.request(*[sample([k, k, k]) for k in range(WARM)])))


BUTTON = {"pin": 5, "pressed": 1, "released": None}
LABEL_SOURCES: dict[str, tuple[Callable[[TaughtBoard, int], None], dict[str, Any]]] = {
    "button": (by_button, {"sensor": SENSOR, "label_pin": BUTTON}),
    "key": (by_key, {}),
    "link": (by_link, {}),
    "MQTT": (by_mqtt, {"sensor": SENSOR, "mqtt": MQTT}),
    "page": (by_page, {"sensor": SENSOR}),
}


@pytest.mark.parametrize("labels", [1, 5, 60])
@pytest.mark.parametrize("source", LABEL_SOURCES)
def test_a_power_cut_loses_only_the_labels_of_the_last_seconds(
    source: str, labels: int, make: Make
) -> None:
    teach, fields = LABEL_SOURCES[source]
    board = make(**fields)
    teach(board, labels)
    board.until(times(labels)[-1] + 8)
    assert len(board.given) >= labels
    assert check(board, learned) > 10
    assert board.app.unsaved() == 0


def test_a_label_right_after_a_start_is_kept(make: Make) -> None:
    """The label comes before the program has read its clock."""
    board = make(sensor=SENSOR, label_pin=BUTTON)
    by_button(board, 1)
    board.until(10)
    before = learned(board.app)
    board.given.clear()
    board.start(board.flash.files)
    board.teaching = True
    board.doings.append((0.05, lambda: setattr(board, "teaching", False)))
    board.until(8)
    assert len(board.given) == 1
    check(board, lambda app: learned(app) - before)


DATAGRAMS = {"by": "udp", "port": 1, "to": ["127.0.0.1", 2]}
PEERS = (*CLASSES, "jump")  # one more class, from a board with another zero


def group_board(folder: Path, monkeypatch: pytest.MonkeyPatch, samples: int) -> TaughtBoard:
    """Return a board of a group that is taught `samples` samples of the first class."""
    shape = {"features": 3, "classes": 4, "bytes": 8192}
    config = group_config("kitchen", (), NAMES, datagrams=DATAGRAMS)
    config |= {"parameters": shape, "class_names": list(PEERS)}
    board = board_of(config, folder, monkeypatch)
    rows = list(rows_of(0, samples, 7))
    random.Random(1).shuffle(rows)
    taught = [sample(each.tolist(), 0) for each in rows]
    board.doings += [(0.0, lambda: board.request(*taught))]
    board.watch = lambda: board.given.extend(  # type: ignore[method-assign]
        [board.seconds] * (by_others(board.app) - len(board.given))
    )
    return board


def by_others(app: Any) -> int:
    """Return how many samples of others the board has learned."""
    return int(app.sharing._flat[4][3])


def peers_packet(label: int, samples: int) -> bytes:
    other = {"units": ((40, 2),) * 3, "class_names": PEERS[-1:] + PEERS[1:3]}
    return packet_of(label % 3, "attic", samples, **(other if label == 3 else {}))


def gets(board: TaughtBoard, at: float, label: int, samples: int) -> None:
    """Deliver a packet at that second."""
    data = peers_packet(label, samples)
    take = lambda: board.app.sharing.take(76 + label, data, 0, len(data), label, "attic")  # noqa: E731
    board.doings.append((at, take))


@pytest.mark.parametrize("labels", [2, 5, 20, 60])
def test_a_power_cut_loses_only_the_packets_of_the_last_seconds(
    labels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sample of a packet is learned per second; a packet has at most 20."""
    board = group_board(tmp_path / "flash", monkeypatch, samples=70)
    packets = -(-labels // 20)
    for k in range(packets):
        gets(board, 6.0 + 30 * k, k + 1, min(labels, 20))
    board.until(30 * packets + 45)
    assert len(board.given) >= 0.8 * labels  # the last ones may still be waiting
    check(board, by_others)


def test_a_power_cut_loses_no_single_sample_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Now and then, a board learns one sample of others after one of its own."""
    board = group_board(tmp_path / "flash", monkeypatch, samples=20)
    gets(board, 6.0, 1, 20)
    gets(board, 40.0, 2, 20)
    for k in range(6):
        row = rows_of(0, 1, 50 + k)[0].tolist()
        board.doings.append((50.0 + 9 * k, lambda row=row: board.request(sample(row, 0))))  # type: ignore[misc]
    board.until(120)
    alone = [at for at in board.given if at > 59]  # the packet is evaluated by then
    assert len(alone) >= 5
    assert min(b - a for a, b in itertools.pairwise(alone)) > 5
    check(board, by_others)


@pytest.mark.parametrize("label", [1, 3])
def test_a_packet_of_a_single_sample_is_refused(
    label: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single sample does not show whether it belongs to a class or is a wrong reading."""
    board = group_board(tmp_path / "flash", monkeypatch, samples=30)
    gets(board, 6.0, label, 1)
    board.until(14)
    assert any("a single sample" in text for text in board.messages)
    assert not board.given


# Other acts of a person, 6 seconds apart: (the request, whether a board has it in its state)

Act = tuple[Callable[[TaughtBoard], Request], Callable[[Any], bool]]


def send(request: Request, is_done: Callable[[Any], bool]) -> Act:
    return lambda board: request, is_done


def answer(label: int, samples: int) -> Act:
    """Return the act that labels the sample of the last query."""
    return (
        lambda board: late_label(board.app.queries.newest, label),
        lambda app: learned(app) == samples,
    )


def name(app: Any, c: int) -> str:
    return str(app.spare.names.name(c))


SPARE = {
    "learner": "NearestNeighbours",
    "shape": {"features": 3, "classes": 4, "window": 20, "k": 1},
    "spare_classes": {"classes": 2, "room": 16},
}
NAMED = [
    send(sample([1, 2, 3], 1), lambda app: learned(app) == 1),
    send(classes(b"\2\1Ada"), lambda app: name(app, 1) == "Ada"),
    send(classes(b"\1Bob"), lambda app: name(app, 2) == "Bob"),
    send(classes(b"\3\2\1"), lambda app: bool(app.spare.names.stands_for(2) == 1)),
    send(classes(b"\4\1"), lambda app: name(app, 1) == ""),
    send(RESET, lambda app: not learned(app) and name(app, 1) != "" and name(app, 2) == ""),
]
NORMAL = [
    send(sample([1, 2, 3], 1), lambda app: learned(app) == 1),
    send(THIS_IS_NORMAL, lambda app: learned(app) == 1 and app.anomaly.left == 5),
    *(send(sample([k, 2, 3]), lambda app, k=k: app.anomaly.left == k) for k in (4, 3, 2, 1, 0)),  # type: ignore[misc]
    send(RESET, lambda app: not learned(app)),
]
QUERIES = [
    answer(1, 1),
    answer(0, 2),
    send(RESET, lambda app: not learned(app)),
]
ACTS: dict[str, tuple[list[Act], dict[str, Any]]] = {
    "classes": (NAMED, SPARE),
    "normal": (NORMAL, {"anomaly": {"period": 50, "window": 32, "normal": 5}}),
    "queries": (QUERIES, {"queries": {"labels": 1, "samples": 1}, "sensor": SENSOR}),
}


@pytest.mark.parametrize("what", ACTS)
def test_a_persons_acts_survive_a_power_cut(what: str, make: Make) -> None:
    """Acts follow one another; each is in flash 5 seconds later."""
    acts, fields = ACTS[what]
    board = make(**fields)
    _observe(board)
    times = [4.0 + 6 * k for k in range(len(acts))]
    board.doings += [
        (at, lambda act=act: board.request(act(board)))  # type: ignore[misc]
        for at, (act, _) in zip(times, acts, strict=True)
    ]
    board.until(times[-1] + 7)
    check_acts(board, [(at, is_done) for at, (_, is_done) in zip(times, acts, strict=True)])


def test_a_light_and_the_status_say_when_the_board_can_be_unplugged(make: Make) -> None:
    board = make(checkpoint=SAVED | {"led": 7}, sensor=SENSOR, label_pin=BUTTON)
    lit: list[tuple[float, int, int]] = []
    words = [0] * 18

    def look() -> None:
        board.app.status(words)
        lit.append((board.seconds, board.lit, words[16]))

    board.watch = look  # type: ignore[method-assign]
    by_button(board, 2)
    board.until(20)
    first, last = board.given[0], board.given[-1]
    for at, on, unsaved in lit[2:]:
        if at < first or at > last + 5:
            assert (on, unsaved) == (0, 0), at
        elif first + 0.2 < at < last + 1:
            assert on == 1, at
            assert unsaved > 0, at
    assert words[17] == int(20 - board.flash.left[-1][0])


def test_a_board_that_samples_rarely_saves_between_two_samples(make: Make) -> None:
    """All steps of a checkpoint happen, though there is no reading for five minutes."""
    board = make(sensor=SENSOR | {"rate": "1/300"}, label_pin=BUTTON | {"released": 0}, warmup=1)
    board.until(620)
    assert learned(board.restored(board.flash.files)) == learned(board.app) == 2
    assert board.flash.left[-1][0] < 605


def test_a_board_saves_before_a_long_sleep(make: Make) -> None:
    board = make(
        sensor=SENSOR | {"rate": "1/300"}, label_pin=BUTTON | {"released": 0}, warmup=1,
        sleep={"every": 3600, "window": 0, "hold": 1},
    )  # fmt: skip
    board.until(620)
    assert board.app.sleep.seconds > 590
    assert learned(board.restored(board.flash.files)) == learned(board.app) == 2
    assert board.flash.left[-1][0] < 605


@pytest.mark.parametrize("window", [0, 10])
@pytest.mark.parametrize(
    ("released", "fields"),
    [(0, {}), (None, {}), (None, {"queries": {"labels": 1, "samples": 1000}})],
    ids=["labels", "no labels", "queries"],
)
def test_a_board_saves_each_sample_once_before_deep_sleep(
    window: int, released: int | None, fields: dict[str, Any], make: Make
) -> None:
    """A labelled sample is saved 2 seconds later if the board is awake, else before its sleep."""
    board = make(
        sensor=SENSOR | {"rate": "1/300"}, label_pin=BUTTON | {"released": released}, warmup=1,
        sleep={"every": 3600, "window": window, "hold": 1, "deep": 60}, **fields,
    )  # fmt: skip
    for samples in range(1, 13):
        board.end = 1e9
        with pytest.raises(DeepSleep):
            board.service.serve()
        kept = board.restored(board.flash.files)
        assert [part.state_crc32() for part in kept.parts] == [
            part.state_crc32() for part in board.app.parts
        ]
        assert kept.store.number() == samples
        for _, files in board.flash.left:  # the power may also be cut before the sleep
            assert samples - learned(board.restored(files)) <= (2 if released == 0 else samples)
        assert learned(kept) == (samples - 1 if released == 0 else 0)  # one is observed
        board.start(board.flash.files)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, EOFError, OSError, ValueError])
def test_a_program_that_ends_saves(error: type[BaseException], make: Make) -> None:
    """The end may be a soft reset, Ctrl-C, the end of the line, or an error in a sensor.

    The power may be cut during that save, too.
    """
    board = make(sensor=SENSOR, label_pin=BUTTON | {"released": 0})
    end = 3.0

    def fail() -> None:
        raise error("gone")

    board.doings.append((end, fail))
    program = board.library.device.program
    board.patch.setattr(program, "say", board.messages.append)
    board.patch.setattr(board.library.device.service, "Service", lambda *_: board.service)
    board.patch.setattr(board.library.device.hardware, "Input", lambda _: board)
    board.end = 10.0
    if error is SystemExit:
        with pytest.raises(SystemExit):
            program._serve(board, "", False)
    else:
        program._serve(board, "", False)
    assert learned(board.app) > 10
    assert learned(board.restored(board.flash.files)) == learned(board.app)
    assert "checkpoint" in board.messages[-1]
    check(board, learned)


def test_a_save_continues_while_a_pc_sends_requests(make: Make) -> None:
    """Requests are answered between the steps; a sample completes the save at once."""
    board = make("Thicket", SHAPE | {"bytes": 16000}, warmup=None)
    by_link(board, 3)
    asked: list[float] = []
    saving: list[bool] = []

    def ask() -> None:
        board.request(STATUS)
        asked.append(board.seconds)
        saving.append(board.app.still)

    end = times(3)[-1]
    board.doings += [(end + 2.0 + 0.02 * k, ask) for k in range(20)]
    board.until(end + 4)
    assert any(saving)
    assert max(b - a for a, b in itertools.pairwise(asked)) < 0.1
    assert learned(board.restored(board.flash.files)) == 3
