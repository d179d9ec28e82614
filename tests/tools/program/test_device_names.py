"""Class names of a device's program on a real 32-bit MicroPython: set over the link, and typed."""

from __future__ import annotations

import dataclasses
import re
import signal
import subprocess
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
    run_device,
    starting,
    until_saved,
)
from naming_support import MODEL, NAMES, SPARE, kinds, live, put_naming_device
from patience import PATIENCE
from program_support import PROGRAM_FIELDS
from recorded_board import Clock, observe, put_held_clock
from script_support import spawn

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files
from microshrub_host.simulation.spare_classes import SpareClasses
from microshrub_host.streams.stream import Stream
from microshrub_tools.board import program_config
from microshrub_tools.cli.monitor import facts
from microshrub_tools.link import class_messages
from microshrub_tools.link.class_messages import ClassState
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import RefusedError
from microshrub_tools.link.messages import (
    RESET,
    Done,
    Prediction,
    classes,
    late_label,
    sample,
)
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.class_naming import CommandLine
from microshrub_tools.watch.device_watch import Watch

CHECKPOINT = {"path": "checkpoint", "seconds": 240}
Start = Callable[..., Device]


@pytest.fixture(scope="module")
def stream() -> Stream:
    return kinds()


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    def put(**fields: Any) -> None:
        put_naming_device(tmp_path, **fields)

    with starting(micropython_command, tmp_path, put, "160k") as start:
        yield start


def ask(link: HostLink, payload: bytes) -> ClassState:
    answer = link.ask(classes(payload))
    assert isinstance(answer, ClassState)
    return answer


def test_a_novel_class_gets_a_name_which_survives_a_power_cut(
    stream: Stream, start: Start
) -> None:
    device = start(spare_classes=SPARE, checkpoint=CHECKPOINT)
    with connected(device) as link:
        live(link, stream, 0, 120, label=True)
        assert set(live(link, stream, 120, 123, label=False)) <= {0, 1}
        before = ask(link, class_messages.tell(2))
        assert (before.name, before.state, before.novel, before.is_asking) == ("", 0, 0, False)
        with nothing_allocated(link):
            live(link, stream, 123, 130, label=False)
        assert ask(link, class_messages.tell(0)).is_asking
        with pytest.raises(RefusedError, match="class 2 has no name"):
            live(link, stream, 130, 131, label=True)
        named = ask(link, class_messages.name("Treppe \u2191"))
        assert (named.number, named.state, named.name) == (2, 1, "Treppe \u2191")
        with nothing_allocated(link):
            live(link, stream, 130, 150, label=False)
        assert live(link, stream, 150, 155, label=False) == [2] * 5
        live(link, stream, 155, 160, label=True)
        until_saved(link)
    device.kill()
    device.start()
    with connected(device) as link:
        assert ask(link, class_messages.tell(2)).name == "Treppe \u2191"
        live(link, stream, 130, 150, label=False)  # the novel samples are learned from there on
        assert live(link, stream, 150, 155, label=False) == [2] * 5
        link.ask(RESET)
        assert ask(link, class_messages.tell(2)).name == ""


def test_a_class_is_renamed_merged_and_forgotten(stream: Stream, start: Start) -> None:
    with connected(start(spare_classes=SPARE)) as link:
        live(link, stream, 0, 120, label=True)
        live(link, stream, 120, 125, label=False)
        ask(link, class_messages.name("stairs"))
        assert ask(link, class_messages.rename(2, "steps")).name == "steps"
        live(link, stream, 125, 140, label=True)
        assert live(link, stream, 140, 142, label=False) == [2, 2]
        merged = ask(link, class_messages.merge(2, 0))
        assert (merged.state, merged.stands_for, merged.name) == (2, 0, "")
        assert live(link, stream, 140, 142, label=False) == [0, 0]
        (predicted,) = live(link, stream, 0, 1, label=False)
        assert predicted == 0
        answer = link.ask(sample(stream.raw_rows()[141].tolist()))
        assert isinstance(answer, Prediction)
        assert isinstance(link.ask(late_label(answer.sample_id, 2)), Done)  # learned as walk
        assert ask(link, class_messages.forget(0)).state == 3
        assert set(live(link, stream, 0, 10, label=False)) == {1}
        assert ask(link, class_messages.tell(0)).is_asking
        assert ask(link, class_messages.dismiss()).novel == 0
        for payload, words in (
            (class_messages.forget(1), "the last class cannot be forgotten: rest"),
            (class_messages.merge(1, 0), "class 0 has no name"),
            (class_messages.rename(1, "r" * 17), "1..16 bytes of text"),
            (class_messages.tell(9), "a class has to be a whole number of 0..4, not 9"),
            (b"\x07", "there is no such request about classes"),
            (b"\x03\x01", "there is no such request about classes"),
        ):
            with pytest.raises(RefusedError, match=words):
                link.ask(classes(payload))


