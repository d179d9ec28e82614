"""--anomaly, of whichever command has it."""

from __future__ import annotations

import argparse

from ..engines.anomaly_options import AnomalyOptions


def add_anomaly_option(parser: argparse._ActionsContainer) -> None:
    """Add --anomaly."""
    parser.add_argument(
        "--anomaly",
        nargs="+",
        metavar=("RATE", "NAME=VALUE"),
        help="score how unlike the last samples each sample is, 0 to 255, with an alarm as often "
        "as RATE says: 0.001 or 0.1%% of the samples, '1 per 1000 samples', '1 per day at 50 Hz' "
        "(without `at` where the sensor has a rate); then window=512 reach=4 (default: off)",
    )


def anomaly_options(
    arguments: argparse.Namespace, hertz: float | None = None
) -> AnomalyOptions | None:
    """What --anomaly asks for; None without it. hertz is the rate of the sensor, if it is known.

    Raises UserError.
    """
    return AnomalyOptions.of(arguments.anomaly, hertz) if arguments.anomaly else None
