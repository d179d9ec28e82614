"""Long work shows how far it is: a bar on a terminal, a line at every tenth elsewhere."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

messages = Console(stderr=True, highlight=False)


class showing:  # noqa: N801  (used as a with statement)
    """`with showing("reading") as update: update(done, total, note)`, on the standard error."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._tenth = 0
        self._bar = Progress(
            TextColumn(what),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=messages,
            transient=True,
            disable=not messages.is_terminal,
        )
        self._task = self._bar.add_task(what, total=None, note="")

    def __enter__(self) -> showing:
        self._bar.start()
        return self

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Say that done of total is done; note is what else there is to tell."""
        self._bar.update(self._task, completed=done, total=total, note=note)
        tenth = 10 * done // max(total, 1)
        if tenth > self._tenth and not messages.is_terminal:
            self._tenth = tenth
            messages.print(f"{self._what}: {10 * tenth} % {note}")

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
