"""Counts over time: a figure that got worse by more than 1 % needs a line with a reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from script_support import run
from tests_support import ROOT

from microshrub_host.base.errors import UserError
from microshrub_host.boards import emulated_boards
from microshrub_research.benchmarks import count_history
from microshrub_research.benchmarks.count_history import CountLine, complaints, read

FILE = ROOT / "docs" / "reference" / "results" / "counts.csv"
SPEED, RIGHT = "instructions learn x", "accuracy x"


def test_slightly_worse_and_better_figures_are_allowed() -> None:
    lines = [CountLine(SPEED, 1000, ""), CountLine(RIGHT, 90.0, "")]
    assert not complaints(lines, {SPEED: 1010, RIGHT: 89.2})
    assert not complaints(lines, {SPEED: 10, RIGHT: 99.0})


def test_worse_figures_are_reported() -> None:
    lines = [CountLine(SPEED, 1000, ""), CountLine(RIGHT, 90.0, "")]
    slow, wrong = complaints(lines, {SPEED: 1011, RIGHT: 89.0})
    assert re.search(r"1,011 .* 1\.1 % .* 1,000", slow)
    assert re.search(r"89 .* 1\.1 % .* 90", wrong)


def test_the_last_line_counts_and_needs_a_reason_if_it_is_worse() -> None:
    lines = [CountLine(SPEED, 1000, ""), CountLine(SPEED, 1200, "bounds are checked")]
    assert not complaints(lines, {SPEED: 1200})
    (complaint,) = complaints([lines[0], CountLine(SPEED, 1200, "")], {SPEED: 1200})
    assert "learn x: 1,200 after 1,000" in complaint


def test_figures_that_only_one_side_has_are_reported() -> None:
    assert complaints([CountLine(SPEED, 1, "")], {RIGHT: 90.0}) == [
        "accuracy x: 90 is not in the file",
        "instructions learn x: is measured no more",
    ]


@pytest.mark.parametrize(
    "text", ["", "name,value\n", "name,value,why\nx,1\n", "name,value,why\nx,y,z\n"]
)
def test_an_unreadable_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "counts.csv").write_text(text)
    with pytest.raises(UserError, match=r"counts\.csv cannot be read"):
        read(tmp_path / "counts.csv")


@pytest.mark.long
def test_no_figure_got_worse_without_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        emulated_boards.find_or_build(count_history.BOARD)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    status = run("costs", "--history", FILE)
    captured = capsys.readouterr()
    assert status == 0, captured.err
    assert "instructions learn Thicket, 16 KB (elec)" in captured.out
