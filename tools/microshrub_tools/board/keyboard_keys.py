"""The keys of a USB keyboard by their names, with their numbers on the wire.

A key has the name that a browser gives it (KeyboardEvent.code); letters and digits name
themselves. A number is the key's place on a keyboard for American English (USB HID usage tables,
page 7): the PC's own layout decides which letter that is.
"""

from __future__ import annotations

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import did_you_mean

_A, _ONE, _F1, _F13 = 4, 30, 58, 104
_HELD = 224  # the first of the modifier keys
_MOST = 6  # keys at a time, besides the modifiers

KEYS = {
    **{letter: _A + i for i, letter in enumerate("abcdefghijklmnopqrstuvwxyz")},
    **{digit: _ONE + i for i, digit in enumerate("1234567890")},
    **dict(zip(("Enter", "Escape", "Backspace", "Tab", "Space"), range(40, 45), strict=True)),
    **{"Minus": 45, "Equal": 46, "BracketLeft": 47, "BracketRight": 48, "Backslash": 49},
    **{"Semicolon": 51, "Quote": 52, "Backquote": 53, "Comma": 54, "Period": 55, "Slash": 56},
    **{f"F{i + 1}": _F1 + i for i in range(12)},
    **{f"F{i + 13}": _F13 + i for i in range(12)},
    **{"Insert": 73, "Home": 74, "PageUp": 75, "Delete": 76, "End": 77, "PageDown": 78},
    **{"ArrowRight": 79, "ArrowLeft": 80, "ArrowDown": 81, "ArrowUp": 82},
    **{
        f"{name}{side}": _HELD + 4 * j + i
        for j, side in enumerate(("Left", "Right"))
        for i, name in enumerate(("Control", "Shift", "Alt", "Meta"))
    },
}


def usage(name: str) -> int:
    """Return the number of a key, by its name in any case. Raises UserError."""
    spoken = {key.lower(): number for key, number in KEYS.items()}
    if name.lower() in spoken:
        return spoken[name.lower()]
    raise UserError(f"--switch knows no key {name!r}. {did_you_mean(name, KEYS)}")


def check(name: str, keys: list[int]) -> None:
    """Raise UserError if a class has more keys than a keyboard can report, or has a key twice."""
    if len(set(keys)) < len(keys):
        raise UserError(f"--switch {name} has one key twice")
    if sum(key < _HELD for key in keys) > _MOST:
        raise UserError(
            f"--switch {name} has more than {_MOST} keys, and a keyboard tells {_MOST}"
        )
