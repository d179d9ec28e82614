"""Words for people, made of what programs have."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHOWN = 40  # choices


def count(number: int, noun: str) -> str:
    """`1 sample`, `2,310 samples`."""
    return f"{number:,} {noun}{'' if number == 1 else 's' if noun[-1] != 's' else 'es'}"


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest choice, and all of them."""
    import difflib  # takes as long as the rest of the start

    known = list(choices)
    near = [choice for choice in known if choice.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    more = f" and {len(known) - _SHOWN:,} more" if len(known) > _SHOWN else ""
    return f"{hint}Choose from: {', '.join(known[:_SHOWN])}{more}."


# What a terminal acts upon instead of showing it, but for tabs and ends of lines; and what turns
# the direction of text around
_ACTS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_HALVES = re.compile("[\ud800-\udfff]")  # of characters; what is no UTF-8 in the name of a file


def shown(text: str) -> str:
    """Text for a terminal, without what that would act upon."""
    return whole(_ACTS.sub("", text))


def whole(text: str) -> str:
    """Text that every file and every picture takes."""
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


def printable(name: str) -> str:
    """A name from a file without what would move a terminal's cursor or break an XML file."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)
