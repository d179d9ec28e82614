"""Commands accept several files, folders and wide files as DATA."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from microshrub_host.base.errors import DataError
from microshrub_host.streams.open_stream import open_stream
from microshrub_tools.cli.main import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two classes in two files each."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    for name, middle in (("fist_1", 60), ("fist_2", 60), ("rest_1", 0), ("rest_2", 0)):
        rows = [f"{draw.gauss(middle, 9):.0f},{draw.gauss(0, 9):.0f}\n" for _ in range(60)]
        (tmp_path / f"{name}.csv").write_text("ax,ay\n" + "".join(rows))
    return tmp_path


def test_simulate_holds_out_whole_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{name}.csv" for name in ("fist_1", "rest_1", "fist_2", "rest_2")]
    assert main(["simulate", *names, "--json", "out.json"]) == 0
    result = json.loads(Path("out.json").read_text())
    assert result["samples"] == 240
    assert "whole files" in capsys.readouterr().out
    assert result["accuracy_on_unseen_data"] > 90


def test_wide_rows_are_windows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in list(folder.glob("*.csv")):
        cells = path.read_text().split()[1:]
        wide = [",".join(cells[at : at + 10]) for at in range(0, 60, 10)]
        path.write_text("\n".join(wide) + "\n")
    words = ["--wide", "axes=2", "--warmup", "0", "--json", "-"]
    assert main(["simulate", ".", *words]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["samples"] == 24  # one per row
    assert result["extraction"]["options"]["window"] == 10


def test_a_single_class_gets_advice(folder: Path) -> None:
    with pytest.raises(DataError, match=r"class is fist_1.*simulate FILE FILE"):
        open_stream("fist_1.csv", label_from="file")


def test_label_from_is_only_for_classes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", ".", "--label-from", "name", "--target", "ay"]) == 2
    assert "--label-from" in capsys.readouterr().err
