"""Text for people, on the standard output and on the standard error."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console


class Terminal(Console):
    """A Console that prints text as it is: a file may be called y[bold].csv."""

    def __init__(self, *, stderr: bool = False, file: TextIO | None = None) -> None:
        super().__init__(stderr=stderr, file=file, markup=False, emoji=False, highlight=False)

    def say(self, text: str, style: str | None = None) -> None:
        """Print one sentence; where it is too long for the line, the terminal wraps it."""
        self.print(text, style=style, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Let the command line see that nobody reads on; rich would exit with 1."""
        raise BrokenPipeError


console = Terminal()
messages = Terminal(stderr=True)
