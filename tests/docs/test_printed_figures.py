"""The lines that the first pages show are among those that their commands print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages_support import plain
from patience import PATIENCE

from microshrub_tools.cli.main import main

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/tutorials/first-board.md", "examples/gestures/README.md")


SIMULATE = "simulate gestures.csv --features window=64 hop=16 rate=100 --board rpi_pico"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What the demo prints, and the pages' `simulate`."""
    folder = tmp_path_factory.mktemp("demo")
    lines: list[str] = []
    for words in ("demo", "example gestures", SIMULATE):
        done = subprocess.run(
            [sys.executable, "-m", "microshrub_command", *words.split()],
            cwd=folder, capture_output=True, text=True, check=True, timeout=PATIENCE,
        )  # fmt: skip
        lines += done.stdout.splitlines()
    return {plain(line) for line in lines}


def test_the_speed_of_the_link_is_what_budget_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "reference" / "link.md").read_text(encoding="utf-8")
    match = re.search(r"\$ microshrub (budget .*)\n(.*)\n(.*)\n```", page)
    assert match
    assert main(match[1].split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {match[2], match[3]} <= set(lines)


@pytest.mark.parametrize("page", PAGES)
def test_the_figures_are_those_that_are_printed(page: str, printed: set[str]) -> None:
    blocks = re.findall(r"```text\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)
    shown = [plain(line) for block in blocks for line in block.splitlines()]
    of_the_demo = [
        line
        for line in shown
        if re.match("Taught|Its sensor|On its own|Fits the|Most confused|accuracy", line)
    ]
    assert len(of_the_demo) >= 2
    assert set(of_the_demo) <= printed


def test_the_rows_in_which_others_are_ahead_are_those_of_their_pages() -> None:
    folder = ROOT / "docs" / "reference" / "results"
    text = (folder / "index.md").read_text(encoding="utf-8")
    part = text.partition("## Where others are ahead\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| .*\[`(\w+)`\]\((\w+\.md)\).* \| ([\d.]+) \| ([\d.]+) \|$", part, re.M)
    assert len(rows) >= 5
    for stream, page, other, ours in rows:
        assert float(other) > float(ours)
        lines = (folder / page).read_text(encoding="utf-8").splitlines()
        found = [re.split(r" *\| *", line.replace("*", "")) for line in lines if stream in line]
        assert any({other, ours} <= {*cells} for cells in found), stream
