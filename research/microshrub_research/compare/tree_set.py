"""`compare --set trees`: VFDT, EFDT and HAT of three systems with the same settings.

Each system has its own names for the settings. Settings that the systems do not share (how often
EFDT checks a split again, how HAT detects a drift) have the system's default. No memory limit is
reached.
"""

from __future__ import annotations

from typing import Any

from microshrub_host.library.learners import defaults

from .contender import SEED, Contender
from .our_learners import ours

SYSTEMS = {"ours": "ours", "river": "River", "moa": "MOA"}

_OURS = (
    "hoeffding grace_period=200 split_confidence=1e-7 tie_threshold=0.05 leaf=nba "
    "depth=30 nodes=8191 leaves=1024 bins=16"
)
_RIVER = {
    "grace_period": 200,
    "delta": 1e-7,
    "tau": 0.05,
    "leaf_prediction": "nba",
    "max_size": 1e6,  # MiB
}
_MOA = {"-g": 200, "-c": "1e-7", "-t": 0.05, "-l": "NBAdaptive", "-m": 2**31 - 1}

# The tree: the options of ours, the class in River with its settings, the class in MOA.
_TREES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "VFDT": ("adaptive=false", "HoeffdingTreeClassifier", {}, "HoeffdingTree"),
    "EFDT": ("adaptive=false policy=efdt", "ExtremelyFastDecisionTreeClassifier", {}, "EFDT"),
    "HAT": (
        "adaptive=true",
        "HoeffdingAdaptiveTreeClassifier",
        {"seed": SEED},
        "HoeffdingAdaptiveTree",
    ),
}


def tree_rows() -> dict[str, dict[str, Contender]]:
    """Return the contenders by tree and system."""
    rows = {}
    for tree, (rule, river, more, moa) in _TREES.items():
        if rule.partition("=")[0] in defaults("hoeffding"):
            settings = _RIVER | more
            rows[tree] = {
                "ours": ours(f"{_OURS} {rule}", name=f"ours:{tree}"),
                "river": Contender(f"river:{tree}", "river", f"tree.{river}", settings),
                "moa": Contender(f"moa:{tree}", "moa", f"trees.{moa}", _MOA),
            }
    return rows
