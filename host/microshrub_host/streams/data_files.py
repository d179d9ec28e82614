"""CSV and ARFF files as streams.

The two formats differ only in their header: an ARFF header declares what each column is and which
values it may take, while the columns of a CSV file are judged by their first cells (columns.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.errors import DataError
from ..base.text import did_you_mean
from . import csv_blocks
from .arff_files import open_arff
from .class_names import MEASURED, Writings, class_names, encode_labels
from .columns import (
    MISSING_CELLS,
    Column,
    ColumnError,
    check_count,
    number_of,
    together,
)
from .csv_blocks import Codes, Layout, UnsureError
from .csv_rows import Row, check_names, csv_rows, first_row, stripped
from .label_leakage import telltale_notes
from .prepared_file import prepared, without_odd_lines
from .reading_options import ReadingOptions
from .source_file import SourceFile
from .stored_values import PART, let_go
from .stream import MAX_FEATURES, Progress, Stream, stream_order
from .text_lines import text_lines
from .units import Scale


@dataclass
class FileTable:
    """A file while it is read, before its samples are put in order."""

    source: SourceFile
    columns: list[Column]  # the features
    places: list[int]  # places of the features in a row
    label: Column  # its declared values, if any, are the classes
    label_place: int  # in a row
    cells: int  # in a row
    rows: Iterator[Row]
    notes: list[str]
    label_cells: list[str] = field(default_factory=list)
    lines: list[int] | range = field(default_factory=list)
    header_line: int = 0  # of a CSV file with a header
    delimiter: str = ""  # of a CSV file
    writings: Writings = field(default_factory=Writings)  # spaces after the classes
    group_place: int | None = None  # in a row
    group_cells: list[str] = field(default_factory=list)
    clocks: tuple[str, ...] = ()  # columns left out, with the time of each row

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return self.source.name

    @property
    def target_place(self) -> int:
        """The place of the class or the target among the columns that are read."""
        return sum(place < self.label_place for place in self.places)

    def layout(self, *, of_classes: bool) -> Layout:
        """Return the layout for csv_blocks.

        Raises UnsureError if the file is no CSV file, or has a column of groups.
        """
        if not self.delimiter:
            raise UnsureError("no CSV file")
        if self.group_place is not None:
            raise UnsureError("a column of groups")
        columns = self.places if of_classes else sorted({*self.places, self.label_place})
        label = self.label_place if of_classes else None
        return Layout(self.cells, columns, label, self.delimiter, self.header_line)

    def where(self, column: Column, row: int) -> str:
        return f"{self.source.place(self.lines[row])}, column {column.name}"

    def all_notes(self) -> list[str]:
        """Return the notes on how the file was read; complete after all rows are read."""
        return [*self.notes, *self.source.notes()]


def read_table(
    source: SourceFile, reading: ReadingOptions, progress: Progress | None = None
) -> Stream:
    """Read a file; see `open_stream` for the errors."""

    def blocks(table: FileTable) -> Stream:
        return _read_blocks(table, reading, progress)

    def cells(table: FileTable) -> Stream:
        return _read_cells(table, reading)

    return read_with(source, reading, progress, blocks, cells)


Result = TypeVar("Result")


def read_with(
    source: SourceFile,
    reading: ReadingOptions,
    progress: Progress | None,
    blocks: Callable[[FileTable], Result],
    cells: Callable[[FileTable], Result],
) -> Result:
    """Read a file of faultless numbers by `blocks`, or else its cells by `cells`.

    A file that is no plain CSV file is converted first, as is a file in which a board's messages
    appear late. Raises DataError.
    """
    with prepared(source, reading, progress) as ready:
        if (result := _of_blocks(ready, reading, blocks)) is not None:
            return result
        with without_odd_lines(ready, reading, progress) as clean:
            if clean and (result := _of_blocks(clean, reading, blocks)) is not None:
                return result
            file = clean or ready
            # a converted file's progress is reported by the converter
            to_report = progress if file.made is None else None
            with closing(text_lines(file, to_report)) as lines:
                table = open_table(file, lines, reading)
                fill(table, reading.limit if reading.shuffle is None else None)
            if progress is not None:
                progress(source.size(), source.size())
            return cells(table)


def _of_blocks(
    source: SourceFile, reading: ReadingOptions, blocks: Callable[[FileTable], Result]
) -> Result | None:
    with closing(text_lines(source, None)) as lines, suppress(UnsureError):
        return blocks(open_table(source, lines, reading))
    return None


def _read_cells(table: FileTable, reading: ReadingOptions) -> Stream:
    """Return the stream of a table after fill(). Raises DataError with all faults."""
    order = stream_order(len(table.lines), reading.limit, reading.shuffle)
    faults: list[DataError] = []
    options = []
    labels, names = np.zeros(0, np.uint8), tuple[str, ...]()
    notes: list[str] = []
    try:
        labels, names, notes = _encode_labels(table, order.tolist(), reading)
        measured = [note for note in notes if MEASURED in note]
        if measured and reading.label is None and (options := _other_label(table)):
            faults.append(DataError(f"{measured[0]} Otherwise another column holds the class."))
    except DataError as error:
        faults.append(error)
        options = _other_label(table)
    columns, other_faults, drop = encoded(table, order, reading)
    if faults or other_faults:
        raise together([*faults, *other_faults], drop, options)
    notes += _header_note(table)
    return _stream(table, reading, np.column_stack(columns), labels, names, notes, order)


def encoded(
    table: FileTable, order: NDArray[np.intp], reading: ReadingOptions
) -> tuple[list[NDArray[np.float64]], list[DataError], list[str]]:
    """Return the columns as numbers, the faults of others, and the columns to drop.

    The columns to drop, if any, include those that are already dropped.
    """
    columns: list[NDArray[np.float64]] = []
    faults: list[DataError] = []
    drop: list[str] = []
    for each in table.columns:
        try:
            columns.append(each.encode(order, reading.warmup, partial(table.where, each)))
        except ColumnError as error:
            faults.append(error)
            drop += [each.name] * error.drop
    return columns, faults, [*reading.choice.drop, *drop] if drop else []


_FEW_CLASSES = 32


def _other_label(table: FileTable) -> list[str]:
    """Return the option that makes a column of a few texts the class, if there is one."""
    for each in table.columns:
        texts = set(each.texts.values())
        if len(each.texts) == len(each.numbers) and 2 <= len(texts) <= _FEW_CLASSES:
            return [f"--label {shlex.quote(each.name)}"]
    return []


def _read_blocks(table: FileTable, reading: ReadingOptions, progress: Progress | None) -> Stream:
    """Return the stream of a CSV file of faultless numbers. Raises UnsureError for others."""
    limit = reading.limit if reading.shuffle is None else None
    layout = table.layout(of_classes=True)
    table.writings = Writings()
    source, to_report = table.source, progress if table.source.made is None else None
    values, label_codes, first = csv_blocks.read(source, layout, limit, to_report, table.writings)
    samples = len(label_codes)
    cells = list(first)
    order: NDArray[np.intp] | range = range(samples)
    if reading.shuffle is not None:
        order = stream_order(samples, reading.limit, reading.shuffle)
        values, label_codes = values[order], label_codes[order]
        first = {cells[code]: at for code, at in _first_places(label_codes)}
    known = reading.classes
    if MISSING_CELLS.difference(known or ()).intersection(cells):
        raise UnsureError("a missing class")
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
    """Return places[codes], in place if possible; in parts, as numpy's indices take 8 bytes."""
    result = codes.astype(np.uint8, copy=False)
    for at in range(0, len(codes), PART):
        result[at : at + PART] = places[codes[at : at + PART]]
        let_go(result)
    return result


