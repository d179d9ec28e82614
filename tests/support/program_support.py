"""Programs for boards, with several models, for the tests of build and flash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests_support import ROOT, make_blobs

from microshrub_host.boards import board_files
from microshrub_host.boards.program import Program
from microshrub_host.library.learners import defaults, number_parameters
from microshrub_host.streams.regression_streams import NumberStream
from microshrub_host.streams.stream import Stream
from microshrub_tools.board import program_config

PROGRAM_FIELDS: dict[str, Any] = {
    "sensor": {"kind": "serial"},
    "pending": 8,
    "checkpoint": None,
    "alarm": None,
    "label_pin": None,
    "watchdog": 0,
    "text": False,
}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "shrub": ("shrub", {"window": 16, "trees": 4, "depth": 3, "step": 1.0}),
    "wide": ("shrub", {"window": 300, "trees": 2, "depth": 9, "step": 1.0, "feature_bits": 8}),
    "tree": (
        "hoeffding",
        {"leaves": 16, "grace_period": 10, "tie_threshold": 0.9, "adaptive": False},
    ),
    "adaptive": ("hoeffding", {"grace_period": 10, "tie_threshold": 0.9, "adaptive": True}),
    "boosted": ("hoeffding", {"grace_period": 10, "tie_threshold": 0.9, "boost": True}),
}


def blobs(samples: int = 400) -> Stream:
    rows, labels = make_blobs(samples)
    return Stream("blobs", rows.astype(np.float64), labels, ("a", "b"), ("no", "yes"))


def program(name: str = "shrub", **fields: Any) -> Program:
    model, options = MODELS[name]
    parameters = {"features": 2, "classes": 2, **options}
    return program_config.of_stream(blobs(), model, parameters, 256, PROGRAM_FIELDS | fields)


def number_program(model: str, horizon: int, interval: float | None, **fields: Any) -> Program:
    """Return a program that predicts the second column of the blobs."""
    columns = blobs().values
    stream = NumberStream("blobs", columns, ("a", "b"), 1, horizon, 3 * (horizon > 0))
    shape = number_parameters(model, stream.features, stream.late)
    options = {"thicket-regressor": {"bytes": 6000}}.get(model, {})
    return program_config.of_numbers(
        stream, model, defaults(model) | options | shape, 256,
        stream.forecaster(None, interval), PROGRAM_FIELDS | fields,
    )  # fmt: skip


def x86(folder: Path) -> board_files.Board:
    """Return the PC's own 32-bit MicroPython as a board."""
    text = (ROOT / "boards" / "rpi_pico2.toml").read_text()
    path = folder / "x86.toml"
    path.write_text(text.replace("armv7emsp", "x86"))
    return board_files.load(path)
