"""The RAM of one program, as three commands print it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microshrub_host.boards import board_files
from microshrub_tools.cli.main import main

STREAM = ["synth:rbf_m", "--limit", "300"]  # ten features and four classes
SHAPE = ["--features", "10", "--classes", "5"]
SMALL = ["--model", "shrub", "--window", "16", "--trees", "4"]


def left(text: str) -> int:
    """Return the bytes left for the user's own program, as a command prints them."""
    match = re.search(r"It fits: ([\d,]+) bytes are left|for your program +│ ([\d,]+)", text)
    assert match, text
    return int((match[1] or match[2]).replace(",", ""))


def check_same(options: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`simulate` and `build` print the same for a Pico; `budget`, without data, within 1 %."""
    taken = []
    for words in (
        ["budget", *SHAPE],
        ["simulate", *STREAM],
        ["build", *STREAM, "--output", str(folder)],
    ):
        assert main([*words, "--board", "rpi_pico", *options]) == 0
        free = board_files.load("rpi_pico").heap_free_bytes
        taken.append(free - left(capsys.readouterr().out))
    budget, simulate, build = taken
    assert budget == pytest.approx(build, rel=0.01)
    assert simulate == build
