"""Instructions of the features of a sensor's readings, on emulated boards."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.boards.counted_models import CountedModel, stream
from microshrub_host.boards.heap_sizes import heap_bytes
from microshrub_host.boards.instruction_counts import Counter
from microshrub_host.library import loader
from microshrub_host.simulation.feature_extraction import Extractor
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.streams.stream import Extraction

_HEAD = ("board", "features", "channels", "bytes", "a reading", "a sample")
_RATE = 1000
_TABLE = (  # channels, and the options of their features
    (1, "window=64"),
    (1, "window=64 statistics=mean,deviation,crossings,form,mobility"),
    (1, "window=64 statistics=none bands=10-100,100-500"),
    (1, "window=128 statistics=none bands=10-100,100-500"),
    (1, "window=256 statistics=none bands=10-100,100-500"),
    (1, "window=512 statistics=none bands=10-100,100-500"),
    (1, "window=512 bands=auto"),
    (1, "window=1 low-pass=20"),
    (3, "window=1 low-pass=20"),
    (3, "window=1 band-pass=5-50"),
    (3, "window=128 high-pass=5 bands=10-30,30-100,100-200,200-500"),
    (6, "window=128 high-pass=5 bands=10-30,30-100,100-200,200-500"),
)


def counted_features(readings: int = 0) -> list[tuple[CountedModel, Extraction]]:
    """Return the rows of the table, with this many readings each;
    by default 8 more than two windows.
    """
    result = []
    for channels, words in _TABLE:
        options = FeatureOptions.of(words.split())
        codes, labels = stream(channels, 2, readings or 2 * options.window + 8)
        extraction = options.extraction([f"c{k}" for k in range(channels)], _RATE)
        result.append((CountedModel(words, "ShrubEnsemble", {}, codes, labels), extraction))
    return result


def on_pc(what: CountedModel, extraction: Extraction) -> tuple[list[bool], int]:
    """Return which readings complete a sample, and a CRC over the features after every reading."""
    extractor = Extractor(extraction)
    last: list[int] | None = None
    complete, crc = [], 0
    for reading in (what.codes.astype(np.int64) - 32768).tolist():
        sample = extractor.take(reading)
        complete.append(sample is not None)
        last = sample or last or [0] * extractor.features
        crc = crc32(array("i", last).tobytes(), crc)
    return complete, crc


def feature_rows(boards: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a table, head first: instructions of a reading, and the extra ones of a sample.

    Raises UserError if a board has other features than the simulator.
    """
    rows = counted_features()
    table: list[tuple[str, ...]] = [_HEAD]
    with showing("counting instructions", announce=True) as update:
        for board in boards:
            whats = [what for what, _ in rows]
            with Counter(board, whats, native=True, features=True) as counter:
                for i, (what, extraction) in enumerate(rows):
                    counts, crc = counter.count_features(i, extraction.options)
                    complete, expected = on_pc(what, extraction)
                    if crc != expected:
                        raise UserError(f"{board}: other features than in the simulator")
                    usual = np.median(counts if all(complete) else counts[~np.array(complete)])
                    more = np.median(counts[complete]) - usual
                    numbers = (_bytes(extraction), round(float(usual)), round(float(more)))
                    table.append(
                        (board, what.name, str(len(extraction.channels)),
                         *(f"{number:,}" for number in numbers))
                    )  # fmt: skip
                    update(len(table) - 1, len(rows) * len(boards), f"{board}: {what.name}")
    return table


def _bytes(extraction: Extraction) -> int:
    """Return the bytes of a board's heap that the extractor takes."""
    made = loader.load("python").device.feature_extractor.FeatureExtractor(
        len(extraction.channels), **extraction.options
    )
    return heap_bytes(made, (), set())