def _first_places(codes: Codes) -> list[tuple[int, int]]:
    """Return each number with its first index."""
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
    recordings = table.source.made.recordings if table.source.made else None
    scale = Scale.fit(values)
    written = table.writings.notes(partial(table.where, table.label))
    notes = [
        *table.all_notes(),
        *written,
        *notes,
        *leave_out_too_large(table, values, scale, order),
    ]
    if reading.choice.columns is None:
        named = dict(enumerate(names))
        asks_group = reading.asks == "class" and reading.group is None and not recordings
        notes += telltale_notes(table.name, named, values, labels, order, groups=asks_group)
    groups: NDArray[np.intp] | None = None
    group_name = reading.group or ""
    starts: tuple[int, ...] = ()
    if reading.group:
        cells = np.array([table.group_cells[row] for row in order])
        groups = np.unique(cells, return_inverse=True)[1]
    elif recordings and len(recordings.groups) > 1:
        groups = _of_recordings(recordings.groups, len(table.lines))
        groups = groups if isinstance(order, range) else groups[order]
        group_name = recordings.group_name
    if recordings and reading.shuffle is None:
        starts = tuple(start for start in recordings.starts if 0 < start < len(values))
    return Stream(
        table.name,
        values,
        labels,
        names,
        class_names,
        tuple(notes),
        scale,
        label_name=table.label.name,
        clocks=table.clocks,
        times=None if reading.shuffle is None else np.asarray(order),
        groups=groups,
        group_name=group_name,
        starts=starts,
        readings=recordings.readings if recordings else 0,
    )


def _of_recordings(firsts: Sequence[int], rows: int) -> NDArray[np.intp]:
    """Return the number of each row's recording, given the recordings' first rows."""
    edges = [*(first for first in firsts if first < rows), rows]
    numbers = np.arange(len(edges) - 1, dtype=np.min_scalar_type(len(edges)))  # there may be many
    result: NDArray[np.intp] = np.repeat(numbers, np.diff(edges))
    return result


