"""Packets of a board that knows all classes, and a PC's model after rows and then packets."""

from __future__ import annotations

import json
from array import array
from typing import Any

from packet_support import CLASSES, NAMES, UNITS, Board

from microshrub_host.library import loader

Taught = list[tuple[Any, int]]  # rows and their classes


def packet_of(label: int, origin: str, most: int = 20, names: Any = NAMES, **other: Any) -> bytes:
    """Return a packet of a board that knows all classes; `other`: units and class names."""
    library = loader.load(loader.fastest())
    board = Board(library, (40, 40, 40), feature_names=names, **other)
    its = other.get("class_names", CLASSES)
    return bytes(board.sharing.collect(origin, (its[label],), most))


def replayed(
    config: dict[str, Any], rows: Taught, *packets: bytes, most: int | None = None
) -> int:
    """Return the CRC32 of a model on the PC that learns these rows, and then `most` samples of
    each packet, by default all.
    """
    library = loader.load(loader.fastest())
    device = library.device
    app = device.application.Application(
        device.config.Configuration(json.dumps(config | {"checkpoint": None}).encode())
    )
    for row, label in rows:
        app.values[:] = array("i", row.tolist())
        app.sample(label)
    names = tuple(config["feature_names"])
    sharing = library.Sharing(app.learner, app.quantizer, names, UNITS, CLASSES)
    for data in packets:
        sharing.take(library.SamplePacket(data))
        for _ in range(sharing.waiting if most is None else most):
            sharing.step()
    return int(app.learner.state_crc32())
