"""`microshrub look`: a description of a recording on one screen, and the next command."""

from __future__ import annotations

import argparse
import io
import re
import shlex
import tempfile
from dataclasses import replace
from typing import Any

from rich.table import Table

from ..base.cache import cache_folder
from ..base.errors import DataError, UserError
from ..base.terminal import console, showing
from ..base.versions import versions
from ..reports.page import surroundings
from ..reports.recording_report import HEAD, RecordingReport, class_facts
from ..simulation.feature_choice import WINDOWS, Place
from ..simulation.feature_options import FeatureOptions
from ..simulation.recording_clock import RecordingClock, clock_in, clock_of, timed
from ..simulation.window_choice import shows_more
from ..simulation.window_gain import runs_of, window_gain
from ..streams.class_names import MEASURED, declared_classes
from ..streams.columns import ColumnChoice
from ..streams.open_regression_stream import open_columns
from ..streams.open_stream import open_stream
from ..streams.reading_options import ReadingOptions
from ..streams.stream import Stream, source_names
from ..streams.survey import Survey, survey
from ..streams.wide_rows import Wide
from .outputs import add_outputs, check_outputs, write, write_page
from .parsed import columns_read
from .plain_parser import show_first
from .stream_options import add_data, add_recording_options

_SHORTEST = 8  # readings in the shortest window
_FAST = 5.0  # rows a second from which rows count as a sensor's readings
_WARMUP = 256
_NO_CLASS = (
    "No column looks like a class. If each file is a recording of one, name all files together: "
    "microshrub simulate FILE FILE."
)
_LATE = "new classes after the warm-up"  # only important for a board
_DROP = re.compile(r"--drop (\S+|'[^']*') leaves it out\.$")
_IDENTIFIER = re.compile(r"named like (an identifier|a row's number)|only (rises|falls)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Show what is in a file: columns, units, clock, gaps and classes, what is left out and "
        "why, and the command to go on with. It is read as `simulate` reads it."
    )
    add_data(parser)
    add_recording_options(parser)
    add_outputs(
        parser,
        html="write it as one HTML page, with a picture of each column",
        csv="write the rows as a plain CSV file, which the page of `web` and other programs "
        "read: the class last, without dates",
    )
    show_first(parser, "--label", "--drop", "--label-from", "--wide", "--limit", "--html", "--csv")


def run(arguments: argparse.Namespace) -> int:
    """Print and write the description; return 1 if the recording cannot be learned as it is."""
    check_outputs(arguments)
    sources = source_names(arguments.data)
    wide = None if arguments.wide is None else Wide.of(arguments.wide)
    asked = ReadingOptions(
        arguments.label, declared_classes(arguments.classes), not arguments.no_header,
        arguments.limit, None, _WARMUP, ColumnChoice.of(arguments.columns, arguments.drop),
        group=arguments.group, label_from=arguments.label_from, wide=wide,
        decimal=arguments.decimal,
    )  # fmt: skip
    with tempfile.TemporaryFile(dir=cache_folder("streams")) as file:
        copy = None
        if arguments.csv is not None:
            copy = io.TextIOWrapper(file, "utf-8", newline="")
        with showing("looking") as update:
            surveyed = survey(sources, asked, update, copy)
        if copy is not None:
            copy.flush()
            write(arguments, "csv", copy.buffer)
    report = _report(arguments, sources, surveyed)
    _print(report)
    if arguments.html is not None:
        write_page(arguments, report.page(arguments.command_line, surroundings() | versions()))
    return 1 if report.fault else 0


def _print(report: RecordingReport) -> None:
    rows, lines = report.screen(blocks="utf" in (console.encoding or "").lower())
    console.say(report.title)
    table = Table(box=None, pad_edge=False)
    shown = [place for place, name in enumerate(HEAD) if any(row[place] for row in rows)]
    for place in shown:  # only names are cut on a narrow screen
        widest = max(len(row[place]) for row in rows)
        table.add_column(
            HEAD[place], overflow="ellipsis", no_wrap=True, min_width=widest if place else None
        )
    for row in rows:
        table.add_row(*(row[place] for place in shown))
    console.print(table)
    for line in lines:
        console.say(line)


def _report(
    arguments: argparse.Namespace, sources: tuple[str, ...], surveyed: Survey
) -> RecordingReport:
    reading: dict[str, Any] = {
        **columns_read(arguments),
        "label": arguments.label,
        "label_from": arguments.label_from,
        "classes": arguments.classes,
        "group": arguments.group,
        "wide": arguments.wide,
    }
    try:
        with showing("reading") as update:
            stream = open_stream(list(sources), **reading, warmup=_WARMUP, progress=update)
    except DataError as error:
        command = _mended(arguments, sources, str(error))
        return RecordingReport(surveyed, {}, [], surveyed.notes, str(error), command)
    clock = _clock(sources, stream, arguments)
    facts = [f"Clock: {clock.note}."] if clock else []
    facts.append(class_facts(stream))
    drop = [] if arguments.columns else _dropped(stream)
    roles = _roles(surveyed, stream, clock, drop)
    features = _features(stream, clock)
    given = _given(arguments, drop if not features or clock is None else
                   [name for name in drop if name != clock.name])  # fmt: skip
    words = ["microshrub", "simulate", *sources, *given, *features]
    if arguments.label is None and any(MEASURED in note for note in stream.notes):
        words = ["microshrub", "simulate", *sources, *given, "--target", stream.label_name]
        if features and len(sources) == 1:
            facts.append(_NO_CLASS)
    command = shlex.join(words)
    notes = [note for note in stream.notes if not note.startswith(_LATE)]
    if features and clock:  # features leave the clock out
        notes = [note for note in notes if f"the column {clock.name} " not in note]
    return RecordingReport(surveyed, roles, facts, notes, "", command)


