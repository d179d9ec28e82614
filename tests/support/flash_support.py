"""A board for tests of `microshrub flash` without a serial line, and a tiny program."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from typing import Any

from microshrub_tools.board import flash
from microshrub_tools.board.board_repl import RaisedError

_SERVE = """
import os, sys
os.chdir(sys.argv[1])
sys.path[:] = [""]
space = {}
while True:
    size = sys.stdin.readline()
    if not size:
        break
    try:
        exec(sys.stdin.read(int(size)), space)
        print("\\x04")
    except Exception as error:
        sys.print_exception(error, sys.stdout)
        print("\\x04error")
"""


class Direct:
    """A real MicroPython with a folder as its flash; it runs code at once, without a serial line.

    After `steps` calls it raises Cut, as in a power cut.
    """

    def __init__(self, command: tuple[str, ...], folder: Path, steps: int) -> None:
        folder.mkdir(exist_ok=True)
        script = folder.with_name("serve.py")
        script.write_text(_SERVE)
        self.steps = steps
        self.process = subprocess.Popen(
            [*command, str(script), str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def reset(self) -> None:
        """Do nothing: these tests need no reset."""

    def run(self, code: str, seconds: float = 0) -> str:
        if not self.steps:
            raise Cut
        self.steps -= 1
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{len(code)}\n{code}")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.startswith("\x04"):
                if "error" in line:
                    raise RaisedError(lines[-1].strip())
                break
            lines.append(line)
        return "".join(lines)

    def value(self, expression: str, seconds: float = 0) -> Any:
        return ast.literal_eval(self.run(f"print(repr({expression}))"))

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class Cut(Exception):  # noqa: N818
    """A power cut."""


def tiny(words: str) -> dict[str, bytes]:
    """Return a program that is quickly copied."""
    return {
        "main.py": b"import word\nprint(word.WORDS)\n",
        "config.json": b"{}",
        "lib/word.py": f"WORDS = {words!r}\n".encode(),
        "lib/microshrub/a.py": b"#" * 4000,
    }


def put(board: Direct, files: dict[str, bytes]) -> None:
    """Do everything that flash() does except the self-test."""
    flash.prepare(board)
    flash.check_fit(board, files)
    flash.copy(board, files)
    flash.verify(board, files)
    flash.take_checkpoint_along(board)
    flash.switch(board)
