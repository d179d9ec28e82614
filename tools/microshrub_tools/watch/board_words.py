"""What a board's program says to people, in lines such as `microshrub: the FIFO overran`."""

from __future__ import annotations

_BEGIN = "microshrub: "
_MOST = 1000  # bytes of a line


def words_of(line: str) -> str | None:
    """What the program says in a line; None if the line is of something else."""
    return line.strip().removeprefix(_BEGIN) if line.strip().startswith(_BEGIN) else None


class BoardWords:
    """Looks through what comes between the frames of a link; `last` is what was said last."""

    def __init__(self) -> None:
        self.last = ""
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take what was no frame."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-_MOST:]
        for line in lines:
            self.last = words_of(line.decode(errors="replace")) or self.last
