"""A fitted model is a function of the row: alone, twice, in a batch, on all platforms."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_support import Device, connected
from export_support import export
from program_support import x86
from sklearn import datasets

from microshrub_host.api import river_adapter, sklearn_adapter
from microshrub_host.cli.show import row_codes
from microshrub_host.models import model_files
from microshrub_tools.cli.main import main
from microshrub_tools.link.messages import Prediction, sample
from microshrub_tools.web import learning

ASK_IN_C = """
#include "model.h"
#include <stdio.h>
int main(void)
{
    int32_t raw[MICROSHRUB_FEATURES];
    while (fread(raw, sizeof raw, 1, stdin) == 1)
        putchar(microshrub_predict(raw));
    return 0;
}
"""
ASK_IN_PAGE = """
sys.path.append({0!r})
import json, os
from learning import Learning
os.chdir({0!r})
page = Learning({1!r}, {2!r})
page.model.load(open("learner", "rb").read())
page.quantizer.load(open("quantizer", "rb").read())
predictions = []
with open("rows", "rb") as rows:
    while True:
        row = rows.read(4 * {3})
        if not row:
            break
        with open("row", "wb") as file:
            file.write(row)
        predictions.append(json.loads(page.predict("row"))["predicted"])
print(json.dumps(predictions))
"""
SETS = ("iris", "wine", "breast_cancer", "digits", "blobs")


def set_of(name: str) -> tuple[Any, Any]:
    """Return rows class after class, as a user trains, and their labels."""
    if name == "blobs":
        rows, labels = datasets.make_blobs(600, 6, centers=5, cluster_std=4, random_state=3)
    else:
        rows, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    order = np.argsort(labels, kind="stable")
    return rows[order].round(3), labels[order]


@pytest.fixture(scope="module", params=SETS)
def fitted(request: pytest.FixtureRequest) -> tuple[Any, Any, Any]:
    rows, labels = set_of(request.param)
    aside = np.arange(len(rows)) % 3 == 2
    model = sklearn_adapter.ThicketClassifier(bytes=16384).fit(rows[~aside], labels[~aside])
    return model, rows[aside], labels[aside]


def test_a_row_has_one_prediction_alone_twice_and_in_a_batch(fitted: tuple[Any, Any, Any]) -> None:
    model, rows, labels = fitted
    first = model.predict(rows[-1:])  # right after fit
    predicted = model.predict(rows)
    assert first[0] == predicted[-1]
    assert np.array_equal(predicted, [model.predict(rows[[i]])[0] for i in range(len(rows))])
    order = np.random.default_rng(0).permutation(len(rows))
    assert np.array_equal(model.predict(rows[order]), predicted[order])
    assert np.mean(predicted == labels) > 0.8


def test_the_sets_have_a_thousand_held_out_rows() -> None:
    assert sum(len(set_of(name)[1]) // 3 for name in SETS) >= 1000


@pytest.fixture(scope="module")
def saved(
    fitted: tuple[Any, Any, Any], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Any, list[int]]:
    """The file of the model, raw rows that were not learned, and the estimator's predictions."""
    model, rows, _ = fitted
    path = tmp_path_factory.mktemp("saved") / "a.mshrub"
    model.save(path)
    raw = model_files.open_model(path).file.scale.apply(rows)
    return path, raw, np.searchsorted(model.classes_, model.predict(rows)).tolist()


def test_show_predicts_the_same(
    fitted: tuple[Any, Any, Any],
    saved: tuple[Path, Any, list[int]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, _, wanted = saved
    opened = model_files.open_model(path)
    texts = [",".join(map(str, row)) for row in fitted[1].tolist()]
    assert [opened.learner.predict(row_codes(opened, text)) for text in texts] == wanted
    for i in (0, len(texts) // 2, -1):  # through the command
        assert main(["show", str(path), f"--row={texts[i]}"]) == 0
        assert capsys.readouterr().out.startswith(f"{opened.file.class_names[wanted[i]]} (")


def test_the_c_export_predicts_the_same(
    saved: tuple[Path, Any, list[int]], tmp_path: Path
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    path, raw, wanted = saved
    export(path, "c", tmp_path / "model.h")
    (tmp_path / "main.c").write_text(ASK_IN_C)
    program = tmp_path / "program"
    subprocess.run(["gcc", "-O1", "-o", str(program), str(tmp_path / "main.c")], check=True)
    data = raw.astype(np.int32).tobytes()
    done = subprocess.run([program], input=data * 2, capture_output=True, check=True)
    assert list(done.stdout) == wanted * 2


def test_a_board_predicts_the_same(
    saved: tuple[Path, Any, list[int]], tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    """The program runs as flashed, on the real MicroPython; rows come in another order,
    each twice.
    """
    path, raw, wanted = saved
    x86(tmp_path)
    words = ["build", "--model", str(path), "--board", str(tmp_path / "x86.toml")]
    assert main([*words, "--output", str(tmp_path / "out")]) == 0
    order = [*reversed(range(len(wanted))), *range(len(wanted))]
    with (
        Device(micropython_command, tmp_path / "out", "320k") as device,
        connected(device) as link,
    ):
        answers = [link.ask(sample(raw[i].tolist())) for i in order]
    assert [each.label for each in answers if isinstance(each, Prediction)] == [
        wanted[i] for i in order
    ]


def test_the_page_predicts_the_same(
    saved: tuple[Path, Any, list[int]], tmp_path: Path, run_micropython: Callable[[str], str]
) -> None:
    """The page's own code, on MicroPython for a PC."""
    path, raw, wanted = saved
    file = model_files.open_model(path).file
    (tmp_path / "learning.py").write_bytes(Path(learning.__file__).read_bytes())
    (tmp_path / "rows").write_bytes(raw.astype(np.int32).tobytes())
    (tmp_path / "learner").write_bytes(file.states.learner)
    (tmp_path / "quantizer").write_bytes(file.states.quantizer)
    what = json.dumps(file.parameters)
    output = run_micropython(ASK_IN_PAGE.format(str(tmp_path), file.learner, what, raw.shape[1]))
    assert json.loads(output) == wanted


def test_rivers_model_predicts_the_same_after_learning_alone(fitted: tuple[Any, Any, Any]) -> None:
    _, rows, labels = fitted
    model = river_adapter.ThicketClassifier(bytes=16384, classes=sorted(set(labels.tolist())))
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(dict(enumerate(row)), label)
    order = np.random.default_rng(0).permutation(len(rows))
    predictions = [model.predict_one(dict(enumerate(row))) for row in rows]
    again = [model.predict_one(dict(enumerate(rows[i]))) for i in order]
    assert again == [predictions[i] for i in order]


def test_river_predicts_from_the_first_sample_on() -> None:
    rows, labels = set_of("blobs")
    order = np.random.default_rng(1).permutation(len(rows))
    model = river_adapter.ThicketClassifier(bytes=16384)
    right = 0
    for i in order[:200]:
        row = dict(enumerate(rows[i]))
        right += model.predict_one(row) == labels[i]
        model.learn_one(row, labels[i])
    assert right > 150
