"""`microshrub simulate-fleet`: boards that each lack some classes, and teach each other."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from rich.table import Table

from ..base.cluster import check_packages, spread
from ..base.errors import UserError
from ..base.terminal import console, showing
from ..evaluation import fleet
from ..evaluation.fleet import FleetPlan, Met
from ..library import loader
from ..library.learners import check_parameters
from ..simulation import engines
from ..streams.stream import Stream
from .outputs import add_outputs, check_outputs, is_quiet, write_json
from .parsed import add_whole_numbers, check_at_least_one
from .plain_parser import show_first
from .run_options import add_worker_options
from .stream_options import add_stream_options, compile_kernels, open_arguments

_MODEL = "thicket"  # the only learner that keeps samples


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Simulate a fleet of boards with a thicket each, that share the rows of DATA. Each lacks "
        "some classes. Half-way, boards give each other a few samples of the classes that they "
        "know. In the end, all are asked about whole stretches that no board has learned."
    )
    add_stream_options(parser)
    add_whole_numbers(
        parser,
        [
            ("boards", 5, "how many boards there are"),
            ("exchange", 20, "samples of a class in a packet"),
            ("bytes", 16384, "size of each thicket"),
            ("seed", 0, "seed of what each board lacks, and of the stretches that are asked"),
        ],
    )
    parser.add_argument(
        "--lacking",
        type=_part,
        default=Fraction(1, 3),
        metavar="PART",
        help="the part of the classes that a board lacks, of at least one class; 0: none "
        "(default 1/3)",
    )
    parser.add_argument(
        "--engine",
        choices=engines.NAMES,
        help="what runs the boards; micropython: each in a real MicroPython (default: c or llvm)",
    )
    add_worker_options(
        parser,
        "worker processes on this machine",
        "the Dask cluster that runs the boards, tcp://HOST:8786",
        usual=1,  # a board takes less time than the start of a process
    )
    add_outputs(parser, json="write everything as one JSON object")
    show_first(parser, "--boards", "--lacking", "--exchange", "--bytes", "--seed", "--jobs")


def run(arguments: argparse.Namespace) -> int:
    """Simulate the boards, and print their gains."""
    check_at_least_one(boards=arguments.boards, exchange=arguments.exchange, jobs=arguments.jobs)
    if not 0 <= arguments.seed < 1 << 31:
        raise UserError(f"--seed has to be 0..{(1 << 31) - 1}, not {arguments.seed}")
    check_outputs(arguments)
    if arguments.jobs > 1 or arguments.scheduler:
        check_packages("work in several processes")
    stream = open_arguments(arguments)
    plan = fleet.plan(
        stream,
        boards=arguments.boards,
        lacking=_lacking(stream, arguments.lacking),
        exchange=arguments.exchange,
        bytes=arguments.bytes,
        seed=arguments.seed,
        engine=arguments.engine or loader.fastest(),
    )
    shape = {"features": len(plan.features), "classes": len(plan.classes)}
    check_parameters(_MODEL, {**shape, "bytes": plan.bytes})
    if plan.engine in loader.COMPILED:
        compile_kernels(_MODEL, {**shape, "bytes": plan.bytes}, plan.engine)
    with showing("boards") as update:
        process = fleet.run(plan, _spreading(arguments, plan, update))
    if not is_quiet(arguments):
        _tell(plan, process)
    if arguments.json is not None:
        write_json(arguments, _record(plan, process))
    return 0


def _part(text: str) -> Fraction:
    """Parse a share such as 1/3 or 0.25, below 1."""
    try:
        part = Fraction(text)
    except (ValueError, ZeroDivisionError):
        part = Fraction(-1)
    if not 0 <= part < 1:
        raise argparse.ArgumentTypeError(
            f"has to be at least 0 and below 1, such as 1/3 or 0.25, not {text!r}"
        )
    return part


def _lacking(stream: Stream, part: Fraction) -> int:
    """Return the number of classes that a board lacks, at least 1 for a part above 0.

    Raises UserError if a board would have no class.
    """
    classes = len(stream.class_names)
    lacking = max(round(classes * part), int(part > 0))
    if lacking == classes:
        raise UserError(f"with --lacking {part} a board lacks all {classes} classes")
    return lacking


def _spreading(
    arguments: argparse.Namespace, plan: FleetPlan, update: Callable[[int, int, str], None]
) -> fleet.Spread:
    """Return a function that runs the work, here or in workers, and shows the progress."""
    done = 0

    def each(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        nonlocal done
        for value in _values(arguments, work, tasks):
            done += 1
            update(done, 2 * plan.boards, "")
            yield value

    return each


def _values(
    arguments: argparse.Namespace, work: Callable[[Any], Any], tasks: Iterable[Any]
) -> Iterator[Any]:
    if arguments.jobs == 1 and not arguments.scheduler:
        yield from map(work, tasks)
        return
    for outcome in spread(work, tasks, jobs=arguments.jobs, scheduler=arguments.scheduler):
        if outcome.failure:
            raise UserError(f"a board failed: {outcome.failure}")
        yield outcome.value


def _tell(plan: FleetPlan, boards: list[Met]) -> None:
    alone, together, whole = (
        np.array([getattr(m, k) for m in boards]) for k in ("alone", "together", "whole")
    )
    table = Table(show_header=False)
    each = plan.lacking, len(plan.classes)
    asked = len(np.unique(plan.labels[plan.asked]))
    change = together - alone
    mean = {name: np.mean([getattr(m, name) for m in boards]) for name in _COUNTED}
    for row in (
        ("boards", f"{plan.boards:,}, each lacks {each[0]} of {each[1]} classes"),
        ("balanced accuracy on unseen data", f"percent, of {asked} classes, whole {plan.by}"),
        ("  alone", f"{alone.mean():.1f} (worst board {alone.min():.1f})"),
        ("  after the exchange", f"{together.mean():.1f} (worst board {together.min():.1f})"),
        ("  if a board lacked no class", f"{whole.mean():.1f} (worst board {whole.min():.1f})"),
        ("  a board's change", f"{change.min():+.1f} to {change.max():+.1f}"),
        ("bytes of packets that a board sends", f"{mean['sent']:,.0f}"),
        ("  and receives", f"{mean['received']:,.0f}, in {mean['looked']:.1f} packets"),
        ("  of which it learns", f"{mean['taken']:.1f}, {mean['learned']:.1f} samples"),
        ("hash of all boards' states", _digest(boards)),
    ):  # fmt: skip
        table.add_row(*row)
    console.print(table)


_COUNTED = ("sent", "received", "looked", "taken", "learned")


def _digest(boards: list[Met]) -> str:
    """Return a hash of all boards' states, each of which ends with its own CRC32."""
    return hashlib.sha256(b"".join(met.state for met in boards)).hexdigest()[:16]


def _record(plan: FleetPlan, boards: list[Met]) -> dict[str, Any]:
    names = ("number", "alone", "together", "whole", *_COUNTED)
    shown = ("boards", "lacking", "exchange", "bytes", "seed", "engine")
    return {
        **{name: getattr(plan, name) for name in shown},
        "held_out": plan.by,
        "alone": float(np.mean([met.alone for met in boards])),
        "together": float(np.mean([met.together for met in boards])),
        "whole": float(np.mean([met.whole for met in boards])),
        "states": _digest(boards),
        "each": [{name: getattr(met, name) for name in names} for met in boards],
    }
