"""The device library on CPython: which engines there are, and what they are called."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from microshrub_host.library import loader

ROWS = array("H", [10, 20, 30000, 40000] * 8)
LABELS = bytearray([0, 1] * 8)


@pytest.mark.parametrize(
    "learner", [("ShrubEnsemble", {"window": 4, "trees": 2}), ("HoeffdingTree", {"nodes": 3})]
)
def test_a_loop_over_rows_is_compiled_too(learner: tuple[str, dict[str, Any]]) -> None:
    """It takes a learner's kernel as an argument."""
    name, parameters = learner
    models = [
        getattr(loader.load(engine), name)(2, 2, **parameters) for engine in ("python", "llvm")
    ]
    predictions = [bytearray(16), bytearray(16)]
    for model, out in zip(models, predictions, strict=True):
        model.run(ROWS, LABELS, out)
    assert predictions[0] == predictions[1]
    assert models[0].save() == models[1].save()
    assert type(models[0]._learn) is not type(models[1]._learn)


@pytest.mark.parametrize("engine", ["", "cuda", "micropython"])
def test_an_engine_that_does_not_run_here(engine: str) -> None:
    with pytest.raises(ValueError, match=f"no engine '{engine}'"):
        loader.load(engine)
    with pytest.raises(ValueError, match="compiles no kernels"):
        loader.compiler(engine)
