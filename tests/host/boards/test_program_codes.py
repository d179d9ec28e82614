"""The package's table of the RAM of typical programs equals a fresh count."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from microshrub_host.boards import board_files, program_codes
from microshrub_host.boards.default_bytes import bytes_for, size_plans
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.program_budget import planned_budget
from microshrub_host.boards.program_codes import ProgramCode, table
from microshrub_host.boards.typical_programs import write_table
from microshrub_host.library.learners import defaults

BOARD = "rpi_pico"


def deployment(features: int = 18, classes: int = 3) -> Deployment:
    parameters = {"features": features, "classes": classes} | defaults("thicket")
    return Deployment(parameters, board_files.load(BOARD), "Thicket")


def written(folder: Path) -> Path:
    write_table([BOARD], folder / "table.gz", lambda _: None)
    return folder / "table.gz"


def test_the_table_has_the_counted_sizes_of_any_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path)
    counted = [planned_budget(each, 1) for each in size_plans(deployment())]
    size = bytes_for(deployment())

    def not_again(library: object) -> ProgramCode:
        raise AssertionError("a program in the table is merged again")

    monkeypatch.setattr(program_codes, "PACKAGED", file)
    monkeypatch.setattr(program_codes, "_codes", {})
    monkeypatch.setattr(ProgramCode, "of", not_again)
    assert [planned_budget(each, 1) for each in size_plans(deployment())] == counted
    assert bytes_for(deployment()) == size


def test_a_table_of_other_sources_is_not_used(tmp_path: Path) -> None:
    file = written(tmp_path)
    rows = json.loads(gzip.decompress(file.read_bytes()))
    assert len(table(file)) == len(rows) - 1 > 0
    other = tmp_path / "other.gz"
    other.write_bytes(gzip.compress(json.dumps(rows | {"made with": "another"}).encode()))
    assert table(other) == {}
    assert table(tmp_path / "none.gz") == {}
