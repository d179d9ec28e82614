"""Checks that the engines compute the same bits, or finds the first sample where they differ.

The features that the engines extract from a recording's readings are checked the same way.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..base import child_process
from ..base.micropython_binary import find_or_fetch
from ..base.terminal import messages
from ..library import library_files
from ..simulation import feature_session
from ..simulation.engine_interface import Engine, EngineError, Labels
from ..simulation.feature_extraction import Extractor, raw_readings
from ..simulation.reading_scale import scaled
from ..streams.stream import Extraction
from ..streams.units import Raw
from .prequential import fit

Starter = Callable[[], Engine]


@dataclass(frozen=True)
class Step:
    """The model's hash on each engine after some samples."""

    samples: int
    crcs: dict[str, int]


@dataclass(frozen=True)
class Difference:
    """The first sample after which two engines differ, and the first differing buffer."""

    sample: int
    buffer: str
    engines: tuple[str, str]
    index: int
    values: tuple[int, int]

    def __str__(self) -> str:
        one, other = self.engines
        return (
            f"{one} and {other} differ from sample {self.sample:,}: {self.buffer}[{self.index}] "
            f"is {self.values[0]} and {self.values[1]}"
        )


Buffers = list[tuple[str, str, bytes]]


def check(
    starters: Mapping[str, Starter], rows: Raw, labels: Labels, *, warmup: int, every: int
) -> Iterator[Step | Difference]:
    """Run all engines side by side; yield a Step after each block of `every` samples.

    `labels` is NO_LABELS for rows of a regression stream, which have their target in a column. If
    engines differ, the last item is the Difference. To locate it, the engines run again up to the
    end of the last block in which they agreed, and from there sample by sample.
    """
    with ExitStack() as stack:
        running = _start(stack, starters, rows[:warmup])
        for at in range(0, len(rows), every):
            for engine in running.values():
                engine.run(rows[at : at + every], labels[at : at + every])
            buffers = {name: engine.buffers() for name, engine in running.items()}
            crcs = {name: engine.status().state_crc32 for name, engine in running.items()}
            yield Step(min(at + every, len(rows)), crcs)
            if _first_difference(buffers) is not None:
                yield _locate(starters, rows, labels, warmup, at)
                return


def _start(stack: ExitStack, starters: Mapping[str, Starter], rows: Raw) -> dict[str, Engine]:
    running = {name: stack.enter_context(start()) for name, start in starters.items()}
    for engine in running.values():
        fit(engine, rows, len(rows))  # without rows, the ranges grow
    return running


def _locate(
    starters: Mapping[str, Starter], rows: Raw, labels: Labels, warmup: int, agreed: int
) -> Difference:
    with ExitStack() as stack:
        running = _start(stack, starters, rows[:warmup])
        if agreed:
            for engine in running.values():
                engine.run(rows[:agreed], labels[:agreed])
        for at in range(agreed, len(rows)):
            for engine in running.values():
                engine.run(rows[at : at + 1], labels[at : at + 1])
            difference = _first_difference({n: e.buffers() for n, e in running.items()})
            if difference is not None:
                return Difference(at + 1, *difference)
    raise RuntimeError("the engines differed in a block of samples but not one by one")


def _first_difference(
    buffers: dict[str, Buffers],
) -> tuple[str, tuple[str, str], int, tuple[int, int]] | None:
    names: Sequence[str] = list(buffers)
    first = buffers[names[0]]
    for name in names[1:]:
        for (buffer, typecode, one), (_, _, other) in zip(first, buffers[name], strict=True):
            if one != other:
                a, b = memoryview(one).cast(typecode), memoryview(other).cast(typecode)  # type: ignore[call-overload]
                index = next(i for i in range(len(a)) if a[i] != b[i])
                return buffer, (names[0], name), index, (a[index], b[index])
    return None


def samples(extraction: Extraction, readings: Raw, engine: str) -> Raw:
    """Return the samples, shape (samples, features), of readings, shape (rows, channels)."""
    if engine == "micropython":
        return _on_micropython(extraction, readings)
    extractor = Extractor(extraction, engine)
    rows = [made for row in readings.tolist() if (made := extractor.take(row)) is not None]
    return np.array(rows, dtype=np.int32).reshape(-1, extractor.features)


def difference(
    recording: NDArray[np.float64], extraction: Extraction, names: Sequence[str]
) -> str | None:
    """Describe the first difference of two engines on a recording; None if they agree."""
    readings = raw_readings(scaled(recording, extraction))
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
