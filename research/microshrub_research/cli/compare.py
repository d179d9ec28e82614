"""`microshrub compare`: our learners beside River's and MOA's on the same samples."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages
from microshrub_host.beside.label_budget import LabelBudget
from microshrub_host.cli.number_options import add_number_options, wants_numbers
from microshrub_host.cli.options import add_companion_options, companions
from microshrub_host.cli.outputs import (
    add_outputs,
    check_outputs,
    is_quiet,
    write_json,
    write_page,
)
from microshrub_host.cli.parsed import check_at_least_one
from microshrub_host.cli.run_options import add_bytes_option, add_run_options, jobs_of
from microshrub_host.cli.stream_options import add_stream_options, open_arguments
from microshrub_host.library.learners import MODELS
from microshrub_host.streams.stream import Stream

from ..compare import catalogue, few_labels, number_peers
from ..compare import page as compare_page
from ..compare import report as compare_report
from ..compare.contender import Contender
from ..compare.our_learners import model_bytes, ours
from ..compare.report import StreamResults
from ..compare.runner import Cell, compare
from ..compare.sets import SETS, Selection
from .compare_numbers import NUMBERS, run_numbers
from .compare_streams import check_bytes, compile_ours, learn_all, options_of, with_data

_LIMIT = 600  # seconds
_SPARE = "--spare-classes"


class _RefuseSpare(argparse.Action):
    """Says what there is instead."""

    def __call__(self, *_: object) -> None:
        raise UserError(
            f"compare has no {_SPARE}: the others know all classes from the start, and nobody "
            "names any for them. `simulate` shows what ours do with it; `tune` searches with it."
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Run our learners, River's, MOA's and soft decision trees, each in its own process, on "
        "the same samples in the same order. With --target, our regressors and River's. With "
        "--label-budget, our learners ask for labels; the others get as many labels, drawn at "
        "random."
    )
    add_stream_options(parser, nargs="+")
    parser.add_argument(
        "--ours",
        action="append",
        metavar='"MODEL NAME=VALUE ..."',
        help='one of our learners, such as "hoeffding policy=efdt depth=10"; can be repeated '
        f"(default: {', '.join(MODELS)}, with their defaults; with --target {', '.join(NUMBERS)})",
    )
    parser.add_argument(
        "--peers",
        metavar="A,B,...",
        help=f"some of {', '.join(catalogue.PEERS)}; with --target of "
        f"{', '.join(number_peers.PEERS)}; river, moa and torch mean all of theirs, "
        "none means no peers (default: all that can run here)",
    )
    parser.add_argument(
        "--set",
        choices=SETS,
        help="instead of --ours and --peers: field is Thicket of 16, 64 and 256 KB, our other "
        "learners, and ensembles of MOA and River; trees is VFDT, EFDT and HAT of all three "
        "systems with the same settings; speed is the trees and CapyMOA's shrubs, in samples per "
        "second (default: off)",
    )
    add_bytes_option(parser, "refuse our models that take more bytes (default: no limit)")
    add_companion_options(parser, only=[LabelBudget.name])
    parser.add_argument(_SPARE, nargs="*", action=_RefuseSpare, help=argparse.SUPPRESS)
    add_run_options(parser, _LIMIT)
    add_outputs(
        parser,
        json="write everything as one JSON object",
        html="write tables and pictures as one HTML page",
    )
    add_number_options(parser, interval=False)


def run(arguments: argparse.Namespace) -> int:
    """Have all learn each stream; print and write the tables."""
    _check(arguments)
    if wants_numbers(arguments):
        return run_numbers(arguments)
    asking = _asking(arguments)
    chosen = SETS.get(arguments.set)
    contenders = _contenders(arguments, chosen)
    streams = [open_arguments(with_data(arguments, source)) for source in arguments.data]
    size_on = partial(model_bytes, warmup=arguments.warmup)
    check_bytes(contenders, streams, size_on, arguments.bytes)
    compile_ours(contenders)
    alone = arguments.set == "speed"
    jobs = 1 if alone else jobs_of(arguments, len(contenders), "learners")
    parts: list[StreamResults] = []
    learn_all(
        streams,
        contenders,
        lambda stream, update: compare(
            contenders,
            stream,
            warmup=arguments.warmup,
            limit=arguments.time_limit,
            jobs=jobs,
            progress=update,
            asking=asking,
        ),
        lambda stream, found: _tell(parts, stream, found, arguments),
        lambda: _finish(parts, contenders, arguments),
    )
    return 0


def _tell(
    parts: list[StreamResults],
    stream: Stream,
    found: Mapping[str, Cell],
    arguments: argparse.Namespace,
) -> None:
    """Add a stream's results to the others and print them."""
    chosen = SETS.get(arguments.set)
    lines = chosen.lines(found) if chosen else None
    parts.append(StreamResults(stream, list(found.values()), lines))
    if not is_quiet(arguments):
        compare_report.print_part(parts[-1])


def _finish(
    parts: Sequence[StreamResults], contenders: Sequence[Contender], arguments: argparse.Namespace
) -> None:
    """The notes below the tables, and the files."""
    chosen = SETS.get(arguments.set)
    notes = [*(chosen.notes if chosen else compare_report.NOTES)]
    if arguments.set == "speed":
        notes += compare_report.builds({contender.system for contender in contenders})
    if not is_quiet(arguments):
        for note in notes:
            console.say(note)
    asking = _asking(arguments)
    about = [few_labels.note(asking), *compare_report.NOTES] if asking else compare_report.NOTES
    if asking and not is_quiet(arguments):
        console.say(about[0])
    options = options_of(arguments)
    if arguments.json is not None:
        write_json(arguments, compare_report.record(parts, options))
    if arguments.html is not None:
        page = compare_page.make_page(parts, arguments.command_line, options, about)
        write_page(arguments, page)


def _asking(arguments: argparse.Namespace) -> LabelBudget | None:
    """The budget for labels, None if all are learned at once."""
    return next((each for each in companions(arguments) if isinstance(each, LabelBudget)), None)


def _check(arguments: argparse.Namespace) -> None:
    check_at_least_one(time_limit=arguments.time_limit, jobs=arguments.jobs, bytes=arguments.bytes)
    if arguments.set and (arguments.ours or arguments.peers):
        raise UserError(f"--set {arguments.set} names all learners; leave out --ours and --peers")
    if arguments.set == "speed" and arguments.label_budget:
        raise UserError("--set speed has every learner learn all labels; leave out --label-budget")
    if arguments.set == "speed" and (arguments.jobs or 1) > 1:
        raise UserError("--set speed runs one learner at a time; leave out --jobs")
    check_outputs(arguments)


def _contenders(arguments: argparse.Namespace, chosen: Selection | None) -> list[Contender]:
    """All that run, each once: those of the set, or the named ones, or by default everybody."""
    if chosen:
        return _that_can_run(chosen.contenders())
    found = [ours(text) for text in arguments.ours or MODELS]
    if arguments.peers is None:
        found += _that_can_run(catalogue.PEERS.values())
    elif arguments.peers != "none":
        found += catalogue.select(arguments.peers)
    return list({contender.name: contender for contender in found}.values())


def _that_can_run(contenders: Iterable[Contender]) -> list[Contender]:
    """Without those that cannot run here, and with a note that says so."""
    wanted = list(contenders)
    for system in dict.fromkeys(contender.system for contender in wanted):
        missing = catalogue.missing_for(system)
        if missing:
            whose = "MOA" if system == "moa" else system
            messages.say(f"Note: {whose}'s learners are skipped. They need {missing}")
            wanted = [contender for contender in wanted if contender.system != system]
    return wanted
