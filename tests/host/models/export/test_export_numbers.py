"""`microshrub export` of regression models: the header forecasts like the model."""

from __future__ import annotations

import shutil
import subprocess
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_support import export

from microshrub_host.evaluation.regression import evaluate_numbers
from microshrub_host.models import model_files
from microshrub_host.streams.regression_streams import NumberStream
from microshrub_tools.cli.main import main

COLUMNS = ("speed", "heat */ °C", "door")
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
C99 = ("gcc", "-std=c99", "-pedantic", "-O2")
CPP = ("g++", "-x", "c++", "-std=c++11", "-O1")
CHECKED = (*C99, "-fsanitize=undefined", "-fno-sanitize=shift", "-fno-sanitize-recover")
# learner, its options, horizon, lags, interval, compiler
MODELS: dict[str, tuple[dict[str, Any], int, int, float | None, tuple[str, ...]]] = {
    "linear-regressor": ({}, 0, 0, None, CPP),
    "hoeffding-regressor": ({"grace_period": 20}, 0, 0, 80, C99),
    "shrub-regressor": ({"trees": 6, "window": 64, "every": 16}, 3, 2, 90, C99),
    "thicket-regressor": ({"bytes": 4096, "late": 4}, 5, 1, 90, CHECKED),
}
MAIN = """
#include "model.h"
#include <stdio.h>
int main(void)
{
    int32_t raw[MICROSHRUB_COLUMNS], out[2];
    uint32_t crc;
    while (fread(raw, sizeof raw, 1, stdin) == 1) {
        out[0] = microshrub_take(raw);
        out[1] = microshrub_half;
        fwrite(out, sizeof out, 1, stdout);
    }
    crc = microshrub_crc32();
    fwrite(&crc, sizeof crc, 1, stdout);
    return 0;
}
"""


def stream() -> NumberStream:
    """Return 800 rows; the heat follows the speed, and the door."""
    rng = np.random.default_rng(4)
    speed = np.round(np.cumsum(rng.normal(size=800)), 1)
    door = (rng.random(800) < 0.3).astype(float)
    heat = np.round(20 + 0.5 * speed + 3 * door + rng.normal(size=800) * 0.2, 2)
    return NumberStream("heat.csv", np.column_stack([speed, heat, door]), COLUMNS, 1, 0, 0)


def save(folder: Path, model: str) -> Path:
    options, horizon, lags, interval, _ = MODELS[model]
    data = replace(stream(), horizon=horizon, lags=lags)
    parameters = {"features": data.features} | options
    result = evaluate_numbers(data, model, parameters, warmup=100, interval=interval)
    path = folder / "model.mshrub"
    model_files.write(path, model_files.of_run(result, data))
    return path


def rows() -> np.ndarray:
    """Return 900 raw rows in another order, with missing and extreme values."""
    rng = np.random.default_rng(9)
    raw = stream().raw_rows()[:900]
    raw = np.concatenate([raw[::-1], raw[:100]]).astype(np.int32)
    places = rng.random(raw.shape)
    raw[places < 0.05] = -(2**29)
    raw[places > 0.99] = rng.integers(-(2**29) + 1, 2**29, int((places > 0.99).sum()))
    return raw


def taken(path: Path) -> tuple[list[list[int]], int]:
    """Return the Forecaster's prediction and interval for each row, and the final CRC."""
    model = model_files.open_model(path)
    predictions = [
        [model.forecaster.take(array("i", row)), model.forecaster.half] for row in rows().tolist()
    ]
    return predictions, model.learner.state_crc32() & 0xFFFFFFFF


@pytest.mark.parametrize("model", MODELS)
def test_the_header_forecasts_and_learns_like_the_model(model: str, tmp_path: Path) -> None:
    compiler, *options = MODELS[model][-1]
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    path = save(tmp_path, model)
    export(path, "c", tmp_path / "model.h")
    (tmp_path / "main.c").write_text(MAIN, encoding="utf-8")
    command = [compiler, *options, *STRICT, "-o", str(tmp_path / "run"), str(tmp_path / "main.c")]
    subprocess.run(command, check=True)
    done = subprocess.run(
        [tmp_path / "run"], input=rows().tobytes(), capture_output=True, check=True
    )
    values = np.frombuffer(done.stdout, np.int32)
    predictions, crc = taken(path)
    assert values[:-1].reshape(-1, 2).tolist() == predictions
    assert values[-1:].view(np.uint32)[0] == crc


def test_other_formats_refuse_models_that_they_cannot_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree, line = (save(tmp_path / name, name) for name in _made(tmp_path))
    graph = export(tree, "graphviz", tmp_path / "tree.dot").decode()
    assert "HoeffdingRegressor of heat.csv" in graph
    assert "speed" in graph
    for path, format_name, why in (
        (tree, "c-frozen", "HoeffdingRegressor predicts numbers, and c-frozen is for classes"),
        (tree, "onnx", "and onnx is for classes; write --format c"),
        (line, "graphviz", "LinearRegressor cannot be exported: that needs trees"),
    ):
        words = ["export", str(path), "--format", format_name, "-o", str(tmp_path / "not.there")]
        assert main(words) == 2
        assert why in capsys.readouterr().err


def _made(folder: Path) -> tuple[str, str]:
    names = ("hoeffding-regressor", "linear-regressor")
    for name in names:
        (folder / name).mkdir()
    return names
