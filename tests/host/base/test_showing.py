"""The progress of long work without a terminal: short work prints nothing."""

from __future__ import annotations

import time

import pytest

from microshrub_host.base.terminal import showing


def test_only_long_work_prints_progress_and_not_at_every_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: seconds)
    with showing("learning") as update:
        for done in range(1, 101):
            seconds += 0.35
            update(done, 100, "well")
    assert capsys.readouterr().err.splitlines() == [
        "learning: 29 % well", "learning: 58 % well", "learning: 87 % well",
    ]  # fmt: skip
    with showing("learning") as update:
        update(100, 100)
    assert not capsys.readouterr().err
