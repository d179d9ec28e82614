"""`microshrub demo`: a simulated board is taught, left alone, and taught again after a change."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base import files
from ..base.errors import UserError
from ..base.terminal import console, messages, showing

if TYPE_CHECKING:
    from ..evaluation.taught_twice import TaughtTwice

_PLOT = "demo.svg"
_BOARD, _MODEL = "rpi_pico", "thicket"
_WORDS = ("window=64", "hop=16", "rate=100")
_HOP = 0.16  # seconds from sample to sample


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Let a simulated Raspberry Pi Pico learn three gestures of a hand with an accelerometer "
        "(a model of the world makes them up): it is taught with a button, left alone, its sensor "
        f"is turned, and it is taught again. It draws {_PLOT}."
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=1, help="seed of the hand (default 1)"
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=int,
        default=1,
        help="so many hands, from --seed on: the mean, and the lowest and the highest (default 1)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demo, print the table and draw the picture."""
    if arguments.seed < 0 or not 1 <= arguments.seeds <= 1000:
        raise UserError("--seed has to be 0 or more, and --seeds 1 to 1000")
    from ..evaluation import taught_twice
    from ..reports import result_tables, taught_picture
    from ..simulation.feature_choice import Place
    from ..simulation.feature_options import FeatureOptions
    from ..streams.worlds import turned
    from .stream_options import compile_kernels

    files.check_target("the picture", Path(_PLOT))
    if files.is_other_kind(Path(_PLOT), rb"<svg"):
        raise UserError(f"{_PLOT} is there, and no picture of the demo: move it away")
    options = FeatureOptions.of(list(_WORDS), Place(channels=turned.COLUMNS))
    stream, phases = taught_twice.made_stream(arguments.seed, options)
    parameters, budget, time = _on_the_board(stream)
    compile_kernels(_MODEL, parameters)
    outcomes = []
    with showing("hands") as update:
        for number in range(arguments.seeds):
            if number:
                stream, phases = taught_twice.made_stream(arguments.seed + number, options)
            outcomes.append(taught_twice.teach_twice(stream, phases, _MODEL, parameters, _HOP))
            update(number + 1, arguments.seeds)
    _print(outcomes)
    console.say(result_tables.fits(budget, time))
    files.replace(Path(_PLOT), taught_picture.draw(outcomes[0]).encode())
    messages.say(f"written to {_PLOT}")
    return 0


def _on_the_board(stream: Any) -> tuple[dict[str, Any], Any, Any]:
    """Return the model's parameters, its RAM and the time of a sample on the board."""
    from ..boards import board_files, sample_time
    from ..boards.default_bytes import SIZE, bytes_for
    from ..boards.deployment import Deployment
    from ..boards.emits import chosen
    from ..boards.usual_budget import usual_budget
    from ..library.learners import defaults, learner_name
    from ..simulation.pipeline import pipeline

    board = board_files.load(_BOARD)
    shape = {"features": len(stream.feature_names), "classes": len(stream.class_names)}
    parameters = shape | defaults(_MODEL) | {SIZE: board.model_budget_bytes}
    companions = pipeline(stream.extraction)
    names = stream.feature_names, stream.class_names
    size = bytes_for(Deployment(parameters, board, learner_name(_MODEL), companions))
    parameters |= {SIZE: size}
    asked = Deployment(parameters, board, learner_name(_MODEL), companions, names=names)
    time = sample_time.sample_time(board, _MODEL, parameters, chosen(board))
    return (
        parameters,
        usual_budget(asked, exact=True),
        sample_time.of_learner(time, board, companions),
    )


def _print(outcomes: list[TaughtTwice]) -> None:
    from ..evaluation.taught_twice import FROZEN, OURS
    from ..streams.worlds.turned import AFTER, AGAIN, ALONE, BEFORE, LESSON, TURNED

    one = outcomes[0]
    lesson, again = (f"{one.seconds[phase]:.0f} s" for phase in (LESSON, AGAIN))
    phases = {
        ALONE: f"taught for {lesson}, alone",
        TURNED: "sensor turned, alone",
        AFTER: f"again taught, {again}",
        BEFORE: "turned back",
    }
    rows = [("right, without labels", *one.right, "guessing")]
    for phase, text in phases.items():
        shares = [[each.percent(name, phase) for each in outcomes] for name in one.right]
        shares.append([each.guessing[phase] for each in outcomes])
        rows.append((text, *map(_share, shares)))
    means = [_mean([each.percent(*what) for each in outcomes]) for what in (
        (OURS, ALONE), (OURS, TURNED), (OURS, AFTER), (FROZEN, AFTER),
    )]  # fmt: skip
    console.say(f"Taught with a button for {lesson}, then alone: right in {means[0]}.")
    console.say(f"Its sensor is turned by 90 degrees: right in {means[1]}.")
    console.say(
        f"Taught for {again} more: right in {means[2]}; a model that cannot learn: {means[3]}."
    )
    for name, *values in rows:
        console.say(f"  {name:<22}" + "".join(f"{value:>14}" for value in values))


def _mean(shares: list[float]) -> str:
    return f"{sum(shares) / len(shares):.0f} %"


def _share(shares: list[float]) -> str:
    """Return the mean; for several hands, with the lowest and the highest share."""
    if len(shares) == 1:
        return _mean(shares)
    return f"{sum(shares) / len(shares):.0f} ({min(shares):.0f}-{max(shares):.0f}) %"