def open_table(source: SourceFile, lines: Iterator[str], reading: ReadingOptions) -> FileTable:
    """Return the table with its columns, before any row is read."""
    name = source.name
    first = next(lines, "")
    lines = chain([first], lines)
    is_arff = name.lower().removesuffix(".gz").endswith(".arff")
    if is_arff or first.lstrip().lower().startswith("@relation"):
        if not reading.header:
            raise DataError(f"{name} declares its columns: --no-header is for CSV files.")
        return _choose(source, *open_arff(name, lines, reading.choice), reading)
    rows, delimiter = csv_rows(name, lines)
    line, first_cells = first_row(name, rows)
    cells = stripped(first_cells)
    if not reading.header and not source.made:
        columns = [Column(f"c{place}") for place in range(1, len(cells) + 1)]
        table = _choose(source, columns, chain([(line, first_cells)], rows), reading)
        table.delimiter = delimiter
        return table
    if len(cells) - 1 > MAX_FEATURES and not reading.choice.is_given:
        check_count(name, len(cells) - 1, reading.features, reading.asks)
    check_names(source.place(line), reading.choice.named(cells, reading.label), reading.label)
    table = _choose(source, [Column(cell) for cell in cells], rows, reading)
    table.header_line, table.delimiter = line, delimiter
    return table


def _choose(
    source: SourceFile, columns: list[Column], rows: Iterator[Row], reading: ReadingOptions
) -> FileTable:
    """Return the table of the columns to learn, and the class."""
    name, dates = source.name, source.made.clocks if source.made else ()
    names = [column.name for column in columns]
    label, choice = reading.label, reading.choice
    if label is not None and label not in names:
        raise DataError(f"{name} has no column {label}. {did_you_mean(label, names)}")
    if label in dates:
        raise DataError(
            f"{name}: column {label} holds dates, and a date is a clock and no class. "
            "--label NAME takes another column."
        )
    group = _group_place(name, names, reading)
    able = [at for at, n in enumerate(names) if reading.asks == "class" or n not in choice.drop]
    able = [at for at in able if at != group and names[at] not in dates]
    place = (able or [0])[-1] if label is None else names.index(label)
    aside = None if reading.asks == "nothing" else place
    clock = choice.without_clocks(names, aside, reading.features, dates)
    places = [at for at in (clock or choice).places(name, names, aside) if at != group]
    if not places and reading.features and dates:
        raise DataError(
            f"{name} has no column but its dates and {names[place]}: 0 feature columns. To "
            f"forecast {names[place]} from its own last values, use "
            f"--target {shlex.quote(names[place])} --horizon 1"
        )
    check_count(name, len(places), reading.features, reading.asks)
    return FileTable(
        source,
        [columns[each] for each in places],
        places,
        columns[place],
        place,
        len(columns),
        rows,
        [clock.note(name, choice)] if clock else [],
        group_place=group,
        clocks=clock.drop[len(choice.drop) :] if clock else (),
    )


def _group_place(name: str, names: list[str], reading: ReadingOptions) -> int | None:
    """Return the place of the group column, if one is named. Raises DataError."""
    group = reading.group
    if group is None:
        return None
    if group not in names:
        raise DataError(
            f"{name} has no column {group}, which --group names. {did_you_mean(group, names)}"
        )
    if group == reading.label:
        raise DataError(f"{name}: --group names {group}, the column of the class.")
    if group in (reading.choice.columns or ()):
        raise DataError(
            f"{name}: --group and --columns both name {group}: a column that says which samples "
            "belong together is no feature."
        )
    return names.index(group)


# Cells


def fill(table: FileTable, limit: int | None) -> None:
    """Read the rows, at most `limit`. Raises DataError."""
    lines: list[int] = []
    table.writings = Writings()
    for line, written in islice(table.rows, limit):
        cells = stripped(written)
        if cells[0].startswith("#") and (len(cells) != table.cells or " " in cells[0][:3]):
            raise DataError(
                f"{table.source.place(line)} begins with #, as a comment does. Delete the line: "
                "comments are not read."
            )
        if len(cells) != table.cells:
            raise DataError(
                f"{table.source.place(line)}: {table.cells} cells expected, one per column, but "
                f"{len(cells)} found. Complete the row or delete it."
            )
        if table.cells == 1 and not table.source.made and lines and line > lines[-1] + 1:
            raise DataError(
                f"{table.name}, line {lines[-1] + 1} is empty. Delete the line, or write NA if a "
                "number is missing there."
            )
        label = table.label_place
        table.label_cells.append(cells[label])
        table.writings.add(cells[label], written[label], len(lines))
        if table.group_place is not None:
            table.group_cells.append(cells[table.group_place])
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


# Notes


def _header_note(table: FileTable) -> list[str]:
    """Return a note on a header that could just as well be a sample."""
    columns = [*table.columns, table.label]
    doubtful = any(number_of(column.name) is not None for column in columns)
    doubtful |= table.label.name in table.label_cells
    doubtful |= any(column.name in column.texts.values() for column in table.columns)
    if not table.header_line or not doubtful or table.source.made:
        return []
    return [
        f"{table.name}, line {table.header_line} was read as the header. If it is a sample, use "
        "--no-header."
    ]


def leave_out_too_large(
    table: FileTable, values: NDArray[np.float64], scale: Scale, order: NDArray[np.intp] | range
) -> list[str]:
    """Mark cells that do not fit their column's unit as missing; return a note for each column.

    The largest value that fits would be far away, too, and would widen the quantizer's range in
    the warm-up.
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
