"""What is said of a model that does not fit a board, from the fields of its shortage."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from microshrub_host.boards import board_files, ram_budget
from microshrub_host.reports import report

PICO = board_files.load("rpi_pico")
PARAMETERS: dict[str, Any] = {"features": 1, "classes": 20, "window": 1024, "depth": 10}
WHOLE = ram_budget.budget(PARAMETERS, PICO, "ShrubEnsemble")


@pytest.mark.parametrize(
    ("free", "piece", "said"),
    [
        (
            WHOLE.ram_bytes - 1,
            1 << 20,
            f"It takes {WHOLE.ram_bytes:,} bytes of RAM, and",
        ),
        (WHOLE.ram_bytes, 1 << 20, "bytes of RAM while its buffers are made, and Tight has"),
        (WHOLE.peak_bytes, 99, "It has a buffer, shrubs.leaves, of"),
    ],
)
def test_what_is_short_is_said(free: int, piece: int, said: str) -> None:
    board = dataclasses.replace(
        PICO, name="Tight", heap_free_bytes=free, largest_block_bytes=piece
    )
    sentence = report.shortage("It", ram_budget.budget(PARAMETERS, board, "ShrubEnsemble"))
    assert said in sentence
    assert f"{min(free, piece):,}" in sentence
