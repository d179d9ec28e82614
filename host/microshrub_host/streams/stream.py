"""Labelled streams: one sample after another, in the order in which a board would see them.

`open_stream` turns a source into a `Stream`: a CSV or ARFF file (tables.py), a data set that
ships with River or a seeded synthetic stream (generators.py).
"""

from __future__ import annotations

import csv
import difflib
import io
import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError

MAX_FEATURES = 256
MAX_CLASSES = 256  # a label is one byte
_GENERATED = ("river:", "synth:")

# Called now and then with the work done and the whole work: bytes of a file, rows of the others.
Progress = Callable[[int, int], None]

_INTEGER = re.compile(r"[+-]?\d+")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class DataError(UserError):
    """What is wrong with a source and what to do about it, in words for the user."""


@dataclass(frozen=True)
class Stream:
    """Samples with their labels, in stream order. Missing values are NaN, never imputed."""

    name: str  # "elec.csv.gz", "synth:agrawal_a"
    values: NDArray[np.float64]  # (samples, features)
    labels: NDArray[np.uint8]  # (samples,), indices into class_names
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]


def open_stream(
    source: str,
    *,
    label: str | None = None,
    classes: Sequence[str] | None = None,
    limit: int | None = None,
    shuffle: int | None = None,
    warmup: int = 256,
    progress: Progress | None = None,
) -> Stream:
    """Open a source as a stream.

    Parameters
    ----------
    source
        A path to a .csv, .csv.gz, .arff or .arff.gz file, or `river:NAME`, or `synth:NAME`.
    label
        The column of a file that holds the class. By default the last one.
    classes
        The classes of a file, in the order of their indices; also one string, a CSV record as in
        'a,b,"c, d"'. By default those found, in numeric order if all are integers and else sorted.
    limit
        Keep the first `limit` samples, after the shuffle. Without a shuffle no more is read. By
        default the whole source, and 100,000 samples of a synthetic stream.
    shuffle
        Seed of a permutation of the whole source, of 100,000 samples if it is synthetic. By
        default the source's own order.
    warmup
        Samples after which a board must know its classes, and this module what each column is.
    progress
        Called now and then with the work done and the whole work, in bytes or rows.

    Raises
    ------
    DataError
        If the source or an argument is wrong. Only the samples that are kept are judged, except
        that every row that is read must have as many cells as the header.

    """
    _check_numbers(limit=limit, shuffle=shuffle, warmup=warmup)
    _check_source(source)
    # Imported here, since the readers need the names above.
    if source.startswith(_GENERATED):
        from . import generators

        if label is not None or classes is not None:
            raise DataError(f"{source} knows its classes: --label and --classes are for files.")
        return generators.open_generated(source, limit, shuffle, progress)

    from . import data_files

    declared = _check_classes(classes)
    return data_files.read_table(Path(source), label, declared, limit, shuffle, warmup, progress)


def stream_order(samples: int, limit: int | None, shuffle: int | None) -> NDArray[np.intp]:
    """Indices of the samples to keep, in stream order: shuffled first, then cut."""
    if shuffle is None:
        return np.arange(samples, dtype=np.intp)[:limit]
    return np.random.default_rng(shuffle).permutation(samples)[:limit].astype(np.intp)


def class_order(names: Iterable[str]) -> tuple[str, ...]:
    """Class names in numeric order if all are integers, else sorted as text."""
    ordered = sorted(names)
    if all(_INTEGER.fullmatch(name) for name in ordered):
        ordered.sort(key=int)
    return tuple(ordered)


