"""The page's default sizes fit the boards."""

from __future__ import annotations

import pytest

from microshrub_host.boards import board_files
from microshrub_host.boards.default_bytes import bytes_for
from microshrub_host.boards.deployment import Deployment
from microshrub_host.library.learners import defaults
from microshrub_tools.web import page_boards

SHAPE = {"features": 9, "classes": 2, **defaults("thicket")}


@pytest.mark.parametrize("name", ["rpi_pico", "rpi_pico_w", "rpi_pico2"])
def test_the_page_takes_no_more_ram_than_simulate(name: str) -> None:
    """If the page's program, which is larger than `build`'s, does not fit, the sizes are equal."""
    board = board_files.load(name)
    on_the_page = page_boards.board_bytes(board, SHAPE)
    usual = bytes_for(Deployment(SHAPE, board, "Thicket"))
    assert on_the_page <= usual
    program = page_boards.page_program("thicket", page_boards.serial_config(board))
    room = board.heap_free_bytes - page_boards.whole_budget(board, program).ram_bytes + 65536
    assert on_the_page <= room or on_the_page == usual


@pytest.mark.parametrize("name", ["esp32", "rpi_pico_w"])
def test_a_phones_model_fits_the_boards_with_least_room(name: str) -> None:
    """The learner has the largest size that the page offers for the board, and at least 16 KB."""
    board = board_files.load(name)
    most = page_boards.board_data(board)["bytes"]
    assert most >= 16384
    config = page_boards.motion_config(board)
    program = page_boards.page_program("thicket", config, bytes=most)
    assert page_boards.whole_budget(board, program).fits
