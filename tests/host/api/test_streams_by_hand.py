"""Streams of arrays, and files of models: a mistake is reported before a figure
or a file is wrong.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import microshrub_host as host
from microshrub_host.api import river_adapter, sklearn_adapter

ROWS = np.random.default_rng(14).normal(0, 9, (90, 2)).round(1)
LABELS = (ROWS[:, 0] > 1).astype(np.uint8)
GOOD = host.Stream("walk", ROWS, LABELS, ("ax", "ay"), ("rest", "walk"))
DATA = "ax,ay,does\n" + "".join(f"{a},{b},{c}\n" for (a, b), c in zip(ROWS, LABELS, strict=True))


def run(stream: host.Stream = GOOD) -> Any:
    return host.simulate(stream, "shrub", engine="python", window=8, trees=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": LABELS[:5]}, "90 rows of values and 5 labels"),
        ({"labels": LABELS.astype(np.int64)}, r"labels.astype\(np.uint8\)"),
        ({"labels": np.array(["rest", "walk"] * 45)}, r"np.unique\(y, return_inverse=True\)"),
        ({"labels": LABELS[:, None]}, "labels has to be an array of uint8"),
        ({"values": pd.DataFrame(ROWS)}, r"values has to be an array of numbers, shape \(samples"),
        ({"values": ROWS.tolist()}, "values has to be an array of numbers"),
        ({"values": ROWS[:, 0]}, "values has to be an array of numbers"),
        ({"values": ROWS.astype(str)}, "values has to be an array of numbers"),
        ({"feature_names": ("ax",)}, "2 columns of values have 1 feature_names"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(host.UserError, match="the stream 'walk': .*" + message):
        replace(GOOD, **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": LABELS + np.uint8(1)}, "the label 2 is none of its 2 classes"),
        ({"values": np.where(ROWS > 9, np.inf, ROWS)}, "an infinite value; NaN says"),
        ({"values": ROWS[:0], "labels": LABELS[:0]}, "has no samples"),
        ({"feature_names": ("ax", "ax")}, "two of its features have the same name"),
        ({"class_names": ("rest", "rest")}, "two of its classes have the same name"),
    ],
)
def test_streams_that_cannot_be_learned_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(host.UserError, match=message):
        run(replace(GOOD, **change))


def test_numpys_numbers_are_accepted() -> None:
    a, b = (
        host.simulate(GOOD, "shrub", engine="python", window=window, trees=2, step=step)
        for window, step in ((8, 0.5), (np.int64(8), np.float64(0.5)))
    )
    assert a.state_crc32 == b.state_crc32


@pytest.mark.parametrize("option", ["drop", "columns"])
@pytest.mark.parametrize("opener", [host.open_stream, host.open_numbers])
def test_a_text_is_not_a_list_of_columns(
    opener: Callable[..., Any], option: str, tmp_path: Path
) -> None:
    (tmp_path / "walk.csv").write_text(DATA)
    with pytest.raises(TypeError, match=rf"{option}= .* \['ax'\]"):
        opener(tmp_path / "walk.csv", **{option: "ax"})


@pytest.mark.parametrize("option", ["trials", "max_bytes", "jobs"])
def test_a_search_of_no_trials_is_refused(option: str) -> None:
    how: dict[str, Any] = {option: 0}
    with pytest.raises(host.UserError, match=f"{option} .* 1 or more, not 0"):
        host.tune(GOOD, "rpi_pico", **how)


def _river(path: Path) -> None:
    model = river_adapter.ShrubClassifier(engine="python", trees=2)
    model.learn_one({"ax": 1}, 0)
    model.save(path)


SAVES: dict[str, Callable[[Path], None]] = {
    "save_model": lambda path: host.save_model(GOOD, run(), path),
    "river": _river,
    "scikit-learn": lambda path: (
        sklearn_adapter.ShrubClassifier(engine="python", trees=2).fit(ROWS, LABELS).save(path)
    ),
    "regressor": lambda path: (
        sklearn_adapter.LinearRegression(engine="python").fit(ROWS, ROWS[:, 0]).save(path)
    ),
}


@pytest.mark.parametrize("save", SAVES.values(), ids=SAVES)
def test_a_model_overwrites_only_models_and_empty_files(
    save: Callable[[Path], None], tmp_path: Path
) -> None:
    data, model, empty = tmp_path / "walk.csv", tmp_path / "m.mshrub", tmp_path / "empty"
    data.write_text(DATA)
    empty.touch()
    with pytest.raises(host.UserError, match=r"walk\.csv is no model"):
        save(data)
    assert data.read_text() == DATA
    for path in (model, model, empty):
        save(path)
        assert host.load_model(path).learner.features


def test_a_saved_thicket_has_done_its_work(tmp_path: Path) -> None:
    path = tmp_path / "m.mshrub"
    outcome = host.simulate(GOOD, "thicket", bytes=4096)
    host.save_model(GOOD, outcome, path)
    saved = host.load_model(path).learner
    assert saved.save() == outcome.states.learner
    assert not saved.idle()


def test_a_run_is_saved_only_with_its_own_stream(tmp_path: Path) -> None:
    wider = replace(GOOD, values=np.c_[ROWS, ROWS[:, 0]], feature_names=("ax", "ay", "az"))
    more = replace(GOOD, class_names=("rest", "walk", "run"))
    (tmp_path / "numbers.csv").write_text("ax,ay\n" + "".join(f"{a},{b}\n" for a, b in ROWS))
    numbers = host.open_numbers(tmp_path / "numbers.csv")
    forecast = host.simulate(numbers, "linear", engine="python")
    outcome = run()
    path = tmp_path / "m.mshrub"
    for stream, result in (
        (wider, outcome),
        (more, outcome),
        (replace(GOOD, name="other"), outcome),
        (numbers, outcome),
        (GOOD, forecast),
    ):
        with pytest.raises(host.UserError, match=r"save_model\(\) takes .* simulate"):
            host.save_model(stream, result, path)
        assert not path.exists()
    host.save_model(numbers, forecast, path)


@pytest.mark.long
def test_a_script_without_a_main_guard_gets_a_message(tmp_path: Path) -> None:
    (tmp_path / "walk.csv").write_text(DATA)
    script = tmp_path / "neighbours.py"
    script.write_text(
        "from microshrub_host import open_stream, tune\n"
        f"tune(open_stream({str(tmp_path / 'walk.csv')!r}), 'rpi_pico', trials=1)\n"
    )
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert 'below `if __name__ == "__main__":`' in ran.stderr.splitlines()[-1]
