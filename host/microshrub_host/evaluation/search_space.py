"""The search space of `tune`: ranges of each model's parameters, and first configurations.

A trial is any object with Optuna's suggest_int, suggest_float and suggest_categorical. A parameter
that depends on another one is only drawn where it has an effect, so every configuration is
consistent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..boards.default_bytes import SIZE
from ..library.learners import Parameter, companion, defaults, learner_name, options_of
from ..simulation.feature_choice import WINDOWS
from ..simulation.feature_options import AUTO, NONE, FeatureOptions

Choice = dict[str, Any]  # names as in a trial: "model", "shrub window"

_NOT_TUNED = "seed"
_WIDE = 32  # a range whose ends differ at least by this factor is sampled on a log scale


def first(models: Sequence[str], default: str, budget: int) -> list[Choice]:
    """Return known good configurations to begin a search with, those of `default` first.

    Configurations with a size option above the budget are left out.
    """
    result = []
    for model in sorted(models, key=lambda model: model != default):
        space = _space_of(model)
        known = space.FIRST if space else ({},)
        for choice in (choice for choice in known if choice.get(SIZE, 0) <= budget):
            named = {f"{model} {name}": value for name, value in choice.items()}
            result.append({"model": model, **named})
    return result


def sample(
    trial: Any, models: Sequence[str], features: int, budget: int
) -> tuple[str, dict[str, Any]]:
    """Draw a model, and all its parameters except the stream's.

    The model takes at most `budget` bytes if one parameter is its size; other models may turn out
    larger.
    """
    model = str(trial.suggest_categorical("model", list(models)))
    ask, space = Ask(trial, model, budget), _space_of(model)
    result = space.space(ask, features) if space else _whole_ranges(ask, features)
    return model, defaults(model) | result


def _space_of(model: str) -> Any:
    return companion(f"{__package__}.search_spaces", learner_name(model))


def changed(model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that differ from the defaults, and so have to be typed."""
    usual = defaults(model)
    return {name: value for name, value in parameters.items() if value != usual[name]}


class Ask:
    """A trial whose parameters' names begin with the model's name."""

    def __init__(self, trial: Any, model: str, budget: int) -> None:
        self._trial = trial
        self.model = model
        self.budget = budget  # bytes

    def whole(self, name: str, low: int, high: int, *, log: bool = True) -> int:
        return int(self._trial.suggest_int(f"{self.model} {name}", low, high, log=log))

    def number(self, name: str, low: float, high: float, *, log: bool = True) -> float:
        """Draw a number with two significant digits; more would make no difference."""
        value = self._trial.suggest_float(f"{self.model} {name}", low, high, log=log)
        return min(high, max(low, float(f"{value:.2g}")))

    def one_of(self, name: str, *values: Any) -> Any:
        return self._trial.suggest_categorical(f"{self.model} {name}", list(values))


def _whole_ranges(ask: Ask, features: int) -> dict[str, Any]:
    """Draw each parameter except the seed from its whole range."""
    rows = options_of(ask.model)
    return {n: _any_of(ask, row, features) for n, row in rows.items() if n != _NOT_TUNED}


def _any_of(ask: Ask, row: Parameter, features: int) -> Any:
    if row.choices:
        return ask.one_of(row.name, *row.choices)
    assert row.low is not None
    high = features if row.high is None else row.high
    log = row.low > 0 and high >= _WIDE * row.low
    if row.kind is float:
        return ask.number(row.name, row.low, high, log=log)
    return ask.whole(row.name, int(row.low), int(high), log=log)


_SEARCHED = ("window", "hop", "statistics", "bands")


def weighed(words: Sequence[str], chosen: FeatureOptions) -> list[str]:
    """Return the sets of features that `tune` tries, as values of --features.

    The words given are kept. Where they leave a choice, the sets have windows of the chosen
    length, half and twice as long, with the same hop, and statistics, bands or both. The first set
    is `chosen`, the one used without a search.
    """
    given = dict(word.split("=", 1) for word in words)
    kept = [word for word in words if word.partition("=")[0] not in _SEARCHED]
    window = chosen.window
    near = [window, window // 2, window * 2]
    windows = [window] if "window" in given else [w for w in near if w in WINDOWS] or [window]
    statistics = [given["statistics"]] if "statistics" in given else [AUTO, NONE]
    bands = [given["bands"]] if "bands" in given else [AUTO, NONE]
    if not chosen.chosen:
        bands.sort(key=NONE.__ne__)  # the chosen set comes first
    return [
        " ".join([f"window={w}", f"hop={chosen.hop}", f"statistics={s}", f"bands={b}", *kept])
        for w in windows
        for s in statistics
        for b in bands
        if (s, b) != (NONE, NONE) and (b != AUTO or w in WINDOWS)
    ]
