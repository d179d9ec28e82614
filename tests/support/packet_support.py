"""Thickets that teach each other: three classes with three centres, and boards that know some."""

from __future__ import annotations

import struct
from array import array
from binascii import crc32
from pathlib import Path
from typing import Any

import numpy as np

from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files, shared_samples
from microshrub_host.streams.stream import Stream

NAMES = ("x", "y", "z")
CLASSES = ("rest", "walk", "run")
UNITS = ((0, 2),) * 3
_MIDDLES = np.array([[0, 0, 0], [3000, 500, -2000], [-2500, 2500, 2500]])


def rows_of(label: int, count: int, seed: int) -> np.ndarray:
    """Return raw rows of a class, shape (count, 3)."""
    return (
        np.random.default_rng((seed, label)).normal(_MIDDLES[label], 200, (count, 3)).astype(int)
    )


def saved_model(path: Path, classes: tuple[int, ...], seed: int, names: Any = NAMES) -> Path:
    """Save a thicket that has learned 60 samples of each of these classes; return the file."""
    rows = np.concatenate([rows_of(c, 60, seed) for c in classes]) / 100
    labels = np.repeat(classes, 60).astype(np.uint8)
    order = np.random.default_rng(seed).permutation(len(labels))
    stream = Stream("taught", rows[order], labels[order], names, CLASSES)
    parameters = {"features": 3, "classes": 3, "bytes": 8192}
    result = prequential.evaluate(stream, "thicket", parameters)
    model_files.write(path, model_files.of_run(result, stream))
    return path


def known(path: str | Path) -> tuple[str, ...]:
    """Return the classes of which a saved model holds samples, its own or another board's."""
    sharing = shared_samples.sharer(Path(path)).sharing
    return tuple(name for k, name in enumerate(CLASSES) if sharing._store.count(k))


class Board:
    """A thicket of 8 KB with its quantizer; it has learned this many samples of each class."""

    def __init__(self, library: Any, counts: tuple[int, int, int], seed: int = 0, **names: Any):
        self.library = library
        self.model = library.Thicket(3, 3, bytes=8192)
        self.quantizer = library.GrowingQuantizer(3, (self.model,))
        self.x = array("H", bytes(6))
        rows = [(row, c) for c, n in enumerate(counts) for row in rows_of(c, n, seed)]
        for k in np.random.default_rng(seed).permutation(len(rows)):
            self.learn(*rows[k])
        names_and_units = {"feature_names": NAMES, "units": UNITS, "class_names": CLASSES} | names
        self.sharing = library.Sharing(self.model, self.quantizer, **names_and_units)

    def learn(self, row: Any, label: int) -> None:
        """Learn a raw row."""
        self.quantizer.encode(array("i", [int(v) for v in row]), self.x)
        self.model.learn(self.x, label)

    def packet(self, *wanted: str, most: int = 20, origin: str = "kitchen") -> Any:
        """Return a packet with samples of these classes."""
        return self.library.SamplePacket(self.sharing.collect(origin, wanted, most))

    def learn_all(self) -> int:
        """Learn all waiting samples; return their number."""
        steps = self.sharing.waiting
        while self.sharing.step():
            pass
        while self.model.idle():
            pass
        return int(steps)

    def right(self, label: int) -> float:
        """Return the share of 100 other rows of a class that are predicted right."""
        count = 0
        for row in rows_of(label, 100, 99):
            self.quantizer.code(array("i", [int(v) for v in row]), self.x)
            count += self.model.predict(self.x) == label
        return count / 100

    def held(self, label: int) -> int:
        """Return the number of stored samples of a class."""
        buffers = {name: buffer for name, _, buffer in self.model.buffers()}
        return int(buffers["store.count"][label])

    def bits(self) -> bytes:
        """Return the complete state, of model and quantizer."""
        return bytes(self.model.save() + self.quantizer.save())


def far_away(library: Any) -> Board:
    """Return a board whose last class has values a thousand times as large as elsewhere."""
    board = Board(library, (0, 0, 0))
    for row in 1000 * rows_of(2, 40, 3):
        board.learn(row, 2)
    return board


def sealed(data: bytes | bytearray) -> bytes:
    """Return the packet with a checksum that matches its bytes."""
    body = bytes(data[:-4])
    return body + struct.pack("<I", crc32(body))
