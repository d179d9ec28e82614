"""`microshrub reproduce efdt`: trees that split early and revise their splits, as in the paper.

Manapragada, Webb, Salehi: Extremely Fast Decision Tree, KDD 2018, section 5. River's and MOA's
trees treat the random trees' nominal features as numbers, as ours do.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from . import tree_methods, tree_streams
from .efdt_report import pictures, tables
from .experiment import Chosen, Experiment, Extent, Method
from .tree_streams import shuffled

_CLASSES = range(2, 6)
_REEVALUATE = "min_samples_reevaluate"  # River's setting, made 2,000 as in ours and MOA's

# The paper's real streams: their names in efdt.toml, and the names of files
_KNOWN = {
    "KDD": "kddcup", "Poker": "poker", "Fonts": "fonts", "Covertype": "covtype", "Skin": "skin",
    "Gas": "gas", "WISDM": "wisdm", "HAR": "har", "PAMAP2": "pamap2", "Higgs": "higgs",
    "Hepmass": "hepmass", "SUSY": "susy",
}  # fmt: skip
_MORE = ("elec", "weather")  # streams that are not in the paper


def _trees(values: int, count: int) -> list[str]:
    """Return the names of random trees over five features with this many values."""
    return [f"random_tree_{c}_{values}_{seed}" for c in _CLASSES for seed in range(1, count + 1)]


def _orders(names: tuple[str, ...], count: int) -> list[str]:
    """Return each name itself, and its `count` shuffled orders."""
    return [n for name in names for n in (name, *(shuffled(name, s) for s in range(count)))]


_FULL = (*_trees(5, 10), *_orders((*_KNOWN, *_MORE), 10))
_QUICK = (*_trees(2, 2), *_orders(("WISDM",), 2))


def methods(_: int, __: int) -> Chosen:
    """Return VFDT and EFDT: ours with two rules for leaves, River's and MOA's."""
    peers, notes = tree_methods.others([("VFDT", "VFDT"), ("EFDT", "EFDT")])
    ours = [
        tree_methods.ours(
            f"{title}{words}", title, [{"policy": policy, "leaf": leaf, "leaves": 4096}]
        )
        for words, leaf in (("", "nba"), (" mc", "mc"))
        for title, policy in (("VFDT", "vfdt"), ("EFDT", "efdt"))
    ]
    return [*ours, *map(_same_pace, peers)], notes


def _same_pace(method: Method) -> Method:
    if method.name != "river EFDT":
        return method
    contenders = [
        replace(c, settings={**c.settings, _REEVALUATE: 2000}) for c in method.contenders
    ]
    return replace(method, contenders=contenders)


EXPERIMENT = Experiment(
    name="efdt",
    text="Extremely Fast Decision Tree, KDD 2018",
    streams=tuple(dict.fromkeys((*_FULL, *_trees(2, 10), *_trees(3, 10)))),
    full=Extent(streams=_FULL, configurations=1, samples=1_000_000, seconds=7200),
    quick=Extent(streams=_QUICK, configurations=1, samples=20_000, seconds=60),
    methods=methods,
    tables=tables,
    pictures=pictures,
    find=partial(tree_streams.find, known=_KNOWN),
)
