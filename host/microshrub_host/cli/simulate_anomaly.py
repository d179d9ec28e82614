"""`microshrub simulate --anomaly RATE --no-label`: the anomaly score alone."""

from __future__ import annotations

import argparse

from rich.table import Table
from rich.text import Text

from ..base.errors import UserError
from ..base.terminal import console, showing
from ..base.text import count
from ..evaluation.anomalies_alone import score_alone
from ..library import loader
from ..library.learners import WARMUP, option
from ..reports.plots import draw_anomalies
from ..simulation import companion_registry
from ..simulation.anomaly import Anomaly
from ..simulation.feature_extraction import extracted_numbers
from .features_option import feature_options, say_chosen
from .options import given_options
from .outputs import is_quiet, write_figure, write_json
from .stream_options import open_unlabelled

_OF_A_LEARNER = ("label", "classes", "shuffle", "board", "save", "html", "target")


def run_alone(arguments: argparse.Namespace) -> int:
    """Score the stream, then print and write the result."""
    others = [name for name in companion_registry.option_names() if name != Anomaly.name]
    names = (*_OF_A_LEARNER, *others)
    given = [name for name in names if getattr(arguments, name) is not None]
    for name in [*given, *given_options(arguments)]:
        raise UserError(f"{option(name)} is of no use with --no-label, which learns nothing.")
    options = Anomaly.of_options(vars(arguments), None).simulated()
    stream = open_unlabelled(arguments)
    if arguments.features is not None:
        features = feature_options(arguments, stream.column_names)
        say_chosen(arguments, features, stream.column_names)
        stream = extracted_numbers(stream, features)
    engine = arguments.engine or loader.fastest()
    if engine == "micropython":
        raise UserError("--engine micropython runs a learner: --no-label takes another engine.")
    with showing(f"{engine}: scoring") as update:
        result = score_alone(
            stream, options, engine=engine, warmup=arguments.warmup or WARMUP, progress=update
        )
    if not is_quiet(arguments):
        rows, columns = stream.columns.shape
        console.say(
            f"{stream.name}: {count(rows, 'sample')}, {count(columns, 'feature')}, no labels"
        )
        table = Table(show_header=False)
        companions = [
            ("values out of range", f"{result.clamped:,}"),
            ("missing values", f"{result.missing:,}"),
        ]
        for row in [*result.run.rows(), *companions]:
            table.add_row(*map(Text, row))
        console.print(table)
    if arguments.plot is not None:
        write_figure(arguments, draw_anomalies(stream.name, result.run))
    if arguments.json is not None:
        write_json(arguments, result.record())
    return 0
