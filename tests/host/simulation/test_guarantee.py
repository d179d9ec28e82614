"""--guarantee: coverage over any 500 samples, the size of sets, engines, late labels, files."""

from __future__ import annotations

import json
import math
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests_support import learned_once

from microshrub_host import (
    Guarantee,
    GuaranteeRun,
    LabelBudget,
    SpareClasses,
    UserError,
    budget,
    load_model,
    open_stream,
    parity,
    save_model,
    simulate,
)
from microshrub_host.library import loader
from microshrub_tools.cli.main import main

SMALL: dict[str, Any] = {"bytes": 8192}


def run_of(stream: Any, percent: int = 90, *others: Any, **options: Any) -> GuaranteeRun:
    run = learned_once(stream, companions=[Guarantee(percent), *others], **options)
    guarantee = run.companions["guarantee"]
    assert isinstance(guarantee, GuaranteeRun)
    return guarantee


@pytest.mark.parametrize("percent", [50, 80, 90, 99])
@pytest.mark.parametrize("name", ["synth:sea_a", "synth:led_a", "synth:agrawal_a"])
def test_any_500_samples_are_covered(name: str, percent: int) -> None:
    run = run_of(open_stream(name, limit=2500), percent, **SMALL)
    low, high = run.worst
    assert percent - 2 <= low <= run.coverage <= high <= percent + 2
    assert 0 < run.mean_size <= 10


