"""Long work shows how far it is: a bar on a terminal, a line at every tenth elsewhere."""

from __future__ import annotations

from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from .terminal import messages


class showing:  # noqa: N801  (used as a with statement)
    """`with showing("reading") as update: update(done, total, note)`, on the standard error.

    With announce the name of the work is printed at its start where there is no bar.
    """

    def __init__(self, what: str, *, announce: bool = False) -> None:
        self._what = what
        self._announce = announce
        self._tenth = 0
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
        tenth = 10 * done // max(total, 1)
        if tenth > self._tenth and not messages.is_terminal:
            self._tenth = tenth
            messages.say(f"{self._what}: {10 * tenth} % {note}".rstrip())

    def __exit__(self, *_: object) -> None:
        if messages.is_terminal:  # where it never began, some versions of rich print an empty line
            self._bar.stop()
