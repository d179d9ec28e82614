"""Makes config.json, the configuration of a board's program.

A program is a learner with its quantizer, in their initial state, with a sensor, labels,
checkpoints, an alarm. The board identifies the program by the CRC32 of the file's bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.boards.program import Program
from microshrub_host.library import loader
from microshrub_host.library.learners import MODELS, REGRESSORS, WARMUP, check_parameters
from microshrub_host.models.model_files import ModelFile, grew
from microshrub_host.simulation import companion_registry, engines
from microshrub_host.simulation.spare_classes import spare_names
from microshrub_host.simulation.watcher import CONFIG, Watcher
from microshrub_host.streams.regression_streams import NumberStream, Values
from microshrub_host.streams.stream import Stream
from microshrub_host.streams.units import RAW_MAX, Raw, Scale


def of_model(model: ModelFile, config: dict[str, Any]) -> Program:
    """Return a program that continues with a saved model.

    Spare classes are the model's. Raises UserError if the sensor cannot give the integers
    that the model has learned.
    """
    parts = {
        companion.name: companion.of_model(
            model.companions.get(companion.name), config.get(companion.name)
        )
        for companion in companion_registry.all_companions()
    }
    config = config | {name: part for name, part in parts.items() if part}
    more = dict(model.states.more)
    for companion in companion_registry.all_companions():
        if not issubclass(companion, Watcher) and "states" not in (parts[companion.name] or {}):
            more = {name: state for name, state in more.items() if name not in companion.states}
    watchers = companion_registry.watchers(model.companions)
    kept = {companion.name: model.companions[companion.name] for companion in watchers}
    if kept:
        rows = kept | config.get(CONFIG, {})
        for name in kept:
            state = more.pop(name, b"")
            if state and rows[name] == kept[name]:  # other options need a new state
                rows[name] = [*rows[name], f"{name}.state"]
                more[name] = state
        config[CONFIG] = rows
    units = model.scale.units()
    if config["sensor"]["kind"] != "serial":
        for name, unit in zip(model.feature_names, units, strict=True):
            if unit != (0, 0):
                raise UserError(
                    f"{name} was learned in units of its own, (value - {unit[0]}) * "
                    f"10**{unit[1]}, but a sensor on the board gives plain whole numbers. Give "
                    "the recording as DATA instead of the saved model."
                )
    return Program(
        learner=model.learner,
        parameters=model.parameters,
        feature_names=model.feature_names,
        class_names=model.class_names,
        units=units,
        warmup=None if grew(model.states.quantizer) else 0,
        learner_state=model.states.learner,
        quantizer_state=model.states.quantizer,
        config=config,
        regression=model.regression,
        more=more,
    )


def of_stream(
    stream: Stream, model: str, parameters: dict[str, Any], warmup: int, config: dict[str, Any]
) -> Program:
    """Return a program with a fresh learner, whose quantizer has seen the first samples.

    With a warm-up of 0, the quantizer's ranges grow, and it has seen none. Raises UserError if a
    sensor of the board would have to give values that are not whole numbers.
    """
    if config["sensor"]["kind"] == "serial":
        scale = stream.scale
        rows, units = scale.apply(stream.values[:warmup]), scale.units()
    else:
        rows = _as_it_is(stream.feature_names, stream.values[: warmup or WARMUP])
        units = [(0, 0)] * stream.values.shape[1]
    class_names = (*stream.class_names, *spare_names(config))
    parameters = parameters | {"classes": len(class_names)}
    check_parameters(model, parameters)
    state = b""
    if warmup:
        with engines.start("python", MODELS[model], parameters) as run:
            run.observe(rows)
            run.freeze()
            state = run.saved().quantizer
    return Program(
        learner=MODELS[model],
        parameters=parameters,
        feature_names=stream.feature_names,
        class_names=class_names,
        units=units,
        warmup=warmup or None,
        learner_state=b"",
        quantizer_state=state,
        config=config,
    )


def of_numbers(
    stream: NumberStream,
    model: str,
    parameters: dict[str, Any],
    warmup: int,
    target: dict[str, Any],
    config: dict[str, Any],
) -> Program:
    """Return a program with a fresh regressor, whose ranges are those of the first rows.

    target has the parameters of the program's Forecaster. Raises UserError as of_stream() does.
    """
    first = stream.first_rows(warmup)
    if config["sensor"]["kind"] == "serial":
        rows, units = stream.raw_rows()[:first], stream.scale.units()
    else:
        rows = _as_it_is(stream.column_names, stream.columns[:first])
        units = [(0, 0)] * len(stream.column_names)
    library = loader.load("python")
    learner = getattr(library, REGRESSORS[model])(**parameters)
    forecaster = library.Forecaster(learner, **target)
    for row in rows:
        forecaster.observe(engines.ints(row))
    forecaster.freeze()
    return Program(
        learner=REGRESSORS[model],
        parameters=parameters,
        feature_names=stream.column_names,
        class_names=(),
        units=units,
        warmup=warmup,
        learner_state=b"",
        quantizer_state=forecaster.quantizer.save(),
        config=config,
        regression=target | {"ends": list(forecaster.target.ends)},
    )


def _as_it_is(names: Sequence[str], values: Values) -> Raw:
    for name, column in zip(names, values.T, strict=True):
        known = column[~np.isnan(column)]
        if np.any(known != np.rint(known)) or np.any(np.abs(known) > RAW_MAX):
            raise UserError(
                f"{name} has values that are not whole numbers of 30 bits, and a sensor on the "
                "board gives nothing else. Use a recording from the board."
            )
    features = values.shape[1]
    return Scale(np.zeros(features), np.zeros(features, dtype=np.int64)).apply(values)
