"""A board accepts the program on which a budget is based, with any options."""

from __future__ import annotations

import dataclasses
import gc
from typing import Any

import pytest

from microshrub_host.boards import board_files
from microshrub_host.boards.default_bytes import bytes_for
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.program import usual_program
from microshrub_host.boards.program_heap import program_parts
from microshrub_host.boards.usual_budget import usual_budget
from microshrub_host.library.learners import MODELS, REGRESSORS, defaults, learner_name
from microshrub_host.simulation.anomaly import Anomaly
from microshrub_host.simulation.companion import Companions, with_companions
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.simulation.pipeline import Forecast, pipeline

PICO = board_files.load("rpi_pico")
FEATURES = FeatureOptions.of(("window=32", "bands=1-9"))
SENSOR = pipeline(FEATURES.extraction(("x", "y"), 50))


def taken(model: str, companions: Companions = (), **shape: Any) -> bool:
    """Return whether the board accepts the program: a refusal raises ValueError here."""
    parameters = with_companions({**defaults(model), **shape}, companions)
    program = usual_program(Deployment(parameters, PICO, learner_name(model), companions))
    return bool(program_parts(program.files()["config.json"], PICO.arch, ()))


@pytest.mark.parametrize("model", [*MODELS, *REGRESSORS])
@pytest.mark.parametrize("companions", [(), SENSOR])
def test_any_learner_works_with_any_sensor(model: str, companions: Companions) -> None:
    shape = {"features": 5} if model in REGRESSORS else {"features": 5, "classes": 3}
    assert taken(model, companions, **shape)


@pytest.mark.parametrize("late", [0, 1, 9])
@pytest.mark.parametrize("companions", [(), SENSOR])
def test_a_target_may_come_late(late: int, companions: Companions) -> None:
    assert taken("thicket-regressor", companions, features=5, late=late)


def test_the_range_of_the_target_may_be_known() -> None:
    known = {"columns": 5, "column": 4, "ends": (0, 100), "horizon": 6, "lags": 3, "interval": 90}
    assert taken("thicket-regressor", [Forecast(known)], features=7, late=5)


def test_making_the_program_collects_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board collects to have room; on a PC, a collection would take longer than the rest."""

    def looked(*_: object) -> int:
        raise AssertionError("a plan has looked for garbage")

    monkeypatch.setattr(gc, "collect", looked)
    assert taken("thicket", SENSOR, features=5, classes=3)


def test_the_sensor_decides_the_number_of_features() -> None:
    parameters = {**defaults("thicket"), "features": 1, "classes": 3, "bytes": 8192}
    program = usual_program(
        Deployment(parameters, PICO, "Thicket", [*SENSOR, Anomaly(often=0.01)])
    )
    assert program.parameters["features"] == len(FEATURES.names(("x", "y")))
    assert len(program.feature_names) == program.parameters["features"]


@pytest.mark.parametrize(
    ("model", "shape"), [("thicket", {"classes": 3}), ("thicket-regressor", {"late": 4})]
)
def test_a_larger_heap_goes_to_the_learner_in_kilobytes(model: str, shape: dict[str, int]) -> None:
    board = dataclasses.replace(board_files.load("esp32"), growth=None)
    larger = dataclasses.replace(board, heap_free_bytes=board.heap_free_bytes + 1200)
    parameters = {**defaults(model), "features": 6, **shape}
    deployment = Deployment(parameters, board, learner_name(model))
    size, more = (
        bytes_for(dataclasses.replace(deployment, board=each)) for each in (board, larger)
    )
    assert more - size in (1024, 2048)
    sized = {**parameters, "bytes": more}
    assert usual_budget(dataclasses.replace(deployment, board=larger, parameters=sized)).fits
