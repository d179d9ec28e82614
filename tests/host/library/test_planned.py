"""A plan of the device library: a board's objects, without the bytes of their buffers."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from microshrub_host.boards.heap_sizes import heap_bytes
from microshrub_host.library import loader
from microshrub_host.library.planned import Outside, Unmade

LEARNERS: dict[str, dict[str, Any]] = {
    "ShrubEnsemble": {"window": 16, "trees": 4, "depth": 3},
    "HoeffdingTree": {"nodes": 31, "leaves": 8},
    "Thicket": {"bytes": 12000},
    "NearestNeighbours": {"window": 32},
}


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_plan_counts_as_many_bytes_as_its_learner(learner: str) -> None:
    shape = {"features": 6, "classes": 3, **LEARNERS[learner]}
    plan, made = (getattr(loader.load(name), learner)(**shape) for name in ("plan", "python"))
    assert heap_bytes(plan) == heap_bytes(made)
    assert plan.configuration() == made.configuration()
    assert [row[:2] for row in plan.buffers()] == [row[:2] for row in made.buffers()]
    assert [len(row[2]) for row in plan.buffers()] == [len(row[2]) for row in made.buffers()]
    assert all(isinstance(row[2], Unmade) for row in plan.buffers())


@pytest.mark.parametrize(
    ("class_name", "options"),
    [
        ("AnomalyScore", {"features": 6, "period": 100}),
        ("NoveltyDetector", {"features": 6, "classes": 7}),
        ("DriftAlarm", {"detector": "adwin"}),
        ("GrowingQuantizer", {"features": 6}),
        ("Pending", {"features": 6, "classes": 3}),
    ],
)
def test_a_plan_of_a_companion_counts_as_many_bytes(
    class_name: str, options: dict[str, Any]
) -> None:
    plan, made = (getattr(loader.load(name), class_name)(**options) for name in ("plan", "python"))
    assert heap_bytes(plan) == heap_bytes(made)


def test_a_plan_has_all_names_of_a_boards_hardware() -> None:
    """Otherwise, `build` would end in a traceback for some options: a NeoPixel, an interrupt."""
    name = loader.load("python").__name__
    board = importlib.import_module(f"{name}.device.hardware").Hardware
    missing = [each for each in vars(board) if each[0] != "_" and not hasattr(Outside, each)]
    assert not missing


def test_a_plan_of_a_huge_learner_allocates_no_buffers() -> None:
    most = {"features": 256, "classes": 256, "window": 1024, "trees": 255, "depth": 8}
    plan = loader.load("plan").ShrubEnsemble(**most)
    assert heap_bytes(plan) > plan.table_bytes() > 18_000_000
