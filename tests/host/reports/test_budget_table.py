"""A budget fits a screen, or has a line for each buffer; both have the same sums."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from microshrub_tools.cli.main import main

BUDGET = ["budget", "--board", "rpi_pico", "--features", "12", "--classes", "5"]
ROOT = Path(__file__).parents[3]
LINES = 40  # lines of a screen, with the text around the table


def rows(printed: str) -> list[tuple[str, int]]:
    matches = re.findall(r"^│ ([^│]+?) *│ +([\d,]+) │", printed, re.MULTILINE)
    return [(name, int(size.replace(",", ""))) for name, size in matches]


@pytest.mark.parametrize("model", ["thicket", "shrub", "hoeffding", "softmax"])
def test_a_screen_has_all_sums_and_an_option_shows_every_buffer(
    model: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "budget.json"
    assert main([*BUDGET, "--model", model]) == 0
    short = capsys.readouterr().out
    assert short.count("\n") <= LINES
    assert main([*BUDGET, "--model", model, "--buffers", "--json", str(path)]) == 0
    long = rows(capsys.readouterr().out)
    result = json.loads(path.read_text())
    named = {name.strip().replace(": ", " "): size for name, size in long}
    for name, size in result["buffers"].items():
        assert size in (named.get(name), named.get(name.split(": ")[-1]), 0), name
    sums = {name: size for name, size in long if not name.startswith(" ")}
    assert {name: size for name, size in rows(short) if not name.startswith(" ")} == sums
    owners = dict(list(sums.items())[: list(sums).index("all")])
    assert sum(owners.values()) == sums["all"] == result["ram_bytes"]


def test_the_rows_of_a_section_add_up_to_its_sum(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_freezing_is_suggested_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Two pieces of advice could suggest it: for the rest of the RAM, and for this model."""
    options = ["--features", "12", "--classes", "5", "--bytes", "20000"]
    assert main(["budget", "--board", "nucleo_l476rg", *options]) == 1
    output = capsys.readouterr().out
    assert "Not even the smallest thicket" in output
    assert output.count("build --freeze") == 1


def test_the_ram_that_the_smallest_model_needs_is_consistent(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Both texts include the RAM at the program's start."""
    board = tmp_path / "small.toml"
    file = (ROOT / "boards" / "nucleo_l476rg.toml").read_text(encoding="utf-8")
    board.write_text(re.sub("heap_free_bytes = .*", "heap_free_bytes = 66_000", file))
    options = ["--board", str(board), "--features", "18", "--classes", "3", "--model", "hoeffding"]
    smallest = ["--nodes", "1", "--leaves", "1", "--bins", "2", "--no-adaptive"]
    assert main(["budget", *options, *smallest]) == 1
    output = capsys.readouterr().out
    takes = re.search(r"The model takes ([\d,]+) bytes of RAM while it is being made", output)
    needs = re.search(
        "Not even the smallest hoeffding fits .*: all in all, it needs (.*) bytes", output
    )
    assert takes
    assert needs
    assert takes[1] == needs[1]


def test_kernels_are_counted_where_some_stay_bytecode(capsys: pytest.CaptureFixture[str]) -> None:
    results = {}
    for board in "rpi_pico", "esp32":
        options = ["--board", board, *BUDGET[3:], "--emit", "viper"]
        assert main(["budget", *options, "--json", "-"]) == 0
        results[board] = json.loads(capsys.readouterr().out)
    assert results["esp32"]["kernels"] > results["esp32"]["kernels_as_bytecode"] > 0
    assert results["rpi_pico"]["kernels_as_bytecode"] == 0
    assert "kernels" not in results["rpi_pico"]
