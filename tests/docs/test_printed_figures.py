"""Figures on the reference pages equal the output of commands, or the figures of result pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microshrub_tools.cli.main import main

ROOT = Path(__file__).parents[2]


def test_the_speed_of_the_link_equals_budgets_output(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "reference" / "link.md").read_text(encoding="utf-8")
    match = re.search(r"\$ microshrub (budget .*)\n(.*)\n(.*)\n```", page)
    assert match
    assert main(match[1].split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {match[2], match[3]} <= set(lines)


def test_the_fleet_of_washing_machines_gains_what_its_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "how-to" / "boards-that-share.md").read_text(encoding="utf-8")
    command = re.search(r"microshrub (simulate-fleet washing.csv .*)", page)
    row = re.search(r"\| `washing.csv` of above \|(.*)\|", page)
    assert command
    assert row
    monkeypatch.chdir(tmp_path)
    assert main(["example", "washing"]) == 0
    assert main(command[1].split()) == 0
    printed = capsys.readouterr().out
    names = ("alone", "after the exchange", "and receives", "if a board lacked no class")
    figures = [re.search(rf"{name} +│ ([\d.]+)", printed) for name in names]
    assert [figure and figure[1] for figure in figures] == [
        cell.strip() for cell in row[1].split("|")[1:]
    ]


def test_the_rows_in_which_others_are_ahead_equal_those_of_their_pages() -> None:
    folder = ROOT / "docs" / "reference" / "results"
    text = (folder / "index.md").read_text(encoding="utf-8")
    part = text.partition("## Where others are ahead\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| .*\[`(\w+)`\]\((\w+\.md)\).* \| ([\d.]+) \| ([\d.]+) \|$", part, re.M)
    assert len(rows) >= 5
    for stream, page, other, ours in rows:
        assert float(other) > float(ours)
        lines = (folder / page).read_text(encoding="utf-8").splitlines()
        table = [re.split(r" *\| *", line.replace("*", "")) for line in lines if stream in line]
        assert any({other, ours} <= {*cells} for cells in table), stream
