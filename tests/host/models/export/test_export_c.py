"""`microshrub export --format c`: the header learns like the model, bit for bit."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from array import array
from pathlib import Path

import numpy as np
import pytest
from export_support import MODELS, export, rows, save_model, stream

from microshrub_host.models import model_files

SAMPLES = 1200
OTHERS = {
    "thicket": ("thicket", {"bytes": 20000}),
    "softmax": ("softmax", {}),
    "nearest": ("nearest", {}),
    "grove": ("grove", {}),
}
LEARNERS = {
    name: MODELS[name] for name in ("bayes", "boosted", "either", "efdt", "linked", "wide")
} | OTHERS
_MAIN = """
#include "model.h"
#include <stdio.h>
int main(void)
{
    int32_t raw[MICROSHRUB_FEATURES + 1], out[3];
    uint32_t crc;
    while (fread(raw, sizeof raw, 1, stdin) == 1) {
        out[0] = microshrub_predict(raw);
        out[1] = microshrub_votes[0];
        out[2] = microshrub_learn(raw, raw[MICROSHRUB_FEATURES]);
        fwrite(out, sizeof out, 1, stdout);
    }
    crc = microshrub_crc32();
    fwrite(&crc, sizeof crc, 1, stdout);
    return microshrub_learn(raw, MICROSHRUB_CLASSES) == -1 ? 0 : 1;
}
"""
_STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
_CHECKED = ("-fsanitize=undefined", "-fno-sanitize=shift", "-fno-sanitize-recover")
LANGUAGES = {
    "C99": ("gcc", "-std=c99", "-pedantic", "-O2"),
    "C++": ("g++", "-x", "c++", "-std=c++11", "-O1"),
    "checked": ("gcc", "-std=c99", "-O1", *_CHECKED),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        name: save_model(folder / f"{name}.mshrub", stream(), *model)
        for name, model in LEARNERS.items()
    }


def samples() -> tuple[np.ndarray, np.ndarray]:
    raw = rows(SAMPLES)
    labels = (raw[:, 0] > 0).astype(np.int32) + (raw[:, 1] > 6000)
    raw[500:] = rows(SAMPLES - 500, far=False)  # a range shrinks, but not with a single class
    labels[500:770] = 0
    return raw, labels


@functools.cache
def learned(file: Path) -> tuple[list[list[int]], int]:
    """Return the model's predictions before it learns each sample, and its final CRC."""
    model = model_files.open_model(file)
    predictions, codes = [], array("H", [0, 0, 0])
    raw, labels = samples()
    for row, label in zip(raw.tolist(), labels.tolist(), strict=True):
        model.quantizer.code(array("i", row), codes)
        predicted = model.learner.predict(codes)
        vote = model.learner.votes[0]
        model.quantizer.encode(array("i", row), codes)
        predictions.append([predicted, vote, model.learner.learn(codes, label)])
    return predictions, model.learner.state_crc32() & 0xFFFFFFFF


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", LEARNERS)
def test_the_header_learns_like_the_model(
    files: dict[str, Path], name: str, language: str, tmp_path: Path
) -> None:
    compiler, *options = LANGUAGES[language]
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    export(files[name], "c", tmp_path / "model.h")
    (tmp_path / "main.c").write_text(_MAIN, encoding="utf-8")
    program = tmp_path / "program"
    command = [compiler, *options, *_STRICT, "-o", str(program), str(tmp_path / "main.c")]
    subprocess.run(command, check=True)
    raw, labels = samples()
    data = np.column_stack([raw, labels]).astype(np.int32).tobytes()
    done = subprocess.run([program], input=data, capture_output=True, check=True)
    values = np.frombuffer(done.stdout, np.int32)
    predictions, crc = learned(files[name])
    assert values[:-1].reshape(-1, 3).tolist() == predictions
    assert values[-1:].view(np.uint32)[0] == crc


def test_a_file_with_two_models_is_an_error(files: dict[str, Path], tmp_path: Path) -> None:
    """Otherwise the second header would be ignored silently, and the first one's model used."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    export(files["either"], "c", tmp_path / "model.h")
    export(files["thicket"], "c", tmp_path / "other.h")
    program = tmp_path / "main.c"
    command = ["gcc", *LANGUAGES["C99"][1:], "-fsyntax-only", str(program)]
    program.write_text('#include "model.h"\n#include "model.h"\nint main(void) { return 0; }\n')
    subprocess.run(command, check=True)
    program.write_text('#include "model.h"\n#include "other.h"\nint main(void) { return 0; }\n')
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode
    assert "a file of its own" in done.stderr


@pytest.mark.parametrize("name", ["either", "thicket"])
def test_the_header_has_no_floats_and_no_allocation(
    files: dict[str, Path], name: str, tmp_path: Path
) -> None:
    text = export(files[name], "c", tmp_path / "model.h").decode()
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert re.findall(r"#include.*", code) == ["#include <limits.h>", "#include <stdint.h>"]
    assert not re.search(r"\b(float|double|malloc)\b|\d\.\d", code)
    names = set(re.findall(r"^static \w[\w ]*?\**(\w+)[\[(]", code, flags=re.MULTILINE))
    assert {name for name in names if not name.startswith("microshrub_")} == set()
