"""`benchmark ahead`: the page says how to repeat a cell, and a cell equals `simulate`'s output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from microshrub_research.benchmarks import ahead
from microshrub_research.benchmarks.series import series
from microshrub_tools.cli.main import main


def test_a_cell_equals_the_commands_output_with_the_pages_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "COUNT", 900)
    monkeypatch.setattr(ahead, "SEEDS", (11,))
    monkeypatch.setattr(ahead, "ratio", lambda *_: 2.0)
    cell = ahead.measure("transformer", 12, None, tmp_path)
    page = ahead.page([ahead.AheadRow("transformer", (cell,) * len(ahead.HORIZONS))], "a command")
    assert "`--target` with `--lags 3 --warmup 32`" in page
    assert "after the first 300" in page
    file = tmp_path / "again.csv"
    np.savetxt(file, series("transformer", 900, 11), fmt="%.3f", header="value", comments="")
    words = ["--target", "value", "--horizon", "12", "--lags", "3", "--warmup", "32"]
    assert main(["simulate", str(file), *words, "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert cell.thicket == pytest.approx(result["mae"] / result["mae_nochange"])
