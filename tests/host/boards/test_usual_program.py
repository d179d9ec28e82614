"""The program that a budget is made of is one that a board would take, whatever is asked for."""

from __future__ import annotations

import dataclasses
import gc
from typing import Any

import pytest

from microshrub_host.beside.anomaly import Anomaly
from microshrub_host.beside.between import Forecast, between
from microshrub_host.beside.companion import Beside, around
from microshrub_host.boards import board_files
from microshrub_host.boards.default_bytes import bytes_for
from microshrub_host.boards.program import usual_program
from microshrub_host.boards.program_heap import program_parts
from microshrub_host.boards.usual_budget import usual_budget
from microshrub_host.features.feature_options import FeatureOptions
from microshrub_host.library.learners import MODELS, REGRESSORS, defaults, kind_of

PICO = board_files.load("rpi_pico")
FEATURES = FeatureOptions.of(("window=32", "bands=1-9"))
SENSOR = between(FEATURES.extraction(("x", "y"), 50))


def taken(model: str, beside: Beside = (), **shape: Any) -> bool:
    """Whether the board takes it: what it refuses raises ValueError here."""
    parameters = around({**defaults(model), **shape}, beside)
    program = usual_program(kind_of(model), parameters, beside)
    return bool(program_parts(program.files()["config.json"], PICO.arch, ()))


@pytest.mark.parametrize("model", [*MODELS, *REGRESSORS])
@pytest.mark.parametrize("beside", [(), SENSOR])
def test_any_learner_with_any_sensor(model: str, beside: Beside) -> None:
    shape = {"features": 5} if model in REGRESSORS else {"features": 5, "classes": 3}
    assert taken(model, beside, **shape)


@pytest.mark.parametrize("late", [0, 1, 9])
@pytest.mark.parametrize("beside", [(), SENSOR])
def test_a_target_that_comes_late(late: int, beside: Beside) -> None:
    assert taken("thicket-regressor", beside, features=5, late=late)


def test_a_known_range_of_the_target() -> None:
    known = {"columns": 5, "column": 4, "ends": (0, 100), "horizon": 6, "lags": 3, "interval": 90}
    assert taken("thicket-regressor", [Forecast(known)], features=7, late=5)


def test_making_it_looks_for_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board does, to have room; a look at all objects of a PC takes longer than the rest."""

    def looked(*_: object) -> int:
        raise AssertionError("a plan has looked for garbage")

    monkeypatch.setattr(gc, "collect", looked)
    assert taken("thicket", SENSOR, features=5, classes=3)


def test_the_sensor_decides_how_many_features_there_are() -> None:
    parameters = {**defaults("thicket"), "features": 1, "classes": 3, "bytes": 8192}
    program = usual_program("Thicket", parameters, [*SENSOR, Anomaly(often=0.01)])
    assert program.parameters["features"] == len(FEATURES.names(("x", "y")))
    assert len(program.feature_names) == program.parameters["features"]


@pytest.mark.parametrize(
    ("model", "shape"), [("thicket", {"classes": 3}), ("thicket-regressor", {"late": 4})]
)
def test_a_larger_heap_is_for_the_learner_by_the_kilobyte(
    model: str, shape: dict[str, int]
) -> None:
    board = board_files.load("esp32")
    larger = dataclasses.replace(board, heap_free_bytes=board.heap_free_bytes + 1100)
    parameters = {**defaults(model), "features": 6, **shape}
    size, more = (bytes_for(parameters, each, kind_of(model)) for each in (board, larger))
    assert more - size in (1024, 2048)
    assert usual_budget({**parameters, "bytes": more}, larger, kind_of(model)).fits
