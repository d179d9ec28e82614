"""What a program or a notebook uses of the host, as plain functions.

`microshrub_host` exports them by name. Models are called as on the command line, "thicket",
"shrub" or "hoeffding"; a learner's parameters are keyword arguments, and have its defaults.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from .base.errors import UserError
from .base.text import count, did_you_mean
from .boards import board_files, ram_budget
from .boards.ram_budget import Budget
from .emulation.latency import Clock, can_count
from .engines import engines
from .engines.anomaly_options import AnomalyOptions
from .engines.learners import (
    DEFAULT,
    MODELS,
    check_parameters,
    defaults,
    kind_of,
    number_parameters,
    regressor_for,
    stream_parameters,
)
from .evaluation import parity as engine_parity
from .evaluation import prequential, regression
from .evaluation.parity import Difference
from .evaluation.prequential import Result
from .evaluation.regression import NumberResult
from .models import model_files
from .models.model_files import OpenModel
from .streams.number_streams import NumberStream
from .streams.stream import Stream
from .tuning.report import TuningReport
from .tuning.study import Progress, Search
from .tuning.trials import Limits, StreamSplit, baselines


@overload
def simulate(stream: Stream, model: str = DEFAULT, **options: Any) -> Result: ...


@overload
def simulate(stream: NumberStream, model: str = DEFAULT, **options: Any) -> NumberResult: ...


def simulate(
    stream: Stream | NumberStream,
    model: str = DEFAULT,
    *,
    engine: str | None = None,
    warmup: int = 256,
    anomaly: str | Sequence[str] | None = None,
    interval: float | None = None,
    ends: tuple[float, float] | None = None,
    **parameters: Any,
) -> Result | NumberResult:
    """Predict each sample of a stream, then learn it, as a board would: to the bit.

    Parameters
    ----------
    stream
        What open_stream or, of numbers, open_numbers gives.
    model
        A learner by its name: "thicket" (which needs no parameters), "shrub", "hoeffding", ...
    engine
        "c", "numba", "python" or "micropython", which come to the same result; None is the
        fastest that this machine has.
    warmup
        Samples whose features the quantizer sees before the run.
    anomaly
        How often an anomaly alarm may come, as --anomaly has it: "0.001", "1 per day at 50 Hz",
        or ("0.001", "reach=1"); None: no anomaly score.
    interval, ends
        Of a stream of numbers: the percent of the targets that the interval around each prediction
        is to hold, and the range of the targets; None: no interval, and the range of the warm-up.
    parameters
        Those of the learner: window=64, trees=8.

    Returns
    -------
    The accuracies and kappas in percent, their curves, and the state of the model. Its `anomaly`
    has the score of each sample. Of a stream of numbers, the errors and the predictions.

    Raises
    ------
    UserError
        For a model or a parameter that is not there, and for a value that the learner refuses.

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
    if isinstance(stream, NumberStream):
        return _simulate_numbers(stream, model, engine, warmup, interval, ends, parameters)
    wanted = _parameters(model, stream_parameters(_known(model), stream, warmup), parameters)
    words = [anomaly] if isinstance(anomaly, str) else anomaly
    options = AnomalyOptions.of(words) if words else None
    return prequential.evaluate(
        stream, model, wanted, engine=engine, warmup=warmup, anomaly=options
    )


def _simulate_numbers(
    stream: NumberStream,
    model: str,
    engine: str | None,
    warmup: int,
    interval: float | None,
    ends: tuple[float, float] | None,
    parameters: dict[str, Any],
) -> NumberResult:
    model = regressor_for(model)
    wanted = _parameters(model, number_parameters(model, stream.features, stream.late), parameters)
    low_high = None
    if ends is not None:
        low, high = stream.target_scale.apply_numbers([float(end) for end in ends])
        low_high = low, high
    return regression.evaluate_numbers(
        stream, model, wanted, engine=engine, warmup=warmup, ends=low_high, interval=interval
    )


