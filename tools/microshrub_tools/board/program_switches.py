"""The pins, NeoPixel colours, tones and keys that each class switches, as in config.json."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import did_you_mean
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.program_library import has_key

from . import keyboard_keys
from .program_sensors import pin as sensor_pin

# A pin, a NeoPixel as [pin, red, green, blue], a buzzer as [pin, hertz], or a key as [usage]
Switched = int | str | list[int | str]

_KINDS = {2: "a buzzer", 4: "a NeoPixel"}  # by the length of the list
_HERTZ = (20, 20_000)  # hertz that people hear, see firmware/microshrub/device/switches.py

# A quarter of a NeoPixel's full brightness, which is bright enough for a room.
COLOURS = {
    "red": (64, 0, 0),
    "orange": (64, 20, 0),
    "yellow": (64, 48, 0),
    "green": (0, 64, 0),
    "cyan": (0, 48, 48),
    "blue": (0, 0, 64),
    "magenta": (48, 0, 48),
    "white": (40, 40, 40),
}


def switches(
    given: Mapping[str, Sequence[int | str]], classes: Sequence[str], board: Board
) -> list[list[Switched]]:
    """Parse the words of each class, such as 16, "27:green", "28:880Hz" and "key:Space".

    These name a pin, a NeoPixel, a buzzer and a key. Raises UserError.
    """
    for name in given:
        if name not in classes:
            raise UserError(f"--switch has no class {name}. {did_you_mean(name, classes)}")
    result = [[_switched(what, board) for what in given.get(name, ())] for name in classes]
    for name, row in zip(classes, result, strict=True):
        keyboard_keys.check(name, [what[0] for what in row if is_key(what)])
        shown = [what for what in row if isinstance(what, list) and not is_key(what)]
        pins = [what[0] for what in shown]
        for pin, *values in shown:
            if pins.count(pin) > 1:
                two = "tones for the buzzer" if len(values) == 1 else "colours for the NeoPixel"
                raise UserError(f"--switch {name} has two {two} at pin {pin}")
    _check_kinds(result)
    if has_key(result) and not board.usb_device_source:
        raise UserError(
            f"--switch: {board.name} cannot press keys: its MicroPython has no machine.USBDevice. "
            "Those of RP2040, RP2350, ESP32-S2 and ESP32-S3 have it"
        )
    return result


def is_key(what: Switched) -> TypeGuard[list[int]]:
    """Return whether an entry is a key, [usage]."""
    return isinstance(what, list) and len(what) == 1


def above(given: Mapping[str, float], classes: Sequence[str]) -> list[int]:
    """Return for each class the confidence, 0..255, from which on the class switches something.

    Raises UserError.
    """
    for name, share in given.items():
        if name not in classes:
            raise UserError(f"--switch-above has no class {name}. {did_you_mean(name, classes)}")
        if not 0 <= share <= 100:
            raise UserError(f"--switch-above {name} has to be 0% to 100%, not {share:g}%")
    return [math.ceil(given.get(name, 0) * 255 / 100) for name in classes]


def _check_kinds(rows: Sequence[Sequence[Switched]]) -> None:
    """Raise UserError if a pin has two kinds of things, or several pins have a buzzer."""
    kinds: dict[int | str, str] = {}
    for what in (what for row in rows for what in row if not is_key(what)):
        pin, kind = (what[0], _KINDS[len(what)]) if isinstance(what, list) else (what, "a light")
        first = kinds.setdefault(pin, kind)
        if first != kind:
            raise UserError(
                f"--switch has pin {pin} for {first} and for {kind}. Give one of them another pin"
            )
    buzzers = [str(pin) for pin, kind in kinds.items() if kind == "a buzzer"]
    if len(buzzers) > 1:
        raise UserError(
            f"--switch has buzzers at pins {' and '.join(buzzers)}: a program has one, with a "
            "tone for each class"
        )


def _switched(what: int | str, board: Board) -> Switched:
    pin, colon, shown = str(what).partition(":")
    if not colon:
        return sensor_pin(what, board)
    if pin == "key":
        return [keyboard_keys.usage(shown)]
    number = shown.lower().removesuffix("hz")
    if number != shown.lower():
        return [sensor_pin(pin, board), _tone(number.strip(), shown)]
    return [sensor_pin(pin, board), *_colour(shown)]


def _tone(number: str, given: str) -> int:
    """Return the tone in hertz. Raises UserError."""
    if number.isdecimal() and number.isascii() and _HERTZ[0] <= int(number) <= _HERTZ[1]:
        return int(number)
    raise UserError(
        f"--switch: a tone has a whole number of {_HERTZ[0]} to {_HERTZ[1]:,} hertz, such as "
        f"880Hz, not {given!r}"
    )


def _colour(text: str) -> tuple[int, ...]:
    """Return red, green and blue, each 0..255. Raises UserError."""
    if text in COLOURS:
        return COLOURS[text]
    digits = text.removeprefix("#")
    if len(digits) == 6 and all(each in "0123456789abcdefABCDEF" for each in digits):
        return tuple(bytes.fromhex(digits))
    raise UserError(
        f"--switch knows no colour {text!r}: {', '.join(COLOURS)}, or six digits such as 402000 "
        "(red, green, blue). A buzzer's tone is 880Hz, and a key key:Space"
    )
