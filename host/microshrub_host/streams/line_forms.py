"""Splits the lines of a text into cells, by separators, or by names in front of each number.

Among the forms that split most lines into rows of equal length, the one with the most numeric
cells is chosen.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .cell_forms import affixes
from .clock_cells import clock_reader
from .columns import MISSING_CELLS, number_of

Split = Callable[[str], "list[str] | None"]
PLAIN = {",": "commas", ";": "semicolons", "\t": "tabs"}
_MOST_LINES = 200  # lines to check
_COMPOUND = 0.3  # quality of a column whose cells may be several cells each
_AGREE = 0.6  # share of lines with the same number of cells
_WORD = re.compile(r"[^\d,;|\t:=()\[\]{}<>]*|\w+")
_BARS = tuple(
    (f"{what} and bars", re.compile(rf"\s*{sign}\s*"))
    for sign, what in (("[,|]", "commas"), ("[;|]", "semicolons"), (r"(?:,\s|[;|\t])", "commas"))
)
_BRACKETS = re.compile(r"[\[\](){}<>]")
# Cells that begin and end with a bracket; in a name such as 0[0 it belongs to the name
_IN_BRACKETS = re.compile(r"(?:^|[,;\s])[\[({<].*[\])}>](?:$|[,;\s])")
_LESS = 0.95  # score factor for two separators
_OTHER_FIRST = 0.8  # score factor for a first line with an unusual number of cells
_NUMBERED = re.compile(r"\s*\d+\s*:\s+(?=\S)")
_UNIT = r" ?[%°µA-Za-z][A-Za-z/²^0-9%°]{0,8}(?![\w:=]|\s*[:=])"
_PAIR = re.compile(
    r"\s*([^\W\d][\w./()%°²^* -]*?)\s*[:=]\s*"
    rf"([+-]?(?:\d+[.,]?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:{_UNIT})?|[\w.+-]+)"
    r"\s*(?:[,;|\t]\s*|\s|$)"
)
_SPARSE = re.compile(r"\s*([+-]?\w[\w.+-]*)((?:\s+\d+:\S+)+)\s*(?:#.*)?")


@dataclass
class LineForm:
    """How a line becomes cells; split() returns None for a line of another form."""

    what: str  # description
    split: Split
    cells: int  # in a row
    names: tuple[str, ...] = ()  # if each cell has its name in front
    delimiter: str = ""  # of a form that csv_rows.py can read
    worth: float = 1.0
    numbered: bool = False  # whether the line's number is in front


def delimited(delimiter: str) -> Split:
    """Return a function that splits at delimiters, outside quotation marks."""

    def split(line: str) -> list[str]:
        if '"' not in line:
            return [cell.strip() for cell in line.split(delimiter)]
        try:
            cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
        except csv.Error:
            return []
        return [cell.strip() for cell in cells]

    return split


def _barred(between: re.Pattern[str]) -> Split:
    def split(line: str) -> list[str] | None:
        return between.split(line.strip()) if "|" in line or ";" in line else None

    return split


def _blanks(line: str) -> list[str] | None:
    cells = line.split()
    return None if any(cell[-1] in ",;" for cell in cells[:-1]) else cells


def _bracketed(line: str) -> list[str] | None:
    """Return the cells of a printed tuple or list, including text around it."""
    if not _IN_BRACKETS.search(line):
        return None
    return re.split(r"[,;\s]+", _BRACKETS.sub(" ", line).strip())


def numbered(split: Split) -> Split:
    """Return a function that also removes a line's number, as in `7: 3.1, -4.0`."""

    def behind(line: str) -> list[str] | None:
        match = _NUMBERED.match(line)
        return None if match is None else split(line[match.end() :])

    return behind


def pairs_of(line: str) -> list[tuple[str, str]] | None:
    """Return the names and values of a line such as `ax: 1, ay: 2`, or of a printed dictionary.

    None if the line has any other text.
    """
    if line[:1] == "{" and line.rstrip()[-1:] == "}":
        line = line.strip()[1:-1].replace("'", "").replace('"', "")
    result: list[tuple[str, str]] = []
    at = 0
    while at < len(line):
        match = _PAIR.match(line, at)
        if match is None or match.end() == at:
            return None if line[at:].strip(" ,;|\t") else result
        result.append((match[1], match[2].strip()))
        at = match.end()
    return result


def _named(names: Sequence[str]) -> Split:
    places = {name: place for place, name in enumerate(names)}

    def split(line: str) -> list[str] | None:
        pairs = pairs_of(line)
        if not pairs or any(name not in places for name, _ in pairs):
            return None
        if len({name for name, _ in pairs}) < len(pairs):
            return None
        cells = [""] * len(names)
        for name, value in pairs:
            cells[places[name]] = value
        return cells

    return split


