"""`microshrub benchmark teach`: what a learner knows once no label comes, beside others."""

from __future__ import annotations

import argparse
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.cli.outputs import check_outputs
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library.learners import DEFAULT

from ..benchmarks.lessons import MOST, TESTS
from ..benchmarks.pupils import BATCH, RIVER
from ..benchmarks.taught_sets import file_of, opener
from ..benchmarks.teach import GradeTable, keeping, measure, page, total
from ..papers.data_folder import data_folder
from .benchmark_options import (
    add_output_options,
    chosen,
    command_text,
    say_missing,
    write_markdown,
)
from .learner_options import add_learner_options, learners_of

_PEERS = {**RIVER, **BATCH}
_SETS = tuple(dict.fromkeys(name for test in TESTS.values() for name in test.names))
_TOLD = ("tests", "sets", "bytes", "peers", "seeds", "limit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    parser.add_argument(
        "--tests",
        default=",".join(TESTS),
        metavar="A,B,...",
        help=f"some of {', '.join(TESTS)} (default: all of them)",
    )
    parser.add_argument(
        "--sets",
        default="all",
        metavar="A,B,...",
        help="only these sets of the tests (default: all)",
    )
    add_learner_options(parser, _PEERS)
    parser.add_argument(
        "--limit",
        type=whole_number,
        default=MOST,
        metavar="N",
        help=f"at most N samples of a set (default {MOST:,})",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep the figures of the other learners there, and measure only those that are "
        "missing; thickets are always measured (default: off)",
    )
    parser.set_defaults(benchmark="teach", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure test after test and write the page; after each, what there is by then."""
    check_outputs(arguments)
    check_at_least_one(seeds=arguments.seeds, limit=arguments.limit)
    learners = learners_of(arguments.bytes, arguments.peers, _PEERS)
    names = _names(arguments)
    compile_kernels(DEFAULT, {})
    found = GradeTable()
    command = command_text(arguments, _TOLD)
    sets = opener(data_folder(arguments.data))
    done: dict[str, list[str]] = {}
    with keeping(arguments.keep, arguments.limit) as kept:
        for letter, of_test in names.items():
            with showing(TESTS[letter].title, announce=True) as update:
                most = total(letter, of_test, learners, arguments.seeds)
                how = (learners, sets, arguments.limit, arguments.seeds, kept)
                for number, (key, figures) in enumerate(measure(letter, of_test, *how), 1):
                    found.add(key, figures)
                    update(number, most, " ".join(key[1:]))
            done[letter] = of_test
            if arguments.output is not None:
                write_markdown(arguments, page(found, done, learners, arguments.seeds, command))
    if arguments.output is None:
        write_markdown(arguments, page(found, done, learners, arguments.seeds, command))
    return 0


def _names(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """The sets of each test of --tests that are there and in --sets.

    Raises UserError for unknown tests and sets, and if nothing is left.
    """
    letters = chosen("--tests", arguments.tests, TESTS)
    wanted = _SETS if arguments.sets == "all" else chosen("--sets", arguments.sets, _SETS)
    used = [n for n in wanted if any(n in TESTS[letter].names for letter in letters)]
    missing = say_missing({name: file_of(name) for name in used}, arguments)
    names = {
        letter: [n for n in TESTS[letter].names if n in used and n not in missing]
        for letter in letters
    }
    found = {letter: of_test for letter, of_test in names.items() if of_test}
    if not found:
        raise UserError("no set of these tests is available")
    return found
