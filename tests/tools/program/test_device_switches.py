"""The predicted class switches pins: the real program, with pins that a test can read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from device_support import (
    Device,
    configuration,
    connected,
    learn,
    nothing_allocated,
    put_device,
    run_device,
    starting,
)
from patience import PATIENCE

from microshrub_host import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_tools.link.messages import Prediction, sample

SHAPE = {"features": 3, "classes": 3}
SWITCHES = [[16], [17, "LED"], []]
# Each pin's state is in a file.
MACHINE = """
class Pin:
    IN, OUT, PULL_UP = range(3)

    def __init__(self, name, mode=0, pull=0, value=0):
        self._name = name
        self.value(value)

    def value(self, high):
        with open("pin." + str(self._name), "w") as file:
            file.write("01"[high])


class PWM:
    def __init__(self, pin, freq, duty_u16):
        self._name = pin._name
        self.freq(freq)
        self.duty_u16(duty_u16)

    def freq(self, hertz):
        self._tell("%d Hz" % hertz)

    def duty_u16(self, high):
        self._tell("%d" % high)

    def _tell(self, what):
        with open("tone." + str(self._name), "a") as file:
            file.write(what + "\\n")
"""
# A NeoPixel's colours are in a file, too, with a line for each change.
NEOPIXEL = """
class NeoPixel:
    def __init__(self, pin, count):
        self._name = str(pin._name)

    def __setitem__(self, k, colour):
        self._colour = colour

    def write(self):
        with open("pixel." + self._name, "a") as file:
            file.write("%d %d %d\\n" % self._colour)
"""
USB = """

class USBDevice:
    pass
"""
# The same pins, without files.
QUIET = """
class Pin:
    IN, OUT, PULL_UP = range(3)

    def __init__(self, name, mode=0, pull=0, value=0):
        self._name = name

    def value(self, high):
        self._high = high


class PWM:
    def __init__(self, pin, freq, duty_u16):
        pass

    def freq(self, hertz):
        pass

    duty_u16 = freq
"""
QUIET_PIXEL = NEOPIXEL.partition("        with open")[0] + "        pass\n"


def put(folder: Path, switches: object, machine: str = MACHINE, **more: object) -> None:
    config = configuration("HoeffdingTree", SHAPE, warmup=20, switches=switches, **more)
    put_device(folder, config)
    (folder / "lib" / "machine.py").write_text(machine)
    (folder / "lib" / "neopixel.py").write_text(QUIET_PIXEL if machine is QUIET else NEOPIXEL)


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Callable[..., Device]]:
    def put_here(machine: str, switches: object = SWITCHES, **more: object) -> None:
        put(tmp_path, switches, machine, **more)

    with starting(micropython_command, tmp_path, put_here, "128k") as start_board:
        yield start_board


def three_classes(folder: Path) -> Stream:
    rows = "\n".join(f"{i % 3},{i % 3 * 5},{i % 7},{'abc'[i % 3]}" for i in range(300))
    path = folder / "three.csv"
    path.write_text("x,y,z,class\n" + rows + "\n")
    return open_stream(str(path))


def pins(folder: Path) -> dict[str, str]:
    return {path.name.partition(".")[2]: path.read_text() for path in folder.glob("pin.*")}


def test_the_pins_of_the_predicted_class_are_high(
    start: Callable[..., Device], tmp_path: Path
) -> None:
    with connected(start(MACHINE)) as link:
        assert pins(tmp_path) == {"16": "0", "17": "0", "LED": "0"}
        learn(link, three_classes(tmp_path), 0, 300)
        expected = ({"16": "1", "17": "0", "LED": "0"}, {"16": "0", "17": "1", "LED": "1"},
                    {"16": "0", "17": "0", "LED": "0"})  # fmt: skip
        for label in (0, 1, 2, 1):
            answer = link.ask(sample([label, label * 5, 0]))
            assert isinstance(answer, Prediction)
            assert answer.label == label
            assert pins(tmp_path) == expected[label]


def test_a_class_switches_nothing_below_its_confidence(
    start: Callable[..., Device], tmp_path: Path
) -> None:
    rows = [[16, [5, 1, 2, 3]], [17, [5, 4, 5, 6]], []]
    device = start(MACHINE, switches=rows, switch_above=[250, 0, 0])
    seen = set()
    with connected(device) as link:
        for end in range(40, 200, 20):
            learn(link, three_classes(tmp_path), end - 40, end)
            for label in (0, 1):
                answer = link.ask(sample([label, label * 5, 0]))
                assert isinstance(answer, Prediction)
                is_sure = answer.label == 1 or answer.confidence >= 250
                is_on = is_sure and answer.label < 2
                assert pins(tmp_path)[str(16 + min(answer.label, 1))] == "01"[is_on]
                shown = (tmp_path / "pixel.5").read_text().splitlines()[-1]
                assert (shown != "0 0 0") == is_on
                seen.add((answer.label, is_on))
    assert {(0, False), (0, True), (1, True)} <= seen


def test_a_neopixel_has_the_colour_of_the_predicted_class(
    start: Callable[..., Device], tmp_path: Path
) -> None:
    """The colour is set only where the class changes; a class without a colour is dark."""
    with connected(start(MACHINE, [[[5, 1, 2, 3]], [[5, 0, 64, 255], 16]])) as link:
        learn(link, three_classes(tmp_path), 0, 300)
        log = tmp_path / "pixel.5"
        log.unlink()
        for label in (0, 0, 1, 1, 2, 0):
            assert link.ask(sample([label, label * 5, 0])).label == label  # type: ignore[union-attr]
        assert log.read_text().splitlines() == ["1 2 3", "0 64 255", "0 0 0", "1 2 3"]
        assert pins(tmp_path)["16"] == "0"


SOUNDING = [[[6, 880]], [[6, 440], 16], []]


def test_a_buzzer_sounds_the_tone_of_the_predicted_class(
    start: Callable[..., Device], tmp_path: Path
) -> None:
    """The tone is set only where the class changes; a class without a tone is silent."""
    log = tmp_path / "tone.6"
    with connected(start(MACHINE, SOUNDING)) as link:
        assert log.read_text().splitlines() == ["440 Hz", "0"]
        learn(link, three_classes(tmp_path), 0, 300)
        log.write_text("")
        for label in (2, 0, 0, 1, 1, 2, 2, 0):
            assert link.ask(sample([label, label * 5, 0])).label == label  # type: ignore[union-attr]
        lines = log.read_text().splitlines()
        assert lines[-7:] == ["880 Hz", "32768", "440 Hz", "32768", "0", "880 Hz", "32768"]
        assert pins(tmp_path)["16"] == "0"


# The program can end by its serial line, by Ctrl-C, or by an error
ENDING = """
import os
from microshrub.device.application import Application

