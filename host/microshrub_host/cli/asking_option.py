"""--label-budget and what goes with it, of whichever command has them."""

from __future__ import annotations

import argparse

from ..engines.asking_options import OPTION, AskingOptions
from .parsed import whole_number


def add_asking_option(parser: argparse._ActionsContainer) -> None:
    """Add --label-budget."""
    parser.add_argument(
        OPTION,
        metavar="SHARE",
        help="the model asks for the labels of samples that it is unsure of, at most so many: "
        "10%%, '1 per 20 samples', '30 per day at 2 Hz' (without `at` where the sensor has a "
        "rate); it learns no others (default: off, it learns all)",
    )


def add_answer_options(parser: argparse._ActionsContainer) -> None:
    """Add --label-budget, --label-delay and --unanswered, for streams that have all labels."""
    add_asking_option(parser)
    parser.add_argument(
        "--label-delay",
        type=whole_number,
        metavar="N",
        help="a label comes N samples later, 1 to 32767 (default: at once)",
    )
    parser.add_argument(
        "--unanswered",
        metavar="SHARE",
        help="so many of the labels, such as 20%%, never come, drawn at random (default: none)",
    )


def asking_options(arguments: argparse.Namespace) -> AskingOptions | None:
    """What these options ask for; None without any of them. Raises UserError."""
    budget, delay, unanswered = (
        getattr(arguments, name, None) for name in ("label_budget", "label_delay", "unanswered")
    )
    if budget is None and delay is None and unanswered is None:
        return None
    return AskingOptions.of(budget, delay or 0, unanswered)
