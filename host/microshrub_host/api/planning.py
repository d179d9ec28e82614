"""Planning before there is a board: the RAM that a model needs, and which model to choose."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..base.text import count
from ..boards import board_files, ram_budget
from ..boards.deployment import Deployment
from ..boards.emits import NATIVE, chosen
from ..boards.latency import Clock, can_count
from ..boards.ram_budget import Budget
from ..boards.usual_budget import usual_budget
from ..evaluation.splits import NumberSplit, SearchedStream, StreamSplit
from ..evaluation.study import Progress, Search
from ..evaluation.trials import Limits
from ..library.learners import DEFAULT, WARMUP, learner_name, number_warmup, regressor_for
from ..reports.tuning_report import TuningReport
from ..simulation import companion_registry
from ..simulation.companion import Companion, with_companions
from ..streams.regression_streams import NumberStream
from ..streams.stream import Stream
from .models import check_stream, known, parameters_of, raw_ends


def budget(
    model: str = DEFAULT,
    board: str = "",
    *,
    features: int,
    classes: int | None = None,
    companions: Sequence[Companion] = (),
    own_program: bool = False,
    **parameters: Any,
) -> Budget:
    """Return a model's use of a board's RAM: its buffers, MicroPython's overhead and the code.

    The program is as `build` makes it, with samples that arrive over the serial link.

    Parameters
    ----------
    model
        A learner by its name: "thicket" (which needs no parameters), "shrub", "hoeffding", ...
    board
        The name of a board, such as "rpi_pico", or the path of a .toml file.
    features, classes
        The number of features of a sample, and the number of classes; without classes, the model
        is a regressor.
    companions
        The model's companions, as for simulate(); only for classes.
    own_program
        Whether the model is in a program of your own, which imports the library's modules.
    parameters
        The learner's parameters: window=64, trees=8.

    Raises
    ------
    UserError
        As in simulate(), and if the board is missing or unknown.

    Examples
    --------
    >>> from microshrub_host import budget
    >>> found = budget("shrub", "rpi_pico", features=8, classes=2, window=16, trees=4)
    >>> found.fits, found.model_bytes < found.ram_bytes < found.free_bytes
    (True, True)

    """
    if not board:
        raise UserError(f"budget({model!r}) names no board: {', '.join(board_files.names())}")
    target = board_files.load(board)
    shape = {"features": features}
    if classes is None:
        model = regressor_for(model)
    else:
        shape |= {"classes": classes}
    wanted = parameters_of(model if classes is None else known(model), shape, parameters)
    companions = [each.on_shape(classes or 0) for each in companion_registry.in_order(companions)]
    wanted = with_companions(wanted, companions)
    if own_program:
        native = chosen(target) == NATIVE
        learner = learner_name(model)
        return ram_budget.budget(wanted, target, learner, companions=companions, native=native)
    return usual_budget(Deployment(wanted, target, learner_name(model), companions))


def tune(
    stream: Stream | NumberStream | Mapping[str, Stream] | Mapping[str, NumberStream],
    board: str,
    *,
    max_bytes: int | None = None,
    max_latency: float | None = None,
    choose_on: float = 0.5,
    trials: int = 60,
    seed: int = 0,
    jobs: int = 1,
    scheduler: str | None = None,
    warmup: int | None = None,
    ends: tuple[float, float] | None = None,
    companions: Sequence[Companion] = (),
    emit: str = "",
    study: str | Path | None = None,
    progress: Progress = lambda done, total, note: None,
) -> TuningReport:
    """Search for models that are accurate on a stream and small on a board.

    Parameters
    ----------
    stream
        A stream from open_stream or, for numbers, open_numbers. Or, to compare sets of features as
        well as models, several streams that extract_features made from one recording, by their
        settings.
    board
        The name of a board, such as "rpi_pico", or the path of a .toml file.
    max_bytes
        The most bytes that a model may take; by default, and at most, the limit in the board's
        file.
    max_latency
        The limit for a predict and a learn in milliseconds, 99th percentile; None: no limit. Only
        for classes, and only with the first of several sets of features.
    choose_on
        The share of the unseen data, 0 to 1, in whole stretches, on which models are chosen; for
        numbers, the share of the stream from its start. The report also has the score on the rest.
    trials
        The number of finished trials of the study, including the trials of earlier runs.
    seed
        The seed of the search.
    jobs
        The number of worker processes on this machine.
    scheduler
        The address of a Dask cluster that runs the trials instead.
    warmup
        As in simulate(), for each model.
    ends
        The range of the targets, in their own unit; None: the range in the warm-up.
    companions
        The companions of each trial's model, as in simulate(). Only for classes.
    emit
        The form of the code, as in `build --emit`: "native", "viper" or "bytecode"; empty: the
        first of these that can be made for the board.
    study
        A file that stores the trials, so that a later search can continue; by default, none.
    progress
        A function that is called with the number of finished trials, the number of all trials, and
        the best score as text.

    Returns
    -------
    All trials within the limits: `taken` is the suggested trial, and `front` has the trials that
    no other trial beats.

    Raises
    ------
    UserError
        If the packages of microshrub[tune] are missing, if the study is of another search, and if
        no trial is within the limits.

    """
    for name, wanted in {"trials": trials, "max_bytes": max_bytes, "jobs": jobs}.items():
        if wanted is not None and wanted < 1:
            raise UserError(f"{name} has to be 1 or more, not {wanted}")
    target = board_files.load(board)
    kernels = chosen(target, emit)
    most = min(max_bytes or target.model_budget_bytes, target.model_budget_bytes)
    given = companion_registry.in_order(companions)
    streams: dict[str, Stream | NumberStream] = {}
    streams |= stream if isinstance(stream, Mapping) else {"": stream}
    for each in streams.values():
        check_stream(each, "tune")
    if max_latency is not None:
        streams = dict([next(iter(streams.items()))])
    splits = {
        words: _split(each, warmup, choose_on, ends, given) for words, each in streams.items()
    }
    usual, split = next(iter(streams.values())), next(iter(splits.values()))
    if "" not in splits:  # several sets of features
        split = dataclasses.replace(split, made=splits)
    with contextlib.ExitStack() as stack:
        clock = None
        if max_latency is not None:
            if isinstance(usual, NumberStream):
                raise UserError("the time per sample is known of classes only, not of numbers")
            if can_count(target):
                clock = stack.enter_context(
                    Clock(target, usual, warmup or WARMUP, native=kernels == NATIVE)
                )
        limits = Limits(target, most, max_latency, clock, kernels)
        if study is None:
            study = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "study"
        search = stack.enter_context(Search(Path(study), split, limits, seed))
        progress(search.finished(), trials, "")
        search.run(trials, jobs=jobs, scheduler=scheduler, progress=progress)
        result = search.within_limits()
    if not result:
        raise UserError("no finished trial keeps to these limits; try more trials")
    return TuningReport(
        split, limits, result, split.baselines(), [usual.name], ["--board", board], seed
    )


def _split(
    stream: Stream | NumberStream,
    warmup: int | None,
    part: float,
    ends: tuple[float, float] | None,
    given: Sequence[Companion],
) -> SearchedStream:
    """Return the stream, split into its parts, with the companions of each model."""
    first = _first(stream.samples, part)
    if isinstance(stream, Stream):
        companions = [each.on_stream(stream, warmup or WARMUP) for each in given]
        return StreamSplit(stream, warmup, first, companions)
    companion_registry.refuse_with_numbers(given)
    return NumberSplit(stream, number_warmup(warmup), first, raw_ends(stream, ends))


def _first(total: int, part: float) -> int:
    first = round(part * total)
    if not 0 < first < total:
        raise UserError(
            f"{count(total, 'sample')}: too few to choose on {part:g} of them and to show the rest"
        )
    return first
