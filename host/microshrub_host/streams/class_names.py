"""The classes of a stream: their order, declared classes, and the number of a label."""

from __future__ import annotations

import csv
import io
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..base.errors import DataError
from ..base.text import did_you_mean
from .stream import MAX_CLASSES

MEASURED = "If it is a measurement"  # in messages about a class column that may be a measurement
_SHOWN = 3  # late classes in a message
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_EXACT = re.compile(r"\.\d{3,}$")  # decimals that suggest a measurement
_MANY_WHOLE = 32  # whole numbers as classes: more may be a measurement
_MANY_PARTS = 8  # numbers as classes, not all whole: more may be a measurement


def class_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return class names in numeric order if all are integers, else sorted as text."""
    ordered = sorted(names)
    if all(_INTEGER.fullmatch(name) for name in ordered):
        ordered.sort(key=int)
    return tuple(ordered)


def encode_labels(
    cells: Sequence[str],
    where: Callable[[int], str],
    known: tuple[str, ...] | None,
    warmup: int,
    fewest: int = 2,
) -> tuple[NDArray[np.uint8], tuple[str, ...], list[str]]:
    """Encode label cells in stream order; return class indices, (samples,), names, and notes.

    `where` describes the place of a sample. For the names and the notes see class_names().
    """
    first: dict[str, int] = {}  # first sample of each class
    for sample, cell in enumerate(cells):
        first.setdefault(cell, sample)
    names, notes = class_names(first, where, known, warmup, fewest)
    codes = {name: code for code, name in enumerate(names)}
    return np.array([codes[cell] for cell in cells], dtype=np.uint8), names, notes


def class_names(
    first: Mapping[str, int],
    where: Callable[[int], str],
    known: tuple[str, ...] | None,
    warmup: int,
    fewest: int = 2,
) -> tuple[tuple[str, ...], list[str]]:
    """Return the classes in order, and notes; `first` has the first sample of each class.

    Raises DataError for fewer than `fewest` or more than MAX_CLASSES classes, and for a class that
    is not in `known`, if given. Without `known`, there is a note on classes that begin after the
    first `warmup` samples: these have to be declared to a board.
    """
    names = class_order(first) if known is None else known
    if not fewest <= len(names) <= MAX_CLASSES:
        raise DataError(f"{where(0)}: {_class_count(names)}")
    for name, sample in first.items():
        if name not in names:
            raise DataError(f"{where(sample)}: {_unknown_class(name, names)}")
    notes = [] if known else [*_alike(first, where), *_measured(names, where)]
    late = sorted((s, name) for name, s in first.items() if known is None and s >= warmup)
    notes += [_late_classes(late, where, names, warmup)] if late else []
    return names, notes


def _alike(first: Mapping[str, int], where: Callable[[int], str]) -> list[str]:
    """Return notes on classes whose names seem to mean the same."""
    groups: dict[str, list[str]] = {}
    for name in sorted(first, key=lambda name: first[name]):
        groups.setdefault(_meant(name), []).append(name)
    return [
        f"{where(first[group[-1]])}: the classes {', '.join(map(repr, group))} differ only by "
        f"{_difference(group)}, and are {len(group)} classes to a model. If they are one, "
        "write them alike."
        for group in groups.values()
        if len(group) > 1
    ]


def _meant(name: str) -> str:
    """Return a text that is equal for names that probably mean the same."""
    if _NUMBER.fullmatch(name):
        return str(float(name))
    return unicodedata.normalize("NFKC", "".join(name.split())).casefold()


def _difference(alike: Sequence[str]) -> str:
    if _NUMBER.fullmatch(alike[0]):
        return "how the number is written"
    letters = {"".join(name.split()).casefold() for name in alike}
    return "case or spaces" if len(letters) == 1 else "how letters are encoded"


def _measured(names: tuple[str, ...], where: Callable[[int], str]) -> list[str]:
    """Return a note on classes that look like the values of a measurement."""
    whole = all(_INTEGER.fullmatch(name) for name in names)
    exact = any(_EXACT.search(name) for name in names)
    if len(names) <= (_MANY_WHOLE if whole else _MANY_PARTS) and not exact:
        return []
    if not all(_NUMBER.fullmatch(name) for name in names):
        return []
    return [
        f"{where(0)}: its {len(names)} classes are all numbers. {MEASURED}, predict the number "
        "itself: name the column with --target."
    ]


class Writings:
    """For each class, the first row in which it has other spaces after it than at first."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}  # class: its first cell
        self._rows: dict[str, int] = {}

    def add(self, name: str, written: str, row: int) -> None:
        """Add a class with its cell."""
        written = written.lstrip(" ")
        if self._first.setdefault(name, written) != written:
            self._rows.setdefault(name, row)

    def notes(self, where: Callable[[int], str]) -> list[str]:
        """Return a note for each class with such a row."""
        return [
            f"{where(row)}: the class {name} has other spaces behind it here than before, and is "
            "read as one class."
            for name, row in self._rows.items()
        ]


