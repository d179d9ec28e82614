"""What each class switches, for config.json's `switches`: pins, and colours of NeoPixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import did_you_mean
from microshrub_host.boards.board_files import Board

from .program_sensors import pin as sensor_pin

Switched = int | str | list[int | str]  # a pin, or [pin, red, green, blue]

# A quarter of what a NeoPixel can do, which is bright enough for a room.
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
    """What the words of each class switch: 16 a pin, "27:green" a NeoPixel. Raises UserError."""
    for name in given:
        if name not in classes:
            raise UserError(f"--switch has no class {name}. {did_you_mean(name, classes)}")
    found = [[_switched(what, board) for what in given.get(name, ())] for name in classes]
    pins = {what for row in found for what in row if not isinstance(what, list)}
    for name, row in zip(classes, found, strict=True):
        pixels = [what[0] for what in row if isinstance(what, list)]
        for pin in pixels:
            if pixels.count(pin) > 1:
                raise UserError(f"--switch {name} has two colours for the NeoPixel at pin {pin}")
            if pin in pins:
                raise UserError(
                    f"--switch has pin {pin} with a colour, as a NeoPixel, and without, as a light"
                )
    return found


def _switched(what: int | str, board: Board) -> Switched:
    pin, colon, colour = str(what).partition(":")
    if not colon:
        return sensor_pin(what, board)
    return [sensor_pin(pin, board), *_colour(colour)]


def _colour(text: str) -> tuple[int, ...]:
    """Red, green and blue, each 0..255."""
    if text in COLOURS:
        return COLOURS[text]
    digits = text.removeprefix("#")
    if len(digits) == 6 and all(each in "0123456789abcdefABCDEF" for each in digits):
        return tuple(bytes.fromhex(digits))
    raise UserError(
        f"--switch knows no colour {text!r}: {', '.join(COLOURS)}, or six digits such as 402000 "
        "(red, green, blue)"
    )
