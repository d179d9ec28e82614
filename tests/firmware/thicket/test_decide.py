"""decide(): the class that a thicket predicts, without the votes, in fewer instructions."""

from __future__ import annotations

import dataclasses
import importlib
from array import array
from typing import Any

import numpy as np
import pytest

from microshrub_host.boards import counted_models, emulated_boards, instruction_counts
from microshrub_host.library import loader

SHAPES = [(3, 2, 4096), (5, 3, 16384), (1, 7, 6000), (14, 2, 65536), (2, 2, 100_000)]


def both() -> tuple[Any, Any]:
    library = loader.load(loader.fastest())
    return library, importlib.import_module(f"{library.__name__}.thicket.decide").decide


def rows(features: int, classes: int, count: int, seed: int) -> tuple[Any, Any]:
    """Draw overlapping classes that change in the middle; some labels are random."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, count)
    centres = rng.integers(0, 65536, (2, classes, features))
    which = (np.arange(count) > count // 2).astype(int)
    codes = centres[which, labels] + rng.normal(0, 9000, (count, features))
    drawn = rng.random(count) < 0.1
    labels[drawn] = rng.integers(0, classes, int(drawn.sum()))
    return np.clip(codes, 0, 65535).astype(np.uint16), labels


@pytest.mark.parametrize(("features", "classes", "size"), SHAPES)
@pytest.mark.parametrize("prior", ["even", "taught"])
def test_predictions_and_learned_state_are_the_same(
    features: int, classes: int, size: int, prior: str
) -> None:
    library, decide = both()
    plain, quick = (
        library.Thicket(features=features, classes=classes, bytes=size, prior=prior)
        for _ in range(2)
    )
    x, y = array("H", [0] * features), array("H", [0] * features)
    codes, labels = rows(features, classes, 1500, size)
    for row, label in zip(codes, labels, strict=True):
        x[:] = y[:] = array("H", row.tolist())
        assert decide(quick, y) == plain.predict(x)
        assert quick.learn(y, int(label)) == plain.learn(x, int(label))
        assert quick.state_crc32() == plain.state_crc32()


def test_predictions_are_the_same_for_runs_of_one_class() -> None:
    """An example is a person who teaches a class for a while, and then tests it."""
    library, decide = both()
    plain, quick = (library.Thicket(features=2, classes=3, bytes=8192) for _ in range(2))
    codes, labels = rows(2, 3, 900, 7)
    order = np.concatenate([np.flatnonzero(labels == c)[:250] for c in (0, 1, 2)])
    for k in order:
        x = array("H", codes[k].tolist())
        assert quick.learn(x, int(labels[k])) == plain.learn(x, int(labels[k]))
        for other in codes[::90]:
            x = array("H", other.tolist())
            assert decide(quick, x) == plain.predict(x)


def test_predictions_are_the_same_for_uninformative_features() -> None:
    """Then each class has votes by the frequency of its labels."""
    library, decide = both()
    plain, quick = (library.Thicket(features=2, classes=3, bytes=16384) for _ in range(2))
    rng = np.random.default_rng(3)
    labels = np.repeat(rng.choice(3, 40, p=(0.6, 0.3, 0.1)), 25)
    asked = rng.integers(0, 65535, (len(labels), 2)).astype(np.uint16)
    for row, label in zip(asked[::-1], labels, strict=True):
        x = array("H", row.tolist())
        assert quick.learn(x, int(label)) == plain.learn(x, int(label))
    for row in asked:
        x = array("H", row.tolist())
        assert decide(quick, x) == plain.predict(x)


def test_another_model_is_refused_with_a_message() -> None:
    library, decide = both()
    for class_name in ("ShrubEnsemble", "BalancedThicket"):
        with pytest.raises(ValueError, match=f"Thicket, not .* {class_name}"):
            decide(getattr(library, class_name)(features=2, classes=2), array("H", (1, 2)))
    with pytest.raises(ValueError, match="x has to be"):
        decide(library.Thicket(features=2, classes=2), array("i", (1, 2)))


@pytest.mark.long
def test_it_takes_over_a_third_fewer_instructions() -> None:
    """The count is for a Cortex-M0, with a thicket of 16 KB."""
    try:
        emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    full = counted_models.thickets()[0]
    short = dataclasses.replace(
        full, codes=full.codes[: full.warmup + 200], labels=full.labels[: full.warmup + 200]
    )
    with instruction_counts.Counter("cortex-m0", [short]) as counter:
        plain, quick = (counter.count(0, quick=quick).predict for quick in (False, True))
    assert quick.mean() < 0.65 * plain.mean()
