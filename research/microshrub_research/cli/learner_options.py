"""The options of the benchmarks that run thickets beside some other learners."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from microshrub_host.cli.parsed import whole_number

from ..benchmarks.pupils import SIZES, Pupil, select, thicket
from .benchmark_options import sizes_of

_SEEDS = 3


def add_learner_options(parser: argparse.ArgumentParser, peers: Mapping[str, Pupil]) -> None:
    """Add --bytes, --peers and --seeds."""
    sizes = ",".join(map(str, SIZES))
    parser.add_argument(
        "--bytes", default=sizes, metavar="N,M,...", help=f"sizes of Thicket (default: {sizes})"
    )
    parser.add_argument(
        "--peers",
        default="all",
        metavar="A,B,...",
        help=f"some of {', '.join(peers)}; or all, none (default: all)",
    )
    parser.add_argument(
        "--seeds",
        type=whole_number,
        default=_SEEDS,
        metavar="N",
        help=f"runs of each (default {_SEEDS})",
    )


def learners_of(sizes: str, names: str, peers: Mapping[str, Pupil]) -> list[Pupil]:
    """Thickets of the sizes of --bytes, then those of --peers. Raises UserError as they do."""
    return [thicket(size) for size in sizes_of(sizes)] + select(names, peers)
