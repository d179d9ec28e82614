"""Saved models of every learner, and samples with the models' predictions."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main

TREE = {"nodes": 31, "grace_period": 40, "split_confidence": 0.01, "tie_threshold": 0.2,
        "adaptive": False, "bins": 16}  # fmt: skip
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "majority": ("hoeffding", TREE | {"leaf": "mc"}),
    "few slots": ("hoeffding", TREE | {"leaf": "mc", "leaves": 2}),
    "one leaf": ("hoeffding", {"depth": 0, "nodes": 1, "leaves": 1, "leaf": "mc"}),
    "boosted": ("hoeffding", TREE | {"leaf": "mc", "boost": True, "lambda_max": 8}),
    "bayes": ("hoeffding", TREE | {"leaf": "nb", "bins": 7, "two_valued": [2]}),
    "one bayes": ("hoeffding", {"depth": 0, "nodes": 1, "leaves": 1, "leaf": "nb"}),
    "either": ("hoeffding", TREE | {"leaf": "nba", "boost": True, "adaptive": True, "depth": 1}),
    "efdt": ("hoeffding", TREE | {"leaf": "nb", "policy": "efdt", "leaves": 9}),
    "by position": ("shrub", {"window": 64, "trees": 4, "depth": 3}),
    "linked": ("shrub", {"window": 32, "trees": 8, "depth": 9, "leaf": "class"}),
    "narrow": ("shrub", {"window": 64, "trees": 4, "depth": 5, "feature_bits": 8}),
    "wide": ("shrub", {"window": 600, "trees": 3, "depth": 10, "train_every": 50}),
    "one shrub": ("shrub", {"window": 64, "trees": 1, "depth": 5, "step": 8}),
}
MODELS |= {f"two classes, {name}": MODELS[name] for name in ("majority", "bayes", "narrow")}
BAYES = tuple(
    name for name in MODELS if name.split(", ")[-1] in ("bayes", "one bayes", "either", "efdt")
)
FEATURES = ("speed, m/s", '$heat$ */ "<b>\\', "/* door")
CLASSES = ("*\\", "run & walk", 'fall "\\')


def stream(heat: int = 50) -> Stream:
    """Return 800 samples; the heat has two decimals, so its raw values are 100 times as large."""
    rng = np.random.default_rng(8)
    values = np.round(rng.normal(size=(800, 3)) * [2, 30, 1] + [0, heat, 0], 2)
    values[:, 2] = rng.random(800) < 0.5
    labels = (values[:, 0] > 0.5).astype(int) + (values[:, 1] > heat + 10)
    labels = np.where(rng.random(800) < 0.1, rng.integers(0, 3, 800), labels)
    return Stream("walk.csv", values, labels.astype(np.uint8), FEATURES, CLASSES)


def save(folder: Path) -> dict[str, Path]:
    """Save a model of each learner; return the files."""
    three, files = stream(), {}
    two = replace(three, labels=three.labels.clip(max=1), class_names=CLASSES[:2])
    for name, (model, parameters) in MODELS.items():
        data = two if name.startswith("two classes") else three
        files[name] = save_model(folder / f"{name}.mshrub", data, model, parameters)
    return files


def save_model(file: Path, data: Stream, model: str, parameters: dict[str, Any]) -> Path:
    """Train a model on the stream, and return its saved file."""
    shape = {"features": 3, "classes": len(data.class_names)}
    result = prequential.evaluate(data, model, shape | parameters)
    model_files.write(file, model_files.of_run(result, data))
    return file


def rows(count: int, far: bool = True) -> np.ndarray:
    """Return raw rows, shape (count, 3); if far, some values are missing or at the limits."""
    rng = np.random.default_rng(3)
    raw = np.rint(rng.normal(size=(count, 3)) * [250, 4000, 1] + [0, 5000, 0.5]).astype(np.int32)
    if far:
        places = rng.random(raw.shape)
        raw[places < 0.1] = (raw[places < 0.1] * 9001.0).clip(-(2**29) + 1, 2**29 - 1)
        raw[places < 0.03] = -(2**29)
        raw[places > 0.99] = 2**31 - 1
    return raw


def predictions_and_votes(file: Path, raw: np.ndarray) -> tuple[list[int], list[list[int]]]:
    """Return the model's predictions and votes for the rows."""
    model = model_files.open_model(file)
    labels, votes, codes = [], [], array("H", [0, 0, 0])
    for row in raw.tolist():
        model.quantizer.code(array("i", row), codes)
        labels.append(model.learner.predict(codes))
        votes.append(list(model.learner.votes))
    return labels, votes


def export(file: Path, format_name: str, target: Path) -> bytes:
    assert main(["export", str(file), "--format", format_name, "-o", str(target)]) == 0
    return target.read_bytes()
