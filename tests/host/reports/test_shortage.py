"""The messages for a model that does not fit a board, from the fields of its shortage."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from microshrub_host.boards import board_files, ram_budget
from microshrub_host.reports import result_tables

PICO = board_files.load("rpi_pico")
PARAMETERS: dict[str, Any] = {"features": 1, "classes": 20, "window": 1024, "depth": 10}
WHOLE = ram_budget.budget(PARAMETERS, PICO, "ShrubEnsemble")


@pytest.mark.parametrize(
    ("free", "piece", "message"),
    [
        (
            WHOLE.ram_bytes - 1,
            1 << 20,
            f"It takes {WHOLE.peak_bytes:,} bytes of RAM while it is being made, and",
        ),
        (WHOLE.ram_bytes, 1 << 20, "bytes of RAM while it is being made, and Tight has"),
        (WHOLE.peak_bytes, 99, "It has a buffer, shrubs.leaves, of"),
    ],
)
def test_the_message_names_the_resource_that_is_short(free: int, piece: int, message: str) -> None:
    board = dataclasses.replace(
        PICO, name="Tight", heap_free_bytes=free, largest_block_bytes=piece
    )
    sentence = result_tables.shortage("It", ram_budget.budget(PARAMETERS, board, "ShrubEnsemble"))
    assert message in sentence
    assert f"{min(free, piece):,}" in sentence


def test_machine_code_is_checked_where_it_is_not_on_the_heap() -> None:
    board = dataclasses.replace(board_files.load("esp32"), name="Tight")
    whole = ram_budget.budget({"features": 1, "classes": 2}, board, "ShrubEnsemble")
    code = whole.machine_code_bytes
    assert 20_000 < code < 32_000
    assert result_tables.fitting(whole).endswith("left for your program.")
    tight = dataclasses.replace(board, executable_bytes=code - 1)
    budget = ram_budget.budget({"features": 1, "classes": 2}, tight, "ShrubEnsemble")
    assert budget.fits
    assert not budget.code_fits
    text = result_tables.fitting(budget)
    assert f"{code:,} bytes of executable RAM" in text
    assert "Tight has" in text
    assert "--emit bytecode" in text
    assert "--freeze" in text


def test_machine_code_on_the_heap_is_counted_once() -> None:
    assert WHOLE.machine_code_bytes == 0
    assert WHOLE.code_fits
