"""`microshrub benchmark field`: Thicket of several sizes beside the field, on many streams."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..base.errors import UserError
from ..base.progress import showing
from ..benchmarks.family_members import WARMUP
from ..benchmarks.field import Score, Scores, markdown, ranking
from ..benchmarks.known_streams import GROUPS
from ..compare import catalogue
from ..compare.contender import Contender
from ..compare.field_set import SIZES, thicket
from ..compare.our_learners import model_bytes
from ..compare.runner import compare, compare_here
from ..engines.learners import DEFAULT
from ..papers.ranks_plot import draw_ranks
from ..streams.stream import Stream
from .benchmark_options import (
    add_output_options,
    add_streams_option,
    command_text,
    known_streams,
    write_markdown,
)
from .outputs import add_outputs, check_outputs, write_figure
from .parsed import check_at_least_one, whole_number
from .run_options import add_run_options
from .stream_options import compile_kernels

_LIMIT = 3600  # seconds
_TOLD = ("streams", "bytes", "seeds", "peers", "limit", "time_limit")


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
        "--seeds", type=whole_number, default=1, metavar="N", help="runs of ours (default 1)"
    )
    parser.add_argument(
        "--peers",
        default="none",
        metavar="A,B,...",
        help="learners to run beside it, as those of compare (default: none)",
    )
    parser.add_argument(
        "--limit", type=whole_number, metavar="N", help="only the first N samples (default: all)"
    )
    add_run_options(parser, _LIMIT)
    add_outputs(parser, plot="draw the average ranks as a critical difference diagram")
    parser.set_defaults(benchmark="field", usual={n: parser.get_default(n) for n in _TOLD})


def run(arguments: argparse.Namespace) -> int:
    """Measure what was asked for and write it down; after each stream, what there is by then."""
    check_at_least_one(time_limit=arguments.time_limit, jobs=arguments.jobs, seeds=arguments.seeds)
    check_outputs(arguments)
    sizes = _sizes(arguments.bytes)
    peers = [] if arguments.peers == "none" else catalogue.select(arguments.peers)
    compile_kernels(DEFAULT, {})
    scores: dict[str, dict[str, Score]] = {}
    for name, stream in known_streams(arguments):
        for size in sizes:
            model_bytes(thicket(size), stream, WARMUP)  # refused before any of them runs
        scores[name] = _learn(name, stream, sizes, peers, arguments)
        if arguments.output is not None:
            _write(arguments, scores, sizes)
    if arguments.output is None:
        _write(arguments, scores, sizes)
    if arguments.plot is not None:
        _plot(arguments, scores)
    return 0


def _write(arguments: argparse.Namespace, scores: Scores, sizes: Sequence[int]) -> None:
    """The page of what has been measured so far."""
    own = [thicket(size).name for size in sizes]
    picture = arguments.plot and arguments.plot.name
    text = markdown(scores, own, command_text(arguments, _TOLD), arguments.seeds, picture)
    group = arguments.streams if arguments.streams in GROUPS else "some"
    write_markdown(arguments, f"# Thicket on {group} streams\n\n{text}")


def _plot(arguments: argparse.Namespace, scores: Scores) -> None:
    """The critical difference diagram. Raises UserError where there is none."""
    found = ranking(scores)
    if found is None:
        raise UserError("--plot: ranks need two learners on two streams that both finished")
    write_figure(arguments, draw_ranks(found, f"Average ranks over {found.data_sets} streams"))


def _sizes(text: str) -> list[int]:
    """The numbers of bytes, ascending. Raises UserError for what is none."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() for word in words):
        raise UserError(f"--bytes has to be whole numbers with commas between, not {text}")
    return sorted(map(int, words))


def _learn(
    name: str,
    stream: Stream,
    sizes: Sequence[int],
    peers: Sequence[Contender],
    arguments: argparse.Namespace,
) -> dict[str, Score]:
    """The scores of all on one stream; ours run here, where the kernels are loaded."""
    found = {}
    with showing(name, announce=True) as update:
        runs = len(sizes) * arguments.seeds + len(peers)
        done = 0
        for size in sizes:
            cells = []
            for seed in range(arguments.seeds):
                contender = thicket(size, seed)
                cells.append(
                    compare_here(contender, stream, warmup=WARMUP, limit=arguments.time_limit)
                )
                done += 1
                update(done, runs, contender.name)
            found[contender.name] = Score(cells)
        for cell in compare(
            peers, stream, warmup=WARMUP, limit=arguments.time_limit, jobs=arguments.jobs
        ):
            found[cell.name] = Score([cell])
            done += 1
            update(done, runs, cell.name)
    order = [*(thicket(size).name for size in sizes), *(peer.name for peer in peers)]
    return {learner: found[learner] for learner in order}
