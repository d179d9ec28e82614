"""Joins several files, or the files of a folder, into one CSV file, one after the other.

Each file is read as it would be alone. All files have the same columns; a file without a header
has the names of the others. The class is a column, or in the names of the files; each file is a
recording of its own, and is held out as a whole. Rows of wide files become readings here, too.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from ..base.errors import DataError
from .cell_rows import columns_of, names_columns
from .columns import MISSING_CELLS, ColumnChoice, number_of
from .csv_rows import Row, csv_rows, first_row, stripped
from .log_lines import LinesLeftOut
from .named_files import (
    FOLDER,
    NamedFiles,
    classes_in_names,
    files_of,
    guessed_way,
    listed,
    shown,
)
from .prepared_file import LineMap, prepared, without_odd_lines
from .reading_options import ReadingOptions
from .source_file import Made, Recordings, SourceFile, kept_rows, opened_source
from .stream import Progress
from .text_lines import text_lines
from .wide_rows import WideRows, wide_rows

_LOOKED_AT = 200  # rows of each file to check
_WRITTEN = 1 << 16  # characters written at once
_LABELS = frozenset(("label", "labels", "class", "classes", "activity", "gesture"))
_MOST_CODES = 8  # different numbers that may be classes


@contextmanager
def opened_data(
    sources: Sequence[str], reading: ReadingOptions, progress: Progress | None = None
) -> Iterator[tuple[SourceFile, ReadingOptions]]:
    """Open the sources as one file; yield it with its reading options. Raises DataError."""
    alone = len(sources) == 1 and not (sources[0] and Path(sources[0]).is_dir())
    if alone and reading.label_from is None and reading.wide is None:
        with opened_source(sources[0]) as file:
            yield file, reading
        return
    joined = _Joined(files_of(sources), reading)
    empty = SourceFile(joined.name, io.BytesIO, lambda: 0, True)
    with (
        closing(joined.written(progress)) as data,
        kept_rows(empty, data, joined.made) as kept,
    ):
        yield kept, joined.reading


@dataclass
class _Head:
    """The properties of a file that its first rows show."""

    name: str
    names: list[str] | None  # names of the columns; None: the file has no header
    rows: list[list[str]]
    clocks: tuple[str, ...]
    units: dict[str, str]

    @property
    def width(self) -> int:
        """The number of cells in a row."""
        return len(self.names or self.rows[0])


@contextmanager
def _csv_of(
    path: str, name: str, reading: ReadingOptions, *, whole: bool, progress: Progress | None = None
) -> Iterator[tuple[SourceFile, list[str] | None, Iterator[Row]]]:
    """Open a file as plain CSV; yield it, its column names (None without a header) and its rows.

    whole: all rows are to be read, so a board's messages may appear late.
    """
    with opened_source(path) as file:
        if file.project:
            raise DataError(f"{name} is a project of the page: name it alone.")
        file = replace(file, name=name)
        with ExitStack() as stack:
            ready = stack.enter_context(prepared(file, reading, progress))
            if whole and not ready.made:
                ready = stack.enter_context(without_odd_lines(ready, reading)) or ready
            yield stack.enter_context(rows_of(ready, reading, progress))


@contextmanager
def rows_of(
    file: SourceFile, reading: ReadingOptions, progress: Progress | None
) -> Iterator[tuple[SourceFile, list[str] | None, Iterator[Row]]]:
    """Yield a plain CSV file, its column names (None without a header) and its rows."""
    to_report = None if file.made else progress
    with closing(text_lines(file, to_report)) as lines:
        numbered_rows, _ = csv_rows(file.name, lines)
        line, cells = first_row(file.name, numbered_rows)
        first = stripped(cells)
        if first[0].lower().startswith("@relation"):
            raise DataError(f"{file.name} is an ARFF file: name it alone.")
        body = ((line, stripped(cells)) for line, cells in numbered_rows)
        early = list(islice(body, _LOOKED_AT))
        rows = _chain(early, body)
        numbered = [f"c{place}" for place in range(1, len(first) + 1)]
        if file.made:
            yield file, None if first == numbered else first, rows
        elif not reading.header or names_columns(first, [row for _, row in early]) is False:
            yield file, None, _chain([(line, first)], rows)
        else:
            yield file, first, rows


def _chain(early: list[Row], rest: Iterator[Row]) -> Iterator[Row]:
    yield from early
    yield from rest


class _Joined:
    """Files one after the other, and their properties."""

    def __init__(self, files: NamedFiles, reading: ReadingOptions) -> None:
        self.name, self._paths = files.name, files.paths
        self._file_names = _short_names(files.paths)
        heads = [_head(*each, reading) for each in zip(self._paths, self._file_names, strict=True)]
        self._names = _common_names(heads, reading)
        _check_units(heads)
        dates = {name for head in heads for name in head.clocks}
        self._notes = [files.note] if files.note else []
        if len(heads) > 1 and any(head.names is None for head in heads):
            without = [head.name for head in heads if head.names is None]
            if len(without) < len(heads):
                self._notes.append(f"{shown(without)}: no header, so the columns are those of "
                                   "the others")  # fmt: skip
        self._classes = self._file_classes(heads, reading)
        self._label = "" if self._classes is None else _free_name(self._names)
        self._inner = replace(reading, label_from=None, wide=None, limit=None)
        if self._classes is not None:
            self._inner = replace(self._inner, label=None, asks="nothing")
        self._wide = self._wide_rows(heads, reading, dates)
        self._recordings = Recordings(readings=self._wide.readings if self._wide else 0)
        self._by_row = self._wide is not None and not self._several_of_each()
        if self._by_row:
            self._recordings.group_name = "recording"
        label = self._label or reading.label
        self._shares = self._row_shares(heads, reading)
        self.reading = replace(
            self._inner,
            limit=reading.limit if self._shares is None else None,
            label=label,
            asks=reading.asks,
            choice=ColumnChoice() if self._wide else reading.choice,
            header=True,
        )
        self._opened: list[_Part] = []
        clocks = () if self._wide else tuple(name for name in self._names if name in dates)
        self.made = Made(
            self._place, self._how, self._left_out, clocks, recordings=self._recordings
        )

    def _file_classes(self, heads: list[_Head], reading: ReadingOptions) -> list[str] | None:
        """Return the class of each file; None if it is in a column, or there is none."""
        if reading.asks != "class" or reading.label is not None:
            if reading.label_from is not None:
                raise DataError(
                    "--label-from says that the class is in the files' names, and --label that "
                    "it is in a column: use one of them."
                )
            return None
        way = reading.label_from
        if way is None:
            if _class_is_column(self.name, heads, self._names, reading):
                return None
            way = guessed_way(self._paths)
        classes = classes_in_names(self._paths, way)
        where = "folder's name" if way == FOLDER else "name"
        self._notes.append(f"the class is in each file's {where}: {listed(classes)}")
        return classes

    def _several_of_each(self) -> bool:
        """Return whether each class has several files, so that some can be held out."""
        classes = self._classes or []
        return len(self._paths) > 1 and all(classes.count(name) > 1 for name in classes)

    def _wide_rows(
        self, heads: list[_Head], reading: ReadingOptions, dates: set[str]
    ) -> WideRows | None:
        if reading.wide is None:
            return None
        label = None
        if self._classes is None and reading.asks == "class":
            label = len(self._names) - 1
            if reading.label is not None:
                if reading.label not in self._names:
                    raise DataError(f"{self.name} has no column {reading.label}.")
                label = self._names.index(reading.label)
        values = reading.choice.places(self.name, self._names, label)
        aside = {name for name in (reading.group, *dates) if name is not None}
        values = [place for place in values if self._names[place] not in aside]
        shared = [place for place in (label,) if place is not None]
        if reading.group is not None and reading.group in self._names:
            shared.insert(0, self._names.index(reading.group))
        wide = wide_rows(self.name, reading.wide, self._names, values, shared)
        self._notes.append(wide.note)
        self._names = [*wide.names, *(self._names[place] for place in shared)]
        return wide

    def _row_shares(self, heads: list[_Head], reading: ReadingOptions) -> list[int] | None:
        """Return the number of rows to read from each file; None for all."""
        if reading.limit is None or reading.shuffle is not None:
            return None
        per_row = self._wide.readings if self._wide else 1
        rows = [len(head.rows) if len(head.rows) < _LOOKED_AT else None for head in heads]
        return shares(max(reading.limit // per_row, 1), rows)

    def _how(self) -> list[str]:
        """Return the notes on all files together, and each file's; the same note appears once."""
        of_files: dict[str, list[str]] = {}
        for part in self._opened:
            for note in part.file.how():
                of_files.setdefault(note, []).append(part.file.name)
        file_notes = [f"{note} (in {shown(names, 3)})" for note, names in of_files.items()]
        return [*self._notes, *file_notes]

    def _left_out(self) -> LinesLeftOut:
        result = LinesLeftOut()
        for part in self._opened:
            if part.file.made:
                result.add_all(part.file.made.left_out(), part.file.name)
        return result

    def _place(self, line: int) -> str:
        row = line - 2  # after the header
        part = self._opened[bisect_right([each.first for each in self._opened], row) - 1]
        row_in_file = (row - part.first) // (self._wide.readings if self._wide else 1)
        return part.file.place(part.lines.line(row_in_file))

    def written(self, progress: Progress | None) -> Generator[bytes, None, None]:
        """Yield the bytes of the joined file, piece by piece."""
        text = io.StringIO()
        write = csv.writer(text, lineterminator="\n").writerow
        write([*self._names, *([self._label] if self._label else [])])
        sizes = [Path(path).stat().st_size for path in self._paths]
        per_row = self._wide.readings if self._wide else 1
        rows = spare = 0  # spare: unused shares of files shorter than expected
        for number, path in enumerate(self._paths):
            to_report = _part_of(progress, sum(sizes[:number]), sum(sizes))
            label = [self._classes[number]] if self._classes is not None else []
            first = rows
            most, more = None, 0
            if self._shares is not None:
                more = -(-spare // (len(self._paths) - number))
                most = self._shares[number] + more
            for cells in self._rows_of(path, self._file_names[number], first, to_report, most):
                write(cells + label)
                rows += 1
                if text.tell() >= _WRITTEN:
                    yield _taken(text)
            if most is not None:
                spare += most - more - (rows - first) // per_row
        yield _taken(text)

    def _rows_of(
        self, path: str, name: str, first: int, progress: Progress | None, most: int | None
    ) -> Iterator[list[str]]:
        """Yield the rows of a file, at most `most`, with the columns of the joined file."""
        starts, groups = self._recordings.starts, self._recordings.groups
        per_row = self._wide.readings if self._wide else 1
        reading = replace(self._inner, limit=most)
        with _csv_of(path, name, reading, whole=True, progress=progress) as (
            file,
            names,
            rows,
        ):
            part = _Part(file, first)
            self._opened.append(part)
            places: Sequence[int] | None = None
            if names is not None and not self._wide:
                places = [names.index(each) if each in names else -1 for each in self._names]
                places = None if places == [*range(len(names))] else places
            width = len(names) if names is not None else 0
            for number, (line, cells) in enumerate(islice(rows, most)):
                width = width or len(cells)
                part.lines.add(number, line)
                if len(cells) != width:
                    raise DataError(
                        f"{file.place(line)}: {width} cells expected, one per column, but "
                        f"{len(cells)} found. Complete the row or delete it."
                    )
                at = first + number * per_row
                if number == 0 or self._wide:
                    starts.append(at)
                if number == 0 or self._by_row:
                    groups.append(at)
                if self._wide:
                    yield from self._wide.of(cells)
                elif places is not None:
                    yield [cells[place] if place >= 0 else "" for place in places]
                else:
                    yield cells


def shares(limit: int, rows: Sequence[int | None]) -> list[int]:
    """Return the number of rows to read from each file, nearly equal, with the sum `limit`.

    At least one row is read from each file; `rows` are the numbers of rows in the files, None for
    many.
    """
    result = [1] * len(rows)
    left = limit - len(rows)
    while left > 0:
        able = [at for at, most in enumerate(rows) if most is None or result[at] < most]
        if not able:
            break
        each, more = divmod(left, len(able))
        for place, at in enumerate(able):
            wanted = result[at] + each + (place < more)
            most = rows[at]
            taken = wanted if most is None else min(wanted, most)
            left -= taken - result[at]
            result[at] = taken
    return result


@dataclass
class _Part:
    """A file that was opened."""

    file: SourceFile
    first: int  # its first row in the joined file
    lines: LineMap = field(default_factory=LineMap)


def _taken(text: io.StringIO) -> bytes:
    result = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return result


def _part_of(progress: Progress | None, before: int, whole: int) -> Progress | None:
    """Convert the progress in one file to the progress in all."""
    if progress is None:
        return None
    tell = progress
    return lambda done, _: tell(before + done, whole)


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return each file's name in messages: with its folders if two names are the same."""
    for parts in range(1, 8):
        names = ["/".join(Path(path).parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            break
    return names


def _head(path: str, name: str, reading: ReadingOptions) -> _Head:
    reading = replace(reading, asks="nothing")  # finds units in the last column; a class has none
    with _csv_of(path, name, reading, whole=False) as (file, names, numbered_rows):
        rows = [cells for _, cells in islice(numbered_rows, _LOOKED_AT)]
        if not rows:
            raise DataError(f"{name} has no samples. Add a row per sample.")
        made = file.made
        return _Head(
            name, names, rows, made.clocks if made else (), dict(made.units if made else ())
        )


def _common_names(heads: Sequence[_Head], reading: ReadingOptions) -> list[str]:
    """Return the columns of all files. Raises DataError if they differ."""
    first = next((head for head in heads if head.names is not None), heads[0])
    names = first.names or [f"c{place}" for place in range(1, first.width + 1)]
    left_out = reading.choice.leaves_out
    wanted = {n for n in names if not left_out(n) or n in (reading.label, reading.group)}
    for head in heads:
        if head.names is None:
            if head.width != len(names):
                raise DataError(
                    f"{first.name} has {len(names)} columns and {head.name} {head.width}: files "
                    "that are read together have the same columns."
                )
            continue
        there = {n for n in head.names if not left_out(n) or n in (reading.label, reading.group)}
        if there != wanted:
            missing = [n for n in names if n in wanted - there]
            more = [n for n in head.names if n in there - wanted]
            parts = [f"{head.name} lacks {', '.join(missing[:6])}"] if missing else []
            parts += [f"{head.name} alone has {', '.join(more[:6])}"] if more else []
            drop = " ".join([*missing, *more][:6])
            raise DataError(
                f"{' and '.join(parts)}, unlike {first.name}: files that are read together have "
                f"the same columns. Rename them, or leave them out: --drop {drop}."
            )
    return names


def _check_units(heads: Sequence[_Head]) -> None:
    """Raise DataError if a column has another unit in another file."""
    first = heads[0]
    for head in heads[1:]:
        for name in {**first.units, **head.units}:
            units = [each.units.get(name, "") for each in (first, head)]
            if units[0] != units[1]:
                words = [unit or "no unit" for unit in units]
                raise DataError(
                    f"column {name} has {words[0]} in {first.name} and {words[1]} in {head.name}: "
                    "write one unit in all files."
                )


def _free_name(names: Sequence[str]) -> str:
    return next(name for name in ("label", "class", "file_class") if name not in names)


def _class_is_column(
    what: str, heads: Sequence[_Head], names: Sequence[str], reading: ReadingOptions
) -> bool:
    """Return whether the class is in the last column rather than in the files' names.

    Raises DataError if that is unclear.
    """
    if len(heads) == 1 and reading.wide is None:
        return True
    columns = [_last_column(head, names, reading) for head in heads]
    sure = [head.name for head, (is_class, _) in zip(heads, columns, strict=True) if is_class]
    if len(sure) == len(heads):
        return True
    last = names[-1]
    if sure:
        other = next(head.name for head in heads if head.name not in sure)
        raise DataError(
            f"The last column, {last}, holds classes in {shown(sure, 3)} and numbers in {other}: "
            f"--label {last} says that it is the class, --label-from name that the class is in "
            "the files' names."
        )
    codes = set().union(*(values or () for _, values in columns))
    if all(values for _, values in columns) and 1 < len(codes) <= _MOST_CODES:
        raise DataError(
            f"The class may be the last column of {what}, {last} ({', '.join(sorted(codes))}), or "
            f"in the files' names: --label {last} or --label-from name says which."
        )
    return False


def _last_column(
    head: _Head, names: Sequence[str], reading: ReadingOptions
) -> tuple[bool, set[str] | None]:
    """Return whether the last possible column holds classes; if unsure, its few whole numbers."""
    left_out = {*reading.choice.drop, reading.group, *head.clocks}
    columns = columns_of(head.rows)
    named = head.names or names
    able = [named.index(name) for name in names if name not in left_out and name in named]
    if not able or len(columns) != len(named):
        return False, None
    cells = {cell for cell in columns[able[-1]] if cell not in MISSING_CELLS}
    if head.names and named[able[-1]].lower() in _LABELS:
        return True, None
    if cells and all(number_of(cell) is None for cell in cells):
        return True, None
    values = len(able) - 1
    if reading.wide and len(able) % reading.wide.axes == 0 and values % reading.wide.axes:
        return False, None  # the last column belongs to the readings
    whole = bool(cells) and all(cell.lstrip("+-").isdigit() for cell in cells)
    if reading.wide:
        others = {cell for place in able[:-1] for cell in columns[place]}
        decimals = any(not cell.lstrip("+-").isdigit() for cell in others)
        return whole and len(cells) <= _MOST_CODES and decimals, None
    return False, cells if whole and len(cells) <= _MOST_CODES else None
