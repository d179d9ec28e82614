"""The refusals and notes of the commands for boards, word for word: board_refusals.txt.

After you change a message or add a case (a line that begins with "$ "), rewrite the file:
`PYTHONPATH=tests/support python tests/tools/board/test_board_refusals.py`.
The commit then shows the change.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import golden
from packet_support import saved_model
from script_support import run

REFUSALS = Path(__file__).resolve().with_name("board_refusals.txt")
_LIGHT = """
class Light:
    names = ("light", "dark")

    def __init__(self, board, address):
        pass

    def read(self, values):
        return False
"""


@contextlib.contextmanager
def _files() -> Iterator[None]:
    """A folder with a saved model of x, y and z, a recording for it, a sensor and a password."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            saved_model(Path("m.mshrub"), (0, 1), seed=1)
            Path("c.csv").write_text("x,y,z,label\n1,2,3,rest\n2,3,4,walk\n")
            Path("light.py").write_text(_LIGHT)
            Path("secret.txt").write_text("sesame")
            yield
        finally:
            os.chdir(before)


def _printed(case: str) -> list[str]:
    """Return a command's lines on standard error and its exit code; its terminal has no input.

    The line about compiling kernels is left out: only the first call prints it.
    """
    output, errors = io.StringIO(), io.StringIO()
    terminal, sys.stdin = sys.stdin, io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            code = run(*shlex.split(case)[1:])
    finally:
        sys.stdin = terminal
    lines = [line for line in errors.getvalue().splitlines() if not line.startswith("compiling")]
    return [*lines, f"[{code}]"]


def test_each_refusal_has_exactly_these_words() -> None:
    with _files():
        for case in golden.cases(REFUSALS):
            assert _printed(case.text) == case.printed, case.text


if __name__ == "__main__":
    with _files():
        golden.write(REFUSALS, _printed)
