"""Golden files: cases, each a line that begins with "$ ", and below each what is printed.

What stands above the first case is for people.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_CASE = "$ "


def text_of(path: Path, printed: Callable[[str], str]) -> str:
    """The text of a golden file as it has to be, if printed() gives what a case prints."""
    lines: list[str] = []
    begun = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(_CASE):
            begun = True
            lines += [line, *printed(line.removeprefix(_CASE)).splitlines()]
        elif not begun:
            lines.append(line)
    return "\n".join(lines) + "\n"


def write(path: Path, printed: Callable[[str], str]) -> None:
    """Write a golden file anew; `git diff` then shows which messages have changed."""
    path.write_text(text_of(path, printed), encoding="utf-8")
