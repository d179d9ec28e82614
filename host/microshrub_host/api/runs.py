"""Simulation of a stream by one engine, and a comparison of several engines."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, overload

from ..base.errors import UserError
from ..evaluation import holdout, prequential, regression
from ..evaluation import parity as engine_parity
from ..evaluation.classes import Result
from ..evaluation.parity import Difference
from ..evaluation.regression import NumberResult
from ..library.learners import (
    DEFAULT,
    WARMUP,
    check_parameters,
    learner_name,
    number_parameters,
    number_warmup,
    regressor_for,
    stream_parameters,
    warmup_of,
)
from ..simulation import companion_registry, engines
from ..simulation.companion import Companion, freezes, with_companions
from ..simulation.engine_interface import NO_LABELS
from ..simulation.pipeline import Forecast
from ..streams.regression_streams import NumberStream
from ..streams.stream import Stream
from .models import check_stream, known, parameters_of, raw_ends


@overload
def simulate(stream: Stream, model: str = DEFAULT, **options: Any) -> Result: ...


@overload
def simulate(stream: NumberStream, model: str = DEFAULT, **options: Any) -> NumberResult: ...


def simulate(
    stream: Stream | NumberStream,
    model: str = DEFAULT,
    *,
    engine: str | None = None,
    warmup: int | None = None,
    companions: Sequence[Companion] = (),
    interval: float | None = None,
    ends: tuple[float, float] | None = None,
    **parameters: Any,
) -> Result | NumberResult:
    """Predict each sample of a stream, then learn it, as a board would, bit for bit.

    Parameters
    ----------
    stream
        A stream from open_stream or, for numbers, open_numbers.
    model
        A learner by its name: "thicket" (which needs no parameters), "shrub", "hoeffding", ...
    engine
        "c", "llvm", "python" or "micropython", which have the same result; "checked" is "python"
        and stops if a kernel goes outside a buffer; None: the fastest engine on this machine.
    warmup
        The number of samples that set the features' ranges before the run; 0: the ranges grow with
        the samples; None: 0 for learners that can follow growing ranges, else 256. For a
        regression stream: 1 or more.
    companions
        The model's companions: Anomaly(often=0.001), SpareClasses(4, new=("walk",)),
        LabelBudget(share=0.1, delay=50), Guarantee(90). Only for classes.
    interval, ends
        For a regression stream: the percent of the targets that the prediction intervals should
        contain, and the targets' range; None: no interval, and the range in the warm-up.
    parameters
        The learner's parameters: window=64, trees=8.

    Returns
    -------
    The accuracies and kappas in percent, their curves, and the state of the model. `anomaly` has
    the score of each sample, `unseen` the accuracy on unseen data, `spare` the result of the
    spare classes, and `label_budget` the labels that were queried. For a regression stream: the
    errors and the predictions.

    Raises
    ------
    UserError
        For an unknown model or parameter, and for a value that the learner refuses.

    Examples
    --------
    >>> from microshrub_host import open_stream, simulate
    >>> stream = open_stream("synth:sea_a", limit=400)
    >>> run = simulate(stream, "shrub", engine="python", window=16, trees=4, depth=3)
    >>> run.samples, run.accuracy > 60
    (400, True)

    >>> from microshrub_host import open_numbers
    >>> forecast = open_numbers("river:AirlinePassengers", horizon=1, lags=12)
    >>> run = simulate(forecast, "linear", engine="python", interval=90)
    >>> run.samples, run.errors.mae < run.running_mean.mae
    (143, True)

    """
    check_stream(stream, "simulate")
    companions = companion_registry.in_order(companions)
    if isinstance(stream, NumberStream):
        companion_registry.refuse_with_numbers(companions)
        model = regressor_for(model)
        shape = number_parameters(model, stream.features, stream.late)
        wanted = parameters_of(model, shape, parameters)
        low_high = raw_ends(stream, ends)
        warmup = number_warmup(warmup)
        return regression.evaluate_numbers(
            stream, model, wanted, engine=engine, warmup=warmup, ends=low_high, interval=interval
        )
    if interval is not None or ends is not None:
        raise UserError("interval= and ends= are for numbers: simulate(open_numbers(FILE), ...)")
    warmup = warmup_of(known(model), warmup, frozen=freezes(companions))
    wanted = parameters_of(model, stream_parameters(model, stream, warmup), parameters)
    companions = [each.on_stream(stream, warmup or WARMUP) for each in companions]
    wanted = with_companions(wanted, companions)
    check_parameters(model, wanted, on_command_line=False)
    how: dict[str, Any] = {"warmup": warmup, "companions": companions}
    result = prequential.evaluate(stream, model, wanted, engine=engine, **how)
    unseen = holdout.measure(stream, model, wanted, **how)
    return dataclasses.replace(result, unseen=unseen)


def parity(
    stream: Stream | NumberStream,
    model: str = DEFAULT,
    *,
    engine_names: tuple[str, ...] | None = None,
    warmup: int | None = None,
    every: int = 200,
    companions: Sequence[Companion] = (),
    **parameters: Any,
) -> Difference | None:
    """Learn a stream on several engines at once and compare their buffers, bit by bit.

    Parameters
    ----------
    stream
        A stream from open_stream or, for numbers, open_numbers.
    model
        A learner by its name: "thicket" (which needs no parameters), "shrub", "hoeffding", ...
    engine_names
        At least two of "python", "llvm", "c" and "micropython"; None: all engines on this machine.
    warmup
        As in simulate().
    every
        The number of samples between two comparisons; a difference is then located to the sample.
    companions
        As in simulate(); only for classes.
    parameters
        The learner's parameters: window=64, trees=8.

    Returns
    -------
    None if all engines agree to the end; else the first sample and the first buffer that differ.

    Raises
    ------
    UserError
        As in simulate(), and if MicroPython itself is requested but missing.

    Examples
    --------
    >>> from microshrub_host import open_stream, parity
    >>> stream = open_stream("synth:sea_a", limit=300)
    >>> parity(stream, "shrub", engine_names=("python", "python"), window=8, trees=2) is None
    True

    """
    check_stream(stream, "parity")
    companions = companion_registry.in_order(companions)
    if isinstance(stream, NumberStream):
        companion_registry.refuse_with_numbers(companions)
        model = regressor_for(model)
        shape = number_parameters(model, stream.features, stream.late)
        rows, labels = stream.raw_rows(), NO_LABELS
        companions = [Forecast(stream.forecaster(None, 90))]
        warmup = number_warmup(warmup)
    else:
        warmup = warmup_of(known(model), warmup, frozen=freezes(companions))
        shape = stream_parameters(model, stream, warmup)
        rows, labels = stream.raw_rows(), stream.labels
        companions = [each.on_stream(stream, warmup) for each in companions]
    wanted = with_companions(parameters_of(model, shape, parameters), companions)
    if isinstance(engine_names, str) or (engine_names is not None and len(engine_names) < 2):
        raise TypeError(f"engine_names= takes two engines or more, not {engine_names!r}")
    names = engine_names or engines.available()
    starters = {
        f"{name} {number}": functools.partial(
            engines.start, name, learner_name(model), wanted, companions, growing=not warmup
        )
        for number, name in enumerate(names, 1)
    }
    for step in engine_parity.check(starters, rows, labels, warmup=warmup, every=every):
        if isinstance(step, Difference):
            return step
    return None
