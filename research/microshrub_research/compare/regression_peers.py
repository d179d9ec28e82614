"""The contenders on regression streams: our learners, two baselines and River's regressors.

River's "scaled" regressors get their samples from its standard scaler; all have their defaults.
"""

from __future__ import annotations

import math
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import prequential
from microshrub_host.library import loader
from microshrub_host.library.learners import (
    REGRESSORS,
    WARMUP,
    check_parameters,
    learner,
    learner_name,
    number_parameters,
    regressor_for,
    specification,
)
from microshrub_host.simulation import engines
from microshrub_host.simulation.pipeline import Forecast
from microshrub_host.streams.regression_streams import NumberStream
from microshrub_host.streams.units import Raw

from . import catalogue, river_peers
from .contender import SEED, Contender, ContenderRun

_TREE = "tree.HoeffdingTreeRegressor"
_RIVER: dict[str, tuple[str, dict[str, Any]]] = {
    "HTR": (_TREE, {}),
    "scaled-HTR": (f"{river_peers.SCALED} | {_TREE}", {}),
    "scaled-HATR": (
        f"{river_peers.SCALED} | tree.HoeffdingAdaptiveTreeRegressor",
        {"seed": SEED},
    ),
    "scaled-ARF": (f"{river_peers.SCALED} | forest.ARFRegressor", {"seed": SEED}),
    "scaled-SGD": (f"{river_peers.SCALED} | linear_model.LinearRegression", {}),
}
PEERS: dict[str, Contender] = {
    "nochange": Contender("nochange", "baseline", "nochange"),
    "mean": Contender("mean", "baseline", "mean"),
    **{f"river:{k}": Contender(f"river:{k}", "river", *v) for k, v in _RIVER.items()},
}


def ours(text: str) -> Contender:
    """Return the contender for a text such as "shrub trees=8"; shrub is short for shrub-regressor.

    Raises UserError for an unknown learner or parameter, and for a classifier.
    """
    name, _, rest = text.strip().partition(" ")
    try:
        known = name in REGRESSORS or f"{name}-regressor" in REGRESSORS
        if not known:
            raise UserError(f"it predicts no numbers. Known are: {', '.join(REGRESSORS)}")
        model, parameters = specification(f"{regressor_for(name)} {rest}")
    except UserError as error:
        raise UserError(f"--ours {text!r}: {error}") from None
    return Contender(f"ours:{text.strip()}", "ours", model, parameters)


def model_bytes(contender: Contender, stream: NumberStream) -> int:
    """Return the bytes of the buffers on this stream; raises UserError for refused parameters."""
    parameters = _parameters(contender, stream)
    try:
        check_parameters(contender.learner, parameters)
    except UserError as error:
        raise UserError(f"{contender.name} on {stream.name}: {error}") from None
    return int(learner(contender.learner).nbytes(**parameters))


def _parameters(contender: Contender, stream: NumberStream) -> dict[str, Any]:
    shape = number_parameters(contender.learner, stream.features, stream.late)
    return shape | dict(contender.settings)


def start(
    contender: Contender,
    stream: NumberStream,
    warmup: int | None,
    ends: tuple[int, int] | None = None,
) -> ContenderRun:
    """Return the learner for this stream; `ends` is the raw range of the targets for ours."""
    if contender.system == "ours":
        return OurNumbers(contender, stream, warmup or WARMUP, ends)
    if contender.system == "baseline":
        return Guess(contender.learner, stream)
    model = river_peers.make(contender.learner, contender.settings)
    return RiverNumbers(model, stream)


class OurNumbers:
    """One of our learners with its Forecaster, as `simulate --target` runs them."""

    def __init__(
        self,
        contender: Contender,
        stream: NumberStream,
        warmup: int,
        ends: tuple[int, int] | None = None,
    ) -> None:
        parameters = _parameters(contender, stream)
        prequential.compile_kernels(contender.learner, parameters)
        self._bytes = model_bytes(contender, stream)
        self._rows = stream.raw_rows()
        self._scale, self._samples = stream.target_scale, stream.samples
        self._engine = engines.start(
            loader.fastest(),
            learner_name(contender.learner),
            parameters,
            [Forecast(stream.forecaster(ends))],
        )
        prequential.fit(self._engine, self._rows, stream.first_rows(warmup))

    def prepare(self, part: slice) -> Raw:
        """Return raw integers of all columns, as a sensor gives them."""
        return self._rows[part.start : min(part.stop, self._samples)]

    def run(self, samples: Raw) -> list[float]:
        predicted = self._engine.run(samples)
        result: list[float] = self._scale.values(predicted[:, None])[:, 0].tolist()
        return result

    def nbytes(self) -> int:
        """Return the bytes of the learner's buffers on the board."""
        return self._bytes

    def shape(self) -> None:
        """Return None: shapes are for classification trees."""


class Guess:
    """A baseline: NoChange, which predicts the last known target,
    or the mean of the known ones.
    """

    def __init__(self, learner: str, stream: NumberStream) -> None:
        self._baselines = stream.known if learner == "nochange" else stream.running_means

    def prepare(self, part: slice) -> list[float]:
        result: list[float] = self._baselines[part].tolist()
        return result

    def run(self, samples: list[float]) -> list[float]:
        return samples

    def nbytes(self) -> None:
        """Return None: a baseline has next to no memory to measure."""

    def shape(self) -> None:
        """Return None: a baseline is not a tree."""


# the features; features and target to learn, if a target is due
_Sample = tuple[dict[int, float], tuple[dict[int, float], float] | None]


class RiverNumbers:
    """A regressor of River; it learns a sample when its target is known, as on a board.

    A missing value is the feature's previous one. Without a previous value, it is 0, which harms
    River's scalers less than a constant far from 0 with no variance.
    """

    def __init__(self, model: Any, stream: NumberStream) -> None:
        self._model = model
        self._rows = catalogue.filled(stream.values, 0)
        self._targets: list[float] = stream.targets.tolist()
        self._late = stream.late

    def prepare(self, part: slice) -> list[_Sample]:
        rows = range(len(self._targets))[part]
        return [(self._features(i), self._due(i - self._late)) for i in rows]

    def _features(self, i: int) -> dict[int, float]:
        return dict(enumerate(self._rows[i].tolist()))

    def _due(self, i: int) -> tuple[dict[int, float], float] | None:
        if i < 0 or math.isnan(self._targets[i]):
            return None
        return self._features(i), self._targets[i]

    def run(self, samples: list[_Sample]) -> list[float]:
        predicted = []
        for x, due in samples:
            predicted.append(float(self._model.predict_one(x) or 0.0))
            if due:
                self._model.learn_one(*due)
        return predicted

    def nbytes(self) -> int:
        """Return River's own measure: all Python objects that the model holds."""
        return int(self._model._raw_memory_usage)

    def shape(self) -> None:
        """Return None: shapes are for classification trees."""