def tick(self, now):
    if "end" in os.listdir():
        raise %s
    return ""

Application.tick = tick
"""


@pytest.mark.parametrize("why", ["EOFError", "KeyboardInterrupt", "OSError(5)", "ValueError(5)"])
def test_a_buzzer_is_silent_when_the_program_ends(
    start: Callable[..., Device], tmp_path: Path, why: str
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "ending.py").write_text(ENDING % why)
    device = start(MACHINE + "\n\nimport ending\n", [[[6, 880]]] * 3)
    log = tmp_path / "tone.6"
    with connected(device) as link:
        learn(link, three_classes(tmp_path), 0, 60)
        assert log.read_text().split()[-1] == "32768"
        (tmp_path / "end").touch()
        device.process.wait(PATIENCE)
    assert log.read_text().split()[-1] == "0"


def test_without_a_usb_device_a_key_is_refused_in_one_line(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put(tmp_path, [[[44]], [], []], MACHINE)
    output = run_device(micropython_command, tmp_path)
    assert "has no machine.USBDevice" in output


def test_without_pwm_a_buzzer_is_refused_in_one_line(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put(tmp_path, SOUNDING, MACHINE.partition("class PWM")[0])
    output = run_device(micropython_command, tmp_path)
    assert "has no machine.PWM" in output


def test_switching_allocates_nothing(start: Callable[..., Device], tmp_path: Path) -> None:
    stream = three_classes(tmp_path)
    with connected(start(QUIET, [[16, [6, 880]], [17, [6, 440]], [[5, 0, 64, 255]]])) as link:
        learn(link, stream, 0, 100)
        with nothing_allocated(link):
            learn(link, stream, 100, 200)


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"a": 16}, "a list of pins for each class"),
        ([16, 17], "a list of pins for each class"),
        ([[1], [2], [3], [4]], "a list of pins for each class"),
        ([[1], [[2, 3, 4]]], "a pixel is [pin, red, green, blue]"),
        ([[1], [[2, 3, 4, 256]]], "a pixel's colour"),
        ([[1], [[2, 19]]], "a tone's hertz"),
        ([[1], [[2, 20001]]], "a tone's hertz"),
        ([[1], [[2, True]]], "a tone's hertz"),
        ([[1], [[]]], "a tone [pin, hertz]"),
        ([[1], [[3]]], "a key is 4..115"),
        ([[1], [[232]]], "a key is 4..115"),
        ([[1], [[116]]], "a key is 4..115 or 224..231, not 116"),
        ([[1], [["a"]]], "a key is 4..115"),
        ([[1], [[k] for k in range(4, 11)]], "at most six keys"),
    ],
)
def test_an_invalid_list_of_pins_is_refused(
    micropython_command: tuple[str, ...], tmp_path: Path, switches: object, message: str
) -> None:
    put(tmp_path, switches, MACHINE + USB)
    assert message in run_device(micropython_command, tmp_path)
