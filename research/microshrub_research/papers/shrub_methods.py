"""The methods of the Shrub Ensembles paper, and the values of their configurations.

Buschjaeger, Hess, Morik, AAAI 2022, section 4 and the appendix's figure 1, which prints the values
of SE alone. The values of the others are around their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from microshrub_host.library.learners import DEFAULT, defaults

from ..compare import catalogue
from ..compare.contender import SEED, Contender
from .experiment import Chosen, Method
from .variations import SQRT, Grid, draw

# The appendix also has 1e-4, windows of up to 2**13, more than ours allows, and M = 256. The
# larger steps are our addition: 8 and more suit streams with runs of one label.
_SHRUB: Grid = {
    "window": [2**i for i in range(4, 11)],
    "trees": [4, 8, 16, 32, 64, 128, 255],
    "depth": [2, 4, 8, 12, 15],
    "step": [1e-3, 1e-2, 1e-1, 2e-1, 5e-1, 2.0, 8.0, 32.0],
    "splitter": ["best", "random"],
    "max_features": [0, SQRT],
    "train_every": [1, 4],
}
# Thicket's only parameter; the most important sizes come first, as time may be up before the last
_SIZES = [kb << 10 for kb in (64, 16, 256, 4, 1024, 32, 8, 128, 2, 512)]
_HOEFFDING: Grid = {
    "policy": ["vfdt", "efdt", "svfdt1", "svfdt2"],
    "adaptive": [False, True],
    "boost": [False, True],
    "regularization": [1.0, 0.5],
    "leaf": ["nb", "nba"],
    "criterion": ["infogain", "gini"],
    "grace_period": [10, 25, 50, 100, 200],
    "split_confidence": [1e-7, 1e-3, 0.1],
    "tie_threshold": [0.05, 0.1, 0.2],
    "depth": [3, 5, 8, 12],
    "nodes": [15, 47, 127, 511],
    "leaves": [8, 16, 32, 128],
    "bins": [8, 16],
}
_SOFT: Grid = {
    "trees": [4, 8, 16, 32],
    "depth": [2, 3, 4, 6],
    "step": [1e-3, 1e-2, 1e-1],
    "batch": [1, 4, 16, 64],
}
_GRACE = [25, 50, 100, 200, 400]
_CONFIDENCE = [1e-7, 1e-5, 1e-3, 1e-2]
_TIE = [0.05, 0.1, 0.2]
_TREES = [5, 10, 20, 40]
_LAMBDA = [1, 3, 6]

_MOA_TREE: Grid = {
    "-g": _GRACE,
    "-c": _CONFIDENCE,
    "-t": _TIE,
    "-l": ["MC", "NB", "NBAdaptive"],
    "-s": ["InfoGainSplitCriterion", "GiniSplitCriterion"],
}
_MOA_BASE: Grid = {"-g": _GRACE, "-c": _CONFIDENCE, "-t": _TIE}  # options of an ensemble's trees
_RIVER_TREE: Grid = {
    "grace_period": _GRACE,
    "delta": _CONFIDENCE,
    "tau": _TIE,
    "leaf_prediction": ["mc", "nb", "nba"],
    "split_criterion": ["info_gain", "gini"],
}

# The paper's name: the title, the learner, its values, the values of its base trees, their class
_MOA: Mapping[str, tuple[str, str, Grid, Grid, str]] = {
    "ARF": ("Adaptive Random Forest", "meta.AdaptiveRandomForest",
            {"-s": _TREES, "-a": _LAMBDA, "-m": [30, 60]}, _MOA_BASE, "ARFHoeffdingTree"),
    "Bag": ("Online Bagging", "meta.OzaBag", {"-s": _TREES}, _MOA_BASE, "trees.HoeffdingTree"),
    "HT": ("Hoeffding Tree", "trees.HoeffdingTree", _MOA_TREE, {}, ""),
    "HTT": ("Hoeffding Anytime Tree", "trees.EFDT",
            _MOA_TREE | {"-R": [200, 500, 2000]}, {}, ""),
    "NB": ("naive Bayes", "bayes.NaiveBayes", {}, {}, ""),
    "SB": ("Smooth Boost", "meta.OnlineSmoothBoost",
           {"-s": _TREES, "-g": [0.05, 0.1, 0.2]}, _MOA_BASE, "trees.HoeffdingTree"),
    "SRP": ("Streaming Random Patches", "meta.StreamingRandomPatches",
            {"-s": _TREES, "-a": _LAMBDA, "-m": [30, 60]}, _MOA_BASE, "trees.HoeffdingTree"),
}  # fmt: skip
_RIVER: Mapping[str, tuple[str, str, Grid]] = {
    "ARF": ("Adaptive Random Forest", "forest.ARFClassifier",
            {"n_models": _TREES, "lambda_value": _LAMBDA, "grace_period": _GRACE,
             "delta": _CONFIDENCE, "tau": _TIE, "seed": [SEED]}),
    "Bag": ("Online Bagging", "ensemble.BaggingClassifier",
            {"model": ["tree.HoeffdingTreeClassifier"], "n_models": _TREES, "seed": [SEED]}),
    "HT": ("Hoeffding Tree", "tree.HoeffdingTreeClassifier", _RIVER_TREE),
    "HTT": ("Hoeffding Anytime Tree", "tree.ExtremelyFastDecisionTreeClassifier",
            _RIVER_TREE | {"min_samples_reevaluate": [200, 500, 2000]}),
    "NB": ("naive Bayes", "naive_bayes.GaussianNB", {}),
    "SRP": ("Streaming Random Patches", "ensemble.SRPClassifier",
            {"n_models": _TREES, "lam": _LAMBDA, "subspace_size": [0.3, 0.6], "seed": [SEED]}),
}  # fmt: skip
_BASE = "base "  # the prefix of an option of an ensemble's trees
_ORDER = ("ARF", "Bag", "HT", "HTT", "NB", "SB", "SDT", "SE", "SRP", "Hoeffding", "Thicket")


def shrub_methods(configurations: int, seed: int) -> Chosen:
    """Return all methods that can run here, in the order of the paper's tables,
    followed by ours.
    """
    missing = catalogue.missing_for_moa()
    result = [
        _ours("SE", "our Shrub Ensemble", "shrub", _SHRUB, configurations, seed),
        _ours("Hoeffding", "our Hoeffding trees", "hoeffding", _HOEFFDING, configurations, seed),
        _thicket(configurations),
    ]
    notes = []
    if missing:
        result += [_river(name, configurations, seed) for name in _RIVER]
        notes.append(
            "River's learners replace MOA's, and Smooth Boost (SB), which River does not have, is "
            f"skipped. MOA needs {missing}."
        )
    else:
        result += [_moa(name, configurations, seed) for name in _MOA]
    missing = catalogue.missing_for("torch")
    if missing:
        notes.append(f"Soft decision trees (SDT) are skipped: they need {missing}.")
    else:
        drawn = draw(_SOFT, configurations, (seed, "SDT"))
        result.append(_method("SDT", "soft decision trees of torch", "torch", "SoftTrees", drawn))
    return sorted(result, key=lambda method: _ORDER.index(method.name)), notes


def _ours(name: str, title: str, model: str, grid: Grid, count: int, seed: int) -> Method:
    drawn = draw(grid, count, (seed, name))
    return _method(name, title, "ours", model, [defaults(model) | values for values in drawn])


def _thicket(count: int) -> Method:
    settings = [defaults(DEFAULT) | {"bytes": size} for size in _SIZES[:count]]
    return _method(
        "Thicket", "our Thicket, whose only option is its bytes", "ours", DEFAULT, settings
    )


def _river(name: str, count: int, seed: int) -> Method:
    title, learner, grid = _RIVER[name]
    drawn = draw(grid, count, (seed, name))
    return _method(name, f"River's {title}", "river", learner, drawn)


def _moa(name: str, count: int, seed: int) -> Method:
    title, learner, grid, base, tree = _MOA[name]
    drawn = draw(
        grid | {_BASE + option: values for option, values in base.items()}, count, (seed, name)
    )
    settings = [_moa_options(values, tree) for values in drawn]
    return _method(name, f"MOA's {title}", "moa", learner, settings)


def _moa_options(drawn: Mapping[str, Any], tree: str) -> dict[str, Any]:
    """Return MOA's options; those of the ensemble's trees are one word in brackets, its -l."""
    options = {name: value for name, value in drawn.items() if not name.startswith(_BASE)}
    words = [f"{name.removeprefix(_BASE)} {drawn[name]}" for name in drawn if name not in options]
    return options | ({"-l": f"({' '.join([tree, *words])})"} if tree else {})


def _method(
    name: str, title: str, system: str, learner: str, settings: list[dict[str, Any]]
) -> Method:
    contenders = [
        Contender(f"{system}:{name} #{number}", system, learner, values)
        for number, values in enumerate(settings)
    ]
    return Method(name, title, contenders)
