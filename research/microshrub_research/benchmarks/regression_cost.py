"""Instructions of a sample that a board learns and forecasts, on emulated boards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.boards.counted_models import CountedModel, stream
from microshrub_host.boards.instruction_counts import Counter
from microshrub_host.library import loader
from microshrub_host.library.learners import defaults, learner_name, number_parameters
from microshrub_host.simulation import engines
from microshrub_host.simulation.pipeline import Forecast

_HEAD = ("board", "learner", "bytes", "median", "most")
_COLUMNS, _LAGS, _HORIZON = 5, 3, 10
_SAMPLES, _FIRST = 700, 500
TARGET: dict[str, Any] = {
    "columns": _COLUMNS,
    "column": 0,
    "horizon": _HORIZON,
    "lags": _LAGS,
    "interval": 90,
}
_MODELS: dict[str, dict[str, Any]] = {
    "linear-regressor": {},
    "shrub-regressor": {"window": 200, "trees": 10, "leaves": 20, "every": 12},
    "hoeffding-regressor": {"leaves": 7},
    "thicket-regressor": {"bytes": 4096},
    "thicket-regressor, 16 KB": {"bytes": 16384},
}


def counted_models(samples: int = _SAMPLES, first: int = _FIRST) -> list[CountedModel]:
    """Return the learners of the table, with one stream of values."""
    codes, labels = stream(_COLUMNS, 2, samples)
    result = []
    for name, options in _MODELS.items():
        model = name.partition(",")[0]
        shape = number_parameters(model, _COLUMNS - 1 + _LAGS, _HORIZON - 1)
        parameters = defaults(model) | options | shape
        result.append(CountedModel(name, learner_name(model), parameters, codes, labels, first))
    return result


def learned_on_pc(what: CountedModel) -> int:
    """Return the CRC of the learner after the whole stream in the simulator."""
    rows = what.codes.astype(np.int32)
    with engines.start(loader.fastest(), what.learner, what.parameters, [Forecast(TARGET)]) as run:
        run.observe(rows)
        run.freeze()
        run.run(rows)
        return run.status().state_crc32


def number_rows(boards: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the table, its head first: instructions of a sample that is learned and forecast.

    Raises UserError if a board ends up in another state than the simulator's.
    """
    whats = counted_models()
    table: list[tuple[str, ...]] = [_HEAD]
    with showing("counting instructions", announce=True) as update:
        for board in boards:
            with Counter(board, whats) as counter:
                for i, what in enumerate(whats):
                    counts, crc = counter.count_numbers(i, TARGET)
                    if crc != learned_on_pc(what):
                        raise UserError(f"{board}: another state than in the simulator")
                    size = getattr(loader.load("python"), what.learner).nbytes(**what.parameters)
                    numbers = (size, round(float(np.median(counts))), counts.max())
                    table.append((board, what.name, *(f"{number:,}" for number in numbers)))
                    update(len(table) - 1, len(whats) * len(boards), f"{board}: {what.name}")
    return table
