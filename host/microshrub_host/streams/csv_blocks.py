"""The rows of a CSV file in blocks of numbers, read by pyarrow: fast, and in little memory.

It reads what csv_rows.py and columns.py would read, and nothing else. At whatever it is not sure
of (a text among numbers, a row of another length, a quotation mark, a missing class) it raises
DoubtError: those two then read the file, and say what is wrong with it, and where.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.mapped_memory import let_go
from .columns import MISSING_CELLS
from .kept_values import Room, column_room
from .stream import Progress

if TYPE_CHECKING:
    import pyarrow as pa  # where it is used, it is imported: help needs none of it

Codes = NDArray[np.uint8] | NDArray[np.uint16]  # the least that holds them all
_BLOCK_BYTES = 1 << 20
_CHUNK = 1 << 20
_MOST_CLASSES = 60000  # of what has to be read to see that it is no class


class DoubtError(Exception):
    """The file has what only csv_rows.py and columns.py judge."""


def count_lines(path: Path) -> int:
    """How many lines end in LF, and one more. Raises DoubtError."""
    with _doubting(), path.open("rb") as raw, _unpacked(path, raw) as file:
        return 1 + sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK), b""))


def blocks(
    path: Path,
    columns: int,
    label_place: int | None,
    delimiter: str,
    skip: int,
    progress: Progress | None = None,
) -> Generator[pa.RecordBatch, None, None]:
    """Blocks of rows behind the first `skip` lines. All columns are of numbers, but for that of
    the classes if there is one. Raises DoubtError."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    names = [str(place) for place in range(columns)]
    types = {name: pa.float64() for name in names}
    if label_place is not None:
        types[names[label_place]] = pa.dictionary(pa.int32(), pa.string())
    with _doubting(), path.open("rb") as raw, _unpacked(path, raw) as file:
        size = path.stat().st_size
        reader = pa_csv.open_csv(
            file,
            pa_csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK_BYTES,
                skip_rows=skip,
                column_names=names,
            ),
            pa_csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            pa_csv.ConvertOptions(
                column_types=types,
                null_values=sorted(MISSING_CELLS),
                strings_can_be_null=False,
            ),
        )
        for batch in reader:
            if progress is not None:
                progress(min(raw.tell(), size), size)
            if batch.num_rows:
                yield batch


def _classes(column: pa.Array) -> tuple[NDArray[np.int32], list[str]]:
    """Of each row the place of its class among the cells of the block, and these."""
    cells = [cell.strip() for cell in column.dictionary.to_pylist()]
    if any('"' in cell or "\0" in cell for cell in cells):
        raise DoubtError("a quotation mark")
    return _items(column.indices, np.int32), cells


def _numbers(column: pa.Array) -> NDArray[np.float64]:
    """The numbers, NaN where missing. (pyarrow's own to_numpy() would import pandas.)"""
    numbers: NDArray[np.float64] = _items(column, np.float64)
    if column.null_count:
        bits = np.frombuffer(column.buffers()[0], np.uint8)
        present = np.unpackbits(bits, bitorder="little")
        numbers = np.where(present[column.offset : column.offset + len(column)], numbers, np.nan)
    if np.isinf(numbers).any():
        raise DoubtError("an infinite number")
    return numbers


def _items(column: pa.Array, kind: Any) -> NDArray[Any]:
    buffer = column.buffers()[1]
    return np.frombuffer(buffer, kind)[column.offset : column.offset + len(column)]


@contextmanager
def _doubting() -> Iterator[None]:
    """What a file's bytes can do wrong is for the other reader to say."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise DoubtError(str(error)) from error


def _unpacked(path: Path, raw: IO[bytes]) -> IO[bytes]:
    if path.name.lower().endswith(".gz"):
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    return raw


def read(
    path: Path,
    columns: int,
    label_place: int,
    delimiter: str,
    skip: int,
    limit: int | None,
    progress: Progress | None,
) -> tuple[NDArray[np.float64], Codes, dict[str, int]]:
    """The values of the file, (samples, features), the samples' classes and the classes' cells.

    A class is a place among the cells, each of which comes with the first sample of that class.
    No more than `limit` samples are read. Raises DoubtError.
    """
    most = count_lines(path) - skip
    rows = min(most, limit or most)
    labels: Codes = column_room(rows, np.uint8)
    found: dict[str, int] = {}
    first: dict[str, int] = {}
    filled = 0
    read_blocks = blocks(path, columns, label_place, delimiter, skip, progress)
    features = [place for place in range(columns) if place != label_place]
    with Room(rows, columns - 1) as room, closing(read_blocks):
        for batch in read_blocks:
            kept = _write(room, filled, batch, features)
            classes, cells = _classes(batch.column(label_place))
            used, places = np.unique(classes[:kept], return_index=True)
            for code, place in sorted(zip(used, places, strict=True), key=lambda pair: pair[1]):
                first.setdefault(cells[code], filled + int(place))
                found.setdefault(cells[code], len(found))
            if len(found) > _MOST_CLASSES:
                raise DoubtError("too many classes")
            if len(found) > 256 and labels.dtype == np.uint8:
                labels = labels.astype(np.uint16)
            codes = np.array([found.get(cell, 0) for cell in cells], labels.dtype)
            labels[filled : filled + kept] = codes[classes[:kept]]
            let_go(labels)
            filled += kept
            if filled == limit:
                break
    if not filled:
        raise DoubtError("no samples")
    return room.values[:filled], labels[:filled], first


def read_numbers(
    path: Path,
    columns: int,
    delimiter: str,
    skip: int,
    limit: int | None,
    progress: Progress | None,
) -> NDArray[np.float64]:
    """All columns of the file, (rows, columns), no more than `limit` rows. Raises DoubtError."""
    most = count_lines(path) - skip
    filled = 0
    read_blocks = blocks(path, columns, None, delimiter, skip, progress)
    with Room(min(most, limit or most), columns) as room, closing(read_blocks):
        for batch in read_blocks:
            filled += _write(room, filled, batch, range(columns))
            if filled == limit:
                break
    if not filled:
        raise DoubtError("no samples")
    return room.values[:filled]


def _write(room: Room, at: int, batch: pa.RecordBatch, places: Sequence[int]) -> int:
    """Put the numbers of these columns into the room, from row `at` on; returns how many rows."""
    kept: int = min(batch.num_rows, len(room.values) - at)
    for to, place in enumerate(places):
        room.write(at, to, _numbers(batch.column(place))[:kept])
    return kept
