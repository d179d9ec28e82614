"""The options of companions as classes."""

from __future__ import annotations

from typing import Any

import pytest

from microshrub_host import (
    Anomaly,
    LabelBudget,
    SpareClasses,
    UserError,
    budget,
    open_stream,
    parity,
    simulate,
)

SHRUB: dict[str, Any] = {"window": 8, "trees": 2, "depth": 2}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Anomaly(0), "0 is not a share above 0 and at most 1"),
        (lambda: Anomaly(2), "2 is not a share"),
        (lambda: Anomaly(0.1, reach=33), r"reach .* 1\.\.32"),
        (lambda: LabelBudget(1.5), "share has to be 0 to 1"),
        (lambda: LabelBudget(delay=-1), r"has to be 0\.\.32,767 samples"),
        (lambda: LabelBudget(unanswered=-0.1), "unanswered has to be 0 to 1"),
        (lambda: SpareClasses(0), "the number of them has to be"),
    ],
)
def test_impossible_options_are_refused_at_once(make: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make()


def test_all_companions_work_together_in_any_order() -> None:
    stream = open_stream("synth:sea_a", limit=600)
    companions = [LabelBudget(0.5), SpareClasses(1, window=32), Anomaly(0.01, window=64)]
    run = simulate(stream, "nearest", companions=companions, window=32)
    assert list(run.companions) == ["anomaly", "spare_classes", "label_budget"]
    assert run.anomaly
    assert run.spare
    assert run.label_budget
    assert run.unseen is None  # spare classes need labels
    names = ("python", "c", "micropython")
    assert parity(stream, "nearest", engine_names=names, companions=companions, window=32) is None
    ram_budget = budget(
        "nearest", "rpi_pico", features=3, classes=2, companions=companions, window=32
    )
    owners = [part.owner for part in ram_budget.buffers]
    assert list(dict.fromkeys(owners))[-3:] == ["anomaly", "spare classes", "queries"]
