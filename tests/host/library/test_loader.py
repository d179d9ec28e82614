"""The device library on CPython: the engines and their names."""

from __future__ import annotations

import gc
import json
from array import array
from pathlib import Path
from typing import Any

import pytest
from device_support import configuration

from microshrub_host.library import loader

ROWS = array("H", [10, 20, 30000, 40000] * 8)
LABELS = bytearray([0, 1] * 8)


@pytest.mark.parametrize(
    "learner", [("ShrubEnsemble", {"window": 4, "trees": 2}), ("HoeffdingTree", {"nodes": 3})]
)
def test_a_loop_over_rows_is_compiled_too(learner: tuple[str, dict[str, Any]]) -> None:
    """The loop has a learner's kernel as an argument."""
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
def test_an_unavailable_engine_is_refused(engine: str) -> None:
    with pytest.raises(ValueError, match=f"no engine '{engine}'"):
        loader.load(engine)
    with pytest.raises(ValueError, match="compiles no kernels"):
        loader.compiler(engine)


def test_a_device_on_a_pc_collects_no_garbage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board collects to have room; on a PC, a collection would take long."""

    def looked(*_: object) -> int:
        raise AssertionError("a device on a PC has looked for garbage")

    monkeypatch.setattr(gc, "collect", looked)
    device: Any = loader.load("python").device
    content = configuration("HoeffdingTree", {"features": 2, "classes": 2})
    made = device.config.Configuration(json.dumps(content).encode())
    app = device.application.Application(made, f"{tmp_path}/")
    app.begin()
    app.values[:] = array("i", (1, 2))
    assert app.sample(1) >= 0
