"""Tables of other programs: NumPy's arrays, Parquet, Feather, Excel's and MATLAB's.

The installed packages read them, row by row where the format allows it.
"""

from __future__ import annotations

import io
import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from typing import IO, Any

import numpy as np

from ..base.errors import DataError
from .cell_rows import CellRows, Row
from .log_lines import TEXT, LinesLeftOut
from .source_file import SourceFile, unreadable_kind

_ROWS = 4096  # rows at once
_TITLES = 30  # rows of a sheet that may be titles above the table
_CLASSES = ("y", "label", "labels", "target", "targets")  # names of an array of classes


def table_rows(source: SourceFile, start: bytes) -> CellRows | None:
    """Return the rows of a file with this start; None if it is no such table. Raises DataError."""
    for pattern, reader, module in _READERS:
        if re.match(pattern, start, re.DOTALL):
            try:
                return reader(source)
            except ImportError:
                message = unreadable_kind(source.name, start)
                raise DataError(
                    f"{message} Or have it read by {module}: pip install 'microshrub[files]'"
                ) from None
            except DataError:
                raise
            except Exception as error:  # each library raises its own errors
                message = unreadable_kind(source.name, start) or f"{source.name} cannot be read."
                raise DataError(f"{message} (It seems damaged: {error})") from error
    return None


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="replace").strip()
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    return str(value).strip()


def _numbered(rows: Iterable[Iterable[Any]]) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        yield number, [_cell(value) for value in row]


def _of_array(name: str, array: Any) -> tuple[list[str], Iterator[Iterable[Any]]]:
    if array.dtype.names:
        return list(array.dtype.names), (row.tolist() for row in array.ravel())
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        shape = " x ".join(map(str, array.shape))
        raise DataError(f"{name} has an array of {shape}; one of rows and columns is needed.")
    return [f"c{n}" for n in range(1, array.shape[1] + 1)], (row.tolist() for row in array)


def _loaded(source: SourceFile, what: str, load: Callable[[], Any]) -> Any:
    """Return the array from load(). Raises DataError for an array of Python objects."""
    try:
        return load()
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise DataError(
            f"{source.name}: {what} holds Python objects, which are not read, since they may run "
            "programs. Save numbers, or texts of one type, as .astype(str) makes them."
        ) from None


def _numpy(source: SourceFile) -> CellRows:
    with ExitStack() as stack:
        _, file = stack.enter_context(source.opened())
        content = io.BytesIO(file.read())
    array = _loaded(source, "the array", lambda: np.load(content))
    names, rows = _of_array(source.name, array)
    return CellRows(_numbered(rows), names, notes=["the rows are those of a NumPy array"])


def _of_arrays(source: SourceFile, arrays: Mapping[str, Any], what: str) -> CellRows:
    """Return the rows of the only table, with the only matching array of classes as last column.

    Without a table, arrays of the same size are the columns. Raises DataError if it is not clear
    which arrays these are.
    """
    able = {n: np.asarray(a) for n, a in arrays.items() if np.ndim(a) >= 1 and np.size(a) > 1}
    tables = [n for n, a in able.items() if a.ndim == 2 and min(a.shape) > 1]
    flat = [n for n, a in able.items() if a.ndim == 1 or (a.ndim == 2 and min(a.shape) == 1)]
    if len(tables) == 1:
        names, rows = _of_array(source.name, able[tables[0]])
        classes = [n for n in flat if able[n].size == len(able[tables[0]])]
        if len(classes) == 1:
            label = able[classes[0]].ravel().tolist()
            both = ([*row, last] for row, last in zip(rows, label, strict=True))
            note = f"the rows are {what} {tables[0]}, and the last column {classes[0]}"
            return CellRows(_numbered(both), [*names, classes[0]], notes=[note])
        if not classes:
            _refuse_other_length(source.name, tables[0], able, flat)
            note = f"the rows are {what} {tables[0]}"
            others = [n for n in arrays if n != tables[0]]
            unread = [f"what else the file has is not read: {', '.join(others)}"] if others else []
            return CellRows(_numbered(rows), names, notes=[note, *unread])
    elif not tables and len(flat) == len(able) and len({able[n].size for n in flat}) == 1:
        columns = zip(*(able[n].ravel().tolist() for n in flat), strict=True)
        return CellRows(_numbered(columns), flat, notes=[f"the columns are {what}s"])
    _refuse_cube(source.name, able, flat)
    shapes = ", ".join(f"{n}: {' x '.join(map(str, a.shape))}" for n, a in able.items())
    raise DataError(
        f"{source.name} has several arrays ({shapes}), and it is not clear which of them are the "
        "samples. Save one of rows and columns, and perhaps one of as many classes."
    )


def _refuse_other_length(
    name: str, table: str, arrays: Mapping[str, Any], flat: Iterable[str]
) -> None:
    """Raise DataError if an array of classes has more or fewer values than the table has rows."""
    for each in flat:
        if each.lower() in _CLASSES:
            raise DataError(
                f"{name}: {each} has {arrays[each].size:,} values, and {table} has "
                f"{len(arrays[table]):,} rows. Save one value per row."
            )


