"""Text for people, on the standard output and on the standard error.

Names come from files and from boards. What a terminal would act upon is taken out here, and only
here: data keep it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from .text import shown


class Terminal(Console):
    """A Console that prints text as it is: a file may be called y[bold].csv."""

    def __init__(self, *, stderr: bool = False, file: TextIO | None = None) -> None:
        super().__init__(stderr=stderr, file=file, markup=False, emoji=False, highlight=False)

    def say(self, text: str, style: str | None = None) -> None:
        """Print one sentence; where it is too long for the line, the terminal wraps it."""
        self.print(text, style=style, soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Of whatever is printed, the parts: text, and what rich itself tells the terminal."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else shown(text), style, control)

    def on_broken_pipe(self) -> None:
        """Let the command line see that nobody reads on; rich would exit with 1."""
        raise BrokenPipeError


console = Terminal()
messages = Terminal(stderr=True)
