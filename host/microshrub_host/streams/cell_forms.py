"""Numbers with text around them: how to read the cells of a column, if all agree.

The text may be a unit, brackets or a name in front; numbers may have decimal commas or separated
thousands, or be dates. A form is found in a column's first cells and read in all of them; a cell
of another form is left unchanged, and the reader reports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .clock_cells import clock_reader
from .columns import MISSING_CELLS, number_of

_CORE = r"[+-]?(?:\d[\d.,'\u2019 \u00a0\u2009\u202f]*\d|\d|\.\d+)(?:[.,](?!\d))?(?:[eE][+-]?\d+)?"
_NAME = r"[^\W\d][\w ./-]{0,30}\s*[:=]\s*"
_ATTACHED = re.compile(
    rf"(?P<before>{_NAME}|[\[({{<\"'|~$€£=]+\s*|)(?P<core>{_CORE})"
    r"(?P<after>\s*[^\W\d_][^\s,;:\])}]{0,9}|\s*[%°‰µ][^\s,;:\])}]{0,9}|)"
    r"(?P<end>[\s\])}>;,\"'|:]*)"
)
_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?(?:[eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d*)?(?:[eE][+-]?\d+)?")
_BLANK = r"[ '\u2019\u00a0\u2009\u202f]"
_APART = re.compile(rf"[+-]?(?:\d{{1,3}}(?:{_BLANK}\d{{3}})+|\d+)(?:\.\d*)?")
_MANY = 8  # letters right after whole numbers are a unit if more cells than this differ
_SHORT = 3  # letters of such a unit, at most

DATE = "date"
Read = Callable[[str], "str | None"]


@dataclass(frozen=True)
class CellForm:
    """How a column's cells become numbers; read() returns None for a cell of another form."""

    read: Read
    what: str  # note on removed or converted text
    kind: str = ""
    name: str = ""  # in front of each number
    is_decimal: bool = False  # numbers with commas or grouped thousands, without other text
    unit: str = ""  # after each number


_MILLISECONDS = {"s": 1e3, "sec": 1e3, "seconds": 1e3, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}


def clock_form(unit: str) -> CellForm | None:
    """Return how to convert a clock in this unit to milliseconds.

    None if it is in milliseconds already, or the unit is no unit of time.
    """
    factor = _MILLISECONDS.get(unit.strip("[]() ").lower())
    if factor is None:
        return None

    def read(cell: str) -> str | None:
        value = number_of(cell)
        return None if value is None else f"{value * factor:.12g}"

    return CellForm(read, f"in {unit}, converted to milliseconds")


def affixes(cells: Sequence[str]) -> tuple[str, str, str] | None:
    """Return the text before, after (a unit) and at the end of numbers; None unless all agree."""
    matches = [_ATTACHED.fullmatch(cell) for cell in cells]
    if not matches or not all(matches):
        return None
    variants = {(m["before"].strip(), m["after"].strip(), m["end"].strip()) for m in matches if m}
    if len(variants) != 1:
        return None
    (result,) = variants
    unit = result[1]
    if unit and unit[0].isalpha() and not _is_unit(cells, matches, unit):
        return None
    return result


def _is_unit(cells: Sequence[str], matches: Sequence[re.Match[str] | None], unit: str) -> bool:
    """Return whether letters after numbers are a unit, unlike those in 3G and 4G."""
    apart = any(m and ("." in m["core"] or "," in m["core"] or m["after"][0] == " ")
                for m in matches)  # fmt: skip
    return apart or (len(set(cells)) > _MANY and len(unit) <= _SHORT)


def commas(cores: Sequence[str]) -> set[str]:
    """Return the possible meanings of a comma in numbers: "," decimal, "." between thousands."""
    readings = set()
    if all(_COMMA.fullmatch(core) for core in cores):
        readings.add(",")
    if all(_THOUSANDS.fullmatch(core) for core in cores):
        readings.add(".")
    return readings


def forms_of(
    columns: Sequence[Sequence[str]], decimal: str | None = None
) -> list[CellForm | None]:
    """Return how to read the cells of each column; None leaves them unchanged.

    decimal is the decimal sign, if given; else it is inferred from the columns in which a comma
    can have only one meaning, if they agree. A column that is still ambiguous is left unchanged.
    """
    known = [[cell for cell in cells if cell not in MISSING_CELLS] for cells in columns]
    cut = [_cut(cells) for cells in known]
    with_comma = [c and c[1] for c in cut if c and any("," in core for core in c[1])]
    separators = [commas(cores) for cores in with_comma if cores]
    sure = set.union(set(), *(each for each in separators if len(each) == 1))
    if decimal is None and len(sure) == 1:
        (decimal,) = sure
    return [_form(cells, parts, decimal) for cells, parts in zip(known, cut, strict=True)]


def _cut(cells: Sequence[str]) -> tuple[tuple[str, str, str], list[str]] | None:
    """Return the text attached to the numbers of a column that is not plain, and the numbers."""
    if not cells or all(number_of(cell) is not None for cell in cells):
        return None
    attached = affixes(cells)
    if attached is None:
        return None
    cores = [match["core"] for match in map(_ATTACHED.fullmatch, cells) if match]
    return attached, cores


def _form(
    cells: Sequence[str],
    parts: tuple[tuple[str, str, str], list[str]] | None,
    decimal: str | None,
) -> CellForm | None:
    if clock := clock_reader(cells):
        return CellForm(lambda cell: _milliseconds(clock(cell)), "", DATE)
    if parts is None:
        return None
    attached, cores = parts
    number, what = _number_reader(cores, decimal)
    if number is None:
        return None

    def read(cell: str) -> str | None:
        match = _ATTACHED.fullmatch(cell)
        if match is None or attached != tuple(
            match[n].strip() for n in ("before", "after", "end")
        ):
            return cell if number_of(cell) is not None and not any(attached) else None
        return number(match["core"])

    before, unit, end = attached
    name = before.rstrip(":= ") if before[-1:] in (":", "=") else ""
    words = [what] if what else []
    words += [f"the unit {unit} is taken off"] if unit else []
    if (before and not name) or end:
        words.append(f"{' and '.join(filter(None, [before, end]))} is taken off")
    words += [f"the name {name} is taken off"] if name else []
    return CellForm(read, ", ".join(words), name=name, is_decimal=not any(attached), unit=unit)


def _milliseconds(value: float | None) -> str | None:
    return None if value is None else f"{1000 * value:.3f}".rstrip("0").rstrip(".")


def _number_reader(cores: Sequence[str], decimal: str | None) -> tuple[Read | None, str]:
    """Return a function that converts these numbers to plain ones, and a description of it."""
    if all(number_of(core) is not None for core in cores):
        return _plain, ""
    if any("," in core for core in cores):
        fits = commas(cores)
        if len(fits) == 2 and decimal is not None:
            fits &= {decimal}
        if fits == {","}:
            return _of_comma, "decimal commas are read"
        if fits == {"."}:
            return _of_thousands, "commas between thousands are taken out"
    elif all(_APART.fullmatch(core) for core in cores):
        return _of_apart, "thousands are set apart"
    return None, ""


def _plain(core: str) -> str | None:
    return core if number_of(core) is not None else None


def _of_comma(core: str) -> str | None:
    return core.replace(".", "").replace(",", ".") if _COMMA.fullmatch(core) else None


def _of_thousands(core: str) -> str | None:
    return core.replace(",", "") if _THOUSANDS.fullmatch(core) else None


def _of_apart(core: str) -> str | None:
    return re.sub(_BLANK, "", core) if _APART.fullmatch(core) else None