def _clock(
    sources: tuple[str, ...], stream: Stream, arguments: argparse.Namespace
) -> RecordingClock | None:
    """Describe the clock, whether its column is learned or left out."""
    learned = clock_of(stream)
    if learned is not None:
        return learned[1]
    if not stream.clocks or arguments.wide is not None:
        return None
    name = stream.clocks[0]
    reading = columns_read(arguments) | {"columns": [name], "drop": None}
    try:
        times = open_columns(list(sources), **reading).columns[:, 0]
    except DataError:
        return None
    clock = clock_in(f"{name}_ms", times, stream.starts)  # milliseconds, as for dates and `record`
    return clock and replace(clock, name=name)


def _dropped(stream: Stream) -> list[str]:
    """Return columns that only rise, or are named like a row's number or an identifier."""
    result = []
    for note in stream.notes:
        drop = _DROP.search(note)
        if drop and _IDENTIFIER.search(note):
            result += shlex.split(drop[1])
    return result


def _roles(
    surveyed: Survey, stream: Stream, clock: RecordingClock | None, drop: list[str]
) -> dict[str, str]:
    result = {}
    for column in surveyed.columns:
        name = column.name
        if name == stream.label_name:
            result[name] = "class"
        elif name in stream.clocks or (clock and name == clock.name):
            result[name] = "clock, left out" if name in stream.clocks else "clock"
        elif name in drop:
            result[name] = "to be dropped"
        elif name == stream.group_name:
            result[name] = "group"
        elif name in stream.feature_names:
            result[name] = "feature"
        else:
            result[name] = "left out"
    return result


def _features(stream: Stream, clock: RecordingClock | None) -> list[str]:
    """Return --features if rows are readings of a sensor whose classes show in windows."""
    known = clock is not None and clock.known
    if stream.readings or (known and clock.rate < _FAST):  # type: ignore[union-attr]
        return []
    place = Place(clock.rate if known and clock else None)
    names = [name for name in stream.feature_names if clock is None or name != clock.name]
    words = _window_words(stream, FeatureOptions.of([], place).window)
    window = FeatureOptions.of(words, place).window
    try:
        FeatureOptions.of(words, replace(place, channels=names)).extraction(names)
    except UserError:  # too many columns
        return []
    gain = window_gain(stream, window)
    helps = known if gain is None else gain.is_plain or (known and not gain.is_loss)
    if not helps:
        return []
    return ["--features", *(words or _longer_window(stream, replace(place, channels=names)))]


def _longer_window(stream: Stream, place: Place) -> list[str]:
    """Return words of --features for a longer window, if the classes are clearer there."""
    rows, _ = timed(stream, None)
    options, result = FeatureOptions.of([], place), list[str]()
    while (window := 2 * options.window) in WINDOWS:
        words = [f"window={window}", f"hop={window // 4}", "bands=auto"]
        longer = FeatureOptions.of(words, place)
        try:
            if not shows_more(rows, options, longer):
                break
        except UserError:  # no features are possible; the next command reports the reason
            break
        options, result = longer, words
    return result


def _window_words(stream: Stream, window: int) -> list[str]:
    """Return words of --features for a window, if runs of a class are too short for the usual."""
    lengths = sorted(end - begin for begin, end, _ in runs_of(stream))
    room = lengths[len(lengths) // 2] // 2
    if window <= room or room < _SHORTEST:
        return []
    window = 1 << (room.bit_length() - 1)
    return [f"window={window}", f"hop={window // 4}", *["bands=auto"] * (window in WINDOWS)]


def _given(arguments: argparse.Namespace, drop: list[str]) -> list[str]:
    """Return the given options, with more columns to drop."""
    words: list[str] = []
    for name in ("label", "label_from", "classes", "group", "decimal", "limit"):
        value = getattr(arguments, name)
        words += [f"--{name.replace('_', '-')}", str(value)] if value is not None else []
    words += ["--no-header"] if arguments.no_header else []
    words += ["--columns", *arguments.columns] if arguments.columns else []
    dropped = [*(arguments.drop or ()), *drop]
    words += ["--drop", *dropped] if dropped else []
    words += ["--wide", *arguments.wide] if arguments.wide is not None else []
    return words


_MANY_CLASSES = re.compile(r"line [\d,]+, column (.+?): the column has .*" + MEASURED)
_MENDS = re.compile(r"(?:All at once:|\b[Uu]se) (--[\w-]+.*?)\.?$")


def _mended(arguments: argparse.Namespace, sources: tuple[str, ...], fault: str) -> str:
    """Return the command with the options that the message advises; "" if it advises none."""
    advised = _MENDS.search(fault)
    if advised is None:
        measured = _MANY_CLASSES.search(fault)
        if measured is None or arguments.label is not None:
            return ""
        target = ["--target", measured[1]]
        return shlex.join(["microshrub", "simulate", *sources, *_given(arguments, []), *target])
    kept = argparse.Namespace(**vars(arguments))
    if "--drop" in advised[1]:  # the advice includes the columns already dropped
        kept.drop = None
    words = shlex.join(["microshrub", "simulate", *sources, *_given(kept, [])])
    return f"{words} {advised[1]}"
