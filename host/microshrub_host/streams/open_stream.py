"""A source as a stream: a file, another package's data, or a synthetic stream."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.errors import DataError
from . import data_files, generators
from .class_names import declared_classes
from .columns import ColumnChoice, check_count
from .named_files import LABEL_FROM
from .project_files import Recording
from .reading_options import ReadingOptions
from .several_files import opened_data
from .source_file import GENERATED
from .stream import MAX_SAMPLES, Progress, Stream, source_names
from .units import Scale
from .wide_rows import Wide

Source = str | os.PathLike[str]


def open_stream(
    source: Source | Sequence[Source],
    *,
    label: str | None = None,
    label_from: str | None = None,
    classes: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    group: str | None = None,
    wide: Sequence[str] | None = None,
    header: bool = True,
    decimal: str | None = None,
    limit: int | None = None,
    shuffle: int | None = None,
    warmup: int = 256,
    fewest_classes: int = 2,
    progress: Progress | None = None,
) -> Stream:
    """Open a source as a stream.

    Parameters
    ----------
    source
        A path to a file or to a project of the page, or `river:NAME`, `sklearn:NAME` or
        `synth:NAME`. A pipe is read once, `-` is the standard input. Several files, or a folder of
        files, are read one after the other; each is a recording that is held out as a whole.
    label
        The column of a file that holds the class. By default the last one.
    label_from
        "name", "folder" or "file": the class of each file is its name without the number of the
        take, the name of its folder, or its whole name. By default the class is inferred if there
        are several files.
    classes
        The classes of a file, in the order of their indices; also one string, a CSV record as in
        'a,b,"c, d"'. By default the classes found, in numeric order if all are integers, else
        sorted as text.
    columns
        The names of the features. By default all columns except the class, and except a first
        column called time, which `microshrub record --time` writes.
    drop
        The names of columns that are not features; not together with `columns`.
    group
        The column of a file that says which samples belong together: a person, a session, a file.
        It is no feature. Whole groups are held out for the accuracy on unseen data.
    wide
        Such as ["axes=3"]: each row of a file is a whole recording, whose values become readings
        of three axes. With order=axes, one axis comes after the other.
    header
        Whether the first row of a CSV file names the columns. If not, they are c1, c2 and so on.
    decimal
        "," or ".": the decimal sign, if a file could mean either. By default the sign that all its
        columns allow.
    limit
        Keep the first `limit` samples, after the shuffle. Without a shuffle, no more are read; of
        several files, an equal share of each, one sample at least. By default the whole source,
        and 100,000 samples of a synthetic stream.
    shuffle
        Seed of a permutation of the whole source, of 100,000 samples if it is synthetic. By
        default the source's own order.
    warmup
        Samples after which a board must know its classes, and this module what each column is.
    fewest_classes
        1 also accepts a file of one class, which cannot be learned but can be played to a board.
    progress
        Called at intervals with the work done and the total work, in bytes or rows.

    Raises
    ------
    DataError
        If the source or an argument is wrong. Only the samples that are kept are checked, except
        that every row that is read must have as many cells as the header.

    """
    sources = source_names(source)
    choice = ColumnChoice.of(columns, drop)
    _check_numbers(limit=limit, shuffle=shuffle, warmup=warmup)
    check_decimal(decimal)
    if len(sources) == 1 and sources[0].startswith(GENERATED):
        source = sources[0]
        if label_from is not None or wide is not None:
            option = "--wide" if label_from is None else "--label-from"
            raise DataError(f"{source} is not a file: {option} is for files.")
        if label is not None or classes is not None:
            raise DataError(f"{source} knows its classes: --label and --classes are for files.")
        if not header or group is not None:
            option = "--no-header" if group is None else "--group"
            raise DataError(f"{source} knows its columns: {option} is for files.")
        whole = generators.open_generated(source, limit, shuffle, progress)
        return _chosen(whole, choice)

    declared = declared_classes(classes)
    if label_from not in (None, *LABEL_FROM):
        ways = ", ".join(LABEL_FROM)
        raise DataError(f"--label-from is {label_from!r}; it is one of {ways}.")
    asked = ReadingOptions(
        label,
        declared,
        header,
        limit,
        shuffle,
        warmup,
        choice,
        fewest_classes=fewest_classes,
        group=group,
        label_from=label_from,
        wide=None if wide is None else Wide.of(wide),
        decimal=decimal,
    )
    with opened_data(sources, asked, progress) as (file, reading):
        if file.project:
            reading = replace(reading, classes=declared or file.project.classes)
        table = data_files.read_table(file, reading, progress)
        return _in_units_of(file.project, table) if file.project else table


def _in_units_of(project: Recording, stream: Stream) -> Stream:
    """Return the stream in the page's units, if the page has a unit for each feature."""
    units = [project.units[name] for name in stream.feature_names if name in project.units]
    if len(units) != len(stream.feature_names):
        return stream
    offset, digits = zip(*units, strict=True)
    scale = Scale(np.array(offset, dtype=np.float64), np.array(digits, dtype=np.int64))
    return replace(stream, known_scale=scale)


def _chosen(stream: Stream, choice: ColumnChoice) -> Stream:
    if not choice.is_given:
        return stream
    places = choice.places(stream.name, stream.feature_names, None)
    check_count(stream.name, len(places), 1, "class")
    names = tuple(stream.feature_names[place] for place in places)
    return replace(stream, values=stream.values[:, places], feature_names=names)


def check_decimal(decimal: str | None) -> None:
    """Raise DataError for a text that cannot be a decimal sign."""
    if decimal not in (None, ",", "."):
        raise DataError(f"--decimal is {decimal!r}; it is a comma or a point.")


def _check_numbers(limit: int | None, shuffle: int | None, warmup: int) -> None:
    if limit is not None and not 1 <= limit <= MAX_SAMPLES:
        raise DataError(f"--limit is {limit}; it must be 1 to {MAX_SAMPLES:,} samples.")
    if warmup < 1:
        raise DataError(f"--warmup is {warmup}; it must be 1 or more samples.")
    if shuffle is not None and shuffle < 0:
        raise DataError(f"--shuffle is {shuffle}; a seed is 0 or more.")
