"""On a real 32-bit MicroPython: learning allocates nothing, for every combination of parameters.

One program runs all combinations of a window size. For each one it makes a model, warms it up,
locks the heap (an allocation then raises MemoryError) and predicts, learns and runs until shrubs
have grown; then it runs 10,000 samples without the lock and with the garbage collector off. At
the end the model has to equal the model that the PC computes.
"""

from __future__ import annotations

import json
import subprocess
from array import array
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE

from microshrub_host.library import library_files, loader

FEATURES, CLASSES = 3, 3
ROWS = 500
ROUNDS = 20  # ROWS samples each, without the lock
WARMUP = 10
LAYOUTS = {16: {"linked": 6, "by position": 3}, 300: {"linked": 11, "by position": 4}}  # depths

PROGRAM = """
import gc, json, micropython, sys
from array import array
with open(sys.argv[1]) as file:
    plan = json.load(file)
sys.path.insert(0, plan["library"])
from microshrub import ShrubEnsemble

FEATURES = plan["features"]
codes = array("H", plan["codes"])
labels = bytearray(plan["labels"])
predictions = bytearray(len(labels))
rows = [codes[i * FEATURES : (i + 1) * FEATURES] for i in range(len(labels))]

def learn_each(model, start, stop):
    for i in range(start, stop):
        if model.predict(rows[i]) != model.learn(rows[i], labels[i]):
            raise RuntimeError("learn said something else than predict")

def run_rounds(model, rounds):
    for _ in range(rounds):
        model.run(codes, labels, predictions)

def locked(model):
    micropython.heap_lock()
    try:
        learn_each(model, plan_warmup, len(rows))
        run_rounds(model, 1)
    finally:
        micropython.heap_unlock()

plan_warmup = plan["warmup"]
for parameters in plan["models"]:
    answer = {}
    try:
        model = ShrubEnsemble(FEATURES, plan["classes"], **parameters)
        learn_each(model, 0, plan_warmup)
        locked(model)
        gc.collect()
        gc.disable()
        before = gc.mem_alloc()
        run_rounds(model, plan["rounds"])
        answer["grew"] = gc.mem_alloc() - before
        gc.enable()
        answer["crc"] = model.state_crc32()
    except MemoryError as error:
        answer["error"] = "allocated in spite of the lock"
        sys.print_exception(error, sys.stderr)
    print(json.dumps(answer))
    del model
    gc.collect()
"""


def combinations(window: int) -> list[dict[str, Any]]:
    """Return every combination of the parameters that choose code paths."""
    choices = {
        "depth": list(LAYOUTS[window].values()),
        "loss": ["mse", "cross_entropy"],
        "splitter": ["best", "random"],
        "leaf": ["proba", "class"],
        "trigger": ["sample", "error"],
        "feature_bits": [8, 16],
        "max_features": [0, 2],
    }
    common = {"window": window, "trees": 3, "step": 1.5, "train_every": 100}
    return [common | dict(zip(choices, one, strict=True)) for one in product(*choices.values())]


def stream() -> tuple[array[int], bytearray]:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 65536, (ROWS, FEATURES))
    codes[:, 1] //= 8000
    labels = np.where(
        rng.random(ROWS) < 0.5, codes[:, 0] // 22000, rng.integers(CLASSES, size=ROWS)
    )
    return array("H", codes.ravel().tolist()), bytearray(labels.tolist())


def on_the_pc(parameters: dict[str, Any]) -> Any:
    """Return the PC's model after the same samples; check that the samples are a test."""
    model = loader.load(loader.fastest()).ShrubEnsemble(FEATURES, CLASSES, **parameters)
    codes, labels = stream()
    predictions = bytearray(ROWS)
    words = next(buffer for name, _, buffer in model.buffers() if name == "shrubs.shape")
    depth = LAYOUTS[parameters["window"]]["linked"]
    assert words[4] == (parameters["depth"] == depth)  # the intended layout
    model.run(codes, labels, predictions)
    wrong = np.count_nonzero(np.array(labels) != np.array(predictions))
    assert wrong > parameters["train_every"] + WARMUP  # a shrub grows under the lock
    for _ in range(1 + ROUNDS):
        model.run(codes, labels, predictions)
    return model


@pytest.mark.parametrize(
    "window",
    [pytest.param(w, marks=pytest.mark.long if w == max(LAYOUTS) else ()) for w in LAYOUTS],
)
def test_nothing_is_allocated_and_the_pc_agrees(
    window: int, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    codes, labels = stream()
    models = combinations(window)
    plan = {
        "library": str(library_files.folder().parent),
        "features": FEATURES,
        "classes": CLASSES,
        "codes": list(codes),
        "labels": list(labels),
        "warmup": WARMUP,
        "rounds": ROUNDS,
        "models": models,
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    (tmp_path / "program.py").write_text(PROGRAM)
    arguments = ["-X", "heapsize=1m", str(tmp_path / "program.py"), str(tmp_path / "plan.json")]
    process = subprocess.Popen(
        [*micropython_command, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        expected = [on_the_pc(parameters).state_crc32() for parameters in models]  # in parallel
        output, complaint = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, complaint
    answers = [json.loads(line) for line in output.splitlines()]
    assert len(answers) == len(models)
    for parameters, answer, crc in zip(models, answers, expected, strict=True):
        assert "error" not in answer, (parameters, complaint)
        assert answer["grew"] == 0, parameters
        assert answer["crc"] & 0xFFFFFFFF == crc, parameters
