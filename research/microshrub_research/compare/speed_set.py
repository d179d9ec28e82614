"""`compare --set speed`: samples per second of learners with the same settings.

The trees are those of `--set trees`. The shrubs have one window, number of trees, depth, loss and
step, grow one tree and take one step of the weights after every sample; capymoa's shrubs grow
trees with scikit-learn.
"""

from __future__ import annotations

from .contender import Contender
from .our_learners import ours
from .tree_set import SYSTEMS as _SYSTEMS
from .tree_set import tree_rows

SYSTEMS = _SYSTEMS | {"capymoa": "CapyMOA"}
NOTES = (
    "Samples a second count predicting and learning alone, one learner at a time. What "
    "is compiled here is compiled beforehand; Java compiles while it runs, so a long stream is "
    "fairer to MOA. Of a learner that was stopped or ran out of time, they are of the samples "
    "that it saw. Only compare figures of the same run on an idle computer.",
)

_SHRUBS = "shrub window=32 trees=8 depth=5 step=0.5"
_CAPYMOA = {
    "batch_size": 32,
    "l_ensemble_reg": 8,
    "max_depth": 5,
    "step_size": 0.5,
    "loss": "mse",
    "burnin_steps": 0,  # in addition to the one that always happens
}


def speed_rows() -> dict[str, dict[str, Contender]]:
    """Return the contenders by configuration and system."""
    shrubs = {
        "ours": ours(_SHRUBS, name="ours:shrubs"),
        "capymoa": Contender("capymoa:shrubs", "moa", "ShrubsClassifier", _CAPYMOA),
    }
    return tree_rows() | {"shrubs": shrubs}
