"""A native build: the kernels in one module of C, with the same bits as in viper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microshrub_host.base import native_tools
from microshrub_host.base.native_tools import PROCESSORS, NativeTools
from microshrub_host.library import library_files, loader
from microshrub_host.programs import mpy, native_files
from microshrub_host.programs.native_module import native_library
from microshrub_host.simulation import engines
from microshrub_host.simulation.pipeline import Forecast

Tools = Callable[[str], NativeTools]
SHAPE = {"features": 3, "classes": 3}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "shrubs": ("ShrubEnsemble", {"window": 16, "trees": 4, "depth": 4}),
    "wide window": ("ShrubEnsemble", {"window": 300, "splitter": "random", "leaf": "class"}),
    "tree": ("HoeffdingTree", {"grace_period": 20, "tie_threshold": 0.9}),
    "adaptive tree": ("HoeffdingTree", {"grace_period": 20, "adaptive": True, "boost": True}),
    "strict tree": ("HoeffdingTree", {"grace_period": 20, "policy": "svfdt2", "leaf": "nb"}),
    "thicket": ("Thicket", {}),
}


def stream(samples: int) -> tuple[Any, Any]:
    """Return rows of raw integers with labels that depend on them; the rule changes half-way."""
    rng = np.random.default_rng(3)
    rows = rng.integers(-500, 500, (samples, 3)).astype(np.int32)
    labels = ((rows[:, 0] > 0) + (rows[:, 1] > 200)).astype(np.uint8)
    labels[samples // 2 :] = 2 - labels[samples // 2 :]
    return rows, labels


@pytest.mark.parametrize("name", list(MODELS))
def test_the_native_module_has_the_simulators_bits(
    name: str, native_tools_for: Tools, micropython_command: tuple[str, ...]
) -> None:
    native_tools_for("x86")
    learner, options = MODELS[name]
    rows, labels = stream(1200)
    with (
        engines.start(loader.fastest(), learner, SHAPE | options) as expected,
        engines.start(engines.NATIVE, learner, SHAPE | options) as native,
    ):
        for engine in (expected, native):
            engine.observe(rows[:100])
            engine.freeze()
        for at in range(0, len(rows), 100):
            block = slice(at, at + 100)
            assert (
                expected.run(rows[block], labels[block]) == native.run(rows[block], labels[block])
            ).all()
            assert expected.buffers() == native.buffers()
        assert expected.saved() == native.saved()


@pytest.mark.parametrize("horizon", [0, 2])
def test_a_regression_forecasts_without_allocation(
    horizon: int, native_tools_for: Tools, micropython_command: tuple[str, ...]
) -> None:
    """With a locked heap, the Python code around the kernels allocates nothing either."""
    native_tools_for("x86")
    rows, _ = stream(200)
    target = {"columns": 3, "column": 1, "horizon": horizon, "lags": 3 if horizon else 0}
    shape = {"features": 5 if horizon else 2}
    results = []
    for name in ("python", engines.NATIVE):
        with engines.start(name, "LinearRegressor", shape, [Forecast(target)]) as engine:
            engine.observe(rows[:50])
            engine.freeze()
            results.append((engine.run(rows).tolist(), engine.saved()))
    assert results[0] == results[1]


@pytest.mark.parametrize("arch", list(PROCESSORS))
def test_one_module_holds_the_kernels_for_every_processor(
    arch: str, native_tools_for: Tools
) -> None:
    native_tools_for(arch)
    wanted = library_files.closure(["shrub.ensemble", "quantizer"])
    files = {library_files.module_name(path): path for path in native_files.compiled(arch, wanted)}
    native = mpy.read(files["native"])
    assert native.code.native
    assert {"predict", "learn", "encode_rows"} <= set(native.names)
    assert not mpy.read(files["shrub.ensemble"]).code.children[0].native
    assert "shrub.splits" not in files, "it held nothing but kernels"
    viper = [path for path in mpy.compiled(arch) if library_files.module_name(path) in set(wanted)]
    assert _bytes(files.values()) < 0.85 * _bytes(viper)


def _bytes(paths: Any) -> int:
    return sum(path.stat().st_size for path in paths)


def test_kernels_with_the_same_name_are_kept_apart() -> None:
    names = [library_files.module_name(path) for path in library_files.sources()]
    sources = native_library(names).sources
    assert "shrub_ensemble__learn as learn" in sources["shrub.ensemble"]
    assert "hoeffding_tree__learn as learn" in sources["hoeffding.tree"]
    assert "hoeffding_hat__learn as learn" in sources["hoeffding.tree"]


def test_processors_without_native_modules_are_reported() -> None:
    with pytest.raises(native_tools.NoNativeTools, match="no native modules for xtensa,"):
        native_tools.find_or_fetch("xtensa")
    assert not native_files.can_be_made("xtensa")


def test_a_missing_compiler_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(native_tools.NoNativeTools, match="no-such-compiler"):
        native_tools.find_or_fetch("x86")
