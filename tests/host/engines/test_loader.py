"""The device library on CPython: what is compiled is compiled once."""

from __future__ import annotations

import importlib
import os
from array import array
from pathlib import Path
from typing import Any

import pytest

from microshrub_host.engines import loader

ROWS = array("H", [10, 20, 30000, 40000] * 8)
LABELS = bytearray([0, 1] * 8)


@pytest.mark.long
@pytest.mark.parametrize(
    "learner", [("ShrubEnsemble", {"window": 4, "trees": 2}), ("HoeffdingTree", {"nodes": 3})]
)
def test_rows_are_learned_by_code_from_the_cache(learner: tuple[str, dict[str, Any]]) -> None:
    """Also the loop over rows, which takes a learner's kernel as an argument."""
    name, parameters = learner
    python, numba = (
        getattr(loader.load(engine), name)(2, 2, **parameters) for engine in ("python", "numba")
    )
    predictions = [bytearray(16), bytearray(16)]
    for model, out in zip((python, numba), predictions, strict=True):
        model.run(ROWS, LABELS, out)
    assert predictions[0] == predictions[1]
    home = numba._learn.__module__
    assert list(Path(os.environ["NUMBA_CACHE_DIR"]).rglob(f"*run_rows_{home}*.nbc"))
    for kernel in ("scan", "settle", "draw", "weigh") if name == "ShrubEnsemble" else ():
        part = "splits" if kernel in ("scan", "draw") else "cart"
        dispatcher = getattr(importlib.import_module(f"_microshrub_numba.shrub.{part}"), kernel)
        assert len(dispatcher.signatures) <= 1, kernel  # a number's value makes no other kernel
