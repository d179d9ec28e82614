"""A pin has one task, which the chip must support; harmless combinations are accepted."""

from __future__ import annotations

import pytest

from microshrub_host import Anomaly, SpareClasses
from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_tools.board.program_options import ProgramOptions
from microshrub_tools.board.program_settings import LabelPin, Sleep

PICO, ESP32 = board_files.load("rpi_pico"), board_files.load("esp32")
MOTION = ("mpu6050", "scl=1", "sda=0", "axes=3")
CLASSES = ("no", "yes")


def made(options: ProgramOptions, board: board_files.Board = PICO, features: int = 3) -> None:
    options.config(board, tuple("xyzuvw"[:features]), CLASSES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ProgramOptions(("mpu6050", "scl=1", "sda=1", "axes=3")), "mpu6050 scl and .* sda"),
        (ProgramOptions(MOTION, label_pin=LabelPin(1)), "mpu6050 scl and the button of --label"),
        (ProgramOptions(MOTION, switch={"yes": (0,)}), "pin 0 .* mpu6050 sda and --switch"),
        (ProgramOptions(MOTION, switch={"yes": ("0:red",)}), "pin 0 .* sda and --switch"),
        (ProgramOptions(MOTION, sleep=Sleep(pin=0)), "sda and the button of --sleep"),
        (
            ProgramOptions(MOTION, label_pin=LabelPin(15), switch={"no": (15,)}),
            "pin 15 is for two things: the button of --label-pin and --switch",
        ),
        (
            ProgramOptions(MOTION, companions=[SpareClasses(2, pin=14)], led_pin=14),
            "the button of --spare-classes and --led-pin",
        ),
        (
            ProgramOptions(MOTION, companions=[Anomaly(0.01, pin=1)]),
            "scl and the button of --anomaly",
        ),
        (
            ProgramOptions([MOTION, ("adc", "pins=26", "rate=100")],
                           switch={"no": (26,)}),
            "adc pins and --switch",
        ),
        (
            ProgramOptions([MOTION, ("bh1750", "scl=0", "sda=1", "rate=100")]),
            "mpu6050 .* and --sensor bh1750",
        ),
    ],
)  # fmt: skip
def test_no_pin_has_two_tasks(options: ProgramOptions, message: str) -> None:
    features = 3 if isinstance(options.sensor[0], str) else 4
    with pytest.raises(UserError, match=message):
        made(options, features=features)


def test_some_uses_may_share_a_pin() -> None:
    """Two buttons, the lights of several classes, and two sensors on a bus may share pins."""
    made(ProgramOptions(MOTION, label_pin=LabelPin(15), sleep=Sleep(pin=15)))
    made(ProgramOptions(MOTION, switch={"no": (16, 17), "yes": (16,)}))
    made(ProgramOptions(MOTION, switch={"no": ("16:red",), "yes": ("16:green",)}))
    both = ProgramOptions([MOTION, ("bh1750", "scl=1", "sda=0", "rate=100")])
    made(both, features=4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mpu6050", "scl=0", "sda=1", "axes=3"), "pins 0 and 1 cannot be scl and sda"),
        (("mpu6050", "scl=3", "sda=0", "axes=3"), "pins 3 and 0 cannot be scl and sda"),
        (("mpu6050", "scl=3", "sda=2", "axes=3"), "scl=3 sda=2 are pins of bus 1: add i2c=1"),
        (("mpu6050", "scl=5", "sda=4", "i2c=1", "axes=3"), "are pins of bus 0: add i2c=0"),
        (("adxl345", "scl=7", "sda=6"), "adxl345: scl=7 sda=6 are pins of bus 1: add i2c=1"),
        (("adc", "pins=26,27,5"), "pin 5 is not analog; 26, 27, 28, 29 are"),
    ],
)
def test_pins_that_an_rp2040_does_not_support_are_refused(
    words: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        made(ProgramOptions(words))


@pytest.mark.parametrize("bus", range(2))
@pytest.mark.parametrize("pair", range(7))
def test_the_buses_of_an_rp2040(bus: int, pair: int) -> None:
    sda = 4 * pair + 2 * bus
    made(ProgramOptions(("mpu6050", f"scl={sda + 1}", f"sda={sda}", f"i2c={bus}", "axes=3")))


def test_other_chips_and_names_are_not_checked() -> None:
    made(ProgramOptions(("mpu6050", "scl=22", "sda=21", "axes=3")), ESP32)
    made(ProgramOptions(("adc", "pins=A0,A1,A2")))