def test_coverage_holds_for_any_votes() -> None:
    """Even with random, perfect or inverted votes, no stream breaks the bound."""
    library: Any = loader.load("checked")
    draw = np.random.default_rng(5)
    for behaviour in ("same", "wrong", "right", "drawn", "changing"):
        part = library.prediction_sets.Guarantee(3, 4, percent=90)
        held, sizes = [], []
        for i in range(1500):
            label = int(draw.integers(4))
            votes = array("i", [1 << 22] * 4)
            if behaviour != "same":
                now = ("wrong", "right")[i // 700 % 2] if behaviour == "changing" else behaviour
                top = {"wrong": (label + 1) % 4, "right": label}.get(now, int(draw.integers(4)))
                votes = array("i", [0 if now != "drawn" else 1 << 20] * 4)
                votes[top] = 1 << 24
            size = part.look(array("H", [0] * 3), votes, int(np.argmax(votes)), label)
            assert size == sum(part.holds(c) for c in range(4))
            held.append(part.holds(label))
            sizes.append(size)
        words = array("i", [0] * 15)
        part.tell(words)
        unsure = sum(size > 1 for size in sizes)
        assert words[:5].tolist() == [1500, sum(held), 1500, sum(sizes), unsure], behaviour
        sums = np.convolve(held, np.ones(500), "valid")
        assert sums.min() >= 440, behaviour
        assert sums.max() <= 460, behaviour


@pytest.mark.parametrize(("classes", "shape"), [(6, 0.2), (10, 0.4)])
def test_sets_of_a_steady_model_are_little_larger_than_needed(classes: int, shape: float) -> None:
    """The reference is the best fixed threshold, computed afterwards."""
    library: Any = loader.load("python")
    part = library.prediction_sets.Guarantee(3, classes)
    draw = np.random.default_rng(7)
    scores = draw.dirichlet([shape] * classes, 4000)
    labels = np.array([draw.choice(classes, p=row) for row in scores])
    x, sizes = array("H", [0] * 3), []
    for row, label in zip(scores, labels, strict=True):
        votes = array("i", (row * 2**24).astype(int).tolist())
        sizes.append(part.look(x, votes, int(np.argmax(row)), int(label)))
    shares = scores / scores.max(axis=1, keepdims=True)
    best = np.quantile(shares[np.arange(4000), labels], 0.1)
    assert np.mean(sizes) < 1.04 * np.mean((shares >= best).sum(axis=1))


def test_without_labels_the_state_does_not_change() -> None:
    library: Any = loader.load("python")
    part = library.prediction_sets.Guarantee(2, 3)
    votes, x = array("i", [1 << 23, 1 << 22, 0]), array("H", [0, 0])
    part.look(x, votes, 0, 0)
    before = part.buffers()[0][2][0]
    sizes = {part.look(x, votes, 0, -1) for _ in range(100)}
    assert len(sizes) == 1
    assert part.buffers()[0][2][0] == before


def test_the_model_is_unchanged_and_the_engines_agree() -> None:
    stream = open_stream("synth:led_a", limit=700)
    plain = simulate(stream, **SMALL)
    guaranteed = simulate(stream, companions=[Guarantee()], **SMALL)
    assert (guaranteed.state_crc32, guaranteed.accuracy) == (plain.state_crc32, plain.accuracy)
    engines = ("python", "c", "micropython")
    assert parity(stream, engine_names=engines, companions=[Guarantee()], **SMALL) is None


@pytest.mark.parametrize("model", ["thicket", "shrub", "softmax"])
@pytest.mark.parametrize("name", ["synth:sea_a", "synth:led_a"])
def test_the_confidence_is_calibrated(name: str, model: str) -> None:
    """Without calibration, the votes' confidence is up to 40 points off."""
    run = run_of(open_stream(name, limit=2500), model=model)
    assert run.calibration_error <= 3
    sure = run.confidence > 200
    if sure.sum() > 100:
        assert abs(np.mean(run.right[sure]) - np.mean(run.confidence[sure]) / 255) < 0.03


def test_late_labels_and_missing_labels_count_correctly() -> None:
    stream = open_stream("synth:sea_a", limit=2000)
    run = run_of(stream, 90, LabelBudget(1, delay=20, unanswered=0.3), **SMALL)
    assert not (run.covered < 2).any()  # no label is known in time
    budgeted = run_of(stream, 90, LabelBudget(0.5), **SMALL)
    assert 300 < (budgeted.covered < 2).sum() <= 1600
    assert 88 <= budgeted.coverage <= 92
    both = [LabelBudget(0.5, delay=3), SpareClasses(1, window=32)]
    assert math.isnan(run_of(stream, 90, *both, model="nearest", window=32).coverage)


def test_the_command_prints_the_coverage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "m.mshrub"
    words = ("simulate", "synth:sea_a", "--limit", "1500", "--bytes", "8192", "--guarantee", "80%")
    assert main([*words, "--json", "-", "--save", str(path)]) == 0
    result = json.loads(capsys.readouterr().out)
    guarantee = result["guarantee"]
    assert guarantee["percent"] == 80
    assert (
        78
        <= guarantee["lowest_coverage"]
        <= guarantee["coverage"]
        <= guarantee["highest_coverage"]
        <= 82
    )
    assert guarantee["unsure"] + guarantee["empty"] <= 100
    assert 0 <= guarantee["calibration_error"] < 4  # few samples fill 15 bins
    assert guarantee["calibration_error"] < guarantee["calibration_error_of_votes"]
    assert load_model(path).companions["guarantee"].percent == 80
    assert main([*words]) == 0
    assert "guaranteed to hold the label" in capsys.readouterr().out
    wanted = budget(
        "thicket", "rpi_pico", features=3, classes=2, companions=[Guarantee()], own_program=True
    )
    assert any(part.name == "guarantee.words" for part in wanted.buffers)
    assert any(part.name == "prediction_sets" for part in wanted.code)


def test_the_state_is_saved_and_loaded(tmp_path: Path) -> None:
    stream = open_stream("synth:sea_a", limit=600)
    run = simulate(stream, companions=[Guarantee(75)], **SMALL)
    save_model(stream, run, tmp_path / "m.mshrub")
    part = load_model(tmp_path / "m.mshrub").companions["guarantee"]
    assert part.save() == run.states.more["guarantee"]


@pytest.mark.parametrize("words", ["often", "0.9", "49%", "100%", "89.5%", "-3%", ""])
def test_wrong_values_are_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "synth:sea_a", "--limit", "100", f"--guarantee={words}"]) == 2
    assert "--guarantee has to be" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["90", "90%", " 90 % "])
def test_the_percent_sign_is_optional(words: str) -> None:
    assert Guarantee.of_options({"guarantee": words}, None) == Guarantee(90)


def test_an_impossible_percentage_is_refused() -> None:
    for percent in (49, 100, 90.0, True):
        with pytest.raises(UserError, match=r"--guarantee .* 50% to 99%"):
            Guarantee(percent)  # type: ignore[arg-type]


def test_a_forged_state_is_refused() -> None:
    library: Any = loader.load("python")
    part = library.prediction_sets.Guarantee(2, 3)
    good = part.save()
    for word, value in (
        *((0, 1 << 20), (1, -1), (1, 1 << 15), (2, -1), (3, 5), (6, 9), (7, -1), (7, 1 << 16)),
    ):
        part.load(good)
        part.buffers()[0][2][word] = value
        forged = part.save()
        with pytest.raises(ValueError, match=r"not a|damaged|state"):
            library.prediction_sets.Guarantee(2, 3).load(forged)
