"""A source as a stream: a table in a file, a data set of River or a synthetic stream."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from . import data_files, generators
from .class_names import declared_classes
from .stream import MAX_SAMPLES, DataError, Progress, Stream

_GENERATED = ("river:", "synth:")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def open_stream(
    source: str,
    *,
    label: str | None = None,
    classes: Sequence[str] | None = None,
    header: bool = True,
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
    header
        Whether the first row of a CSV file names the columns. If not, they are c1, c2 and so on.
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
    if source.startswith(_GENERATED):
        if label is not None or classes is not None:
            raise DataError(f"{source} knows its classes: --label and --classes are for files.")
        if not header:
            raise DataError(f"{source} knows its columns: --no-header is for files.")
        return generators.open_generated(source, limit, shuffle, progress)

    declared = declared_classes(classes)
    reading = data_files.ReadingOptions(label, declared, header, limit, shuffle, warmup)
    return data_files.read_table(Path(source), reading, progress)


def _check_source(source: str) -> None:
    if not source.strip():
        raise DataError("No file was named. Name a CSV or ARFF file, or river:NAME or synth:NAME.")
    if _ADDRESS.match(source):
        raise DataError(f"{source} is a URL. Download it first, then name the file.")
    kind, colon, name = source.partition(":")
    meant = f"{kind.strip().lower()}:{name}"
    if colon and meant.startswith(_GENERATED) and source != meant and not os.path.exists(source):
        raise DataError(f"There is no file {source}. Did you mean {meant}?")


def _check_numbers(limit: int | None, shuffle: int | None, warmup: int) -> None:
    if limit is not None and not 1 <= limit <= MAX_SAMPLES:
        raise DataError(f"--limit is {limit}; it must be 1 to {MAX_SAMPLES:,} samples.")
    if warmup < 1:
        raise DataError(f"--warmup is {warmup}; it must be 1 or more samples.")
    if shuffle is not None and shuffle < 0:
        raise DataError(f"--shuffle is {shuffle}; a seed is 0 or more.")
