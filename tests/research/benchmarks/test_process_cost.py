"""The cost of a process of simulate: real processes, measured from outside."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.library import c_kernels
from microshrub_host.streams.open_stream import open_stream
from microshrub_research.benchmarks import process_cost
from microshrub_research.cli.benchmark_streams import numbers_of


def test_files_have_the_rows_and_columns_of_the_pages_text(tmp_path: Path) -> None:
    process_cost.write_file(tmp_path / "rows.csv", 700)
    stream = open_stream(str(tmp_path / "rows.csv"))
    assert stream.values.shape == (700, process_cost.FEATURES)
    assert stream.class_names == ("0", "1")
    assert set(stream.scale.digits) == {5}


@pytest.mark.long
@pytest.mark.skipif(not c_kernels.works(), reason="no C compiler")
def test_a_cold_process_takes_longer_than_a_warm_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_cost, "engines", lambda: ["c"])
    data = tmp_path / "rows.csv"
    process_cost.write_file(data, 2000)
    messages: list[str] = []
    cold, warm = process_cost.measure(data, tmp_path, 1, cold=True, progress=messages.append)
    assert (cold.cold, warm.cold) == (True, False)
    assert cold.seconds > warm.seconds > 0  # processor time, with the compiler's
    assert cold.learning > 0 < warm.learning
    assert messages == ["rows.csv, c, cold", "rows.csv, c, warm"]
    (target,) = process_cost.measure(data, tmp_path, 1, numbers=True, progress=messages.append)
    assert messages[2:] == ["rows.csv --target x0, c, warm"]
    assert (target.data, target.cold) == ("rows.csv --target x0", False)
    if sys.platform == "linux":
        assert 20 < (warm.megabytes or 0) < 1000
    assert "| rows.csv | c | cold |" in process_cost.page([cold, warm], 1, "command")


def test_rows_must_be_whole_numbers() -> None:
    assert numbers_of("--rows", "1000, 20") == [1000, 20]
    with pytest.raises(UserError, match="--rows has to be"):
        numbers_of("--rows", "1e6")
