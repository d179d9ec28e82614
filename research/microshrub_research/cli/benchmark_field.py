"""`microshrub benchmark field`: Thicket of several sizes beside the field, on many streams."""

from __future__ import annotations

import argparse
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.cli.outputs import add_outputs, check_outputs, write_figure
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.run_options import add_run_options, jobs_of
from microshrub_host.cli.stream_options import compile_kernels
from microshrub_host.library.learners import DEFAULT, MODELS, defaults

from ..benchmarks.field import Score, Scores, markdown, ranking
from ..benchmarks.field_runs import Field, keeping, run_field
from ..benchmarks.known_streams import GROUPS
from ..compare import catalogue
from ..compare.contender import Contender
from ..compare.field_set import SIZES, thicket
from ..compare.our_learners import ours
from ..papers.ranks_plot import draw_ranks
from .benchmark_options import (
    add_output_options,
    add_streams_option,
    chosen,
    command_text,
    known_streams,
    sizes_of,
    write_markdown,
)

_LIMIT = 3600  # seconds
_OTHERS = tuple(model for model in MODELS if model != DEFAULT)
_TOLD = ("streams", "bytes", "seeds", "models", "peers", "limit", "time_limit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_output_options(parser)
    add_streams_option(parser)
    parser.add_argument(
        "--bytes",
        default=",".join(map(str, SIZES)),
        metavar="N,M,...",
        help=f"sizes of Thicket (default: {','.join(map(str, SIZES))})",
    )
    parser.add_argument(
        "--seeds",
        type=whole_number,
        default=1,
        metavar="N",
        help="runs of our learners (default 1)",
    )
    parser.add_argument(
        "--models",
        default="none",
        metavar="A,B,...",
        help=f"our other learners to run beside Thicket: {', '.join(_OTHERS)}; or all (default: "
        "none)",
    )
    parser.add_argument(
        "--peers",
        default="none",
        metavar="A,B,...",
        help="learners to run beside Thicket, as for `compare --peers` (default: none)",
    )
    parser.add_argument(
        "--limit", type=whole_number, metavar="N", help="only the first N samples (default: all)"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep each measurement there, and measure only what is missing: a table that was "
        "interrupted goes on (default: off)",
    )
    add_run_options(parser, _LIMIT)
    add_outputs(parser, plot="draw the average ranks as a critical difference diagram")
    parser.set_defaults(benchmark="field", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure what was asked for and write it down; after each stream, what there is by then."""
    check_at_least_one(time_limit=arguments.time_limit, seeds=arguments.seeds)
    check_outputs(arguments)
    field = _field(arguments)
    compile_kernels(DEFAULT, {})
    scores: dict[str, dict[str, Score]] = {}
    with keeping(arguments.keep, arguments.limit) as kept:
        for name, stream in known_streams(arguments):
            field.check(stream)  # refused before any of them runs
            with showing(name, announce=True) as update:
                scores[name] = run_field(field, name, stream, kept, update)
            if arguments.output is not None:
                _write(arguments, scores)
    if arguments.output is None:
        _write(arguments, scores)
    if arguments.plot is not None:
        _plot(arguments, scores)
    return 0


def _field(arguments: argparse.Namespace) -> Field:
    """All who run. Raises UserError for those that there are not."""
    seeds = range(arguments.seeds)
    own = {}
    for size in sizes_of(arguments.bytes):
        own[thicket(size).name] = [thicket(size, seed) for seed in seeds]
    for model in _models(arguments.models):
        own[model] = [_seeded(model, seed) for seed in seeds if not seed or _draws(model)]
    peers = [] if arguments.peers == "none" else catalogue.select(arguments.peers)
    jobs = jobs_of(arguments, max(sum(map(len, own.values())), len(peers)), "learners")
    return Field(own, peers, arguments.time_limit, jobs)


def _models(text: str) -> list[str]:
    if text == "none":
        return []
    return list(_OTHERS) if text == "all" else chosen("--models", text, _OTHERS)


def _draws(model: str) -> bool:
    """Whether it draws random numbers, and so has a seed."""
    return "seed" in defaults(model)


def _seeded(model: str, seed: int) -> Contender:
    return ours(f"{model} seed={seed}" if _draws(model) else model, name=model)


def _write(arguments: argparse.Namespace, scores: Scores) -> None:
    """The page of what has been measured so far."""
    text = markdown(
        scores,
        [thicket(size).name for size in sizes_of(arguments.bytes)],
        command_text(arguments, _TOLD),
        arguments.seeds,
        arguments.plot and arguments.plot.name,
        _models(arguments.models),
    )
    group = arguments.streams if arguments.streams in GROUPS else "some"
    write_markdown(arguments, f"# Thicket on {group} streams\n\n{text}")


def _plot(arguments: argparse.Namespace, scores: Scores) -> None:
    """The critical difference diagram. Raises UserError where there is none."""
    found = ranking(scores)
    if found is None:
        raise UserError("--plot: ranks need two learners on two streams that both finished")
    write_figure(arguments, draw_ranks(found, f"Average ranks over {found.data_sets} streams"))