def _refuse_cube(name: str, arrays: Mapping[str, Any], flat: Iterable[str]) -> None:
    """Raise DataError, with the command that writes a wide file, for recordings in an .npz."""
    cubes = [n for n, a in arrays.items() if a.ndim == 3]
    if len(cubes) != 1 or not name.lower().endswith(".npz"):
        return
    cube = arrays[cubes[0]]
    classes = [n for n in flat if arrays[n].size == len(cube)]
    target = f"{name[:-4]}.csv"
    parts = [f"d[{cubes[0]!r}].reshape({len(cube)}, -1)", *(f"d[{n!r}]" for n in classes[:1])]
    kinds = {arrays[n].dtype.kind for n in classes[:1]}
    fmt = "%.9g" if kinds <= {*"iufb"} else "%s"
    code = (
        f"import numpy as n; d = n.load({name!r}); n.savetxt({target!r}, "
        f"n.column_stack([{', '.join(parts)}]), {fmt!r}, ',')"
    )
    count, readings, axes = cube.shape
    raise DataError(
        f"{name}: {cubes[0]} holds {count:,} recordings of {readings:,} readings of {axes} values."
        f" Write them as a wide file: python -c {shlex.quote(code)}; then learn it: "
        f"microshrub simulate {shlex.quote(target)} --wide axes={axes}"
    )


def _archive(source: SourceFile) -> CellRows:
    with source.opened() as (_, file), np.load(io.BytesIO(file.read())) as packed:
        arrays = {n: _loaded(source, n, partial(packed.__getitem__, n)) for n in packed.files}
        return _of_arrays(source, arrays, "the NumPy array")


def _matlab(source: SourceFile) -> CellRows:
    from scipy.io import loadmat

    with source.opened() as (_, file):
        variables = loadmat(io.BytesIO(file.read()), chars_as_strings=True)
    arrays = {name: each for name, each in variables.items() if not name.startswith("__")}
    return _of_arrays(source, arrays, "the MATLAB array")


def _parquet(source: SourceFile) -> CellRows:
    import pyarrow.parquet as pq

    opened = ExitStack()
    _, file = opened.enter_context(source.opened())
    table = pq.ParquetFile(file)

    def batches() -> Iterator[Any]:
        with opened:
            yield from table.iter_batches(batch_size=_ROWS)

    return _of_batches(table.schema_arrow, batches(), "a Parquet file")


def _of_batches(schema: Any, batches: Iterable[Any], what: str) -> CellRows:
    """Return the rows with the columns as a pandas frame shows them: the index first.

    In the file, the index is last. An index without a name only numbers the rows, and is left out.
    """
    names = [str(name) for name in schema.names]
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    unnamed = [name for name in names if name in index and re.match(r"__index_level_\d", name)]
    shown = [place for place, name in enumerate(names) if name not in unnamed]
    shown.sort(key=lambda place: names[place] not in index)
    rows = (
        row
        for batch in batches
        for row in zip(*(batch.column(place).to_pylist() for place in shown), strict=True)
    )
    notes = [f"the rows are those of {what}"]
    if unnamed:
        notes.append("the index of the pandas frame has no name, and is left out")
    return CellRows(_numbered(rows), [names[place] for place in shown], notes=notes)


def _feather(source: SourceFile) -> CellRows:
    import pyarrow.feather as feather

    with source.opened() as (_, file):
        table = feather.read_table(io.BytesIO(file.read()))
    return _of_batches(table.schema, table.to_batches(max_chunksize=_ROWS), "a Feather file")


def _excel(source: SourceFile) -> CellRows:
    from openpyxl import load_workbook

    opened = ExitStack()
    _, file = opened.enter_context(source.opened())
    book = load_workbook(opened.enter_context(_seekable(file)), read_only=True, data_only=True)
    opened.callback(book.close)
    sheet, sheets = book.worksheets[0], len(book.worksheets)
    sheet.reset_dimensions()  # other programs write wrong ones

    left_out = LinesLeftOut()

    def rows() -> Iterator[Row]:
        with opened:
            filled = _filled(sheet.iter_rows(values_only=True))
            early = list(islice(filled, _TITLES))
            while len(early) > 1 and len(early[0][1]) == 1 < len(early[-1][1]):
                left_out.add(TEXT, f"line {early[0][0]}")  # a title above the table
                del early[0]
            width = len(early[0][1]) if early else 0
            for number, cells in chain(early, filled):
                yield number, [*cells, *[""] * (width - len(cells))]

    note = "an Excel sheet" if sheets == 1 else f"the first of {sheets} sheets"
    return CellRows(rows(), None, left_out, [f"the rows are those of {note}"])


def _filled(rows: Iterable[Iterable[Any]]) -> Iterator[Row]:
    """Yield the rows that are not empty, without empty cells at their ends."""
    for number, row in enumerate(rows, 1):
        cells = [_cell(value) for value in row]
        while cells and not cells[-1]:
            del cells[-1]
        if cells:
            yield number, cells


def _seekable(file: IO[bytes]) -> IO[bytes]:
    """Return the file itself, or a copy if it cannot be read twice."""
    return file if file.seekable() else io.BytesIO(file.read())


_Reader = Callable[[SourceFile], CellRows]
_READERS: tuple[tuple[bytes, _Reader, str], ...] = (
    (rb"\x93NUMPY", _numpy, "numpy"),
    (rb"PK\x03\x04.{26}[^/]{0,80}\.npy", _archive, "numpy"),
    (rb"PK\x03\x04.{26}(?!mimetype).*(xl/|\[Content_Types\]\.xml|_rels/)", _excel, "openpyxl"),
    (rb"PAR1", _parquet, "pyarrow"),
    (rb"ARROW1|FEA1", _feather, "pyarrow"),
    (rb"MATLAB 5\.0", _matlab, "scipy"),
)
