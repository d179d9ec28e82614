"""`parity` has to detect a planted difference: its sample, its buffer, its engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests_support import make_blobs

from microshrub_host.evaluation import parity, prequential
from microshrub_host.simulation import engines
from microshrub_host.simulation.engine_interface import EngineError, Labels
from microshrub_host.simulation.micropython_engine import MicroPythonEngine
from microshrub_host.streams.units import Raw

PARAMETERS: dict[str, Any] = {
    "features": 2,
    "classes": 2,
    "window": 8,
    "trees": 3,
    "depth": 2,
    "step": 1.0,
}


class Faulty(engines.LocalEngine):
    """An engine that replaces the label of one sample."""

    def __init__(self, at: int) -> None:
        super().__init__("python", "ShrubEnsemble", PARAMETERS)
        self.at = at
        self.seen = 0

    def run(self, raw: Raw, labels: Labels) -> Labels:
        labels = labels.copy()
        if self.seen <= self.at < self.seen + len(labels):
            labels[self.at - self.seen] ^= 1
        self.seen += len(labels)
        return super().run(raw, labels)


@pytest.mark.parametrize("at", [0, 49, 50, 137])
def test_parity_names_the_first_differing_sample_and_buffer(at: int) -> None:
    rows, labels = make_blobs(200)
    starters = {
        "good": lambda: engines.start("python", "ShrubEnsemble", PARAMETERS),
        "bad": lambda: Faulty(at),
    }
    steps = list(parity.check(starters, rows, labels, warmup=20, every=50))
    last = steps[-1]
    assert isinstance(last, parity.Difference)
    assert last.sample == at + 1
    assert last.engines == ("good", "bad")
    results = []
    for start in starters.values():
        with start() as engine:
            prequential.fit(engine, rows, 20)
            engine.run(rows[: at + 1], labels[: at + 1])
            results.append(engine.buffers())
    differing = [one[0] for one, other in zip(*results, strict=True) if one != other]
    assert last.buffer == differing[0]
    assert "window.labels" in differing
    before = [s for s in steps[:-1] if isinstance(s, parity.Step)]
    assert all(len(set(s.crcs.values())) == 1 for s in before[:-1])


def test_equal_engines_never_differ() -> None:
    rows, labels = make_blobs(120)
    starters = {
        name: (lambda name=name: engines.start(name, "ShrubEnsemble", PARAMETERS))
        for name in ("python", "llvm")
    }
    steps = list(parity.check(starters, rows, labels, warmup=20, every=50))
    assert [s.samples for s in steps if isinstance(s, parity.Step)] == [50, 100, 120]


def test_the_error_of_a_real_micropython_is_shown(micropython_command: tuple[str, ...]) -> None:
    with pytest.raises(EngineError, match="MicroPython stopped: MemoryError"):
        MicroPythonEngine("ShrubEnsemble", {**PARAMETERS, "window": 500}, heap="30k")


def test_the_comparison_includes_the_quantizers_ranges() -> None:
    rows, labels = make_blobs(60)
    with engines.start("python", "ShrubEnsemble", PARAMETERS) as engine:
        prequential.fit(engine, rows, 60)
        engine.run(rows, labels)
        names = [name for name, _, _ in engine.buffers()]
    assert {"quantizer.low", "members.weight", "metrics.counts"} <= set(names)
    assert np.any(rows < 0)
