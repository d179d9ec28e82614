"""Golden files: cases, each a line that begins with "$ ", and below each what is printed.

What stands above the first case is for people.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_CASE = "$ "


def read(path: Path) -> list[str]:
    """The lines of a golden file."""
    return path.read_text(encoding="utf-8").splitlines()


def renewed(path: Path, printed: Callable[[str], str]) -> list[str]:
    """The lines of a golden file as they have to be, if printed() gives what a case prints."""
    lines: list[str] = []
    begun = False
    for line in read(path):
        if line.startswith(_CASE):
            begun = True
            lines += [line, *printed(line.removeprefix(_CASE)).splitlines()]
        elif not begun:
            lines.append(line)
    return lines


def write(path: Path, printed: Callable[[str], str]) -> None:
    """Write a golden file anew; `git diff` then shows which messages have changed."""
    path.write_text("\n".join(renewed(path, printed)) + "\n", encoding="utf-8")
