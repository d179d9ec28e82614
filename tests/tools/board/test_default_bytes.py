"""The size of a model that nobody has chosen: what the board has beside the program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from microshrub_host.boards import board_files
from microshrub_host.boards.default_bytes import bytes_for
from microshrub_host.library.learners import defaults
from microshrub_tools.cli.main import main

SOURCE = ["synth:rbf_m", "--warmup", "64", "--limit", "300", "--board", "rpi_pico"]


def chosen(folder: Path, *options: str) -> int:
    assert main(["build", *SOURCE, "--output", str(folder), *options]) == 0
    return int(json.loads((folder / "config.json").read_text())["parameters"]["bytes"])


def test_a_native_module_leaves_room_for_a_larger_model(
    tmp_path: Path,
    native_tools_for: Callable[[str], object],
    capsys: pytest.CaptureFixture[str],
) -> None:
    native_tools_for("armv6m")
    plain, native = chosen(tmp_path / "plain"), chosen(tmp_path / "native", "--native")
    assert plain == 28_672
    assert native == 65_536
    assert "It fits" in capsys.readouterr().out


def test_on_a_small_board_it_is_not_the_user_who_gets_that_room(
    native_tools_for: Callable[[str], object],
) -> None:
    """Where no model of some size leaves 20 KB to the user's own code, none does."""
    board = board_files.load("esp32c3")
    native_tools_for(board.arch)
    shape = {"features": 14, "classes": 2, **defaults("thicket")}
    assert bytes_for(shape, board, "Thicket") < bytes_for(shape, board, "Thicket", native=True)
