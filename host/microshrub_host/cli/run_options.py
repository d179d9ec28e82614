"""--time-limit, --jobs and --scheduler, of the commands that run learners in other processes."""

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


def add_worker_options(parser: argparse.ArgumentParser, jobs: str, cluster: str) -> None:
    """Add --jobs and --scheduler; jobs and cluster say of what."""
    parser.add_argument(
        "--jobs", type=whole_number, default=1, metavar="N", help=f"{jobs} (default 1)"
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help=f"{cluster} (default: this machine)"
    )
