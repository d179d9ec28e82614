"""CSV and ARFF files as streams.

The two differ in their header only: an ARFF header declares what each column is and which values
it may take, while the columns of a CSV file are judged by their first cells (columns.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..base.errors import DataError
from ..base.text import did_you_mean
from . import csv_blocks
from .arff_files import open_arff
from .class_names import Writings, class_names, encode_labels
from .columns import ALL, MISSING_CELLS, Column, ColumnChoice, check_count, number_of
from .csv_blocks import Codes, DoubtError, Layout
from .csv_rows import Row, check_names, csv_rows, first_row, stripped
from .kept_values import PART, let_go
from .source_file import SourceFile
from .stream import MAX_FEATURES, Progress, Stream, stream_order
from .telltales import telltale_notes
from .text_lines import text_lines
from .units import Scale


@dataclass(frozen=True)
class ReadingOptions:
    """How a file is to be read: the arguments of open_stream of the same names."""

    label: str | None
    classes: tuple[str, ...] | None
    header: bool
    limit: int | None
    shuffle: int | None
    warmup: int
    choice: ColumnChoice = ALL
    features: int = 1  # of a file, at the least
    asks: Literal["class", "target", "nothing"] = "class"  # for what the samples are
    fewest_classes: int = 2


@dataclass
class FileTable:
    """A file as it is read, before its samples are put in order."""

    name: str
    columns: list[Column]  # of the features
    places: list[int]  # of these in a row
    label: Column  # its declared values, if any, are the classes
    label_place: int  # in a row
    cells: int  # of a row
    rows: Iterator[Row]
    notes: list[str]
    label_cells: list[str] = field(default_factory=list)
    lines: list[int] | range = field(default_factory=list)
    header_line: int = 0  # of a CSV file with one
    delimiter: str = ""  # of a CSV file
    writings: Writings = field(default_factory=Writings)  # of the classes

    @property
    def target_place(self) -> int:
        """That of the class or the target among the columns that are read."""
        return sum(place < self.label_place for place in self.places)

    def layout(self, *, of_classes: bool) -> Layout:
        """Where csv_blocks finds the columns. Raises DoubtError if the file is no CSV file."""
        if not self.delimiter:
            raise DoubtError("no CSV file")
        columns = self.places if of_classes else sorted({*self.places, self.label_place})
        label = self.label_place if of_classes else None
        return Layout(self.cells, columns, label, self.delimiter, self.header_line)

    def where(self, column: Column, row: int) -> str:
        return f"{self.name}, line {self.lines[row]}, column {column.name}"


def read_table(
    source: SourceFile, reading: ReadingOptions, progress: Progress | None = None
) -> Stream:
    """Read a file; see `open_stream` for the errors."""
    with closing(text_lines(source, progress)) as lines:
        table = open_table(source.name, lines, reading)
        with suppress(DoubtError):
            return _read_blocks(source, table, reading, progress)
        fill(table, reading.limit if reading.shuffle is None else None)
    if progress is not None:
        progress(source.size(), source.size())
    order = stream_order(len(table.lines), reading.limit, reading.shuffle)
    labels, names, notes = _encode_labels(table, order.tolist(), reading)
    values = np.column_stack(
        [each.encode(order, reading.warmup, partial(table.where, each)) for each in table.columns]
    )
    notes += _header_note(table)
    return _stream(table, reading, values, labels, names, notes, order)


def _read_blocks(
    source: SourceFile, table: FileTable, reading: ReadingOptions, progress: Progress | None
) -> Stream:
    """The stream of a CSV file of numbers without a fault. Raises DoubtError for any other."""
    limit = reading.limit if reading.shuffle is None else None
    layout = table.layout(of_classes=True)
    table.writings = Writings()
    values, label_codes, first = csv_blocks.read(source, layout, limit, progress, table.writings)
    samples = len(label_codes)
    cells = list(first)
    order: NDArray[np.intp] | range = range(samples)
    if reading.shuffle is not None:
        order = stream_order(samples, reading.limit, reading.shuffle)
        values, label_codes = values[order], label_codes[order]
        first = {cells[code]: at for code, at in _first_places(label_codes)}
    known = reading.classes
    if MISSING_CELLS.difference(known or ()).intersection(cells):
        raise DoubtError("a missing class")
    table.lines = range(table.header_line + 1, table.header_line + 1 + samples)
    names, notes = class_names(
        first,
        lambda i: table.where(table.label, int(order[i])),
        known,
        reading.warmup,
        reading.fewest_classes,
    )
    places = np.array([names.index(cell) if cell in names else 0 for cell in cells], np.uint8)
    table.label_cells = cells
    notes += _header_note(table)
    labels = _recoded(label_codes, places)
    return _stream(table, reading, values, labels, names, notes, order)


def _recoded(codes: Codes, places: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """places[codes], where they were if they fit; in parts: an index takes numpy eight bytes."""
    found = codes.astype(np.uint8, copy=False)
    for at in range(0, len(codes), PART):
        found[at : at + PART] = places[codes[at : at + PART]]
        let_go(found)
    return found


def _first_places(codes: Codes) -> list[tuple[int, int]]:
    """Each number, and where it stands first."""
    numbers, places = np.unique(codes, return_index=True)
    return list(zip(numbers.tolist(), places.tolist(), strict=True))


def _stream(
    table: FileTable,
    reading: ReadingOptions,
    values: NDArray[np.float64],
    labels: NDArray[np.uint8],
    class_names: tuple[str, ...],
    notes: Iterable[str],
    order: NDArray[np.intp] | range,
) -> Stream:
    names = tuple(column.name for column in table.columns)
    scale = Scale.fit(values)
    written = table.writings.notes(partial(table.where, table.label))
    notes = [*table.notes, *written, *notes, *leave_out_too_large(table, values, scale, order)]
    if reading.choice.columns is None:
        notes += telltale_notes(table.name, dict(enumerate(names)), values, labels, order)
    return Stream(
        table.name,
        values,
        labels,
        names,
        class_names,
        tuple(notes),
        scale,
        label_name=table.label.name,
    )


def open_table(name: str, lines: Iterator[str], reading: ReadingOptions) -> FileTable:
    """The table with its columns, of which no row has been read yet."""
    first = next(lines, "")
    lines = chain([first], lines)
    is_arff = name.lower().removesuffix(".gz").endswith(".arff")
    if is_arff or first.lstrip().lower().startswith("@relation"):
        if not reading.header:
            raise DataError(f"{name} declares its columns: --no-header is for CSV files.")
        return _choose(name, *open_arff(name, lines, reading.choice), reading)
    rows, delimiter = csv_rows(name, lines)
    line, first_cells = first_row(name, rows)
    cells = stripped(first_cells)
    if not reading.header:
        columns = [Column(f"c{place}") for place in range(1, len(cells) + 1)]
        table = _choose(name, columns, chain([(line, first_cells)], rows), reading)
        table.delimiter = delimiter
        return table
    if len(cells) - 1 > MAX_FEATURES and not reading.choice.is_given:
        check_count(name, len(cells) - 1, reading.features, reading.asks)
    check_names(f"{name}, line {line}", reading.choice.named(cells, reading.label), reading.label)
    table = _choose(name, [Column(cell) for cell in cells], rows, reading)
    table.header_line, table.delimiter = line, delimiter
    return table


def _choose(
    name: str, columns: list[Column], rows: Iterator[Row], reading: ReadingOptions
) -> FileTable:
    """The table of the columns that are learned, and the class."""
    names = [column.name for column in columns]
    label, choice = reading.label, reading.choice
    if label is not None and label not in names:
        raise DataError(f"{name} has no column {label}. {did_you_mean(label, names)}")
    able = [at for at, n in enumerate(names) if reading.asks == "class" or n not in choice.drop]
    place = (able or [0])[-1] if label is None else names.index(label)
    aside = None if reading.asks == "nothing" else place
    clock = choice.clock(names, aside, reading.features)
    places = (clock or choice).places(name, names, aside)
    check_count(name, len(places), reading.features, reading.asks)
    return FileTable(
        name,
        [columns[each] for each in places],
        places,
        columns[place],
        place,
        len(columns),
        rows,
        [clock.note(name)] if clock else [],
    )


# Cells


def fill(table: FileTable, limit: int | None) -> None:
    """Read the rows, no more than `limit`. Raises DataError."""
    lines: list[int] = []
    table.writings = Writings()
    for line, written in islice(table.rows, limit):
        cells = stripped(written)
        if cells[0].startswith("#") and (len(cells) != table.cells or " " in cells[0][:3]):
            raise DataError(
                f"{table.name}, line {line} begins with #, as a comment does. Delete the line: "
                "comments are not read."
            )
        if len(cells) != table.cells:
            raise DataError(
                f"{table.name}, line {line}: {table.cells} cells expected, one per column, but "
                f"{len(cells)} found. Complete the row or delete it."
            )
        if table.cells == 1 and lines and line > lines[-1] + 1:
            raise DataError(
                f"{table.name}, line {lines[-1] + 1} is empty. Delete the line, or write NA if a "
                "number is missing there."
            )
        label = table.label_place
        table.label_cells.append(cells[label])
        table.writings.add(cells[label], written[label], len(lines))
        for column, place in zip(table.columns, table.places, strict=True):
            column.append(cells[place])
        lines.append(line)
    table.lines = lines
    if not lines:
        raise DataError(f"{table.name} has a header but no samples. Add a row per sample.")


def _encode_labels(
    table: FileTable, rows: list[int], reading: ReadingOptions
) -> tuple[NDArray[np.uint8], tuple[str, ...], list[str]]:
    cells = [table.label_cells[row] for row in rows]
    known = reading.classes or table.label.declared
    missing = MISSING_CELLS.difference(known or ())
    for row, cell in zip(rows, cells, strict=True):
        if cell in missing:
            raise DataError(f"{table.where(table.label, row)}: {_missing_class(cell)}")
    where = partial(table.where, table.label)
    fewest = reading.fewest_classes
    return encode_labels(cells, lambda i: where(rows[i]), known, reading.warmup, fewest)


def _missing_class(cell: str) -> str:
    if cell == "":
        way_out = "--label NAME takes another column as the class."
    else:
        way_out = f"if {cell} is a class, name it and all others with --classes."
    return f"the class is missing. Fill it in or delete the row; {way_out}"


# What is noted


def _header_note(table: FileTable) -> list[str]:
    """What is said of a header that could be a sample just as well."""
    columns = [*table.columns, table.label]
    doubtful = any(number_of(column.name) is not None for column in columns)
    doubtful |= table.label.name in table.label_cells
    doubtful |= any(column.name in column.texts.values() for column in table.columns)
    if not table.header_line or not doubtful:
        return []
    return [
        f"{table.name}, line {table.header_line} was read as the header. If it is a sample, use "
        "--no-header."
    ]


def leave_out_too_large(
    table: FileTable, values: NDArray[np.float64], scale: Scale, order: NDArray[np.intp] | range
) -> list[str]:
    """Take the cells that do not fit their column's unit for missing ones; a note on each column.

    The largest that fits would be far away, too, and in the warm-up widen the quantizer's range.
    """
    notes = []
    for place, column in enumerate(table.columns):
        cells = values[:, place]
        far = scale.too_large(cells, place)
        if len(far):
            where = table.where(column, int(order[far[0]]))
            more = f", as are {len(far) - 1:,} more of its cells" if len(far) > 1 else ""
            notes.append(
                f"{where}: {cells[far[0]]:g} is too far from the column's other numbers; it is "
                f"taken for a missing one{more}."
            )
            cells[far] = np.nan
        let_go(values)
    return notes
