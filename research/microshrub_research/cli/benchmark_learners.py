"""Benchmarks that compare learners: families of trees, sizes of Thicket, and other libraries."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.side_by_side import Progress
from microshrub_host.base.terminal import showing
from microshrub_host.cli.outputs import add_outputs, write_figure
from microshrub_host.cli.run_options import add_run_options, jobs_of
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library.learners import DEFAULT, MODELS, check_parameters, defaults

from ..benchmarks import (
    family,
    family_members,
    field,
    lessons,
    members_worth,
    recurring,
    small_memory,
    teach,
)
from ..benchmarks.best_known import PICKS, RIVALS
from ..benchmarks.family_members import MEMBERS, WARMUP
from ..benchmarks.field_runs import Field, keeping, run_field
from ..benchmarks.known_streams import CHOSEN, GROUPS
from ..benchmarks.taught_learners import BATCH, RIVER, SIZES, TaughtLearner, select
from ..benchmarks.taught_learners import thicket as taught_thicket
from ..benchmarks.taught_sets import file_of, opener
from ..compare import catalogue, field_set
from ..compare.comparison_runner import Cell, compare
from ..compare.contender import Contender
from ..compare.our_learners import ours
from ..papers.data_folder import data_folder
from ..papers.ranks_plot import draw_ranks
from .benchmark_page import (
    LIMIT,
    Benchmark,
    PageOption,
    Pages,
    keep,
    known_streams_option,
    listed,
    seeds,
    sizes_option,
)
from .benchmark_streams import (
    FILES,
    add_streams_jobs,
    available_streams,
    chosen,
    each_of,
    known_streams,
    numbers_of,
    open_known,
    open_named,
    say_missing,
)

_SECONDS = 3600
_FAMILY_STREAMS = (*FILES, "agrawal_a", "led_a", "rbf_m", "sea_a")
_OTHERS = tuple(model for model in MODELS if model != DEFAULT)
_PEERS = {**RIVER, **BATCH}
_SETS = tuple(dict.fromkeys(name for test in lessons.TESTS.values() for name in test.names))


def _sizes(text: str) -> list[int]:
    """Return the numbers of --bytes, ascending. Raises UserError for a word that is no number."""
    return sorted(numbers_of("--bytes", text))


def _family(arguments: argparse.Namespace, command: str) -> Pages:
    members = chosen("--members", arguments.members, MEMBERS)
    names = chosen("--streams", arguments.streams, _FAMILY_STREAMS)
    family_members.check_members(members)
    missing = say_missing({name: FILES.get(name) for name in names}, arguments)
    streams = {name: open_named(name, arguments) for name in names if name not in missing}
    if not streams:
        raise UserError("no stream is available")
    for name in members:
        compile_kernels(family_members.MODEL, MEMBERS[name].parameters)
    with showing("learning") as update:
        cells = family_members.measure(streams, members, arguments.repeats, update)
    yield family.markdown(cells, streams, command, missing)


FAMILY = Benchmark(
    "family",
    _family,
    [
        listed("members", MEMBERS),
        listed("streams", _FAMILY_STREAMS),
        PageOption(
            "limit", "only the first N samples (default: all of a file, 100,000 of the others)"
        ),
        PageOption(
            "repeats",
            "runs of each; the fastest one gives the speed (default 3)",
            3,
            positive=True,
        ),
    ],
)


def _small_memory(arguments: argparse.Namespace, command: str) -> Pages:
    names = chosen("--streams", arguments.streams, CHOSEN)
    if arguments.moa:
        catalogue.require(catalogue.PEERS[name] for rivals in RIVALS.values() for name in rivals)
    missing = say_missing({name: CHOSEN[name].file for name in names}, arguments)
    there = [name for name in names if name not in missing]
    picks = [pick for pick in PICKS if pick.stream in there]
    if not picks:
        raise UserError("no stream is available")
    for pick in picks:
        compile_kernels(pick.model, pick.parameters)
    jobs = jobs_of(arguments, len(picks), "learners")
    cells: dict[tuple[str, str], Cell] = {}
    for name in there:
        stream_picks = [pick for pick in picks if pick.stream == name]
        learners = small_memory.contenders(stream_picks, arguments.moa)
        for cell in _learn(name, learners, arguments, jobs):
            cells[name, cell.name] = replace(cell, stream=name)
    yield small_memory.markdown(picks, cells, arguments.moa, command)


def _learn(
    name: str, learners: Collection[Contender], arguments: argparse.Namespace, jobs: int
) -> list[Cell]:
    stream = CHOSEN[name].open(name, data_folder(arguments.data), arguments.limit)
    limit = arguments.time_limit
    with showing(name, announce=True) as update:
        return list(
            compare(list(learners), stream, warmup=WARMUP, limit=limit, jobs=jobs, progress=update)
        )


SMALL_MEMORY = Benchmark(
    "small-memory",
    _small_memory,
    [
        listed("streams", CHOSEN),
        PageOption("moa", "run MOA's learners, too (default: off)", value_type=bool),
        LIMIT,
        partial(add_run_options, seconds=_SECONDS),
    ],
)


def _field(arguments: argparse.Namespace, command: str) -> Pages:
    who = _contenders(arguments)
    compile_kernels(DEFAULT, {})
    scores: dict[str, dict[str, field.Score]] = {}
    group = arguments.streams if arguments.streams in GROUPS else "some"
    names = [field_set.thicket(size).name for size in _sizes(arguments.bytes)]
    models = _models(arguments.models)
    picture = arguments.plot and arguments.plot.name
    with keeping(arguments.keep, arguments.limit) as kept:
        for name, stream in known_streams(arguments):
            who.check(stream)  # refuse a stream before any learner runs
            with showing(name, announce=True) as update:
                scores[name] = run_field(who, name, stream, kept, update)
            table = field.markdown(scores, names, command, arguments.seeds, picture, models)
            yield f"# Thicket on {group} streams\n\n{table}"
    if arguments.plot is not None:
        result = field.ranking(scores)
        if result is None:
            raise UserError("--plot: ranks need two learners on two streams that both finished")
        title = f"Average ranks over {result.data_sets} streams"
        write_figure(arguments, draw_ranks(result, title))


def _contenders(arguments: argparse.Namespace) -> Field:
    """Return all learners that run. Raises UserError for unknown ones."""
    drawn = range(arguments.seeds)
    contenders = {}
    for size in _sizes(arguments.bytes):
        contenders[field_set.thicket(size).name] = [
            field_set.thicket(size, seed) for seed in drawn
        ]
    for model in _models(arguments.models):
        contenders[model] = [_seeded(model, seed) for seed in drawn if not seed or _draws(model)]
    peers = [] if arguments.peers == "none" else catalogue.select(arguments.peers)
    jobs = jobs_of(arguments, max(sum(map(len, contenders.values())), len(peers)), "learners")
    return Field(contenders, peers, arguments.time_limit, jobs)


def _models(text: str) -> list[str]:
    if text == "none":
        return []
    return list(_OTHERS) if text == "all" else chosen("--models", text, _OTHERS)


def _draws(model: str) -> bool:
    """Return whether the learner draws random numbers, and so has a seed."""
    return "seed" in defaults(model)


def _seeded(model: str, seed: int) -> Contender:
    return ours(f"{model} seed={seed}" if _draws(model) else model, name=model)


FIELD = Benchmark(
    "field",
    _field,
    [
        known_streams_option("known"),
        sizes_option(field_set.SIZES),
        seeds(1, "runs of our learners"),
        listed(
            "models",
            _OTHERS,
            "our other learners to run beside Thicket: {}; or all (default: none)",
            "none",
        ),
        listed(
            "peers",
            (),
            "learners to run beside Thicket, as for `compare --peers` (default: none)",
            "none",
        ),
        LIMIT,
        keep(
            "keep each measurement there, and measure only what is missing: a table that was "
            "interrupted goes on"
        ),
        partial(add_run_options, seconds=_SECONDS),
        partial(add_outputs, plot="draw the average ranks as a critical difference diagram"),
    ],
    also=("time_limit",),
)


def _worth(arguments: argparse.Namespace, command: str) -> Pages:
    names = available_streams(arguments)
    work = partial(_worth_on, arguments.data, arguments.limit, arguments.bytes, arguments.seed)
    result = dict(zip(names, each_of(arguments, names, work), strict=True))
    yield members_worth.markdown(result, command)


def _worth_on(
    data: Path | None, limit: int | None, size: int, seed: int, name: str, progress: Progress
) -> dict[str, float]:
    stream = open_known(name, data, limit)
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    check_parameters(DEFAULT, {**shape, "bytes": size, "seed": seed}, ("bytes", "seed"))
    return members_worth.measure(
        stream, size, seed, WARMUP, lambda done, all_: progress(done, all_, name)
    )


WORTH = Benchmark(
    "worth",
    _worth,
    [
        known_streams_option("known"),
        PageOption("bytes", "size of the thicket (default 65536)", 65_536),
        PageOption("seed", "seed of the thicket (default 0)", 0),
        LIMIT,
        add_streams_jobs,
    ],
)


def _learner_options(peers: Mapping[str, TaughtLearner]) -> list[PageOption]:
    """Return the options --bytes, --peers and --seeds."""
    some = listed("peers", peers, "some of {}; or all, none (default: all)", "all")
    return [sizes_option(SIZES), some, seeds(3)]


def _learners(sizes: str, names: str, peers: Mapping[str, TaughtLearner]) -> list[TaughtLearner]:
    """Return thickets of the sizes of --bytes, then the learners of --peers. Raises UserError."""
    return [taught_thicket(each) for each in _sizes(sizes)] + select(names, peers)


def _teach(arguments: argparse.Namespace, command: str) -> Pages:
    """Run one test after the other; yield a page after each."""
    learners = _learners(arguments.bytes, arguments.peers, _PEERS)
    names = _sets_of_tests(arguments)
    compile_kernels(DEFAULT, {})
    table = teach.GradeTable()
    sets = opener(data_folder(arguments.data))
    done: dict[str, list[str]] = {}
    how = (learners, sets, arguments.limit, arguments.seeds)
    with teach.keeping(arguments.keep, arguments.limit) as kept:
        for letter, of_test in names.items():
            with showing(lessons.TESTS[letter].title, announce=True) as update:
                most = teach.total(letter, of_test, learners, arguments.seeds)
                figures_of = teach.measure(letter, of_test, *how, kept)
                for number, (key, figures) in enumerate(figures_of, 1):
                    table.add(key, figures)
                    update(number, most, " ".join(key[1:]))
            done[letter] = of_test
            yield teach.page(table, done, learners, arguments.seeds, command)


def _sets_of_tests(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """Return the sets of each test of --tests that are available and in --sets.

    Raises UserError for unknown tests and sets, and if no set is left.
    """
    tests = lessons.TESTS
    letters = chosen("--tests", arguments.tests, tests)
    wanted = _SETS if arguments.sets == "all" else chosen("--sets", arguments.sets, _SETS)
    used = [n for n in wanted if any(n in tests[letter].names for letter in letters)]
    missing = say_missing({name: file_of(name) for name in used}, arguments)
    names = {
        letter: [n for n in tests[letter].names if n in used and n not in missing]
        for letter in letters
    }
    result = {letter: of_test for letter, of_test in names.items() if of_test}
    if not result:
        raise UserError("no set of these tests is available")
    return result


TEACH = Benchmark(
    "teach",
    _teach,
    [
        listed("tests", lessons.TESTS, "some of {} (default: all of them)"),
        listed("sets", (), "only these sets of the tests (default: all)", "all"),
        *_learner_options(_PEERS),
        PageOption(
            "limit",
            f"at most N samples of a set (default {lessons.MOST:,})",
            lessons.MOST,
            positive=True,
        ),
        keep(
            "keep the figures of the other learners there, and measure only those that are "
            "missing; thickets are always measured"
        ),
    ],
)


def _recurring(arguments: argparse.Namespace, command: str) -> Pages:
    if arguments.length < recurring.FIRST:
        raise UserError(f"--length has to be at least {recurring.FIRST}, not {arguments.length}")
    learners = _learners(arguments.bytes, arguments.peers, RIVER)
    names = chosen("--streams", arguments.streams, recurring.CONCEPTS)
    compile_kernels(DEFAULT, {})
    how = (arguments.bytes, arguments.peers, arguments.seeds, arguments.length)
    rows = each_of(arguments, names, partial(_visits, *how))
    result: recurring.VisitTable = {}
    for name, row in zip(names, rows, strict=True):
        result |= {(name, learner): visits for learner, visits in row.items()}
    yield recurring.page(result, learners, arguments.seeds, arguments.length, command)


def _visits(
    sizes: str, peers: str, drawn: int, length: int, name: str, progress: Progress
) -> dict[str, recurring.Visits]:
    learners = _learners(sizes, peers, RIVER)
    result: dict[str, recurring.Visits] = {}
    for learner, visits in recurring.measure(name, learners, opener(None), drawn, length):
        result[learner] = visits
        progress(len(result), len(learners), f"{name}, {learner}")
    return result


RECURRING = Benchmark(
    "recurring",
    _recurring,
    [
        listed("streams", recurring.CONCEPTS, "some of {} (default: all of them)"),
        *_learner_options(RIVER),
        add_streams_jobs,
        PageOption(
            "length", f"samples of a visit (default {recurring.LENGTH:,})", recurring.LENGTH
        ),
    ],
)
