"""Options of commands that run many learners: limits, worker processes, a cluster."""

from __future__ import annotations

import argparse

from ..base.side_by_side import cores
from ..base.terminal import messages
from .parsed import check_at_least_one, whole_number


def add_run_options(parser: argparse.ArgumentParser, seconds: int) -> None:
    """Add --time-limit, with that default, and --jobs."""
    parser.add_argument(
        "--time-limit",
        type=whole_number,
        default=seconds,
        metavar="SECONDS",
        help=f"for one learner on one stream (default {seconds})",
    )
    add_jobs_option(
        parser,
        "learners to run at the same time; the more there are, the slower each learner runs",
    )


def add_jobs_option(parser: argparse.ArgumentParser, what: str, usual: int | None = None) -> None:
    """Add --jobs, see jobs_of(); `what` is its help, `usual` its default (None: all cores)."""
    message = "one for each processor core" if usual is None else usual
    parser.add_argument(
        "--jobs",
        type=whole_number,
        default=usual,
        metavar="N",
        help=f"{what} (default: {message})",
    )


def add_worker_options(
    parser: argparse.ArgumentParser, jobs: str, cluster: str, usual: int | None = None
) -> None:
    """Add --jobs and --scheduler, with these help texts; usual is the default of --jobs."""
    add_jobs_option(parser, jobs, usual)
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help=f"{cluster} (default: this machine)"
    )


def jobs_of(arguments: argparse.Namespace, tasks: int, what: str) -> int:
    """Return how many tasks to run at the same time, at least 1; report the number if not given.

    `what` names the tasks, in the plural. Raises UserError for a --jobs below 1.
    """
    check_at_least_one(jobs=arguments.jobs)
    result: int = arguments.jobs or max(1, min(cores(), tasks))
    if arguments.jobs is None and result > 1 and not getattr(arguments, "scheduler", None):
        messages.say(f"{result} {what} at a time, as there are {cores()} cores; see --jobs")
    return result
