"""`microshrub simulate DATA --model FILE.mshrub`: a saved model on another recording."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..base.errors import UserError
from ..base.terminal import console, messages, showing
from ..base.text import count
from ..library.learners import option
from ..models import model_files
from ..models.model_files import ModelFile
from ..models.second_recording import Meeting, as_the_model, meet
from ..reports.result_tables import RunReport, RunRows, print_run
from ..reports.run_report import confused
from ..simulation import companion_registry
from ..streams.stream import MAX_SAMPLES
from .options import given_options
from .outputs import is_quiet, write, write_json
from .regression_options import wants_numbers
from .stream_options import open_rows

# Options whose values are in the file, and options for a new model only
_NOT_USED = (
    *("features", "warmup", "classes", "shuffle", "no_label", "engine", "board", "battery"),
    *("sample_rate", "plot", "html"),
)


def run_saved(arguments: argparse.Namespace) -> int:
    """Let the model predict the recording, then learn it; print and write the results."""
    if arguments.wide is not None and not arguments.features:
        arguments.features = None  # --wide needs features, and the model has its own
    _check(arguments)
    model = model_files.read(Path(arguments.model))
    if model.regression:
        raise UserError(
            f"{arguments.model} predicts numbers. A model of classes can meet another recording"
        )
    for companion in companion_registry.named(model.companions):
        messages.say(f"Note: {companion.title} of {arguments.model}: not simulated here.")
    arguments.warmup = MAX_SAMPLES  # no notes on late classes, which the model knows
    stream = as_the_model(model, open_rows(arguments, fewest_classes=1))
    with showing("learning on") as update:
        met = meet(model, stream, lambda done, total, acc: update(done, total, f"{acc:.2f} %"))
    if arguments.save is not None:
        write(arguments, "save", model_files.packed(met.model))
    if not is_quiet(arguments):
        size = f"{count(met.samples, 'sample')}, {count(len(model.feature_names), 'feature')}"
        console.say(f"{Path(arguments.model).name} on {stream.name}: {size}")
        _print(met, model, stream.name, details=arguments.details)
    if arguments.json is not None:
        record = {"stream": stream.name, "model": str(arguments.model)} | met.record()
        write_json(arguments, record)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Raise UserError for an option that has no effect with a saved model."""
    names = (*_NOT_USED, *companion_registry.option_names())
    given = [name for name in names if getattr(arguments, name, None) not in (None, False)]
    for name in [*given, *given_options(arguments)]:
        raise UserError(f"{option(name)} is not used: the model is in {arguments.model}")
    if wants_numbers(arguments):
        raise UserError(f"--target is not used: {arguments.model} knows what it predicts")


def _print(met: Meeting, model: ModelFile, name: str, *, details: bool) -> None:
    learned = met.learned
    rows = [("as it is", f"{met.right:.2f} % of {met.samples:,} (guessing: {met.guessing:.2f} %)")]
    lines = [f"As it is: right in {met.right:.0f} % of {name} (guessing: {met.guessing:.0f} %)."]
    if learned:
        rows += [
            ("learning on, of unseen data", f"{learned.learned_on:.2f} % of {learned.samples:,}"),
            ("  as it is, of the same", f"{learned.as_it_is:.2f} %"),
            ("  a fresh model, of the same", f"{learned.fresh:.2f} %"),
        ]
        lines.append(
            f"Learning on: right in {learned.learned_on:.0f} % of what it never saw (as it is: "
            f"{learned.as_it_is:.0f} %, a fresh model: {learned.fresh:.0f} %)."
        )
    rows += [
        ("learning on, while labels come", f"{met.accuracy:.2f} %"),
        ("  NoChange (the last label)", f"{met.accuracy_nochange:.2f} %"),
    ]
    report = RunReport(
        "", rows, "", "",
        first=" ".join(lines[:1]),
        matrix=met.as_it_is.matrix(),
        matrix_title="predictions as it is",
    )  # fmt: skip
    crc = model_files.checksum(met.model)
    more = [*met.as_it_is.rows(), ("state CRC32, after learning", f"{crc:08x}")]
    summary = [line for line in (*lines, confused(met.as_it_is)) if line]
    print_run(report, RunRows(rows, more), summary, [], details=details)
