"""`python -m microshrub_host.picks`: the best Hoeffding trees that fit a small memory.

They were found by a random search on the very streams that they are shown on, which favours them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import family, report
from .commands import compile_kernels
from .exits import exit_code, run_command
from .members import MODEL, WARMUP
from .options import Parser, learner, options_text, stream_parameters
from .progress import showing
from .simulate import simulate
from .streams import Stream
from .terminal import messages


@dataclass(frozen=True)
class Pick:
    """A stream, the model bytes that it was searched for, and the parameters that were found."""

    stream: str
    budget: int
    parameters: Mapping[str, Any]


_ELEC = {
    "depth": 8, "nodes": 15, "leaves": 12, "split_confidence": 0.2, "tie_threshold": 0.1,
    "grace_period": 100, "adaptive": True, "leaf": "nb", "boost": True, "lambda_min": 0.5,
    "lambda_max": 4.0, "bins": 12,
}  # fmt: skip
_WEATHER = {
    "depth": 3, "nodes": 47, "leaves": 10, "tie_threshold": 0.1, "grace_period": 10,
    "criterion": "gini", "policy": "svfdt1", "regularization": 0.5, "adaptive": True, "bins": 8,
}  # fmt: skip
_AGRAWAL = {
    "depth": 8, "nodes": 31, "leaves": 10, "split_confidence": 1e-3, "tie_threshold": 0.1,
    "grace_period": 25, "adaptive": True, "leaf": "nb", "bins": 12,
}  # fmt: skip
_LED = {"depth": 0, "nodes": 1, "leaves": 1, "leaf": "nb", "adaptive": True}
_RBF = {
    "depth": 4, "nodes": 15, "leaves": 10, "split_confidence": 0.1, "tie_threshold": 0.3,
    "grace_period": 10, "adaptive": True, "leaf": "nb", "boost": True, "lambda_min": 0.5,
    "lambda_max": 8.0, "bins": 16,
}  # fmt: skip
_SEA = {
    "depth": 6, "nodes": 47, "leaves": 32, "split_confidence": 0.1, "tie_threshold": 0.2,
    "grace_period": 25, "policy": "svfdt2", "adaptive": True, "leaf": "nb", "bins": 5,
}  # fmt: skip

PICKS = (
    Pick("elec", 16 << 10, _ELEC),
    Pick("weather", 16 << 10, _WEATHER),
    Pick("agrawal_a", 16 << 10, _AGRAWAL),
    Pick("led_a", 16 << 10, _LED),
    Pick("rbf_m", 64 << 10, _RBF),
    Pick("sea_a", 16 << 10, _SEA),
)


def row(pick: Pick, stream: Stream) -> tuple[str, ...]:
    """The pick on its stream: the stream, the budget, model bytes, accuracy and the options."""
    wanted = stream_parameters(MODEL, stream, WARMUP) | dict(pick.parameters)
    result = simulate(stream, MODEL, wanted, warmup=WARMUP)
    size = learner(MODEL).nbytes(**wanted)
    return (
        pick.stream,
        f"{pick.budget >> 10} KB",
        f"{size:,}",
        f"{result.accuracy:.2f}",
        f"`--model {MODEL} {options_text(pick.parameters)}`",
    )


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """The whole file."""
    head = ("stream", "within", "model bytes", "accuracy, %", "options of `microshrub simulate`")
    lines = [head, ("---", "---", "---:", "---:", "---"), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    about = (
        "Made by `python -m microshrub_host.picks --output docs/hoeffding-small.md`, and only by "
        "it. The options were found by a random search on the very streams that they are shown "
        "on: that much tuning to a stream, a user's own will not have had."
    )
    return f"# Hoeffding trees in a small memory\n\n{about}\n\n{table}\n"


def parser() -> Parser:
    """The options of the command."""
    found = Parser(
        prog="python -m microshrub_host.picks",
        description="Run the best known Hoeffding trees of a small memory on six streams.",
    )
    family.add_output_options(found)
    found.set_defaults(run=run, limit=None)
    return found


def run(arguments: argparse.Namespace) -> int:
    """Measure the picks whose streams are there."""
    if arguments.output is not None:
        report.check_target("--output", arguments.output)
    missing = family.missing_files([pick.stream for pick in PICKS], arguments)
    rows = []
    for pick in PICKS:
        if pick.stream not in missing:
            stream = family.open_named(pick.stream, arguments)
            compile_kernels(MODEL, pick.parameters)
            with showing(f"learning {pick.stream}"):
                rows.append(row(pick, stream))
    text = markdown(rows)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        family.write_whole(arguments.output, text)
        messages.say(f"written to {arguments.output}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code, see exit_code()."""
    return exit_code(lambda: run_command(parser(), argv))


if __name__ == "__main__":
    sys.exit(main())
