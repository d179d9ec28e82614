"""Windows are kept aside in whole stretches of time, and what overlaps them is not learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from microshrub_host import Stream, extract_features, simulate
from microshrub_host.evaluation.kept_aside import whole_stretches
from microshrub_host.reports import run_report

WINDOW, HOP = 64, 16
SETTINGS = f"window={WINDOW} hop={HOP} statistics=all bands=auto"


def recording(runs: int, length: int = 400, classes: int = 2, seed: int = 4) -> Stream:
    """Runs of one label each; each hums in a way of its own, which no other run has."""
    chance = np.random.default_rng(seed)
    labels = np.repeat(np.arange(runs) % classes, length).astype(np.uint8)
    hum = np.repeat(chance.permutation(np.linspace(0.05, 0.45, runs)), length)
    loud = np.repeat(chance.uniform(500, 5000, runs), length)
    x = loud * np.sin(2 * np.pi * np.cumsum(hum)) + chance.normal(0, 300, runs * length)
    names = tuple(f"class{c}" for c in range(classes))
    return Stream("hum", np.rint(x)[:, None], labels, ("x",), names)


def parts(stream: Stream) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    found = whole_stretches(stream, 0)
    assert found
    return found


@pytest.mark.parametrize("shuffle", [None, 3])
@pytest.mark.parametrize(("runs", "length"), [(40, 400), (6, 900), (2, 3000), (300, 50)])
def test_no_reading_is_heard_on_both_sides(runs: int, length: int, shuffle: int | None) -> None:
    stream = extract_features(recording(runs, length), SETTINGS, shuffle=shuffle)
    assert stream.ends is not None
    aside, learned = parts(stream)
    assert not (aside & learned).any()
    heard: set[int] = set()
    for end in stream.ends[learned]:
        heard.update(range(end - WINDOW + 1, end + 1))
    for end in stream.ends[aside]:
        assert heard.isdisjoint(range(end - WINDOW + 1, end + 1))
    assert 0.05 < aside.mean() < 0.55
    assert learned.mean() > 0.3


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_each_class_is_learned_and_asked(classes: int) -> None:
    """Also where five classes take turns, of whose stretches every fifth is of the same one."""
    for rounds in (1, 2, 5, 7):
        readings = recording(classes * rounds, 800, classes)
        stream = extract_features(readings, SETTINGS)
        for part in parts(stream):
            assert set(stream.labels[part]) == set(range(classes))


def test_samples_that_are_no_windows_are_kept_aside_as_ever() -> None:
    assert whole_stretches(recording(4), 0) is None


def test_labels_that_say_nothing_of_other_stretches_are_not_known() -> None:
    """A class is nothing but the runs it has: whoever mixes windows of a run seems to know it."""
    readings, shape = recording(20, 1200), {"bytes": 16_384}
    stream = extract_features(readings, SETTINGS)
    honest = simulate(stream, **shape)
    mixed = simulate(extract_features(readings, SETTINGS, shuffle=1), **shape)
    assert honest.alone
    assert mixed.alone
    assert mixed.accuracy > 80
    assert honest.alone.accuracy < 70
    assert mixed.alone.accuracy < 70
    told: Any = run_report.verdict(mixed, shuffled=True)
    assert "windows overlap" in told
    assert "kept aside, in runs" in dict(mixed.alone.rows())["without labels"]
    assert "held-out samples, in whole stretches of time" in mixed.alone.sentence()
