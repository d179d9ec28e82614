"""Thickets of more than 64 KB: more samples and leaves, and a window as long as it is useful."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests_support import learned_once

import microshrub_host
from microshrub_host.library import loader
from microshrub_host.simulation import engines

LIBRARY = loader.load(loader.fastest())
PLACE, GAIN, OF_NEWEST = 17, 19, 20  # words of thicket.state


def accuracy(name: str, limit: int, size: int) -> float:
    stream = microshrub_host.open_stream(f"synth:{name}", limit=limit)
    return float(learned_once(stream, warmup=0, bytes=size).accuracy)


@pytest.mark.long
def test_more_bytes_add_accuracy_in_a_stable_world() -> None:
    small, large = (accuracy("unseen_random_tree", 12_000, size) for size in (1 << 16, 1 << 18))
    assert large > small + 5


@pytest.mark.long
def test_more_bytes_cost_no_accuracy_under_drift() -> None:
    small, large = (accuracy("unseen_rbf_drift", 12_000, size) for size in (1 << 16, 1 << 18))
    assert large > small - 0.5


def outcome(
    engine: str, class_name: str, parameters: dict[str, Any], samples: int, block: int
) -> dict[str, Any]:
    """Return predictions and buffers after two concepts in sequence.

    `block` samples in a row are taught class after class; then some are predicted without labels.
    """
    rng = np.random.default_rng(5)
    raw = rng.integers(-1000, 1000, (samples, parameters["features"])).astype(np.int32)
    moves = np.arange(samples) % 400 * (np.arange(samples) > samples // 2)
    labels = ((raw[:, 0] + 5 * moves > 300) ^ (raw[:, -1] > 0)).astype(np.uint8)
    order = np.lexsort((labels, np.arange(samples) // block))
    raw, labels = raw[order], labels[order]
    with engines.start(engine, class_name, parameters) as run:
        run.observe(raw[:40])
        run.freeze()
        data = run.run(raw, labels).tobytes()
        run.settle()
        return {
            "said": data,
            "asked": run.ask(raw[:200]).tobytes(),
            **{name: content for name, _, content in run.buffers()},
        }


@pytest.mark.usefixtures("micropython_command")
@pytest.mark.parametrize(
    ("class_name", "change", "samples", "block"),
    [
        ("Thicket", {"bytes": 131072}, 3500, 1),
        ("Thicket", {"bytes": 131072}, 3500, 600),
        ("Grove", {"window": 5000, "trees": 3, "leaves": 300}, 6000, 1),
    ],
    ids=["mixed", "class after class", "grove"],
)
def test_engines_agree_on_large_thickets(
    class_name: str, change: dict[str, Any], samples: int, block: int
) -> None:
    parameters = {"features": 2, "classes": 2, **change}
    expected = outcome(loader.fastest(), class_name, parameters, samples, block)
    other = outcome("micropython", class_name, parameters, samples, block)
    assert [name for name in expected if expected[name] != other[name]] == []
    if class_name == "Thicket":
        word = GAIN if block == 1 else PLACE  # mixed, it looked back; in runs, it replayed
        assert np.frombuffer(expected["thicket.state"], np.int32)[word] != 0


def test_a_forged_state_of_a_large_thicket_is_refused() -> None:
    model = LIBRARY.Thicket(features=2, classes=3, bytes=131072)
    other = LIBRARY.Thicket(features=2, classes=3, bytes=131072)
    fine = model.save()
    names = {name: buffer for name, _, buffer in model.buffers()}
    for name, word, wrong in (
        ("thicket.state", GAIN, 1 << 21),
        ("thicket.state", OF_NEWEST, 3),
        ("grove.state", 7, -1),
        ("grove.state", 7, 1 << 20),
    ):
        names[name][word] = wrong
        with pytest.raises(ValueError, match="state"):
            other.load(model.save())
        names[name][word] = 0
    other.load(fine)
