"""Longer windows suit slow signals, and do not suit classes that change often."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.simulation.feature_choice import Place
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.simulation.window_choice import shows_more
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main

RATE = 100
HERTZ = {"slow": (0.4, 0.8, 1.6), "quick": (4.0, 7.0, 11.0)}  # a frequency for each class


def recording(seed: int, speed: str, seconds: float) -> Stream:
    """Return three classes in runs of about `seconds` seconds:
    an axis swings at each class's own speed, and in each run with another amplitude.
    """
    chance = np.random.default_rng(seed)
    values, labels = [], []
    for _ in range(round(240 / seconds)):
        place = int(chance.integers(3))
        readings = round(seconds * chance.uniform(0.8, 1.2) * RATE)
        phase = 2 * np.pi * HERTZ[speed][place] * np.arange(readings) / RATE
        wave = np.sin(phase + chance.uniform(0, 6)) + chance.normal(0, 0.3, readings)
        values.append(np.rint(4096 * chance.uniform(0.5, 2) * wave))
        labels.append(np.full(readings, place, np.uint8))
    rows = np.concatenate(values)[:, None]
    return Stream("swing", rows, np.concatenate(labels), ("ax",), ("a", "b", "c"))


def of(window: int) -> FeatureOptions:
    words = [f"window={window}", f"hop={window // 4}", "bands=auto"]
    return FeatureOptions.of(words, Place(RATE, ("ax",)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_slow_signals_need_a_longer_window(seed: int) -> None:
    assert shows_more(recording(seed, "slow", 10), of(64), of(128))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_frequent_changes_need_a_short_window(seed: int) -> None:
    assert not shows_more(recording(seed, "quick", 3), of(64), of(128))


def test_a_recording_of_one_class_or_of_few_readings_gives_no_advice() -> None:
    stream = recording(1, "slow", 10)
    alone = dataclasses.replace(stream, labels=np.zeros(len(stream.labels), np.uint8))
    assert not shows_more(alone, of(64), of(128))
    short = dataclasses.replace(stream, values=stream.values[:200], labels=stream.labels[:200])
    assert not shows_more(short, of(64), of(128))


def test_look_suggests_the_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for speed, seconds in (("slow", 10), ("quick", 3)):
        stream = recording(1, speed, seconds)
        rows = zip(stream.values[:, 0].tolist(), stream.labels.tolist(), strict=True)
        lines = [f"{10 * i},{value:.0f},{'abc'[label]}" for i, (value, label) in enumerate(rows)]
        path = tmp_path / f"{speed}.csv"
        path.write_text("\n".join(["time_ms,ax,y", *lines]))
        assert main(["look", str(path)]) == 0
        words = capsys.readouterr().out.partition("--features")[2].split()
        if speed == "quick":
            assert words == []
        else:
            assert words[:3] in (
                [f"window={w}", f"hop={w // 4}", "bands=auto"] for w in (128, 256)
            )
