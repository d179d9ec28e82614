"""A line that flips, drops, repeats, cuts and joins bytes, by a seed."""

from __future__ import annotations

import random

_HISTORY = 2048  # bytes that may be repeated


class Damage:
    """A channel that passes bytes on, with a fault about once in `every` bytes."""

    def __init__(self, seed: int, every: int) -> None:
        self._random = random.Random(seed)
        self._every = every
        self._left = self._gap()  # bytes until the next fault
        self._lose = 0  # bytes that are still to be lost
        self._zeros = 0  # zeros that are still to be lost
        self._history = b""
        self.faults = 0

    def __call__(self, data: bytes) -> bytes:
        """Return the bytes at the other end of the line."""
        self._history = (self._history + data)[-_HISTORY:]
        out = bytearray()
        while len(data) >= self._left:
            out += self._pass(data[: self._left])
            data = data[self._left :]
            self._left = self._gap()
            self.faults += 1
            faults = (self._flip, self._drop, self._repeat, self._cut, self._join)
            self._random.choice(faults)(out)
        self._left -= len(data)
        return bytes(out + self._pass(data))

    def forget(self) -> None:
        """Forget the bytes so far, which cannot be repeated: all buffers were emptied."""
        self._history = b""

    def end_cut(self) -> None:
        """End a cut of the line, which was silent for a while."""
        self._lose = 0

    def _gap(self) -> int:
        return self._random.randint(1, 2 * self._every)

    def _pass(self, data: bytes) -> bytes:
        lost = min(self._lose, len(data))
        self._lose -= lost
        data = data[lost:]
        zeros = min(self._zeros, data.count(0))
        self._zeros -= zeros
        return data.replace(b"\0", b"", zeros) if zeros else data

    def _flip(self, out: bytearray) -> None:
        if out:
            out[-1] ^= 1 << self._random.randrange(8)

    def _drop(self, out: bytearray) -> None:
        self._lose = self._random.randint(1, 3)

    def _cut(self, out: bytearray) -> None:
        self._lose = self._random.randint(4, 300)

    def _join(self, out: bytearray) -> None:
        self._zeros = self._random.randint(1, 4)

    def _repeat(self, out: bytearray) -> None:
        start = self._random.randrange(len(self._history) or 1)
        out += self._history[start : start + self._random.randint(1, 300)]
