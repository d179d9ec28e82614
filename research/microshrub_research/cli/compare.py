"""`microshrub compare`: our learners compared with River's and MOA's on the same samples."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages
from microshrub_host.cli.options import add_companion_options, companions_of
from microshrub_host.cli.outputs import (
    add_outputs,
    check_outputs,
    is_quiet,
    write_json,
    write_page,
)
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.plain_parser import show_first
from microshrub_host.cli.regression_options import add_number_options, wants_numbers
from microshrub_host.cli.run_options import add_run_options, jobs_of
from microshrub_host.cli.stream_options import (
    STREAM_OPTIONS,
    add_stream_options,
    open_arguments,
    open_rows,
)
from microshrub_host.library.learners import MODELS
from microshrub_host.models import model_files
from microshrub_host.models.second_recording import as_the_model
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_host.streams.stream import MAX_SAMPLES, Stream

from ..compare import catalogue, label_budgets, regression_peers
from ..compare import comparison_page as compare_page
from ..compare import comparison_report as compare_report
from ..compare.comparison_report import StreamResults
from ..compare.comparison_runner import Cell, compare
from ..compare.contender import Contender
from ..compare.our_learners import model_bytes, ours, saved_model
from ..compare.sets import SETS, Selection
from .compare_regression import NUMBERS, run_numbers
from .compare_streams import check_bytes, compile_ours, learn_all, options_of, with_data

_LIMIT = 600  # seconds
_SPARE = "--spare-classes"


class _RefuseSpare(argparse.Action):
    """An action that raises UserError and names the alternatives."""

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
    add_stream_options(parser, each_alone=True)
    parser.add_argument(
        "--ours",
        action="append",
        metavar='"MODEL NAME=VALUE ..."',
        help='one of our learners; such as "hoeffding policy=efdt depth=10"; can be repeated '
        f"(default: {', '.join(MODELS)}, with their defaults; with --target {', '.join(NUMBERS)})",
    )
    parser.add_argument(
        "--peers",
        metavar="A,B,...",
        help=f"which learners of River and MOA; some of {', '.join(catalogue.PEERS)}; with "
        f"--target of {', '.join(regression_peers.PEERS)}; river, moa and torch mean all of "
        "theirs, none means no peers (default: all that can run here)",
    )
    parser.add_argument(
        "--set",
        choices=SETS,
        help="instead of --ours and --peers: field is Thicket of 16, 64 and 256 KB, our other "
        "learners, and ensembles of MOA and River; trees is VFDT, EFDT and HAT of all three "
        "systems with the same settings; speed is the trees and CapyMOA's shrubs, in samples per "
        "second (default: off)",
    )
    parser.add_argument(
        "--bytes",
        type=whole_number,
        metavar="BYTES",
        help="refuse our models that take more bytes (default: no limit)",
    )
    parser.add_argument(
        "--model",
        metavar="FILE.mshrub",
        help="a saved model that goes on to learn beside the others; all learn DATA as it reads "
        "it, with its columns, features and classes (default: none)",
    )
    add_companion_options(parser, only=[LabelBudget.name])
    parser.add_argument(_SPARE, nargs="*", action=_RefuseSpare, help=argparse.SUPPRESS)
    add_run_options(parser, _LIMIT)
    add_outputs(
        parser,
        json="write everything as one JSON object",
        html="write tables and pictures as one HTML page",
    )
    add_number_options(parser, interval=False)
    show_first(
        parser,
        *STREAM_OPTIONS,
        "--ours",
        "--peers",
        "--bytes",
        "--model",
        "--jobs",
        "--html",
        "--target",
        "--horizon",
    )


def run(arguments: argparse.Namespace) -> int:
    """Let all contenders learn each stream; print and write the tables."""
    _check(arguments)
    if wants_numbers(arguments):
        return run_numbers(arguments)
    budget = _label_budget(arguments)
    chosen = SETS.get(arguments.set)
    contenders = _contenders(arguments, chosen)
    streams = [_opened(with_data(arguments, source)) for source in arguments.data]
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
            label_budget=budget,
        ),
        lambda stream, cells: _tell(parts, stream, cells, arguments),
        lambda: _finish(parts, contenders, arguments),
    )
    return 0


def _opened(arguments: argparse.Namespace) -> Stream:
    """Open the samples; with a saved model, with its features, units and classes."""
    if arguments.model is None:
        return open_arguments(arguments)
    late = argparse.Namespace(**vars(arguments) | {"warmup": MAX_SAMPLES})  # the model has classes
    return as_the_model(model_files.read(Path(arguments.model)), open_rows(late, fewest_classes=1))


def _tell(
    parts: list[StreamResults],
    stream: Stream,
    cells: Mapping[str, Cell],
    arguments: argparse.Namespace,
) -> None:
    """Add a stream's results to `parts`, and print them."""
    chosen = SETS.get(arguments.set)
    lines = chosen.lines(cells) if chosen else None
    parts.append(StreamResults(stream, list(cells.values()), lines))
    if not is_quiet(arguments):
        compare_report.print_part(parts[-1])


