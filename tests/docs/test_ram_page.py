"""The figures of docs/explanation/ram.md are close to the output of its commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microshrub_host.programs import native_files
from microshrub_tools.cli.main import main

PAGE = Path(__file__).parents[2].joinpath("docs/explanation/ram.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| `build(.*?)`.*? \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", PAGE, re.MULTILINE
)


def number(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize("row", ROWS, ids=[row[0] or "thicket" for row in ROWS])
def test_a_build_takes_the_ram_in_the_table(
    row: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options, *figures = row
    if not native_files.can_be_made("armv6m"):
        pytest.skip("no C compiler")
    words = ["build", "synth:rbf_m", "--limit", "300", "--board", "rpi_pico"]
    assert main([*words, *options.split(), "--output", str(tmp_path / "out")]) == 0
    output = " ".join(capsys.readouterr().out.split())
    match = re.search(
        r"RAM ([\d,]+) bytes for the imported code of which ([\d,]+) are machine code, and "
        r"([\d,]+) names",
        output,
    )
    assert match
    figures_of_the_page, printed = (
        [number(text) for text in figures],
        [number(text) for text in match.groups()],
    )
    assert figures_of_the_page == pytest.approx(printed, rel=0.005, abs=300)


def test_the_table_has_its_rows() -> None:
    assert len(ROWS) == 5
    assert any("--emit viper" in row[0] for row in ROWS)


def test_a_model_in_psram_takes_the_ram_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    command = re.search(r"^microshrub (budget --board esp32s3_n8r8 .*)$", PAGE, re.MULTILINE)
    match = re.search(r"prints `model ([\d,]+) bytes, RAM ([\d,]+) of ([\d,]+)`", PAGE)
    assert command
    assert match
    assert main(command[1].split()) == 0
    printed = re.search(r"model ([\d,]+) bytes, RAM ([\d,]+) of ([\d,]+)", capsys.readouterr().out)
    assert printed
    assert number(match[1]) == number(printed[1])
    assert number(match[2]) == pytest.approx(number(printed[2]), abs=300)
