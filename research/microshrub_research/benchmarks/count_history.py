"""Counts over time: instructions, bytes of imported code and accuracies, in one small file.

The file is a CSV of name, value and why. A later line of a name replaces an earlier one, so the
file shows earlier figures, and why a figure got worse. All figures are exact and the same on every
machine: instructions on an emulated Cortex-M0, bytes on a Raspberry Pi Pico, accuracies of
generated streams.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.boards import board_files, counted_models, instruction_counts, ram_budget
from microshrub_host.evaluation import prequential
from microshrub_host.library.learners import MODELS, defaults, stream_parameters
from microshrub_host.streams.open_stream import open_stream

from .instruction_report import as_text

BOARD = "cortex-m0"
ALLOWED = 1.0  # percent by which a figure may get worse without a reason in its line
STREAMS = ("synth:sea_0_to_2_at_1500", "synth:rbf_m")
SAMPLES = 3000
WARMUP = 256
COUNTED = (4,)  # places in configurations(); the counts of small ones depend on other loaded code
LEARNERS = ("thicket", "shrub", "hoeffding")
ACCURACY = "accuracy"  # the prefix of figures that are better when higher
_HEAD = ["name", "value", "why"]


@dataclass(frozen=True)
class CountLine:
    """A figure of the file, and the reason for its value."""

    name: str
    value: float
    why: str


def read(path: Path) -> list[CountLine]:
    """Return the file's lines. Raises UserError."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        if head != _HEAD:
            raise ValueError(f"it has to begin with {','.join(_HEAD)}")
        return [CountLine(name, float(value), why) for name, value, why in rows]
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error


def measure() -> dict[str, float]:
    """Measure all figures, and return them by name. Raises UserError and NoEmulator."""
    with showing("counting", announce=True) as update:
        instructions = _instructions()
        update(1, 3, "instructions")
        instructions |= _bytes()
        update(2, 3, "bytes")
        return instructions | _accuracies()


def worse(name: str, before: float, now: float) -> float:
    """Return by how many percent a figure got worse; below 0, it got better."""
    change = 100 * (now - before) / before
    return -change if name.startswith(ACCURACY) else change


def complaints(lines: list[CountLine], now: dict[str, float]) -> list[str]:
    """Return a message for each figure that got worse without a reason, that the file lacks,
    or that is no longer measured.
    """
    result = []
    last: dict[str, CountLine] = {}
    for line in lines:
        before = last.get(line.name)
        if before and worse(line.name, before.value, line.value) > ALLOWED and not line.why:
            result.append(
                f"{line.name}: {line.value:,.10g} after {before.value:,.10g}, and no why"
            )
        last[line.name] = line
    for name, value in now.items():
        if name not in last:
            result.append(f"{name}: {value:,.10g} is not in the file")
        elif (by := worse(name, last[name].value, value)) > ALLOWED:
            result.append(
                f"{name}: {value:,.10g} is {by:.1f} % worse than {last[name].value:,.10g}. Mend "
                "it, or add a line that says why"
            )
    return result + [f"{name}: is measured no more" for name in last if name not in now]


def table(lines: list[CountLine], now: dict[str, float]) -> str:
    """Return a table of name, value in the file, value now and change, for a terminal."""
    before = {line.name: line.value for line in lines}
    rows = [("figure", "was", "is", "change")]
    for name, value in now.items():
        was = before.get(name)
        change = "new" if was is None else f"{100 * (value - was) / was:+.2f} %"
        rows.append((name, "-" if was is None else f"{was:,.10g}", f"{value:,.10g}", change))
    return as_text(rows)


def _instructions() -> dict[str, float]:
    result: dict[str, float] = {}
    batches = [
        [counted_models.configurations()[i] for i in COUNTED],
        counted_models.thickets()[:1],
    ]
    for whats in batches:
        with instruction_counts.Counter(BOARD, whats) as counter:
            for i, what in enumerate(whats):
                cost = counter.count(i)
                median = np.percentile(cost.learn, 50, method="higher")
                result[f"instructions learn {what.name}"] = float(median)
    return result


def _bytes() -> dict[str, float]:
    board = board_files.load("rpi_pico")
    shape = {"features": 14, "classes": 2}
    result = {}
    for model in LEARNERS:
        parts = ram_budget.code_parts(board, MODELS[model], defaults(model) | shape)
        result[f"bytes imported {model}"] = float(sum(part.bytes for part in parts))
    return result


def _accuracies() -> dict[str, float]:
    result = {}
    for source in STREAMS:
        stream = open_stream(source, limit=SAMPLES)
        for model in LEARNERS:
            parameters = stream_parameters(model, stream, WARMUP) | defaults(model)
            run = prequential.evaluate(stream, model, parameters)
            result[f"{ACCURACY} {model} {source}"] = round(run.accuracy, 2)
    return result