def test_a_simulated_model_keeps_its_names(
    stream: Stream, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    options = SpareClasses(3, window=32, collect=4)
    spare = options.on_stream(stream, 100)
    shape = {**MODEL, "window": 200}
    run = prequential.evaluate(
        stream, "nearest", shape, engine="c", warmup=180, companions=[spare]
    )
    model_files.write(tmp_path / "m.mshrub", model_files.of_run(run, stream))
    model = model_files.read(tmp_path / "m.mshrub")
    assert model.class_names == ("walk", "rest", "stairs", "spare 2", "spare 3")
    assert model.known_names == ("walk", "rest")
    files = program_config.of_model(model, PROGRAM_FIELDS | {"checkpoint": CHECKPOINT}).files()
    put_device(tmp_path, files["config.json"])
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with Device(micropython_command, tmp_path, "160k") as device, connected(device) as link:
        assert ask(link, class_messages.tell(2)).name == "stairs"
        assert live(link, stream, 170, 175, label=False) == [2] * 5
        assert ask(link, class_messages.tell(3)).novel == 0
        ask(link, class_messages.forget(2))
        link.ask(RESET)  # like a start without a checkpoint
        assert ask(link, class_messages.tell(2)).name == "stairs"
    wanted = options.program(model.known_names)["spare_classes"]
    program_config.of_model(model, PROGRAM_FIELDS | {"spare_classes": wanted | {"pin": 3}})
    with pytest.raises(UserError, match="its own, classes=3 period=100 window=32"):
        program_config.of_model(model, PROGRAM_FIELDS | {"spare_classes": wanted | {"classes": 4}})
    plain = dataclasses.replace(model, companions={})
    with pytest.raises(UserError, match="simulated with --spare-classes"):
        program_config.of_model(plain, PROGRAM_FIELDS | {"spare_classes": wanted})


def test_a_model_file_with_other_names_is_refused(stream: Stream, tmp_path: Path) -> None:
    spare = SpareClasses(3, window=32, collect=4).on_stream(stream, 100)
    run = prequential.evaluate(
        stream, "nearest", MODEL, engine="c", warmup=180, companions=[spare]
    )
    model = model_files.of_run(run, stream)
    for wrong in (
        {"class_names": ("walk", "rest", "steps", "spare 2", "spare 3")},
        {"companions": {"spare_classes": run.spare and run.spare.parameters | {"window": 33}}},
        {"states": dataclasses.replace(run.states, more={**run.states.more, "names": b""})},
    ):
        with pytest.raises(ValueError, match=r"steps|NoveltyDetector|not a saved"):
            model_files.packed(dataclasses.replace(model, **wrong))


def test_without_spare_classes_the_request_is_refused(start: Start) -> None:
    with connected(start()) as link, pytest.raises(RefusedError, match="of another kind"):
        ask(link, class_messages.tell(0))


def test_the_monitor_shows_names_and_takes_commands(stream: Stream, start: Start) -> None:
    device = start(spare_classes=SPARE)
    with connected(device) as link:
        live(link, stream, 0, 120, label=True)
        live(link, stream, 120, 125, label=False)
    with HostLink(SerialLine(device.port)) as link:
        watch = Watch(link)
        watch.ask(matrix=True)
        assert watch.matrix_names == ("walk", "rest")
        assert watch.has_new_query()
        assert not watch.has_new_query()
        assert dict(facts(watch))["new"].endswith("Type: name NAME")
        naming = watch.naming
        assert naming
        for line, message in (
            ("n stairs", "stairs is a class now: 5 samples are learned as it"),
            ("rename stairs 'going up'", "stairs is going up now"),
            ("r walk rest", "the device says: there is a class rest already"),
            ("merge rest walk", "rest is walk from now on"),
            ("forget up", "No class is called 'up'."),
            ("forget walk", "walk is forgotten"),
            ("dismiss", "The novel samples are dropped"),
            ("walk", "'walk' is unknown."),
            ("rename 'going", "No closing quotation"),
            ("merge walk", "The commands are: name NAME, rename OLD NEW"),
        ):
            naming.do(line)
            assert naming.message.startswith(message)
        watch.ask(matrix=True)
        assert watch.matrix_names == ("going up",)
        assert watch.confusion == [(0,)]
        assert watch.class_names == ("spare 1", "spare 2", "going up", "spare 4", "spare 5")


def test_commands_are_typed(stream: Stream, start: Start) -> None:
    device = start(spare_classes=SPARE)
    with connected(device) as link:
        live(link, stream, 0, 120, label=True)
        live(link, stream, 120, 125, label=False)
    monitor = spawn("monitor", "--port", device.port, stdin=subprocess.PIPE)
    assert monitor.stdin
    assert monitor.stdout
    monitor.stdin.write("n stairz\nr stairz stairs\nflee\n")
    monitor.stdin.flush()
    out = ""
    while "'flee' is unknown" not in out:
        line = monitor.stdout.readline()
        assert line, monitor.communicate()
        out += line
    monitor.send_signal(signal.SIGINT)
    _, err = monitor.communicate(timeout=PATIENCE)
    assert monitor.returncode == 130, err
    for words in (
        "new 5 novel samples",
        "stairz is a class now: 5 samples are learned as it",
        "stairz is stairs now",
        "'flee' is unknown. Choose from: name",
    ):
        assert words in out
    with connected(device) as link:
        assert ask(link, class_messages.tell(2)).name == "stairs"


def test_a_line_is_typed_key_by_key() -> None:
    line = CommandLine()
    assert line.press("n stx") == []
    assert line.text == "n stx"
    assert line.changed()
    assert not line.changed()
    assert line.press("\x7fairs\rfoo\x1bd\n") == ["n stairs", "d"]
    assert line.text == ""


# One analog pin: two values, then samples of one class, labelled by pin 14, then of another; and
# pin 15, a button that is pressed twice
BOARD = """
from held_clock import Held
from microshrub.device.program import main

class Pin:
    n = 0
    def __init__(self, pin):
        self.pin = pin
    def read_u16(self):
        Pin.n += 1
        n = Pin.n
        return n % 2 * 60000 if n <= 20 else (20000 if n <= 100 else 50000) + n * 37 % 400
    def value(self, on=None):
        if self.pin == 25:
            with open("light", "a") as file:
                file.write(str(int(on)))
            return
        pressed = 20 < Pin.n <= 100 if self.pin == 14 else 130 < Pin.n <= 140 or Pin.n > 170
        return int(not pressed)

class Board(Held):
    def adc(self, pin):
        return Pin(pin)
    def button(self, pin):
        return Pin(pin)
    light = button

main(Board())
"""


def test_a_button_names_a_novel_class(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    config = configuration(
        "NearestNeighbours",
        {"features": 1, "classes": 4, "window": 100, "k": 3},
        class_names=["walk", "rest", "spare 1", "spare 2"],
        sensor={"kind": "adc", "pins": [26], "rate": 100},
        label_pin={"pin": 14, "pressed": 0, "released": None},
        spare_classes={"classes": 2, "window": 32, "collect": 4, "pin": 15, "led": 25},
        warmup=20,
    )
    put_device(tmp_path, config)
    (tmp_path / "main.py").write_text(BOARD)
    put_held_clock(tmp_path)
    clock = Clock(tmp_path)
    with Device(micropython_command, tmp_path, "160k") as device, connected(device) as link:
        clock.go(240 * 10_000)
        seen = observe(link, 240)
        named = ask(link, class_messages.tell(2))
        assert (named.name, ask(link, class_messages.tell(3)).name) == ("new 1", "")
    assert {o.label for o in seen if o.values[0] in range(20000, 20400)} <= {0, None}
    light = (tmp_path / "light").read_text()
    assert re.fullmatch("0{80,}1{20,}0+", light)
    later = [o for o in seen if o.values[0] >= 50000 and o.values[0] != 60000]
    labels = [o.label for o in later]
    begin = labels.index(2)
    assert set(labels[:begin]) == {None}
    assert labels[begin : begin + 10] == [2] * 10
    assert None in labels[begin + 10 :]
    assert labels[-10:] == [2] * 10
    assert {o.prediction.label for o in later[:begin]} == {0}
    assert {o.prediction.label for o in later[-20:]} == {2}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"spare_classes": {"classes": 5}},
            "spare_classes' classes has to be a whole number of 1..4, not 5",
        ),
        ({"spare_classes": {"window": 32}}, "spare_classes has no classes"),
        ({"spare_classes": {"classes": 3, "depth": 1}}, "spare_classes has no option depth"),
        (
            {"spare_classes": {"classes": 3, "collect": 0}},
            "collect has to be a whole number of 1..64",
        ),
        ({"spare_classes": {"classes": 3, "room": 60}}, "the room for a name is at most 48 bytes"),
        (
            {"spare_classes": SPARE, "model": "learner.state"},
            "a model and the states of spare_classes belong together",
        ),
        (
            {"spare_classes": SPARE, "label_pin": {"pin": 1, "pressed": 2, "released": 0}},
            "pressed has to",
        ),
    ],
)
def test_a_wrong_configuration_is_named_in_one_line(
    fields: dict[str, Any], words: str, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    config = configuration("NearestNeighbours", MODEL, **fields)
    put_device(tmp_path, config | {"class_names": NAMES})
    output = run_device(micropython_command, tmp_path)
    assert words in output
    assert "Traceback" not in output