def _finish(
    parts: Sequence[StreamResults], contenders: Sequence[Contender], arguments: argparse.Namespace
) -> None:
    """Print the notes below the tables, and write the files."""
    chosen = SETS.get(arguments.set)
    notes = [*(chosen.notes if chosen else compare_report.NOTES)]
    if arguments.set == "speed":
        notes += compare_report.builds({contender.system for contender in contenders})
    if not is_quiet(arguments):
        for note in notes:
            console.say(note)
    budget = _label_budget(arguments)
    about = [label_budgets.note(budget), *compare_report.NOTES] if budget else compare_report.NOTES
    if budget and not is_quiet(arguments):
        console.say(about[0])
    options = options_of(arguments)
    if arguments.json is not None:
        write_json(arguments, compare_report.record(parts, options))
    if arguments.html is not None:
        page = compare_page.make_page(parts, arguments.command_line, options, about)
        write_page(arguments, page)


def _label_budget(arguments: argparse.Namespace) -> LabelBudget | None:
    """Return the label budget; None if all labels are learned at once."""
    return next((each for each in companions_of(arguments) if isinstance(each, LabelBudget)), None)


def _check(arguments: argparse.Namespace) -> None:
    check_at_least_one(time_limit=arguments.time_limit, jobs=arguments.jobs, bytes=arguments.bytes)
    if arguments.set and (arguments.ours or arguments.peers):
        raise UserError(f"--set {arguments.set} names all learners; leave out --ours and --peers")
    _check_model(arguments)
    if arguments.set == "speed" and arguments.label_budget:
        raise UserError("--set speed has every learner learn all labels; leave out --label-budget")
    if arguments.set == "speed" and (arguments.jobs or 1) > 1:
        raise UserError("--set speed runs one learner at a time; leave out --jobs")
    check_outputs(arguments)


def _check_model(arguments: argparse.Namespace) -> None:
    """Raise UserError for an option that has no effect with a saved model."""
    if arguments.model is None:
        return
    for name in ("features", "warmup", "classes", "shuffle", "label_budget", "set"):
        if getattr(arguments, name) is not None:
            option = name.replace("_", "-")
            raise UserError(f"--{option} is not used: {arguments.model} says how DATA is read")
    if wants_numbers(arguments) or model_files.read(Path(arguments.model)).regression:
        raise UserError(
            "--model takes a model of classes; `microshrub compare DATA --target COLUMN` compares "
            "learners of numbers, all of them from the start"
        )


def _contenders(arguments: argparse.Namespace, chosen: Selection | None) -> list[Contender]:
    """Return all contenders, each once: those of the set, the named ones, or by default all."""
    if chosen:
        return _that_can_run(chosen.contenders())
    result = [saved_model(Path(arguments.model))] if arguments.model else []
    result += [ours(text) for text in arguments.ours or MODELS]
    if arguments.peers is None:
        result += _that_can_run(catalogue.PEERS.values())
    elif arguments.peers != "none":
        result += catalogue.select(arguments.peers)
    return list({contender.name: contender for contender in result}.values())


def _that_can_run(contenders: Iterable[Contender]) -> list[Contender]:
    """Return the contenders that can run here, and print a note about the others."""
    wanted = list(contenders)
    for system in dict.fromkeys(contender.system for contender in wanted):
        missing = catalogue.missing_for(system)
        if missing:
            whose = "MOA" if system == "moa" else system
            messages.say(f"Note: {whose}'s learners are skipped. They need {missing}")
            wanted = [contender for contender in wanted if contender.system != system]
    return wanted
