"""`microshrub reproduce regularized`: trees that do not grow without need, as in the paper.

Barddal, Enembreck: Learning Regularized Hoeffding Trees from Data Streams, SAC 2019, section 5.
Its streams have 500 features; a learner here takes 256 at most.
"""

from __future__ import annotations

from functools import partial

from . import tree_methods, tree_streams
from .experiment import Chosen, Experiment, Extent
from .regularized_report import REAL, pictures, tables

_OMEGA = 0.5
_OMEGAS = (0.1, 0.9, 0.3, 0.7, 0.2, 0.4, 0.6, 0.8)  # one for each further configuration

# Function 8 depends on 4 features, and so does the paper's AGR; the new concepts are ours: the
# paper leaves them open.
_RECIPES = {
    "AGR": ("agrawal_8", "agrawal_8_to_2_at_{at}", 9),
    "BG1": ("bg1_0", "bg1_0_to_1_at_{at}", 6),
    "SEA": ("sea_0", "sea_2_to_3_at_{at}", 3),
}


def _known(features: int) -> dict[str, str]:
    """Return the recipes of the synthetic streams with this many features, by name."""
    return {
        f"{name}-{features}{'-drift' if drift else ''}": (
            f"{(still, change)[drift]}_irrelevant_{features - relevant}"
        )
        for drift in (False, True)
        for name, (still, change, relevant) in _RECIPES.items()
    }


_QUICK, _FULL = _known(50), _known(250)
_NAMES = {**_QUICK, **_FULL, "COV": "covtype", "SPAM": "spam"}


def methods(configurations: int, _: int) -> Chosen:
    """Return ours of the paper's four methods, and River's and MOA's of two of them.

    A configuration of HT-REG is an omega; the first one, 0.5, is the paper's.
    """
    omegas = (_OMEGA, *_OMEGAS)[: max(1, configurations)]
    adaptive = {"adaptive": True}
    peers, notes = tree_methods.others([("HT", "VFDT"), ("HAT", "HAT")])
    result = [
        tree_methods.ours("HT", "Hoeffding tree", [{}]),
        tree_methods.ours("HT-REG", "HT, regularized", [{"regularization": w} for w in omegas]),
        tree_methods.ours("HAT", "adaptive Hoeffding tree", [adaptive]),
        tree_methods.ours("HAT-REG", "HAT, regularized", [{**adaptive, "regularization": _OMEGA}]),
    ]
    return [*result, *peers], notes


EXPERIMENT = Experiment(
    name="regularized",
    text="Learning Regularized Hoeffding Trees from Data Streams, SAC 2019",
    streams=(*_NAMES, *REAL),
    full=Extent(
        streams=(*_FULL, "COV", "SPAM", *REAL), configurations=9, samples=200_000, seconds=7200
    ),
    quick=Extent(streams=(*_QUICK, *REAL), configurations=3, samples=20_000, seconds=60),
    methods=methods,
    tables=tables,
    pictures=pictures,
    find=partial(tree_streams.find, known=_NAMES),
)
