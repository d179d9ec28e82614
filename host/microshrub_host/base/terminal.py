"""Text for people, on the standard output and on the standard error; how far long work is.

Names come from files and from boards. What a terminal would act upon is taken out here, and only
here: data keep it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from .text import shown

_SECONDS = 10.0  # between lines about work that is not done yet


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


class showing:  # noqa: N801  (used as a with statement)
    """`with showing("reading") as update: update(done, total, note)`, on the standard error.

    A terminal shows a bar, which goes when the work is done. Anything else gets a line at most
    every ten seconds.

    With announce the name of the work is printed at its start where there is no bar.
    """

    def __init__(self, what: str, *, announce: bool = False) -> None:
        from rich.progress import (  # which help does not need
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
        """Say that done of total is done; note is what else there is to tell."""
        self._bar.update(self._task, completed=done, total=total, note=note)
        if not messages.is_terminal and time.monotonic() - self._shown_at >= _SECONDS:
            self._shown_at = time.monotonic()
            messages.say(f"{self._what}: {100 * done // max(total, 1)} % {note}".rstrip())

    def __exit__(self, *_: object) -> None:
        if messages.is_terminal:  # where it never began, some versions of rich print an empty line
            self._bar.stop()
