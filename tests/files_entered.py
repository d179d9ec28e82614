"""How many files of the project a command enters: those of which a function is called.

    python tests/files_entered.py simulate gestures.csv --model shrub --window 16

Files that are entered while samples are learned and counted have a star. Code that runs because a
file is imported does not count. The command's own output is left out. What is planned or compiled
for the first time is kept in the cache, so a second run enters fewer files than the first.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("firmware", "host", "research", "tools")
_EACH_BLOCK = {  # the functions that a block of samples goes through, by their files
    ("engines", "engines.py"): "run",
    ("evaluation", "classes.py"): "take",
    ("evaluation", "regression.py"): "take",
}
_BLOCK_NAMES = set(_EACH_BLOCK.values())
_STEPS = {"call": 1, "return": -1}


class Entered:
    """Notes the files of the functions that are called; see sys.setprofile."""

    def __init__(self) -> None:
        self.files: set[Path] = set()
        self.by_samples: set[Path] = set()
        self._importing = self._learning = 0
        self._known: set[tuple[CodeType, bool]] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        step = _STEPS.get(event, 0)
        if step and code.co_name in _BLOCK_NAMES and _is_of_a_block(code):
            self._learning += step
        if code.co_name == "<module>":
            self._importing += step
        elif event == "call" and not self._importing:
            self._note(code, bool(self._learning))

    def _note(self, code: CodeType, learning: bool) -> None:
        if (code, learning) in self._known or not code.co_flags & inspect.CO_OPTIMIZED:
            return
        self._known.add((code, learning))
        self.files.add(Path(code.co_filename))
        if learning:
            self.by_samples.add(Path(code.co_filename))


def _is_of_a_block(code: CodeType) -> bool:
    return _EACH_BLOCK.get(Path(code.co_filename).parts[-2:]) == code.co_name


def entered(words: Sequence[str]) -> dict[Path, bool]:
    """The files that `microshrub` with these words enters, below the project's folder.

    Of each, whether samples pass it, too.
    """
    from microshrub_tools.cli.main import main

    noted = Entered()
    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(noted)
        try:
            code = main(words)
        finally:
            sys.setprofile(None)
    assert code == 0
    ours = {file: file.relative_to(ROOT) for file in noted.files if file.is_relative_to(ROOT)}
    return {
        found: file in noted.by_samples
        for file, found in sorted(ours.items())
        if found.parts[0] in ROOMS
    }


if __name__ == "__main__":
    found = entered(sys.argv[1:])
    for file, passed in found.items():
        print("*" if passed else " ", file)
    rooms = Counter(file.parts[0] for file in found)
    print(len(found), "files:", ", ".join(f"{count} of {room}" for room, count in rooms.items()))
    print(sum(found.values()), "of them while samples are learned")