def encode_labels(
    cells: Sequence[str],
    where: Callable[[int], str],
    known: tuple[str, ...] | None,
    warmup: int,
) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Class indices, (samples,), and class names of the label cells in stream order.

    `where` says in words where a sample stands. With `known` classes a sample of another one is a
    DataError; without, all classes must occur among the first `warmup` samples.
    """
    first: dict[str, int] = {}  # class: its first sample
    for sample, cell in enumerate(cells):
        first.setdefault(cell, sample)
    names = class_order(first) if known is None else known
    if not 2 <= len(names) <= MAX_CLASSES:
        raise DataError(f"{where(0)}: {_class_count(names)}")
    for name, sample in first.items():
        if name not in names:
            raise DataError(f"{where(sample)}: {_unknown_class(name, names)}")
        if known is None and sample >= warmup:
            raise DataError(f"{where(sample)}: {_late_class(name, names, first, warmup)}")
    codes = {name: code for code, name in enumerate(names)}
    return np.array([codes[cell] for cell in cells], dtype=np.uint8), names


def _class_count(names: tuple[str, ...]) -> str:
    if len(names) < 2:
        return (
            f"the only class is {names[0]}, so there is nothing to learn. Read more samples, "
            "choose another column with --label, or name the classes to come with --classes."
        )
    return (
        f"the column has {len(names)} classes and {MAX_CLASSES} is the most. If it is a "
        "measurement, choose the class column with --label."
    )


def _unknown_class(name: str, known: tuple[str, ...]) -> str:
    hint = did_you_mean(name, known)
    return f"class {name} is not declared. {hint} Or use {_classes_option((*known, name))}"


def _late_class(name: str, names: tuple[str, ...], first: dict[str, int], warmup: int) -> str:
    return (
        f"class {name} appears here for the first time, after the warm-up of {warmup} samples, "
        "and a board must know its classes before it starts. Use "
        f"--warmup {max(first.values()) + 1} or {_classes_option(names)}"
    )


def _classes_option(names: Sequence[str]) -> str:
    """The option that declares these classes, ready to paste into a shell."""
    record = _csv_record(names)
    between = "=" if record.startswith("-") else " "  # argparse takes "-1,0" for an option
    return f"--classes{between}{shlex.quote(record)}"


def _csv_record(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().removesuffix("\r\n")


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest choice, and all of them."""
    known = list(choices)
    near = [choice for choice in known if choice.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return f"{hint}There is: {', '.join(known)}."


def _check_source(source: str) -> None:
    if not source.strip():
        raise DataError("No file was named. Name a CSV or ARFF file, or river:NAME or synth:NAME.")
    if _ADDRESS.match(source):
        raise DataError(
            f"{source} is an address. It has to be downloaded first; then name the file."
        )
    kind, colon, name = source.partition(":")
    meant = f"{kind.strip().lower()}:{name}"
    if colon and meant.startswith(_GENERATED) and source != meant and not os.path.exists(source):
        raise DataError(f"There is no file {source}. Did you mean {meant}?")


def _check_numbers(limit: int | None, shuffle: int | None, warmup: int) -> None:
    if limit is not None and limit < 1:
        raise DataError(f"--limit is {limit}; it must be 1 or more samples.")
    if warmup < 1:
        raise DataError(f"--warmup is {warmup}; it must be 1 or more samples.")
    if shuffle is not None and shuffle < 0:
        raise DataError(f"--shuffle is {shuffle}; a seed is 0 or more.")


def _check_classes(classes: Sequence[str] | None) -> tuple[str, ...] | None:
    if classes is None:
        return None
    given = _split_classes(classes) if isinstance(classes, str) else classes
    names = tuple(name.strip() for name in given)
    if len(set(names)) < len(names) or "" in names:
        raise DataError(f"--classes {_csv_record(names)}: each class needs a name of its own.")
    if not 2 <= len(names) <= MAX_CLASSES:
        raise DataError(f"--classes names {len(names)} classes; 2 to {MAX_CLASSES} are possible.")
    return names


def _split_classes(record: str) -> list[str]:
    try:
        return next(csv.reader([record], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        raise DataError(
            f"--classes {record} cannot be read ({error}). Put a name that contains a comma in "
            "double quotes, and double the quotes in it, as in --classes 'a,\"b, c\"'"
        ) from error
