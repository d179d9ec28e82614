"""A model as the CSV of emlearn's trees, which emlearn_trees for MicroPython loads.

Lines of comma-separated cells, as emlearn 0.23 writes and reads them:

    f,FEATURES  c,CLASSES  lb,0: a leaf is a class
    l,CLASS                          a leaf
    r,NODE                           where a tree starts
    n,FEATURE,VALUE,BELOW,ABOVE      a node: BELOW is for values < VALUE. A child is the number
                                     of nodes from here to it, or -1 - l for leaf l

Each tree has one vote, values have 16 bits, and there are at most 127 features and classes.
"""

from __future__ import annotations

from ..base.errors import UserError
from .frozen import Frozen

_MOST = 127  # features or classes, as these are signed bytes
_NODES = 32767
_LOST = (
    "It takes raw values as array('h'), so clip values beyond 16 bits. It knows no "
    "missing values, and each tree has one whole vote."
)


def exported(model: Frozen) -> tuple[bytes, str]:
    """Return the CSV and a note on its limits. Raises UserError if a prediction would change."""
    _check(model)
    table = model.table()
    if len(table.splits) > _NODES:
        raise UserError(
            f"emlearn has room for {_NODES:,} tests, and there are {len(table.splits):,}"
        )
    labels = [model.of(leaf).label for leaf in table.leaves]
    used = sorted(set(labels))

    def place(child: int, node: int = 0) -> int:
        return child - node if child >= 0 else -1 - used.index(labels[-1 - child])

    lines = [f"f,{model.features}", f"c,{model.classes}", "lb,0"]
    lines += [f"l,{label}" for label in used]
    lines += [f"r,{place(root)}" for root in table.roots]
    for node, (split, below, above) in enumerate(table.splits):
        value = _value(model, split.feature, split.threshold)
        lines.append(f"n,{split.feature},{value},{place(below, node)},{place(above, node)}")
    return ("\r\n".join(lines) + "\r\n").encode(), _LOST


def _check(model: Frozen) -> None:
    for what, number in (("features", model.features), ("classes", model.classes)):
        if number > _MOST:
            raise UserError(f"emlearn has room for {_MOST} {what}, and the model has {number}")
    model.refuse_bayes("emlearn's leaves hold one class each")
    if len(set(model.factors)) > 1:
        raise UserError(
            "emlearn's trees have one vote each, but this model's have different weights. Use "
            "simulate --trees 1, or --format c-frozen"
        )
    if len(model.trees) > 1 and model.model.learner.leaf != "class":
        raise UserError(
            "emlearn's leaves hold one class each, but this model's share votes among several. "
            "Use simulate --leaf class, or --format c-frozen"
        )


def _value(model: Frozen, feature: int, threshold: int) -> int:
    """Return the smallest raw value above the threshold."""
    value = int(model.model.quantizer.raw(feature, threshold)) + 1
    if not -32768 <= value <= 32767:
        raise UserError(
            f"emlearn's values are of 16 bits, and a test of {model.file.feature_names[feature]} "
            f"is at the raw value {value:,}: round its values to fewer digits, or use "
            "--format c-frozen"
        )
    return value
