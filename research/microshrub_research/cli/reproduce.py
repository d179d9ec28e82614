"""`microshrub reproduce EXPERIMENT`: a paper's experiment, its figures compared with ours."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from microshrub_host.base import cluster
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages
from microshrub_host.base.text import did_you_mean
from microshrub_host.cli.outputs import check_drawing, check_outputs
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.cli.plain_parser import show_first
from microshrub_host.cli.run_options import add_worker_options, jobs_of

from ..compare.contender import SEED
from ..papers.data_folder import VARIABLE
from ..papers.experiment import Extent
from ..papers.experiment_report import (
    facts,
    make_page,
    markdown,
    save_pictures,
    save_text,
    table_text,
)
from ..papers.experiment_runner import Plan, reproduce
from ..papers.experiments import EXPERIMENTS, load_experiment
from ..papers.printed_figures import load_paper

_IN_COMMAND = (
    *("streams", "methods", "configurations", "limit", "time_limit", "method_time"),
    *("peer_limit", "peer_time"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "experiment", metavar="EXPERIMENT", choices=list(EXPERIMENTS), help=", ".join(EXPERIMENTS)
    )
    parser.add_argument(
        "--quick", action="store_true", help="a small part of the experiment, which takes minutes"
    )
    _add_what_to_run(parser)
    _add_how_to_run(parser)
    show_first(
        parser, "--quick", "--streams", "--methods", "--data", "--jobs", "--output", "--html"
    )


def _add_what_to_run(parser: argparse.ArgumentParser) -> None:
    for name, metavar, text in (
        ("streams", "A,B,...", "only these streams (default: those of the experiment)"),
        ("methods", "A,B,...", "only these methods (default: all that can run here)"),
    ):
        parser.add_argument(f"--{name}", metavar=metavar, help=text)
    for name, metavar, text in (
        ("configurations", "N", "at most N random configurations per method"),
        ("limit", "N", "only the first N samples of a stream"),
        ("time-limit", "SECONDS", "for one run"),
    ):
        parser.add_argument(
            f"--{name}",
            type=whole_number,
            metavar=metavar,
            help=f"{text} (default: the experiment's)",
        )
    parser.add_argument(
        "--method-time",
        type=whole_number,
        metavar="SECONDS",
        help="for all runs of a method on one stream: when this time is over, the method starts "
        "no more configurations on that stream (default: no limit)",
    )
    parser.add_argument(
        "--peer-limit",
        type=whole_number,
        metavar="N",
        help="as --limit, for methods that are not ours; ranks are computed over the samples that "
        "all methods learned (default: --limit)",
    )
    parser.add_argument(
        "--peer-time",
        type=whole_number,
        metavar="SECONDS",
        help="as --method-time, for methods that are not ours (default: --method-time)",
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=0,
        metavar="N",
        help="seed of the configurations (default 0)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="a folder with files NAME.csv.gz; missing ones are fetched from OpenML (default: "
        f"that of the environment variable {VARIABLE})",
    )


def _add_how_to_run(parser: argparse.ArgumentParser) -> None:
    add_worker_options(parser, "runs to do at the same time", "a Dask cluster that does the runs")
    parser.add_argument(
        "--output",
        dest="folder",
        type=Path,
        metavar="DIR",
        help="the folder for results, tables and pictures; an interrupted run continues there "
        "(default: reproduce-EXPERIMENT, or reproduce-EXPERIMENT-quick)",
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="the report (default: report.html in --output)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Do the experiment's missing runs; write its tables, its pictures and its page."""
    experiment = load_experiment(arguments.experiment)
    extent = _extent(arguments, experiment.quick if arguments.quick else experiment.full)
    _check(arguments, extent)
    cluster.check_packages("reproduce")
    methods, notes = experiment.methods(extent.configurations, arguments.seed)
    chosen = _chosen("--methods", arguments.methods, [method.name for method in methods])
    methods = [method for method in methods if method.name in chosen]
    names = _chosen("--streams", arguments.streams, experiment.streams, extent.streams)
    sources, missing = experiment.find(names, arguments.data)
    for note in [*notes, *missing]:
        messages.say(note)
    if not sources:
        raise UserError("no stream is available")
    plan = Plan(
        experiment=experiment,
        extent=extent,
        methods=methods,
        sources=sources,
        seed=arguments.seed,
        jobs=jobs_of(arguments, len(methods) * len(sources), "runs"),
        scheduler=arguments.scheduler,
        notes=[*notes, *missing],
        method_seconds=arguments.method_time,
        peer_samples=arguments.peer_limit,
        peer_seconds=arguments.peer_time,
    )
    _run(plan, arguments)
    return 0


