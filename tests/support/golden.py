"""Golden files: cases, each a line that begins with "$ ", followed by the printed lines.

Empty lines, lines that begin with "#", and all lines above the first case are for people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_CASE = "$ "


@dataclass
class Case:
    """A case without its mark, and the printed lines."""

    text: str
    printed: list[str] = field(default_factory=list)


def cases(path: Path) -> list[Case]:
    """Return the cases of a golden file."""
    return [entry for entry in _entries(path) if isinstance(entry, Case)]


def write(path: Path, printed: Callable[[str], list[str]]) -> None:
    """Rewrite a golden file; `git diff` then shows which messages have changed."""
    lines: list[str] = []
    for entry in _entries(path):
        if isinstance(entry, Case):
            lines += [_CASE + entry.text, *printed(entry.text)]
        else:
            lines.append(entry)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _entries(path: Path) -> list[Case | str]:
    """Return the cases, and the other lines unchanged."""
    entries: list[Case | str] = []
    case = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(_CASE):
            case = Case(line.removeprefix(_CASE))
            entries.append(case)
        elif case and line and not line.startswith("#"):
            case.printed.append(line)
        else:
            entries.append(line)
    return entries