def sparse_of(line: str) -> tuple[str, dict[int, str]] | None:
    """Return the class, and the values by index, of a line in LibSVM's format."""
    match = _SPARSE.fullmatch(line)
    if match is None:
        return None
    values: dict[int, str] = {}
    for pair in match[2].split():
        index, _, value = pair.partition(":")
        if number_of(value) is None or int(index) in values:
            return None
        values[int(index)] = value
    return match[1], values


def sparse(indices: Iterable[int]) -> LineForm:
    """Return the form of LibSVM's lines with these features; the class is last."""
    columns = sorted(indices)

    def split(line: str) -> list[str] | None:
        row = sparse_of(line)
        return row and [*(row[1].get(index, "0") for index in columns), row[0]]

    names = tuple(f"f{index}" for index in columns)
    return LineForm("LibSVM's", split, len(names) + 1, (*names, "class"))


def chosen_form(lines: Sequence[str]) -> LineForm | None:
    """Return the form of lines without blank ones and a board's messages; None without a form."""
    lines = lines[:_MOST_LINES]
    lines = [*lines[:1], *(line for line in lines[1:] if line != lines[0])]  # a repeated header
    if lines and sum(sparse_of(line) is not None for line in lines) >= _AGREE * len(lines):
        return sparse({i for line in lines for i in (sparse_of(line) or ("", {}))[1]})
    candidates = [LineForm(what, delimited(sign), 0, delimiter=sign)
                  for sign, what in PLAIN.items()]  # fmt: skip
    candidates += [LineForm(what, _barred(between), 0, worth=_LESS) for what, between in _BARS]
    names = _names(lines)
    if names:
        candidates.append(LineForm("names in front of the values", _named(names), 0, names))
    candidates.append(LineForm("blanks", _blanks, 0))
    plain = candidates[:]
    if sum(_NUMBERED.match(line) is not None for line in lines) >= _AGREE * len(lines):
        candidates = [
            LineForm(each.what, numbered(each.split), 0, worth=each.worth, numbered=True)
            for each in plain
            if each.what != "names in front of the values"
        ]
    best, most = None, 0.0
    for each in candidates:
        score = _score(each, lines)
        if score > most + 1e-9:
            best, most = each, score
    if best is None or _worst(best, lines) <= _COMPOUND:
        bare = LineForm("brackets, commas and blanks", _bracketed, 0)
        if _score(bare, lines) and _worst(bare, lines) > _COMPOUND:
            return bare
    return best


def _worst(form: LineForm, lines: Sequence[str]) -> float:
    """Return the quality of the worst column."""
    rows = [row for row in map(form.split, lines) if row and len(row) == form.cells]
    return min(_quality(column) for column in zip(*rows, strict=True))


def _names(lines: Sequence[str]) -> tuple[str, ...]:
    """Return all names in lines of pairs, in the order of appearance."""
    result: dict[str, None] = {}
    for line in lines:
        pairs = pairs_of(line)
        if pairs and len(pairs) > 1:
            result.update(dict.fromkeys(name for name, _ in pairs))
    return tuple(result)


def _score(form: LineForm, lines: Sequence[str]) -> float:
    """Return how well a form fits, 0 for not at all, and set its number of cells."""
    rows = [form.split(line) for line in lines]
    counts = Counter(len(row) for row in rows if row)
    if not counts:
        return 0.0
    form.cells, agree = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
    if form.cells < 2 or agree < _AGREE * len(lines):
        return 0.0
    fit = [row for row in rows if row and len(row) == form.cells]
    quality = sum(_quality(column) for column in zip(*fit, strict=True)) / form.cells
    first = 1.0 if rows[0] and len(rows[0]) == form.cells else _OTHER_FIRST
    return form.worth * first * quality * agree / len(lines)


def _quality(column: Sequence[str]) -> float:
    """Return how similar to numbers, or words, the cells of a column are."""
    body = [cell for cell in column[1:] or column if cell not in MISSING_CELLS]
    if not body:
        return 0.6
    numbers = sum(number_of(cell) is not None for cell in body)
    if numbers >= 0.9 * len(body):
        return 1.0
    if clock_reader(body):
        return 0.95
    if affixes(body):
        return 0.9
    return _COMPOUND if compound(body) else 0.7


def compound(cells: Sequence[str]) -> bool:
    """Return whether cells have numbers and separators, so they may be several cells each."""
    return any(number_of(cell) is None and not _WORD.fullmatch(cell) for cell in cells)
