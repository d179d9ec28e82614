"""--time-limit and --jobs, of the commands that run learners in processes of their own."""

from __future__ import annotations

import argparse

from .parsed import whole_number


def add_run_options(parser: argparse.ArgumentParser, seconds: int) -> None:
    """Add --time-limit, with that default, and --jobs."""
    parser.add_argument(
        "--time-limit",
        type=whole_number,
        default=seconds,
        metavar="SECONDS",
        help=f"for one learner on one stream (default {seconds})",
    )
    parser.add_argument(
        "--jobs",
        type=whole_number,
        default=1,
        metavar="N",
        help="learners to run at the same time; the more, the slower each one runs (default 1)",
    )
