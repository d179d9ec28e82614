"""The data sets of `benchmark teach`: files, and the sets of River and scikit-learn."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream

from .known_streams import IN_ORDER, STREAMS, KnownStream

SYNTH_SAMPLES = 8000  # of a generated stream
_RIVER = ("ImageSegments", "Phishing")
_SCIKIT = {"wine": "load_wine", "breast_cancer": "load_breast_cancer", "digits": "load_digits"}

Opener = Callable[[str], Stream]


def opener(folder: Path | None) -> Opener:
    """Return a function that opens a set by its name, rows in file order;
    files are in the folder.
    """
    return functools.lru_cache(maxsize=4)(functools.partial(_open, folder))


def file_of(name: str) -> str:
    """Return the file of a set; empty if there is none."""
    known = _known(name)
    return known.file if known else ""


def _known(name: str) -> KnownStream | None:
    return IN_ORDER.get(f"{name}_in_order") or STREAMS.get(name)


def _open(folder: Path | None, name: str) -> Stream:
    if name in _SCIKIT:
        return _scikit(name)
    if name in _RIVER:
        return open_stream(f"river:{name}")
    known = _known(name)
    if known and known.file:
        return known.open(name, folder)
    return open_stream(f"synth:{name}", limit=SYNTH_SAMPLES)


def _scikit(name: str) -> Stream:
    datasets = scikit("datasets")
    result = getattr(datasets, _SCIKIT[name])()
    return Stream(
        name,
        np.asarray(result.data, dtype=np.float64),
        np.asarray(result.target, dtype=np.uint8),
        tuple(map(str, result.feature_names)),
        tuple(map(str, result.target_names)),
    )


def scikit(module: str) -> Any:
    """Return a module of scikit-learn. Raises UserError with the install command if
    there is none.
    """
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise UserError(
            "benchmark teach needs the package scikit-learn: pip install 'microshrub[bench]'"
        ) from None
