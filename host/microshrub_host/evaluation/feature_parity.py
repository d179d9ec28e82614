"""Checks that all engines make the same features of a recording's readings."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..base import child_process
from ..base.terminal import messages
from ..engines.interface import EngineError
from ..features import feature_session
from ..features.feature_extraction import Extractor, raw_readings
from ..fetch.micropython_binary import find_or_fetch
from ..sources import library_files
from ..streams.extraction import Extraction
from ..streams.units import Raw


def samples(extraction: Extraction, readings: Raw, engine: str) -> Raw:
    """What an engine makes of readings, shape (rows, channels): shape (samples, features)."""
    if engine == "micropython":
        return _on_micropython(extraction, readings)
    extractor = Extractor(extraction, engine)
    found = [made for row in readings.tolist() if (made := extractor.take(row)) is not None]
    return np.array(found, dtype=np.int32).reshape(-1, extractor.features)


def difference(
    recording: NDArray[np.float64], extraction: Extraction, names: Sequence[str]
) -> str | None:
    """Where two engines differ on a recording's readings, in words; None if they agree."""
    readings = raw_readings(recording)
    first = samples(extraction, readings, names[0])
    for name in names[1:]:
        other = samples(extraction, readings, name)
        if first.shape != other.shape:
            return f"{names[0]} and {name} make {len(first):,} and {len(other):,} samples"
        places = np.argwhere(first != other)
        if len(places):
            row, feature = places[0]
            return (
                f"{names[0]} and {name} differ from sample {row + 1:,}: feature {feature + 1} is "
                f"{first[row, feature]} and {other[row, feature]}"
            )
    return None


def _on_micropython(extraction: Extraction, readings: Raw) -> Raw:
    plan = {"channels": len(extraction.channels), "options": extraction.options}
    features = Extractor(extraction, "python").features
    with tempfile.TemporaryDirectory() as folder:
        given, raw, made = (Path(folder) / name for name in ("plan", "readings", "samples"))
        given.write_text(json.dumps(plan), encoding="utf-8")
        raw.write_bytes(readings.astype("<i4").tobytes())
        command = [*find_or_fetch(messages.say).command, "-X", "heapsize=4m"]
        command += [feature_session.__file__, str(library_files.folder().parent)]
        command += map(str, (given, raw, made))
        done = child_process.run(command)
        if done.returncode:
            raise EngineError(f"MicroPython stopped: {(done.stdout + done.stderr)[-300:]}")
        return np.frombuffer(made.read_bytes(), "<i4").reshape(-1, features).astype(np.int32)
