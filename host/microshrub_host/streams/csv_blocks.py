"""The rows of a CSV file in blocks of numbers, read by pyarrow: fast, and in little memory.

The result is the same as with csv_rows.py and columns.py. In any doubtful case (a text among
numbers, a row of another length, a quotation mark within a cell, a missing class) UnsureError is
raised: those two then read the file, and report the fault and its place.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .class_names import Writings
from .columns import MISSING_CELLS
from .csv_rows import stripped
from .source_file import SourceFile
from .stored_values import Room, column_room, let_go
from .stream import Progress

if TYPE_CHECKING:
    import pyarrow as pa  # imported only where needed: help does without it

Codes = NDArray[np.uint8] | NDArray[np.uint16]  # the smallest type that holds all codes
_BLOCK_BYTES = 1 << 20
_CHUNK = 1 << 20
_MOST_CLASSES = 60000  # a column with more is surely no class


@dataclass(frozen=True)
class Layout:
    """The layout of a CSV file; places in a row count from 0."""

    cells: int  # in a row
    columns: Sequence[int]  # number columns to read
    label: int | None  # place of the classes
    delimiter: str
    skip: int  # lines before the first row


class UnsureError(Exception):
    """The file needs the judgement of csv_rows.py and columns.py, or pyarrow is missing."""


def count_lines(source: SourceFile, layout: Layout, most: int | None = None) -> int:
    """Return the number of line ends (LF, CR LF or a lone CR) plus one.

    Counting stops at `most` or soon after. Raises UnsureError, also for quotation marks that are
    not around a whole cell. If pyarrow is not to read all cells, and so does not check the others,
    that is so for all quotation marks, NUL bytes and comments.
    """
    read = len(layout.columns) + (layout.label is not None)
    lines, last = 1, b""
    quotes = _Quotes(layout.delimiter)
    with _uncertain(), source.opened() as (_, file):
        while (most is None or lines < most) and (chunk := file.read(_CHUNK)):
            skip = 0 if last else layout.skip
            if read < layout.cells:
                _check_plain(last + chunk, skip)
            quotes.look(chunk, skip)
            returns = chunk.count(b"\r")
            lines += chunk.count(b"\n") + returns
            lines -= (last + chunk).count(b"\r\n") if returns or last == b"\r" else 0
            last = chunk[-1:]
    quotes.check()
    return lines


class _Quotes:
    """Counts quotation marks that begin and end cells.

    As many have to begin as end, and none may be elsewhere. Then csv's reader and pyarrow differ
    only in cells that have a quotation mark for pyarrow, which _classes() and _numbers() refuse.
    """

    def __init__(self, delimiter: str) -> None:
        ends = [each.encode() for each in (delimiter, "\n", "\r")]
        self._begins = [end + b'"' for end in ends]
        self._ends = [b'"' + end for end in ends]
        self._begun = self._ended = self._all = 0
        self._last = b"\n"

    def look(self, chunk: bytes, skip: int) -> None:
        """Count in the next bytes of the file, without its first `skip` lines."""
        if skip:
            chunk = chunk[_length(chunk, skip) :]
        if b'"' in chunk or self._last == b'"':
            data = self._last + chunk
            self._begun += sum(map(data.count, self._begins))
            self._ended += sum(map(data.count, self._ends))
            self._all += chunk.count(b'"')
        self._last = chunk[-1:] or self._last

    def check(self) -> None:
        """Raise UnsureError if a quotation mark is not around a whole cell."""
        ended = self._ended + (self._last == b'"')
        if not self._begun == ended == self._all - ended:
            raise UnsureError("a quotation mark")


def _length(data: bytes, lines: int) -> int:
    """Return the length of the first lines."""
    return sum(map(len, data.splitlines(keepends=True)[:lines]))


def _check_plain(data: bytes, skip: int) -> None:
    """Raise UnsureError for marks after the first `skip` lines that could change the rows."""
    begin = _length(data, skip) if skip else 0
    if any(data.find(mark, begin) >= 0 for mark in (b'"', b"\0", b"\n#", b"\r#")):
        raise UnsureError("a quotation mark or a comment")
    if data[begin : begin + 1] == b"#":
        raise UnsureError("a comment")


def blocks(
    source: SourceFile, layout: Layout, progress: Progress | None = None
) -> Generator[pa.RecordBatch, None, None]:
    """Yield blocks of rows with the columns to read, each named by its place.

    All are numbers, except the classes, if any. Raises UnsureError.
    """
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    types = {str(place): pa.float64() for place in layout.columns}
    if layout.label is not None:
        types[str(layout.label)] = pa.dictionary(pa.int32(), pa.string())
    with _uncertain(), source.opened() as (raw, file):
        reader = pa_csv.open_csv(
            file,
            pa_csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK_BYTES,
                skip_rows=layout.skip,
                column_names=[str(place) for place in range(layout.cells)],
            ),
            pa_csv.ParseOptions(
                delimiter=layout.delimiter, quote_char='"', ignore_empty_lines=False
            ),
            pa_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=sorted(MISSING_CELLS),
                strings_can_be_null=False,
            ),
        )
        for batch in reader:
            if progress is not None:
                size = source.size()
                progress(min(raw.tell(), size), size)
            if batch.num_rows:
                yield batch


def _classes(column: pa.Array) -> tuple[NDArray[np.int32], list[str]]:
    """Return the index of each row's class among the block's cells, and these cells."""
    cells = column.dictionary.to_pylist()
    if any(re.search(r'["\0\r\n]|^\s*#', cell) for cell in cells):
        raise UnsureError("a quotation mark, the end of a line, or a comment")
    return _items(column.indices, np.int32), cells


def _numbers(column: pa.Array) -> NDArray[np.float64]:
    """Return the numbers, NaN where missing. (pyarrow's own to_numpy() would import pandas.)"""
    numbers: NDArray[np.float64] = _items(column, np.float64)
    if column.null_count:
        bits = np.frombuffer(column.buffers()[0], np.uint8)
        present = np.unpackbits(bits, bitorder="little")
        numbers = np.where(present[column.offset : column.offset + len(column)], numbers, np.nan)
    if np.isinf(numbers).any():
        raise UnsureError("an infinite number")
    return numbers


def _items(column: pa.Array, item_type: Any) -> NDArray[Any]:
    buffer = column.buffers()[1]
    return np.frombuffer(buffer, item_type)[column.offset : column.offset + len(column)]


@contextmanager
def _uncertain() -> Iterator[None]:
    """Raise UnsureError for any fault, which the other reader reports, and without pyarrow."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise UnsureError("there is no pyarrow") from None
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise UnsureError(str(error)) from error


def read(
    source: SourceFile,
    layout: Layout,
    limit: int | None,
    progress: Progress | None,
    writings: Writings,
) -> tuple[NDArray[np.float64], Codes, dict[str, int]]:
    """Return the values of the file, (samples, features), the samples' classes and their cells.

    The cells are the keys of a dictionary, with the first sample of each class; a class is the
    index of a key. At most `limit` samples are read; `writings` gets all classes. Raises
    UnsureError.
    """
    most = _most_rows(source, layout, limit)
    rows = min(most, limit or most)
    labels: Codes = column_room(rows, np.uint8)
    result: dict[str, int] = {}
    first: dict[str, int] = {}
    filled = 0
    read_blocks = blocks(source, layout, progress)
    with Room(rows, len(layout.columns)) as room, closing(read_blocks):
        for batch in read_blocks:
            kept = _write(room, filled, batch, layout, limit)
            classes, written = _classes(batch.column(str(layout.label)))
            cells = stripped(written)
            used, places = np.unique(classes[:kept], return_index=True)
            for code, place in sorted(zip(used, places, strict=True), key=lambda pair: pair[1]):
                first.setdefault(cells[code], filled + int(place))
                result.setdefault(cells[code], len(result))
                writings.add(cells[code], written[code], filled + int(place))
            if len(result) > _MOST_CLASSES:
                raise UnsureError("too many classes")
            if len(result) > 256 and labels.dtype == np.uint8:
                labels = labels.astype(np.uint16)
            codes = np.array([result.get(cell, 0) for cell in cells], labels.dtype)
            labels[filled : filled + kept] = codes[classes[:kept]]
            let_go(labels)
            filled += kept
            if filled == limit:
                break
    _check_rows(filled, most, limit)
    return room.values[:filled], labels[:filled], first


def read_numbers(
    source: SourceFile, layout: Layout, limit: int | None, progress: Progress | None
) -> NDArray[np.float64]:
    """Return the file's columns, (rows, columns), at most `limit` rows. Raises UnsureError."""
    most = _most_rows(source, layout, limit)
    filled = 0
    read_blocks = blocks(source, layout, progress)
    with Room(min(most, limit or most), len(layout.columns)) as room, closing(read_blocks):
        for batch in read_blocks:
            if layout.cells == 1 and batch.column("0").null_count:
                raise UnsureError("an empty line")
            filled += _write(room, filled, batch, layout, limit)
            if filled == limit:
                break
    _check_rows(filled, most, limit)
    return room.values[:filled]


def _most_rows(source: SourceFile, layout: Layout, limit: int | None) -> int:
    """Return an upper bound of the number of rows; at least the limit, if there are as many."""
    if source.is_pipe and limit is not None:
        raise UnsureError("a pipe that need not be read to its end")
    return count_lines(source, layout, limit and limit + layout.skip + 1) - layout.skip


def _check_rows(filled: int, most: int, limit: int | None) -> None:
    if not filled:
        raise UnsureError("no samples")
    if filled != limit and filled < most - 1:  # a line end after the last row is not one more row
        raise UnsureError("more lines than rows")


def _write(room: Room, at: int, batch: pa.RecordBatch, layout: Layout, limit: int | None) -> int:
    """Write the columns' numbers to the room, from row `at` on; return the number of rows."""
    kept: int = min(batch.num_rows, len(room.values) - at)
    if kept < batch.num_rows and at + kept != limit:
        raise UnsureError("more rows than lines")
    for to, place in enumerate(layout.columns):
        room.write(at, to, _numbers(batch.column(str(place)))[:kept])
    return kept
