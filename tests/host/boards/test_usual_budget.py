"""A budget is computed once: the next run with the same model and stream gets it
from the cache.
"""

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
    """The deployments whose budgets are computed; the cache is empty at first."""
    results: list[Any] = []
    real = program_budget.planned_budget

    def planned(*asked: Any) -> Any:
        results.append(asked)
        return real(*asked)

    monkeypatch.setattr(program_budget, "planned_budget", planned)
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path))
    return results


class CustomAnomaly(Anomaly):
    """A user's companion, whose source may change at any time."""


def test_a_budget_is_computed_once(plans: list[Any], tmp_path: Path) -> None:
    first = usual_budget(THICKET)
    assert usual_budget(THICKET) == first
    assert len(plans) == 1
    (file,) = (tmp_path / "budget").iterdir()
    file.write_bytes(file.read_bytes()[:-9])  # as after a power cut
    assert usual_budget(THICKET) == first
    assert len(plans) == 2


@pytest.mark.parametrize("companions", [(), (Anomaly(often=0.1),), (CustomAnomaly(often=0.1),)])
def test_the_cache_returns_the_computed_budget(plans: list[Any], companions: Companions) -> None:
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


def test_another_board_model_or_name_is_computed_again(plans: list[Any]) -> None:
    usual_budget(THICKET)
    usual_budget(replace(THICKET, board=PICO_2))
    usual_budget(replace(THICKET, parameters={**THICKET.parameters, "bytes": 9216}))
    usual_budget(replace(THICKET, names=(tuple("abcde"), ("one", "two", "three"))))
    assert len(plans) == 4


def test_a_refusal_is_not_cached(plans: list[Any]) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="classes"):
            usual_budget(replace(THICKET, parameters={**THICKET.parameters, "classes": 999}))
    assert len(plans) == 2
