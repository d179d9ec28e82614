"""Lines of text from a board's program, such as `microshrub: the FIFO overran`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..link.link_errors import LostError, StoppedError

_BEGIN = "microshrub: "
_MOST = 1000  # bytes of a line


def words_of(line: str) -> str | None:
    """Return the program's message in a line; None for any other line."""
    return line.strip().removeprefix(_BEGIN) if line.strip().startswith(_BEGIN) else None


class BoardWords:
    """Finds the program's messages between the frames of a link; `last` is the newest one.

    For a traceback, `last` is its last line.
    """

    def __init__(self) -> None:
        self.last = ""
        self._traced = False
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take bytes that are no frame."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-_MOST:]
        for line in lines:
            self._take(line.decode(errors="replace").rstrip())

    def _take(self, line: str) -> None:
        if self._traced and line and not line.startswith(" "):
            self.last, self._traced = line, False
        self._traced |= line.startswith("Traceback")
        self.last = words_of(line) or self.last

    @contextlib.contextmanager
    def explaining(self) -> Iterator[None]:
        """Add the board's newest line to a LostError in the block, if the program has ended."""
        try:
            yield
        except LostError as error:
            raise self.explained(error) from None

    def explained(self, error: LostError) -> LostError:
        """Return the error, with the board's newest line if the program has ended."""
        if not isinstance(error, StoppedError) or not self.last:
            return error
        return StoppedError(
            f"the board's program has ended. It said: {self.last}. Press the board's reset button "
            "to start it again; docs/how-to/board-does-not-answer.md explains such lines"
        )