def _extent(arguments: argparse.Namespace, extent: Extent) -> Extent:
    """Return the experiment's extent, changed by the options."""
    given = {
        "configurations": arguments.configurations,
        "samples": arguments.limit,
        "seconds": arguments.time_limit,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    return dataclasses.replace(extent, **changed)


def _check(arguments: argparse.Namespace, extent: Extent) -> None:
    check_at_least_one(
        configurations=extent.configurations,
        limit=extent.samples,
        time_limit=extent.seconds,
        method_time=arguments.method_time,
        peer_limit=arguments.peer_limit,
        peer_time=arguments.peer_time,
    )
    if arguments.data is not None and not arguments.data.is_dir():
        raise UserError(f"--data {arguments.data}: there is no such folder")
    check_outputs(arguments)
    check_drawing("reproduce")


def _chosen(
    option: str, text: str | None, known: Sequence[str], default: Sequence[str] | None = None
) -> list[str]:
    if text is None:
        return list(known if default is None else default)
    words = list(dict.fromkeys(filter(None, (word.strip() for word in text.split(",")))))
    if not words:
        raise UserError(f"{option} names nothing")
    for word in words:
        if word not in known:
            raise UserError(f"{option}: there is no {word}. {did_you_mean(word, known)}")
    return words


def _run(plan: Plan, arguments: argparse.Namespace) -> None:
    folder = _folder(arguments)
    result = reproduce(plan, folder)
    paper = load_paper(plan.experiment.name)
    tables = plan.experiment.tables(result)
    pictures = plan.experiment.pictures(result)
    versions = {"paper": paper.citation}
    versions |= {"seed of the draw": str(plan.seed), "seed of the peers": str(SEED)}
    versions |= facts(result, {name: source.origin for name, source in plan.sources.items()})
    what = (f"Reproduced: {paper.title}", _command(arguments), result, tables, pictures, versions)
    save_pictures(folder, pictures)
    save_text(folder / "tables.md", markdown(*what))
    html = arguments.html or folder / "report.html"
    make_page(*what).write(html)
    for table in tables:
        lines = [table.title, *table.notes, table_text(table)]
        sys.stdout.write("\n\n".join(lines) + "\n\n")
    messages.say(f"written to {html}, and to {folder}: tables.md and {_pictures(pictures)}")


def _pictures(pictures: Sequence[object]) -> str:
    return f"{len(pictures)} pictures" if len(pictures) != 1 else "1 picture"


def _folder(arguments: argparse.Namespace) -> Path:
    quick = "-quick" if arguments.quick else ""
    return arguments.folder or Path(f"reproduce-{arguments.experiment}{quick}")


def _command(arguments: argparse.Namespace) -> str:
    """Return the command that repeats the experiment, without the paths of folders."""
    words = ["microshrub reproduce", arguments.experiment]
    if arguments.quick:
        words.append("--quick")
    for name in _IN_COMMAND:
        value = getattr(arguments, name)
        if value is not None:
            words.append(f"--{name.replace('_', '-')} {value}")
    if arguments.seed:
        words.append(f"--seed {arguments.seed}")
    return " ".join([*words, *(["--data DIR"] if arguments.data else [])])
