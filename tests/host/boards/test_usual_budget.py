"""A budget is planned once: the next run with the same model and stream has it from the cache."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from microshrub_host.boards import board_files, program_budget
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.usual_budget import usual_budget
from microshrub_host.simulation.anomaly import Anomaly
from microshrub_host.simulation.companion import Companions

PICO, PICO_2 = board_files.load("rpi_pico"), board_files.load("rpi_pico2")
THICKET = Deployment({"features": 5, "classes": 3, "bytes": 8192}, PICO, "Thicket")


@pytest.fixture
def plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is planned; the budgets that are kept at first are none."""
    results: list[Any] = []
    real = program_budget.planned_budget

    def planned(*asked: Any) -> Any:
        results.append(asked)
        return real(*asked)

    monkeypatch.setattr(program_budget, "planned_budget", planned)
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path))
    return results


class CustomAnomaly(Anomaly):
    """A companion of somebody's own, whose source may be another one tomorrow."""


def test_it_is_planned_once(plans: list[Any], tmp_path: Path) -> None:
    first = usual_budget(THICKET)
    assert usual_budget(THICKET) == first
    assert len(plans) == 1
    (file,) = (tmp_path / "budget").iterdir()
    file.write_bytes(file.read_bytes()[:-9])  # as a power cut leaves it
    assert usual_budget(THICKET) == first
    assert len(plans) == 2


@pytest.mark.parametrize("companions", [(), (Anomaly(often=0.1),), (CustomAnomaly(often=0.1),)])
def test_what_is_kept_is_what_was_planned(plans: list[Any], companions: Companions) -> None:
    deployment = replace(
        THICKET,
        companions=companions,
        network=("tcp",),
        fixed_ranges=True,
        names=(tuple("abcde"), ("a", "b", "c")),
    )
    assert usual_budget(deployment) == program_budget.planned_budget(deployment)
    assert usual_budget(deployment) == program_budget.planned_budget(deployment)
    is_custom = any(isinstance(each, CustomAnomaly) for each in companions)
    assert len(plans) == (4 if is_custom else 3)


def test_another_board_model_or_name_is_planned_anew(plans: list[Any]) -> None:
    usual_budget(THICKET)
    usual_budget(replace(THICKET, board=PICO_2))
    usual_budget(replace(THICKET, parameters={**THICKET.parameters, "bytes": 9216}))
    usual_budget(replace(THICKET, names=(tuple("abcde"), ("one", "two", "three"))))
    assert len(plans) == 4


def test_what_is_refused_is_not_kept(plans: list[Any]) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="classes"):
            usual_budget(replace(THICKET, parameters={**THICKET.parameters, "classes": 999}))
    assert len(plans) == 2
