"""Label leakage: columns that reveal the label in a file but not on a board.

Examples are clocks, row numbers, identifiers and copies of the class. The user has to decide
whether a column leaks: no column is left out because of these notes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from .stored_values import PART, let_go

Values = NDArray[np.float64]
_STEPS = 16  # changes, at least, of a column that only rises, or only falls
_FEWEST = 30  # samples with which a column reveals the class not just by chance
_FIRST = 1000  # samples that are checked first
_NEARLY = 0.95  # share of the samples of each class, and of each value
_LONG = 20  # mean length of a group's runs in samples, at least
_MOST_GROUPS = 200
_SCALED = 0.9999  # correlation with the target, of either sign
_NO_COPY = 0.9  # correlation in the first samples, below which it is no copy
_CLOCK = re.compile(
    r"(date|time|stamp|clock|epoch|uptime|elapsed|ticks?|millis|micros|seconds)+"
    r"(_?(s|ms|us|ns|utc|local))?|ts|(unix|sys|gps|wall|local|utc)_?time"
)
_INDEX = re.compile(
    r"(unnamed_*\d*|index|idx|rownames?|seq|sequence|(row|line|sample|record|frame)s?)"
    r"(_?(no|nr|num|number|index|idx))?|no|nr"
)
_IDENTIFIER = re.compile(r"(.*_)?(id|uid|uuid|guid|identifier)|id_.*")
TELLTALE_NAMES = ((_CLOCK, "a clock"), (_INDEX, "a row's number"), (_IDENTIFIER, "an identifier"))


def telltale_notes(
    source: str,
    names: Mapping[int, str],
    values: Values,
    labels: NDArray[np.uint8] | None = None,
    order: NDArray[np.intp] | range | None = None,
    *,
    groups: bool = False,
) -> list[str]:
    """Return a note for each of these columns that may reveal the label.

    names are by place in values, shape (samples, columns); labels are the samples' labels, shape
    (samples,); order holds the rows in the file, if they were shuffled. With groups, there are
    also notes on columns that show which samples belong together.
    """
    notes = []
    in_file = None if order is None or isinstance(order, range) else np.argsort(order)
    for place, name in names.items():
        column = values[:, place]
        reasons = []
        ordered = column if in_file is None else column[in_file]
        if groups and labels is not None and _groups(ordered) and not _tells(column, labels):
            notes.append(
                f"{source}: the column {name} looks like a group: a person, a session or a file. "
                f"--group {shlex.quote(name)} holds out whole groups for the accuracy on unseen "
                "data, and does not learn the column."
            )
            continue
        if way := _one_way(ordered):
            reasons.append(f"only {way}")
        if labels is not None and _tells(column, labels):
            reasons.append("tells the class nearly one to one")
        if meaning := _likely_meaning(name):
            reasons.append(f"is named like {meaning}")
        if reasons:
            notes.append(
                f"{source}: the column {name} {' and '.join(reasons)}. If it says when or where a "
                "sample was taken down, or was made of the class, it gives the answer away here "
                f"and is worth nothing on a board: --drop {shlex.quote(name)} leaves it out."
            )
        let_go(values)
    return notes


def copy_notes(source: str, names: Mapping[int, str], values: Values, target: int) -> list[str]:
    """Return a note for each of these columns that copies the target, perhaps in another unit.

    values has the shape (samples, columns), and target is the target's column. In a forecast, such
    a column is no leak: the target's present value may be known.
    """
    return [
        f"{source}: the column {name} is the target once more, perhaps in another unit. If it was "
        "made of the target, it gives the answer away here and is worth nothing on a board: "
        f"--drop {shlex.quote(name)} leaves it out."
        for place, name in names.items()
        if len(values) >= _FEWEST and _correlation(values, place, target) >= _SCALED
    ]


@np.errstate(over="ignore", invalid="ignore")
def _correlation(values: Values, a: int, b: int) -> float:
    """Return how close to a line two columns are, 0 to 1; 0 for numbers too large.

    Only rows in which both are known count.
    """
    known, middle = 0, np.zeros(2)
    sums, products = np.zeros(2), np.zeros((2, 2))
    for at, part in _parts(values):
        pairs = part[:, (a, b)]
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        if len(pairs) and not known:
            middle = pairs.mean(axis=0)  # near the mean of all, so that small spreads are not lost
        known += len(pairs)
        sums += (pairs - middle).sum(axis=0)
        products += (pairs - middle).T @ (pairs - middle)
        if at == 0 and 0 < (result := _of_sums(known, sums, products)) < _NO_COPY:
            return result  # a whole file takes long
    return _of_sums(known, sums, products)


def _of_sums(known: int, sums: Values, products: Values) -> float:
    spread = products - np.outer(sums, sums) / max(known, 1)
    squares = spread[0, 0] * spread[1, 1]
    return float(abs(spread[0, 1]) / np.sqrt(squares)) if 0 < squares < np.inf else 0.0


def _likely_meaning(name: str) -> str:
    """Return a guess at the meaning of a column with that name, or ""."""
    spaced = re.sub(r"(?<=[a-z])(?=I[dD]$)", "_", name)  # sampleId
    plain = re.sub(r"[^a-z0-9#]+", "_", re.sub(r"[(\[].*", "", spaced.lower())).strip("_")
    return next((meaning for pattern, meaning in TELLTALE_NAMES if pattern.fullmatch(plain)), "")


def is_clock_name(name: str) -> bool:
    """Return whether a column with that name is a clock, if its numbers rise."""
    return _likely_meaning(name) == TELLTALE_NAMES[0][1]


def _parts(column: Values) -> Iterator[tuple[int, Values]]:
    """Yield each part of a column with its start; a short part first, which mostly suffices."""
    starts = [0, *range(min(PART, _FIRST), len(column), PART)]
    for at, end in zip(starts, [*starts[1:], len(column)], strict=True):
        yield at, column[at:end]
        let_go(column)


def _one_way(column: Values) -> str:
    """Return "rises" if the numbers never fall and rise often, "falls" if the reverse, else ""."""
    rises, falls, last = 0, 0, np.empty(0)
    for _, part in _parts(column):
        known = np.concatenate([last, part[~np.isnan(part)]])
        before, after = known[:-1], known[1:]
        rises += int((after > before).sum())
        falls += int((after < before).sum())
        if rises and falls:
            return ""
        last = known[-1:]
    if rises + falls < _STEPS:
        return ""
    return "rises" if rises else "falls"


def _groups(column: Values) -> bool:
    """Return whether a column has several whole numbers in long runs that hardly come back."""
    result, stretches, last = np.empty(0), 0, np.empty(0)
    for at, part in _parts(column):
        known = np.concatenate([last, part])
        stretches += int(np.count_nonzero(known[1:] != known[:-1]))
        result = np.union1d(result, part)
        if stretches * _LONG > at + len(part) or not (part == np.rint(part)).all():
            return False
        last = known[-1:]
    return 3 <= len(result) <= _MOST_GROUPS and stretches < 2 * len(result)


def _tells(column: Values, labels: NDArray[np.uint8]) -> bool:
    """Return whether the values and the classes correspond nearly one to one."""
    if len(labels) < _FEWEST:
        return False
    classes = int(labels.max()) + 1
    few_values = _few_values(column, 2 * classes + 8)
    if few_values is None:
        return False
    counts = np.zeros((len(few_values) + 1, classes), np.int64)  # the last row: missing values
    for at, part in _parts(column):
        rows = np.where(np.isnan(part), len(few_values), np.searchsorted(few_values, part))
        pairs = rows * classes + labels[at : at + len(part)]
        counts += np.bincount(pairs, minlength=counts.size).reshape(counts.shape)
    counts = counts[:, counts.any(axis=0)]
    if counts.shape[1] < 2:
        return False
    # The counts of each value's usual class
    usual = counts * (np.arange(counts.shape[1]) == counts.argmax(axis=1)[:, None])
    sizes = counts.sum(axis=0)
    one_to_one = np.minimum(usual.sum(axis=0), counts.max(axis=0)) >= _NEARLY * sizes
    return bool(one_to_one.all())


def _few_values(column: Values, most: int) -> Values | None:
    """Return the different numbers, sorted; None if there are too many."""
    result = np.empty(0)
    for _, part in _parts(column):
        result = np.union1d(result, part[~np.isnan(part)])
        if len(result) > most:
            return None
    return result
