"""The page reports its accuracy on recordings that it has not learned."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from browser_support import Browser
from patience import PATIENCE
from playground_support import take
from sensor_support import settle
from teach_support import begin, do, end, name, press, recognised, taught

from microshrub_host import open_stream
from microshrub_host.evaluation.holdout import answers, draws
from microshrub_host.evaluation.stretches import find
from microshrub_host.library.learners import defaults

UNSEEN = "document.querySelector('#unseen').textContent"
FIGURE = r"On unseen data: (\d+) % of (\d+) samples \(guessing: (\d+) %\)"
MIXED = 3  # first samples of a recording, with readings from before it


def figure(page: Browser) -> tuple[int, int, int]:
    """Return the percentage right, the number of samples, and the percentage right by guessing."""
    page.wait(f"{UNSEEN}.startsWith('On unseen data')", PATIENCE)
    match = re.match(FIGURE, page.run(UNSEEN))
    assert match, page.run(UNSEEN)
    return int(match[1]), int(match[2]), int(match[3])


def test_the_figure_needs_two_recordings_of_each_of_two_classes(held: Browser) -> None:
    begin(held)
    press(held, "circle")
    do(held, "circle", 150)
    press(held, "only predict")
    do(held, "circle", 40)
    held.wait("document.querySelector('#said').textContent === 'circle'")
    assert held.run(UNSEEN) == ""
    assert "%" not in held.run("document.querySelector('#learned').textContent")
    for text in ("line", "circle"):
        press(held, text)
        do(held, text, 100)
        press(held, "only predict")
        do(held, text, 8)
        one = "each gesture" if text == "line" else "line"
        held.wait(f"{UNSEEN} === 'Record {one} once more to see how well it does.'")


def test_the_figure_is_the_accuracy_on_unseen_recordings(held: Browser, tmp_path: Path) -> None:
    """One gesture has two names: the figure shows it; the accuracy before each label is 96 %."""
    name(held, "left, right, line")
    begin(held)
    shown = (("left", "circle", 160), ("right", "circle", 200), ("line", "line", 120))
    for text, gesture, readings in shown * 2:
        press(held, text)
        do(held, gesture, readings)
    settle(held)
    assert held.run(UNSEEN) == "Press “only predict” to see how well it does."
    end(held)
    right, samples, guess = figure(held)
    assert "left and right look alike" in held.run(UNSEEN)
    matrix = "[...document.querySelectorAll('#unseen-matrix tbody td')].map((x) => +x.innerText)"
    counts = held.run(matrix)
    assert len(counts) == 9
    assert sum(counts) == pytest.approx(samples, abs=5)  # each is rounded
    assert counts[1] + counts[3] > 0.3 * sum(counts)  # left and right mixed up

    take(held, "take-csv", tmp_path / "gestures.csv")
    stream = open_stream(str(tmp_path / "gestures.csv"), classes=("left", "right", "line"))
    rows, labels = stream.scale.apply(np.asarray(stream.values)), np.asarray(stream.labels)
    starts = np.flatnonzero(np.diff(labels, prepend=9))
    recordings = np.split(np.arange(len(labels)), starts[1:])
    assert len(recordings) == 6
    stretches = find(labels, 3)
    assert stretches.count == 6
    right_answers = guessed = count = 0
    shape = {"features": rows.shape[1], "classes": 3, "bytes": 16384, "seed": 0}
    parameters = defaults("thicket") | shape
    drawn = list(draws(stretches))
    for draw in drawn:
        held = [bool(draw.asked[recording].all()) for recording in recordings]
        out = np.concatenate(
            [
                recording[MIXED:]
                for recording, is_held in zip(recordings, held, strict=True)
                if is_held
            ]
        )
        known = np.concatenate(
            [
                recording[MIXED if k and held[k - 1] else 0 :]
                for k, recording in enumerate(recordings)
                if not held[k]
            ]
        )
        right_answers += (
            answers("thicket", parameters, rows[known], labels[known], rows[out]) == labels[out]
        ).sum()
        guessed += (labels[out] == np.bincount(labels[known]).argmax()).sum()
        count += len(out)
    assert samples == round(count / len(drawn))
    assert (right, guess) == (round(100 * right_answers / count), round(100 * guessed / count))
    assert right < 90


def test_new_teaching_is_evaluated_again(held: Browser) -> None:
    taught(held, rounds=2, seconds=2)
    before = figure(held)
    assert before[0] > before[2]
    held.run("document.querySelectorAll('#cards .remove')[0].click()")
    assert held.run(UNSEEN) == "Record circle once more to see how well it does."
    press(held, "circle")
    do(held, "circle", 200)
    press(held, "only predict")
    do(held, "line", 8)
    assert figure(held)[1] > before[1]
    assert recognised(held)


def test_an_opened_project_is_evaluated(held: Browser, tmp_path: Path) -> None:
    taught(held, rounds=2, seconds=2)
    before = figure(held)
    end(held)
    take(held, "take-gestures", tmp_path / "gestures.mshrub")
    held.give_file("#project", tmp_path / "gestures.mshrub")
    held.wait(f"{UNSEEN} === ''")
    assert figure(held) == before
