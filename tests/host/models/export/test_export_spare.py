"""`microshrub export --format c` of models with spare classes: predicted classes have names."""

from __future__ import annotations

import shutil
import subprocess
from array import array
from pathlib import Path

import numpy as np
import pytest
from export_support import CLASSES, MODELS, export, rows, stream

from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files
from microshrub_host.simulation.spare_classes import SpareClasses

SAMPLES = 600
MAIN = """
#include "model.h"
#include <stdio.h>
int main(void)
{
    int32_t raw[MICROSHRUB_FEATURES + 1], out[3];
    uint32_t crc;
    while (fread(raw, sizeof raw, 1, stdin) == 1) {
        out[0] = microshrub_predict(raw);
        out[1] = microshrub_is_named(2);
        out[2] = microshrub_learn(raw, raw[MICROSHRUB_FEATURES]);
        fwrite(out, sizeof out, 1, stdout);
    }
    crc = microshrub_crc32();
    fwrite(&crc, sizeof crc, 1, stdout);
    return microshrub_learn(raw, MICROSHRUB_CLASSES) == -1 ? 0 : 1;
}
"""


@pytest.mark.parametrize("name", ["either", "narrow"])
def test_the_header_learns_a_class_that_gets_a_name(name: str, tmp_path: Path) -> None:
    """The third class comes half-way: its first label gives it a name."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no gcc")
    data, (model, options) = stream(), MODELS[name]
    spare = SpareClasses(2, (CLASSES[2],), window=16, collect=64).on_stream(data, 256)
    parameters = spare.learner_parameters({"features": 3} | options)
    result = prequential.evaluate(data, model, parameters, companions=[spare])
    path = tmp_path / "model.mshrub"
    model_files.write(path, model_files.of_run(result, data))
    opened = model_files.open_model(path)
    assert opened.file.class_names == (*CLASSES[:2], "spare 1", "spare 2")
    raw = rows(SAMPLES)
    labels = (raw[:, 0] > 0).astype(np.int32)
    late = (raw[:, 1] > 6000) & (np.arange(SAMPLES) >= SAMPLES // 2)
    labels[late] = 2
    predictions, codes, names = [], array("H", [0, 0, 0]), opened.spare.names
    for row, label in zip(raw.tolist(), labels.tolist(), strict=True):
        opened.quantizer.encode(array("i", row), codes)
        predicted, named = opened.spare.predict(codes), int(names.state(2) == 1)
        if names.state(label) != 1:
            assert names.add("fallen") == label
        predictions.append([predicted, named, opened.spare.learn(codes, label)])
    crc = opened.spare.state_crc32() & 0xFFFFFFFF
    assert 2 in {row[0] for row in predictions}

    export(path, "c", tmp_path / "model.h")
    (tmp_path / "main.c").write_text(MAIN, encoding="utf-8")
    command = [compiler, "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1"]
    subprocess.run([*command, "-o", tmp_path / "run", tmp_path / "main.c"], check=True)
    sent = np.column_stack([raw, labels]).astype(np.int32).tobytes()
    done = subprocess.run([tmp_path / "run"], input=sent, capture_output=True, check=True)
    values = np.frombuffer(done.stdout, np.int32)
    assert values[-1:].view(np.uint32)[0] == crc
    assert values[:-1].reshape(-1, 3).tolist() == predictions