def budget(
    board: str,
    model: str = DEFAULT,
    *,
    features: int,
    classes: int | None = None,
    **parameters: Any,
) -> Budget:
    """What a model takes of a board's RAM: its buffers, MicroPython's overhead, the code.

    Parameters
    ----------
    board
        The name of a board, such as "rpi_pico", or the path of a .toml file.
    model
        A learner by its name: "thicket" (which needs no parameters), "shrub", "hoeffding", ...
    features, classes
        Of a sample: how many numbers, and how many classes there are; without classes, the model
        is a learner of numbers.
    parameters
        Those of the learner: window=64, trees=8.

    Raises
    ------
    UserError
        As simulate() does, and for an unknown board.

    Examples
    --------
    >>> from microshrub_host import budget
    >>> found = budget("rpi_pico", "shrub", features=8, classes=2, window=16, trees=4)
    >>> found.fits, found.model_bytes < found.ram_bytes < found.free_bytes
    (True, True)

    """
    shape = {"features": features}
    if classes is None:
        model = regressor_for(model)
    else:
        shape |= {"classes": classes}
    wanted = _parameters(model if classes is None else _known(model), shape, parameters)
    return ram_budget.budget(wanted, board_files.load(board), kind_of(model))


def parity(
    stream: Stream | NumberStream,
    model: str = DEFAULT,
    *,
    engine_names: tuple[str, ...] | None = None,
    warmup: int = 256,
    every: int = 200,
    **parameters: Any,
) -> Difference | None:
    """Learn a stream on several engines at once and compare their buffers, bit by bit.

    Parameters
    ----------
    stream
        What open_stream gives.
    model
        A learner by its name: "thicket" (which needs no parameters), "shrub", "hoeffding", ...
    engine_names
        At least two of "python", "numba", "c" and "micropython"; None is all that this machine
        has.
    warmup
        Samples whose features the quantizer sees before the run.
    every
        Samples between two comparisons; a difference is then found sample by sample.
    parameters
        Those of the learner: window=64, trees=8.

    Returns
    -------
    None if all agree to the end, else the first sample and the first buffer that differ.

    Raises
    ------
    UserError
        As simulate() does, and without a real MicroPython where one is wanted.

    Examples
    --------
    >>> from microshrub_host import open_stream, parity
    >>> stream = open_stream("synth:sea_a", limit=300)
    >>> parity(stream, "shrub", engine_names=("python", "python"), window=8, trees=2) is None
    True

    """
    if isinstance(stream, NumberStream):
        model = regressor_for(model)
        shape = number_parameters(model, stream.features, stream.late)
        rows, labels, target = stream.raw_rows(), engines.NO_LABELS, stream.forecaster(None, 90)
    else:
        shape = stream_parameters(_known(model), stream, warmup)
        rows, labels, target = prequential.raw_rows(stream), stream.labels, None
    wanted = _parameters(model, shape, parameters)
    starters = {
        f"{name} {number}": functools.partial(
            engines.start, name, kind_of(model), wanted, target=target
        )
        for number, name in enumerate(engine_names or engines.available(), 1)
    }
    for step in engine_parity.check(starters, rows, labels, warmup=warmup, every=every):
        if isinstance(step, Difference):
            return step
    return None


