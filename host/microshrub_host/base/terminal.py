"""Text for people on standard output and standard error, and the progress of long work.

Names come from files and boards. Control characters are removed from text here, and only here:
data keep them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from .text import shown

_SECONDS = 10.0  # between two lines of progress


class Terminal(Console):
    """A Console that prints text as it is: a file may be called y[bold].csv."""

    def __init__(self, *, stderr: bool = False, file: TextIO | None = None) -> None:
        super().__init__(stderr=stderr, file=file, markup=False, emoji=False, highlight=False)

    def say(self, text: str, style: str | None = None) -> None:
        """Print one sentence; the terminal wraps a long one."""
        self.print(text, style=style, soft_wrap=True)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield an output's parts: text without control characters, and rich's own controls."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else shown(text), style, control)

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError for the command line, as rich would exit with 1."""
        raise BrokenPipeError


console = Terminal()
messages = Terminal(stderr=True)


class showing:  # noqa: N801  (used as a with statement)
    """Progress on standard error: `with showing("reading") as update: update(done, total, note)`.

    A terminal shows a bar, which disappears when the work is done. Any other output gets a line at
    most every ten seconds, and with announce also the name of the work at the start.
    """

    def __init__(self, what: str, *, announce: bool = False) -> None:
        from rich.progress import (  # not needed for help
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        self._what = what
        self._announce = announce
        self._shown_at = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn("{task.percentage:>3.0f} %", markup=False),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=messages,
            transient=True,
            disable=not messages.is_terminal,
        )
        self._task = self._bar.add_task(what, total=None, note="")

    def __enter__(self) -> showing:
        if messages.is_terminal:
            self._bar.start()
        elif self._announce:
            messages.say(self._what)
        return self

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Show that done of total is done, with a note."""
        self._bar.update(self._task, completed=done, total=total, note=note)
        if not messages.is_terminal and time.monotonic() - self._shown_at >= _SECONDS:
            self._shown_at = time.monotonic()
            messages.say(f"{self._what}: {100 * done // max(total, 1)} % {note}".rstrip())

    def __exit__(self, *_: object) -> None:
        if messages.is_terminal:  # without a start, some versions of rich print an empty line
            self._bar.stop()
