"""Native code for ESP32, S2 and S3 computes the simulator's bits, in an emulated Xtensa core."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from typing import Any

import pytest

from microshrub_host.boards.ram_budget import modules_of
from microshrub_host.library import library_files
from microshrub_research.benchmarks import xtensa_core

MODELS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Thicket", {"bytes": 6144}),
    ("ShrubEnsemble", {"window": 16, "trees": 4, "depth": 4}),
    ("ShrubEnsemble", {"window": 300, "splitter": "random", "leaf": "class"}),
    ("HoeffdingTree", {"grace_period": 20, "adaptive": True, "boost": True}),
    ("HoeffdingTree", {"grace_period": 20, "policy": "svfdt2", "leaf": "nb"}),
)
SHAPE = {"features": 5, "classes": 3}


def learn(library: Any, learner: str, options: dict[str, Any]) -> set[str]:
    """Let a learner learn samples of separable classes; return its modules."""
    model = library.learners.learner_class(learner)(**SHAPE, **options)
    grows = getattr(model, "moves", False)
    chance = random.Random(1)
    rows = [array("i", [chance.randrange(-900, 900) for _ in range(5)]) for _ in range(250)]
    quantizer = library.GrowingQuantizer(5, (model,)) if grows else library.Quantizer(5)
    if not grows:
        for row in rows[:50]:
            quantizer.observe(row)
        quantizer.freeze()
    codes = array("H", bytes(10))
    for row in rows:
        quantizer.encode(row, codes)
        model.predict(codes)
        model.learn(codes, (row[0] > 0) + (row[1] > 200))
    return set(library_files.closure(modules_of(learner, {**SHAPE, **options}, grows)))


@pytest.mark.long
def test_kernels_run_in_a_core_with_register_windows(
    native_tools_for: Callable[[str], object],
) -> None:
    native_tools_for(xtensa_core.ARCH)
    modules: set[str] = set()
    with xtensa_core.KernelCalls() as recording:
        for learner, options in MODELS:
            modules |= learn(recording.library, learner, options)
    called = {
        emitter: xtensa_core.run(recording, sorted(modules), emitter).called
        for emitter in xtensa_core.MAKERS
    }
    rooms = {name.partition(".")[0] for name in called["native"]}
    assert {"thicket", "shrub", "hoeffding", "quantizer"} <= rooms
    assert len(called["native"]) > 20
    assert called["viper"] == called["native"]
    *call, result = next(call for call in recording.calls if call[0] == "call" and call[3])
    recording.calls[recording.calls.index((*call, result))] = (*call, result + 1)
    for emitter in xtensa_core.MAKERS:
        with pytest.raises(xtensa_core.XtensaCoreError, match="ended with 2"):
            xtensa_core.run(recording, sorted(modules), emitter)


def test_instructions_between_marks_are_counted(
    native_tools_for: Callable[[str], object],
) -> None:
    native_tools_for(xtensa_core.ARCH)
    shape = {**SHAPE, "window": 16, "trees": 2, "depth": 3}
    with xtensa_core.KernelCalls() as recording:
        model = recording.library.ShrubEnsemble(**shape)
        codes = array("H", range(0, 50000, 10000))
        for label in (0, 1, 2, 1):
            model.learn(codes, label)
        recording.forget()
        for label in (2, 2):
            recording.mark()
            model.predict(codes)
            recording.mark()
            model.learn(codes, label)
    modules = library_files.closure(modules_of("ShrubEnsemble", shape))
    native, viper = (
        xtensa_core.run(recording, modules, emitter, count=True).instructions
        for emitter in ("native", "viper")
    )
    assert len(native) == len(viper) == 5
    for counts in (native, viper):
        assert all(100 < count < 100_000 for count in counts[1:])
        assert counts[1] < counts[2]  # predicting takes less than learning
    assert all(a < 0.6 * b for a, b in zip(native[1:], viper[1:], strict=True))
    again = xtensa_core.run(recording, modules, "native", count=True).instructions
    assert again == native
