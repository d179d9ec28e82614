"""--features: samples made from windows of a sensor's readings."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..base.terminal import messages
from ..boards import board_files
from ..boards.counted_times import time_on
from ..simulation.feature_choice import Place
from ..simulation.feature_options import FeatureOptions
from ..streams.csv_rows import recorded_rate
from ..streams.stream import Extraction, source_names


def add_features_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --features; `what` is the verb for its help."""
    parser.add_argument(
        "--features",
        nargs="*",
        metavar="NAME=VALUE",
        help=f"{what} features of windows of readings; without values, windows, statistics "
        "and bands that suit the rate and the board are chosen; to choose them yourself: rate=100 "
        "readings a second; window=64 hop=32 readings; statistics=all, none or some of "
        "mean,deviation,min,max,crossings,energy,form,mobility; bands=auto, none or 0.5-3,3-8; "
        "low-pass=20 high-pass=0.5 band-pass=1-10 in Hz; columns of plain=COLUMN,... stay as they "
        "are; zero=32768 for analog pins; decimals are multiplied by what scale=1000 "
        "or a number for each column says, or by what suits the recording; resample=50 makes "
        "uneven readings so many a second (default: a reading is a sample)",
    )


def feature_options(
    arguments: argparse.Namespace,
    channels: Sequence[str] = (),
    classes: int = 2,
    rate: float | None = None,
    readings: int = 0,
) -> FeatureOptions:
    """Return the features of --features; open settings are chosen for the recording and the board.

    channels are the names of a reading's values; rate is the rate of the recording's clock;
    readings is the length of each recording, if all have the same. Raises UserError.
    """
    given = vars(arguments)
    time = None
    if given.get("board"):
        board = board_files.load(arguments.board)
        size = given.get("bytes") or board.model_budget_bytes
        time = time_on(board, classes, min(size, board.model_budget_bytes))
    place = Place(rate, channels, time, _recorded_rate(arguments), readings)
    return FeatureOptions.of(arguments.features, place)


def _recorded_rate(arguments: argparse.Namespace) -> float | None:
    """Return the rate of the first file of DATA, if the file has the times of `record`."""
    if arguments.data is None or arguments.wide is not None:
        return None
    return recorded_rate(source_names(arguments.data)[0])


def say_scale(extraction: Extraction | None) -> None:
    """Print the factors of decimals, unless the user has chosen them."""
    if extraction and extraction.scale_chosen:
        messages.say(
            f"Note: --features takes whole numbers, so decimals are multiplied: "
            f"{extraction.multiplied}. scale= chooses other factors, such as those that make the "
            "numbers those of the board's sensor."
        )


def say_chosen(
    arguments: argparse.Namespace, options: FeatureOptions, channels: Sequence[str]
) -> None:
    """Print the settings that --features left open, as its words; note lags without room."""
    if note := options.fewer_lags(channels):
        messages.say(f"Note: --features: {note}")
    given = {word.partition("=")[0] for word in arguments.features}
    words = [word for word in options.chosen_words if word.partition("=")[0] not in given]
    if not words:
        return
    message = f"Note: --features takes {' '.join(words)}."
    about = _recorded_rate(arguments)
    if options.rate is None and about:
        message += f" By its times, the recording has about {about:.3g} readings a second."
    elif options.rate is None:
        message += " rate=100 says how many readings a second there are, which fits the window."
    messages.say(message)
