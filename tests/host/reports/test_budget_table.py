"""A budget fits a screen, or has a line for each buffer; both have the same sums."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from microshrub_tools.cli.main import main

BUDGET = ["budget", "--board", "rpi_pico", "--features", "12", "--classes", "5"]
LINES = 40  # of a screen, with what is said beside the table


def rows(printed: str) -> list[tuple[str, int]]:
    found = re.findall(r"^│ ([^│]+?) *│ +([\d,]+) │", printed, re.MULTILINE)
    return [(name, int(size.replace(",", ""))) for name, size in found]


@pytest.mark.parametrize("model", ["thicket", "shrub", "hoeffding", "softmax"])
def test_a_screen_has_all_sums_and_an_option_every_buffer(
    model: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "budget.json"
    assert main([*BUDGET, "--model", model]) == 0
    short = capsys.readouterr().out
    assert short.count("\n") <= LINES
    assert main([*BUDGET, "--model", model, "--buffers", "--json", str(path)]) == 0
    long = rows(capsys.readouterr().out)
    told = json.loads(path.read_text())
    named = {name.strip().replace(": ", " "): size for name, size in long}
    for name, size in told["buffers"].items():
        assert size in (named.get(name), named.get(name.split(": ")[-1]), 0), name
    sums = {name: size for name, size in long if not name.startswith(" ")}
    assert {name: size for name, size in rows(short) if not name.startswith(" ")} == sums
    owners = dict(list(sums.items())[: list(sums).index("all")])
    assert sum(owners.values()) == sums["all"] == told["ram_bytes"]


def test_what_a_section_has_adds_up_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(BUDGET) == 0
    within: dict[str, list[int]] = {}
    whole: dict[str, int] = {}
    for name, size in rows(capsys.readouterr().out):
        if name.startswith(" "):
            within.setdefault(list(whole)[-1], []).append(size)
        else:
            whole[name] = size
    assert {"model", "code"} <= within.keys()
    assert all(sum(sizes) == whole[name] for name, sizes in within.items())


def test_the_way_into_the_firmware_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Both what fits besides and what would fit as it is can be one."""
    options = ["--features", "12", "--classes", "5", "--bytes", "20000"]
    assert main(["budget", "--board", "nucleo_l476rg", *options]) == 1
    said = capsys.readouterr().out
    assert "Not even the smallest thicket" in said
    assert said.count("build --freeze") == 1
