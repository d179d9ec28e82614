"""The page of automatic features: the sensors, training and test windows, and the tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microshrub_host import extract_features
from microshrub_research.benchmarks import features
from microshrub_research.benchmarks.hand_made import hand_made
from microshrub_research.benchmarks.sensed import SENSED, sensed
from microshrub_tools.cli.main import main

pytest.importorskip("sklearn", reason="needs the extra bench")


@pytest.mark.parametrize("name", SENSED)
def test_a_recording_has_16_bit_readings_of_all_classes(name: str) -> None:
    world, stream = SENSED[name], sensed(name, 1, 2)
    assert np.array_equal(stream.values, np.rint(stream.values))
    assert np.abs(stream.values).max() < 32768
    assert stream.values.shape[1] == len(world.channels)
    assert set(stream.labels) == set(range(len(world.classes)))
    runs = 1 + np.count_nonzero(np.diff(stream.labels))
    assert runs >= 2 * len(world.classes) - 1
    again = sensed(name, 1, 2)
    assert np.array_equal(again.values, stream.values)
    assert not np.array_equal(sensed(name, 2, 2).values[:100], stream.values[:100])


def test_no_reading_is_in_both_training_and_test_data() -> None:
    recording = sensed("gestures", 1)
    made = extract_features(recording, "window=64 hop=16 statistics=mean")
    taught, unseen = features._parts(recording, made, 64)
    assert made.times is not None
    assert made.times[taught].max() < made.times[unseen].min() - 63
    assert 0.5 < taught.mean() < 0.75
    assert set(made.labels[taught]) == set(made.labels[unseen]) == set(range(5))


def test_features_by_hand_are_finite_also_for_a_flat_window() -> None:
    rows = np.zeros((300, 2))
    rows[100:, 0] = 1000 * np.sin(np.arange(200))
    computed = hand_made(rows, np.array([63, 150, 299]), 64, 100)
    assert computed.shape[0] == 3
    assert computed.shape[1] > 80
    assert np.isfinite(computed).all()


def test_the_page_has_accuracies_and_costs(tmp_path: Path) -> None:
    page = tmp_path / "features.md"
    words = ["benchmark", "features", "--streams", "breathing", "--seeds", "1"]
    assert main([*words, "--jobs", "1", "--output", str(page)]) == 0
    text = page.read_text()
    assert "`window=128 hop=32 bands=auto`" in text
    row = next(line for line in text.splitlines() if line.startswith("| breathing"))
    ours, statistics, by_hand = (float(cell.split()[0]) for cell in row.split("|")[5:8])
    assert ours > by_hand - 2
    assert ours > statistics + 10
    assert "What they cost on a Raspberry Pi Pico" in text
    assert "Gestures by direction" not in text  # not requested


def test_the_page_has_gestures_by_direction(tmp_path: Path) -> None:
    page = tmp_path / "features.md"
    words = ["benchmark", "features", "--streams", "directions", "--seeds", "1"]
    assert main([*words, "--jobs", "2", "--output", str(page)]) == 0
    text = page.read_text()
    assert "(3 of 13)" in text
    rows = [line.split("|")[1:-1] for line in text.splitlines() if " Hz | `window" in line]
    assert [row[0].strip() for row in rows] == ["50 Hz"] * 3 + ["100 Hz"] * 3 + ["200 Hz"] * 3
    for chosen, without in zip(rows[::3], rows[1::3], strict=True):
        assert "turns=none" in without[1]
        for with_turns, alone in zip(chosen[2:], without[2:], strict=True):
            assert float(with_turns) > float(alone)
