"""`microshrub reproduce olboost`: leaves that boost themselves, as in the paper.

Turrisi da Costa, Mastelini, de Carvalho, Barbon: Online Local Boosting, 2019, section V. Its text
lacks the values that it varies: the values of grace period and tie threshold are ours.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from . import tree_methods, tree_streams
from .experiment import Chosen, Experiment, Extent, Method
from .olboost_report import BOOSTED, LEAVES, PLAIN, pictures, tables
from .variations import Grid, draw

_GRID: Grid = {
    "grace_period": [50, 100, 200, 400, 800],
    "tie_threshold": [0.01, 0.05, 0.1, 0.15, 0.2],
}
_POLICIES = {"VFDT": "vfdt", "SVFDT-I": "svfdt1", "SVFDT-II": "svfdt2"}
_KNOWN = {
    "agrawal": "agrawal_0", "cover_type": "covtype", "electricity": "elec", "hyper": "hyper",
    "led24": "led", "poker": "poker", "rbf_500k_10": "rbf_10", "rbf_1m_10": "rbf_m",
    "rbf_250k_50": "rbf_50", "sea": "sea_0", "usenet": "usenet",
}  # fmt: skip
_MORE = ("weather",)  # a stream that is not in the paper


def methods(configurations: int, seed: int) -> Chosen:
    """Return the paper's six methods in the same configurations, VFDT with other leaves,
    and the peers'.
    """
    drawn = draw(_GRID, configurations, seed)
    result = [
        _method(f"{prefix}{tree}", policy, bool(prefix), drawn)
        for prefix in ("O_", "")
        for tree, policy in sorted(_POLICIES.items())
    ]
    result += [
        _method(f"{name} {leaf}", "vfdt", name == BOOSTED, [{"leaf": leaf}])
        for leaf in LEAVES
        for name in (PLAIN, BOOSTED)
    ]
    peers, notes = tree_methods.others([(PLAIN, "VFDT")])
    return [*result, *peers], notes


def _method(name: str, policy: str, boost: bool, changes: list[dict[str, Any]]) -> Method:
    fixed = {"policy": policy, "boost": boost}
    title = name.removeprefix("O_") + (" with OLBoost" if boost else "")
    return tree_methods.ours(name, title, [fixed | more for more in changes])


EXPERIMENT = Experiment(
    name="olboost",
    text="Online Local Boosting, 2019",
    streams=(*_KNOWN, *_MORE),
    full=Extent(streams=(*_KNOWN, *_MORE), configurations=25, samples=250_000, seconds=3600),
    quick=Extent(
        streams=("electricity", "led24", "rbf_500k_10", "sea", "weather"),
        configurations=6,
        samples=20_000,
        seconds=60,
    ),
    methods=methods,
    tables=tables,
    pictures=pictures,
    find=partial(tree_streams.find, known=_KNOWN),
)
