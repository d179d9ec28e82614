"""A device that knows walk and rest, has room for three more classes, and meets a third class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from device_support import configuration, frozen_quantizer, put_device

from microshrub_host.streams.stream import Stream
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import Prediction, sample

MODEL: dict[str, Any] = {"features": 2, "classes": 5, "window": 60, "k": 3}
NAMES = ["walk", "rest", "spare 1", "spare 2", "spare 3"]
SPARE = {"classes": 3, "window": 32, "collect": 4, "room": 16}


def kinds() -> Stream:
    """Return 120 samples of walk and rest by turns, then 60 of stairs, the unknown class."""
    rng = np.random.default_rng(3)
    labels = np.array([0, 1] * 60 + [2] * 60)
    rows = np.array([(20, 20), (80, 20), (20, 80)])[labels] + rng.normal(0, 1, (180, 2))
    return Stream("kinds", rows, labels.astype(np.uint8), ("x", "y"), ("walk", "rest", "stairs"))


def put_naming_device(folder: Path, **fields: Any) -> None:
    """Write the flash of the board."""
    config = configuration(
        "NearestNeighbours", MODEL, quantizer="quantizer.state", class_names=NAMES, **fields
    )
    put_device(folder, config)
    (folder / "quantizer.state").write_bytes(frozen_quantizer(kinds(), 180))


def live(link: HostLink, stream: Stream, begin: int, end: int, label: bool) -> list[int]:
    """Return the predictions for these samples; with label, the device learns the samples."""
    rows = stream.raw_rows()
    requests = (
        sample(rows[k].tolist(), int(stream.labels[k]) if label else None)
        for k in range(begin, end)
    )
    answers = [pending.answer for pending in link.stream(requests)]
    return [answer.label for answer in answers if isinstance(answer, Prediction)]