def tune(
    stream: Stream,
    board: str,
    *,
    max_bytes: int | None = None,
    max_latency: float | None = None,
    choose_on: float = 0.5,
    trials: int = 60,
    seed: int = 0,
    jobs: int = 1,
    scheduler: str | None = None,
    warmup: int = 256,
    study: str | Path | None = None,
    progress: Progress = lambda done, total, note: None,
) -> TuningReport:
    """Search for models of both kinds that are accurate on a stream and small on a board.

    Parameters
    ----------
    stream
        What open_stream gives.
    board
        The name of a board, such as "rpi_pico", or the path of a .toml file.
    max_bytes
        The most that a model may take; by default, and at most, what the board's file recommends.
    max_latency
        Milliseconds that a predict and a learn may take, 99th percentile; None: any time.
    choose_on
        The first part of the stream, 0 to 1, which chooses; the rest is shown beside it.
    trials
        Finished trials of the study, those of earlier runs included.
    seed
        Of the search.
    jobs
        Worker processes of this machine.
    scheduler
        The address of a Dask cluster that runs the trials instead.
    warmup
        Samples whose features the quantizer sees before a run.
    study
        A file that keeps the trials, with which a later search goes on; by default none is kept.
    progress
        Called with the finished trials, all of them, and the best accuracy in words.

    Returns
    -------
    All trials within the limits: `taken` is the one to take, `front` those that none beats.

    Raises
    ------
    UserError
        Without the packages of microshrub[tune], for a study of something else, and if nothing
        that was tried keeps to the limits.

    """
    target = board_files.load(board)
    most = min(max_bytes or target.model_budget_bytes, target.model_budget_bytes)
    split = StreamSplit(stream, warmup, _first(stream, choose_on))
    with contextlib.ExitStack() as stack:
        clock = None
        if max_latency is not None and can_count(target):
            clock = stack.enter_context(Clock(target, stream, warmup))
        limits = Limits(target, most, max_latency, clock)
        if study is None:
            study = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "study"
        search = stack.enter_context(Search(Path(study), split, limits, seed))
        progress(search.finished(), trials, "")
        search.run(trials, jobs=jobs, scheduler=scheduler, progress=progress)
        found = search.found()
    if not found:
        raise UserError("no finished trial keeps to these limits; try more trials")
    return TuningReport(
        split, limits, found, baselines(split), stream.name, ["--board", board], seed
    )


def save_model(
    path: str | Path, run: Result | NumberResult, stream: Stream | NumberStream
) -> None:
    """Write the model that a simulation of the stream has left behind, as `simulate --save`.

    The file is replaced at once, and only by a whole one. Raises UserError if it cannot be
    written.

    Examples
    --------
    >>> import os, tempfile
    >>> from microshrub_host import load_model, open_stream, save_model, simulate
    >>> stream = open_stream("synth:sea_a", limit=400)
    >>> run = simulate(stream, "shrub", engine="python", window=16, trees=4, depth=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "sea.mshrub")
    ...     save_model(path, run, stream)
    ...     model = load_model(path)
    >>> model.learner.state_crc32() == run.state_crc32
    True

    """
    if isinstance(run, NumberResult):
        assert isinstance(stream, NumberStream)
        model_files.write(Path(path), model_files.of_number_run(run, stream))
        return
    assert isinstance(stream, Stream)
    model_files.write(Path(path), model_files.of_run(run, stream))


def load_model(path: str | Path) -> OpenModel:
    """The model in a file of `simulate --save`, of save_model() or of an adapter's `save`.

    Its `learner` and `quantizer` are objects of the device library, in the state in which they
    were saved; its `file` tells their parameters, the names and units of the features and the
    classes. Raises UserError if the file is not there, is damaged or is of another version.
    """
    return model_files.open_model(Path(path))


def _known(model: str) -> str:
    if model not in MODELS:
        raise UserError(f"the model {model!r} is unknown. {did_you_mean(model, MODELS)}")
    return model


def _parameters(model: str, shape: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """All parameters of the learner's constructor. Raises UserError."""
    usual = defaults(model)
    for name in given:
        if name not in usual:
            raise UserError(f"{name} is not a parameter of {model}. {did_you_mean(name, usual)}")
    found = shape | usual | given
    check_parameters(model, found)
    return found


def _first(stream: Stream, part: float) -> int:
    total = len(stream.labels)
    first = round(part * total)
    if not 0 < first < total:
        raise UserError(
            f"{count(total, 'sample')}: too few to choose on {part:g} of them and to show the rest"
        )
    return first
