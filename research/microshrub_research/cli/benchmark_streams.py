"""The streams of benchmarks: which exist, which are selected, and work on several at a time."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from microshrub_host.base.errors import UserError
from microshrub_host.base.side_by_side import Work, side_by_side
from microshrub_host.base.terminal import messages, showing
from microshrub_host.base.text import did_you_mean
from microshrub_host.cli.run_options import add_jobs_option, jobs_of
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream

from ..benchmarks.family_members import WARMUP
from ..benchmarks.known_streams import GROUPS, STREAMS
from ..papers.data_folder import data_folder

T = TypeVar("T")
R = TypeVar("R")

FILES = {"elec": "elec.csv.gz", "weather": "weather.csv.gz"}


def add_streams_jobs(parser: argparse.ArgumentParser) -> None:
    """Add --jobs, the option that each_of() reads."""
    add_jobs_option(parser, "streams at the same time, each in a process")


def each_of(arguments: argparse.Namespace, tasks: Sequence[T], work: Work[T, R]) -> list[R]:
    """Return the results of work(task, progress) in the order of the tasks, --jobs at a time."""
    jobs = jobs_of(arguments, len(tasks), "streams")
    with showing(arguments.benchmark) as update:
        return list(side_by_side(work, tasks, jobs=jobs, progress=update))


def chosen(name: str, text: str, known: Iterable[str]) -> list[str]:
    """Return the words of an option's list; raises UserError for an unknown word."""
    words = list(dict.fromkeys(word.strip() for word in text.split(",")))
    for word in words:
        if word not in known:
            raise UserError(f"{name}: there is no {word!r}. {did_you_mean(word, known)}")
    return words


def available_streams(arguments: argparse.Namespace) -> list[str]:
    """Return the streams of --streams whose files exist.

    Raises UserError for an unknown stream, and if no stream is available.
    """
    text = ",".join(GROUPS.get(arguments.streams, [arguments.streams]))
    names = chosen("--streams", text, STREAMS)
    missing = say_missing({name: STREAMS[name].file for name in names}, arguments)
    if len(missing) == len(names):
        raise UserError("no stream is available")
    return [name for name in names if name not in missing]


def known_streams(arguments: argparse.Namespace) -> Iterator[tuple[str, Stream]]:
    """Yield the streams of --streams whose files exist, with their names.

    Raises UserError for an unknown stream, and if no stream is available.
    """
    for name in available_streams(arguments):
        yield name, open_known(name, arguments.data, arguments.limit)


def open_known(name: str, data: Path | None, limit: int | None) -> Stream:
    """Open a known stream; `data` and `limit` are the options' values."""
    return STREAMS[name].open(name, data_folder(data), limit)


def numbers_of(name: str, text: str) -> list[int]:
    """Return the whole numbers of an option's list.
    Raises UserError for a word that is no number.
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() for word in words):
        raise UserError(f"{name} has to be whole numbers with commas between, not {text}")
    return [int(word) for word in words]


def say_missing(files: Mapping[str, str | None], arguments: argparse.Namespace) -> list[str]:
    """Return the streams whose files are missing, and print a note about them."""
    folder = data_folder(arguments.data)
    missing = [
        n for n, file in files.items() if file and not (folder and (folder / file).is_file())
    ]
    if missing:
        why = f"{folder} has no such file" if folder else "--data names no folder"
        messages.say(f"Skipped, since {why}: {', '.join(missing)}")
    return missing


def open_named(name: str, arguments: argparse.Namespace) -> Stream:
    """Open one of the six streams, whose file has to exist."""
    source = f"synth:{name}"
    if name in FILES:
        source = str((data_folder(arguments.data) or Path()) / FILES[name])
    with showing(f"reading {name}") as update:
        return open_stream(source, limit=arguments.limit, warmup=WARMUP, progress=update)
