"""`microshrub export --format c-frozen`: the header predicts every sample like the model."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from export_support import MODELS, export, predictions_and_votes, rows, save

_MAIN = """
#include "model.h"
#include <stdio.h>
int main(void)
{
    int32_t raw[MICROSHRUB_FEATURES], out;
    while (fread(raw, sizeof raw, 1, stdin) == 1) {
        out = microshrub_predict(raw);
        fwrite(&out, sizeof out, 1, stdout);
        fwrite(microshrub_votes, sizeof microshrub_votes, 1, stdout);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def compiler() -> str:
    path = shutil.which("gcc") or shutil.which("cc")
    if path is None:
        pytest.skip("there is no C compiler")
    return path


@pytest.mark.parametrize("name", MODELS)
def test_the_header_predicts_like_the_model(
    files: dict[str, Path], compiler: str, name: str, tmp_path: Path
) -> None:
    export(files[name], "c-frozen", tmp_path / "model.h")
    (tmp_path / "main.c").write_text(_MAIN, encoding="utf-8")
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    program = str(tmp_path / "program")
    subprocess.run(
        [compiler, *strict, "-O1", "-ftrapv", "-o", program, str(tmp_path / "main.c")], check=True
    )
    raw = rows(2000)
    done = subprocess.run([program], input=raw.tobytes(), capture_output=True, check=True)
    predictions = np.frombuffer(done.stdout, np.int32).reshape(len(raw), -1)
    labels, votes = predictions_and_votes(files[name], raw)
    assert predictions[:, 0].tolist() == labels
    assert predictions[:, 1:].tolist() == votes
    assert set(labels) == set(range(len(votes[0]))) or name == "one leaf"


@pytest.mark.parametrize("name", ["bayes", "linked"])
def test_the_header_has_no_floats_and_no_libc(
    files: dict[str, Path], name: str, tmp_path: Path
) -> None:
    text = export(files[name], "c-frozen", tmp_path / "model.h").decode()
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert re.findall(r"#include.*", code) == ["#include <stdint.h>"]
    assert not re.search(r"\b(float|double)\b|\d\.\d", code)
    assert "static int microshrub_predict(const int32_t *raw)" in code
