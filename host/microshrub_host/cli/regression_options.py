"""--target and the other options of regression."""

from __future__ import annotations

import argparse
from typing import Any

from ..api.models import raw_ends
from ..base.errors import UserError
from ..base.terminal import messages, showing
from ..library.learners import (
    REGRESSORS,
    check_parameters,
    number_parameters,
    number_warmup,
    option,
    regressor_for,
)
from ..simulation import companion_registry
from ..simulation.feature_extraction import extracted_numbers
from ..streams.open_regression_stream import NUMBER_SYNTHS, open_numbers
from ..streams.regression_streams import NumberStream, ahead
from .features_option import feature_options, say_chosen, say_scale
from .options import model_parameters
from .parsed import check_no_group, columns_read, parsed, whole_number

# options for classes, besides the companions' options
_OF_CLASSES = ("label", "label_from", "classes", "wide", "shuffle")


def add_number_options(parser: argparse.ArgumentParser, *, interval: bool = True) -> None:
    """Add the options; --interval only for commands that run a single model."""
    group = parser.add_argument_group("options of regression")
    add_target_option(group)
    add_ahead_options(group, interval=interval)
    group.add_argument(
        "--target-range",
        metavar="LOW,HIGH",
        help="the range of the targets, in their own unit (default: as seen in the warm-up)",
    )


def add_ahead_options(group: argparse._ActionsContainer, *, interval: bool = True) -> None:
    """Add --horizon, --lags and, if wanted, --interval."""
    group.add_argument(
        "--horizon",
        type=whole_number,
        metavar="N",
        help="forecast the target N rows ahead (default: predict it from its own row)",
    )
    group.add_argument(
        "--lags",
        type=whole_number,
        metavar="K",
        help="with --horizon: how many of the target's last values are features (default 1)",
    )
    if interval:
        group.add_argument(
            "--interval",
            type=parsed(float),
            metavar="PERCENT",
            help="an interval around each prediction that contains this share of the targets, "
            "50 to 99 (default: off)",
        )


class _Once(argparse.Action):
    """An option that may be given only once."""

    def __call__(self, _: Any, namespace: argparse.Namespace, value: Any, *__: Any) -> None:
        before = getattr(namespace, self.dest)
        if before is not None:
            raise argparse.ArgumentError(
                self, f"a model predicts one column, {before} or {value}, not both"
            )
        setattr(namespace, self.dest, value)


def add_target_option(group: argparse._ActionsContainer) -> None:
    """Add --target alone."""
    synths = ", ".join(f"synth:{name}" for name in NUMBER_SYNTHS)
    group.add_argument(
        "--target",
        action=_Once,
        metavar="COLUMN",
        help="predict the numbers of this column, not a class; the column is called `target` in "
        f"river:NAME, a regression data set, and in {synths} (default: off)",
    )


def wants_numbers(arguments: argparse.Namespace) -> bool:
    """Return whether to predict numbers. Raises UserError for options that exclude each other."""
    if arguments.target is not None:
        return True
    for name in ("horizon", "lags", "target_range", "interval"):
        if getattr(arguments, name, None) is not None:
            raise UserError(f"--{name.replace('_', '-')} needs --target COLUMN.")
    model = getattr(arguments, "model", None)
    if model in REGRESSORS:
        raise UserError(f"--model {model} predicts numbers: it needs --target COLUMN.")
    return False


def open_numbers_arguments(
    arguments: argparse.Namespace, readings: NumberStream | None = None
) -> tuple[NumberStream, dict[str, Any], dict[str, Any]]:
    """Return the stream, the model's parameters, and its Forecaster's parameters.

    arguments.model is replaced by the full name of the regressor. readings are the readings for
    --features, if already read.
    """
    share = checked_interval(arguments.interval)
    arguments.model = regressor_for(arguments.model)
    options = model_parameters(arguments)
    stream = open_number_stream(arguments, readings)
    parameters = number_parameters(arguments.model, stream.features, stream.late) | options
    check_parameters(arguments.model, parameters)
    ends = raw_ends(stream, target_range(arguments))
    return stream, parameters, stream.forecaster(ends, share)


def checked_interval(share: float | None) -> float | None:
    """Return the value of --interval. Raises UserError if it is out of range."""
    if share is not None and not 50 <= share <= 99:
        raise UserError(f"--interval has to be 50 to 99 percent, not {share:g}")
    return share


def open_number_stream(
    arguments: argparse.Namespace, readings: NumberStream | None = None
) -> NumberStream:
    """Open the stream of the options, and print its notes.

    readings are the readings for --features, if already read.
    """
    for name in (*_OF_CLASSES, *companion_registry.option_names()):
        if getattr(arguments, name, None) is not None:
            message = f"{option(name)} is for classes, and --target wants numbers."
            if name == "anomaly":
                message += (
                    " `simulate --anomaly RATE --no-label` scores the samples by themselves."
                )
            raise UserError(message)
    lags = getattr(arguments, "lags", None)
    if lags is not None and arguments.horizon is None:
        raise UserError("--lags needs --horizon N.")
    horizon, lags = _horizon(getattr(arguments, "horizon", None)), 1 if lags is None else lags
    if arguments.features is not None:
        readings = readings or open_readings(arguments)
        options = feature_options(arguments, readings.column_names)
        say_chosen(arguments, options, readings.column_names)
        stream = ahead(extracted_numbers(readings, options, arguments.target), horizon, lags)
        say_scale(stream.extraction)
    else:
        stream = _read(arguments, arguments.target, number_warmup(arguments.warmup), horizon, lags)
    for note in stream.notes:
        messages.say(f"Note: {note}")
    return stream


def open_readings(arguments: argparse.Namespace) -> NumberStream:
    """Return the recording from which --features makes a regression stream; ignore its target.

    The horizon is 1 here, so that a single column is enough.
    """
    options = feature_options(arguments)
    last = arguments.columns[-1] if arguments.columns else None
    return _read(arguments, last, options.readings(number_warmup(arguments.warmup)), horizon=1)


def _read(
    arguments: argparse.Namespace,
    target: str | None,
    warmup: int,
    horizon: int = 0,
    lags: int = 1,
) -> NumberStream:
    check_no_group(arguments)
    with showing("reading") as update:
        return open_numbers(
            arguments.data,
            target=target,
            horizon=horizon,
            lags=lags,
            **columns_read(arguments),
            warmup=warmup,
            progress=update,
        )


def _horizon(given: int | None) -> int:
    if given is not None and given < 1:
        raise UserError(f"--horizon has to be at least 1, not {given}")
    return given or 0


def target_range(arguments: argparse.Namespace) -> tuple[float, float] | None:
    """Return the value of --target-range, in the targets' unit."""
    text = arguments.target_range
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise UserError(f"--target-range has to be LOW,HIGH, two numbers, not {text!r}") from None
    return low, high