def declared_classes(classes: Sequence[str] | None) -> tuple[str, ...] | None:
    if classes is None:
        return None
    given = split_classes("--classes ", classes) if isinstance(classes, str) else classes
    names = tuple(name.strip() for name in given)
    if len(set(names)) < len(names) or "" in names:
        raise DataError(f"--classes {csv_record(names)}: each class needs a name of its own.")
    if not 2 <= len(names) <= MAX_CLASSES:
        raise DataError(f"--classes names {len(names)} classes; 2 to {MAX_CLASSES} are possible.")
    return names


def split_classes(option: str, record: str) -> list[str]:
    """Return the names in an option's list; `option` is its name, for messages.

    Raises DataError.
    """
    try:
        return next(csv.reader([record], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise DataError(
            f"{option}{record} cannot be read ({error}). Put a name that contains a comma in "
            f"double quotes, and double the quotes in it, as in {option}'a,\"b, c\"'"
        ) from error


def _class_count(names: tuple[str, ...]) -> str:
    if len(names) < 2:
        return (
            f"the only class is {names[0]}, so there is nothing to learn. Name the files of the "
            "other classes, too (`simulate FILE FILE`), choose another column with --label, or "
            "name the classes to come with --classes."
        )
    return (
        f"the column has {len(names)} classes and {MAX_CLASSES} is the most. {MEASURED}, predict "
        "the number itself: name the column with --target. Otherwise choose the class column with "
        "--label, name the files of all classes if each is a recording of one (`simulate FILE "
        "FILE`), or say with --no-label, beside --anomaly, that there is none."
    )


def _unknown_class(name: str, known: tuple[str, ...]) -> str:
    hint = did_you_mean(name, known)
    return f"class {name} is not declared. {hint} Or use {_classes_option((*known, name))}"


def _late_classes(
    late: Sequence[tuple[int, str]],
    where: Callable[[int], str],
    names: tuple[str, ...],
    warmup: int,
) -> str:
    message = "; ".join(f"{where(sample)}: {name}" for sample, name in late[:_SHOWN])
    more = f"; {len(late) - _SHOWN} more" if len(late) > _SHOWN else ""
    return (
        f"new classes after the warm-up of {warmup} samples: {message}{more}. The whole file was "
        f"read to find them; a stream that has not ended yet needs {_classes_option(names)}"
    )


def _classes_option(names: Sequence[str]) -> str:
    """Return the option that declares these classes, ready to paste into a shell."""
    record = csv_record(names)
    between = "=" if record.startswith("-") else " "  # argparse takes "-1,0" for an option
    return f"--classes{between}{shlex.quote(record)}"


def csv_record(cells: Sequence[str]) -> str:
    """Return the record that split_classes() reads."""
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().removesuffix("\r\n")
