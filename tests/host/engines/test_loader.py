"""The device library on CPython: what is compiled is compiled once."""

from __future__ import annotations

import os
from array import array
from pathlib import Path
from typing import Any

import pytest

from microshrub_host.engines import loader

ROWS = array("H", [10, 20, 30000, 40000] * 8)
LABELS = bytearray([0, 1] * 8)
_CALLED_WITH_NUMBERS = ("splits.scan", "cart.settle", "splits.draw", "cart.weigh")


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
    kept = Path(os.environ["NUMBA_CACHE_DIR"])
    assert list(kept.rglob(f"*run_rows_{home}*.nbc"))
    for kernel in _CALLED_WITH_NUMBERS if name == "ShrubEnsemble" else ():
        # a number's value makes no other kernel
        assert len({path.name for path in kept.rglob(f"{kernel}-*.nbc")}) == 1, kernel
