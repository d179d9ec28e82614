"""Data sets of the installed package scikit-learn, by its own names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.errors import DataError
from ..base.text import did_you_mean
from .class_names import class_order, encode_labels
from .stream import Stream

CLASSES = ("breast_cancer", "digits", "iris", "wine")
NUMBERS = ("diabetes",)
# What to do with a data set that is not of the kind that was asked for
OTHER_KIND = {
    "classification": "Its target is a number: add --target target.",
    "regression": "It has classes: leave out --target.",
}


def sklearn_stream(name: str) -> Stream:
    """Return a whole classification data set, in its own order. Raises DataError if unknown."""
    loaded = _loaded(name, CLASSES, "classification")
    cells = [str(loaded.target_names[label]) for label in loaded.target]
    labels, classes, _ = encode_labels(
        cells, lambda _: f"sklearn:{name}", class_order(set(cells)), 1
    )
    values = np.asarray(loaded.data, dtype=np.float64)
    return Stream(f"sklearn:{name}", values, labels, _names(loaded), classes)


def sklearn_samples(name: str) -> list[tuple[dict[str, Any], Any]]:
    """Return the samples of a regression data set, in River's form. Raises DataError."""
    loaded = _loaded(name, NUMBERS, "regression")
    rows = zip(loaded.data.tolist(), loaded.target.tolist(), strict=True)
    return [(dict(zip(_names(loaded), row, strict=True)), target) for row, target in rows]


def _names(loaded: Any) -> tuple[str, ...]:
    return tuple(str(name).replace(" ", "_") for name in loaded.feature_names)


def _loaded(name: str, known: tuple[str, ...], noun: str) -> Any:
    from sklearn import datasets

    if name not in known:
        hint = OTHER_KIND[noun] if name in (*CLASSES, *NUMBERS) else did_you_mean(name, known)
        raise DataError(f"sklearn:{name} is not a {noun} data set that scikit-learn ships. {hint}")
    return getattr(datasets, f"load_{name}")()
