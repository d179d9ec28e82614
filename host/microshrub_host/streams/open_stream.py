"""A source as a stream: a table in a file, a data set of River or a synthetic stream."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.errors import DataError
from . import data_files, generators
from .class_names import declared_classes
from .columns import ColumnChoice, check_count
from .project_files import Recording
from .source_file import GENERATED, opened_source
from .stream import MAX_SAMPLES, Progress, Stream, source_name
from .units import Scale


def open_stream(
    source: str | os.PathLike[str],
    *,
    label: str | None = None,
    classes: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    header: bool = True,
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
        A path to a .csv, .csv.gz, .arff or .arff.gz file or to a project of the page, or
        `river:NAME`, or `synth:NAME`. A pipe is read once, `-` is the standard input.
    label
        The column of a file that holds the class. By default the last one.
    classes
        The classes of a file, in the order of their indices; also one string, a CSV record as in
        'a,b,"c, d"'. By default those found, in numeric order if all are integers and else sorted.
    columns
        The names of the features. By default all columns except the class, and except a first
        column called time, which `microshrub record --time` writes.
    drop
        The names of columns that are not features; not together with `columns`.
    header
        Whether the first row of a CSV file names the columns. If not, they are c1, c2 and so on.
    limit
        Keep the first `limit` samples, after the shuffle. Without a shuffle, no more are read. By
        default the whole source, and 100,000 samples of a synthetic stream.
    shuffle
        Seed of a permutation of the whole source, of 100,000 samples if it is synthetic. By
        default the source's own order.
    warmup
        Samples after which a board must know its classes, and this module what each column is.
    fewest_classes
        1 also accepts a file of one class, which cannot be learned but can be played to a board.
    progress
        Called now and then with the work done and the total work, in bytes or rows.

    Raises
    ------
    DataError
        If the source or an argument is wrong. Only the samples that are kept are judged, except
        that every row that is read must have as many cells as the header.

    """
    source = source_name(source)
    choice = ColumnChoice.of(columns, drop)
    _check_numbers(limit=limit, shuffle=shuffle, warmup=warmup)
    if source.startswith(GENERATED):
        if label is not None or classes is not None:
            raise DataError(f"{source} knows its classes: --label and --classes are for files.")
        if not header:
            raise DataError(f"{source} knows its columns: --no-header is for files.")
        whole = generators.open_generated(source, limit, shuffle, progress)
        return _chosen(whole, choice)

    declared = declared_classes(classes)
    with opened_source(source) as file:
        known = declared or (file.project.classes if file.project else None)
        reading = data_files.ReadingOptions(
            label, known, header, limit, shuffle, warmup, choice, fewest_classes=fewest_classes
        )
        found = data_files.read_table(file, reading, progress)
        return _in_units_of(file.project, found) if file.project else found


def _in_units_of(project: Recording, stream: Stream) -> Stream:
    """With the units in which the page has learned it, if it is of the same features."""
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


def _check_numbers(limit: int | None, shuffle: int | None, warmup: int) -> None:
    if limit is not None and not 1 <= limit <= MAX_SAMPLES:
        raise DataError(f"--limit is {limit}; it must be 1 to {MAX_SAMPLES:,} samples.")
    if warmup < 1:
        raise DataError(f"--warmup is {warmup}; it must be 1 or more samples.")
    if shuffle is not None and shuffle < 0:
        raise DataError(f"--shuffle is {shuffle}; a seed is 0 or more.")
