"""How many files of the project a command enters: those of which a function is called.

    python tests/files_entered.py simulate gestures.csv --model shrub --window 16

Code that runs because a file is imported does not count. The command's own output is left out.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("firmware", "host", "research", "tools")


class Entered:
    """Notes the files of the functions that are called; see sys.setprofile."""

    def __init__(self) -> None:
        self.files: set[Path] = set()
        self._importing = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not self._importing and code.co_flags & inspect.CO_OPTIMIZED:
            self.files.add(Path(code.co_filename))


def entered(words: Sequence[str]) -> list[Path]:
    """The files that `microshrub` with these words enters, below the project's folder."""
    from microshrub_tools.cli.main import main

    noted = Entered()
    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(noted)
        try:
            code = main(words)
        finally:
            sys.setprofile(None)
    assert code == 0
    files = (file for file in noted.files if file.is_relative_to(ROOT))
    return sorted(found for file in files if (found := file.relative_to(ROOT)).parts[0] in ROOMS)


if __name__ == "__main__":
    found = entered(sys.argv[1:])
    for file in found:
        print(file)
    rooms = Counter(file.parts[0] for file in found)
    print(len(found), "files:", ", ".join(f"{count} of {room}" for room, count in rooms.items()))
