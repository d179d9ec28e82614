"""The board files' figures for the time of a sample, and the commands' estimates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from board_file_support import GOOD, refusal, write
from script_support import run
from tests_support import ROOT

from microshrub_host.boards import board_files, sample_time, toml_section
from microshrub_host.boards.board_files import CostRow
from microshrub_host.library.learners import specification
from microshrub_tools.board.bench import table

SMALL = "shrub window=16 trees=4 depth=4"
LARGE = "shrub window=32 trees=8 depth=5"
ROWS = (
    CostRow(SMALL, 8, 2, (100, 120), (1000, 1500)),
    CostRow(LARGE, 8, 2, (220, 260), (4000, 5000)),
    CostRow("hoeffding depth=8", 8, 2, (50, 60), (300, 900)),
)


@pytest.fixture
def board(tmp_path: Path) -> str:
    return write(tmp_path, GOOD + table("of a test", ROWS))


CORES = {"armv6m": "cortex-m0", "armv7emsp": "cortex-m3", "rv32imc": "rv32"}


def time_of(
    board: str, text: str, features: int = 8, classes: int = 2
) -> sample_time.SampleTime | None:
    model, parameters = specification(text)
    shape = {"features": features, "classes": classes}
    return sample_time.sample_time(board_files.load(board), model, parameters | shape)


def test_a_table_is_read_as_written(board: str) -> None:
    assert board_files.load(board).measured == board_files.Costs("of a test", ROWS)
    assert board_files.load("esp32").measured is None


def test_a_measured_model_has_its_figures(board: str) -> None:
    estimate = time_of(board, f"{SMALL} seed=3 step=2")
    assert estimate
    assert (estimate.predict, estimate.learn, estimate.between) == ((100, 120), (1000, 1500), ())
    assert estimate.rows()[1] == ("microseconds per learn", "1,000, p99 1,500")
    assert estimate.rows()[2][1] == "measured"


def test_between_two_models_the_estimate_is_marked_as_interpolated(board: str) -> None:
    estimate = time_of(board, "shrub window=24 trees=4 depth=5")
    assert estimate
    assert estimate.predict == pytest.approx((100 + 120 * 4 / 24, 120 + 140 * 4 / 24))
    assert estimate.learn == pytest.approx((1000 + 3000 * 56 / 96, 1500 + 3500 * 56 / 96))
    assert estimate.between == (
        f"{SMALL} (8 features, 2 classes)",
        f"{LARGE} (8 features, 2 classes)",
    )
    assert "measured, interpolated between shrub" in estimate.rows()[2][1]


@pytest.mark.parametrize(
    ("text", "features", "classes"),
    [
        ("shrub window=8 trees=4 depth=4", 8, 2),
        ("shrub window=64 trees=8 depth=5", 8, 2),
        (SMALL, 9, 2),
        (SMALL, 8, 3),
        (f"{SMALL} train_every=2", 8, 2),
        ("shrub window=24 trees=4 depth=5 max_features=2", 8, 2),
        ("hoeffding depth=7", 8, 2),
        ("hoeffding depth=8 boost=true", 8, 2),
    ],
)
def test_other_models_have_no_estimate(board: str, text: str, features: int, classes: int) -> None:
    assert time_of(board, text, features, classes) is None


def test_instruction_counts_give_an_estimate(tmp_path: Path) -> None:
    counts = table("counted", ROWS).replace("measured", "cost")
    estimate = time_of(write(tmp_path, GOOD + counts), SMALL)
    assert estimate
    assert estimate.predict == pytest.approx((100 / 125, 120 / 125))  # 125 MHz
    assert "instruction counts in emulation" in estimate.rows()[2][1]
    slow = counts.replace("[cost]\n", "[cost]\ncycles = 1.67\nuncached_us = 40\n")
    estimate = time_of(write(tmp_path, GOOD + slow), SMALL)
    assert estimate
    assert estimate.predict == pytest.approx((167 / 125, 1.67 * 120 / 125 + 40))
    assert "1.67 cycles per instruction as on the chip, and 40 us" in estimate.basis
    both = write(tmp_path, GOOD + counts + table("of a test", ROWS[:1]))
    assert [time_of(both, m).basis for m in (SMALL, LARGE)] == [  # type: ignore[union-attr]
        sample_time.MEASURED,
        f"{sample_time.ESTIMATED}, one instruction per cycle",
    ]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "predict = [100, 120]",
            "predict = [100]",
            r"measured.row\[0\].predict has to be \[median",
        ),
        ("predict = [100, 120]", "predict = [130, 120]", "two whole numbers, not"),
        ("predict = [100, 120]", "predict = [-1, 120]", "two whole numbers, not"),
        ("classes = 2", "classes = 0", "measured.row.0..classes has to be a whole number above 0"),
        ("classes = 2", "colour = 2", "classes is missing"),
        ("[measured]\nsource", "[measured]\nsauce", "measured.source is missing"),
    ],
)
def test_wrong_tables_are_refused(old: str, new: str, complaint: str, tmp_path: Path) -> None:
    text = GOOD + table("of a test", ROWS)
    assert old in text
    with pytest.raises(toml_section.BoardFileError, match=complaint):
        board_files.load(write(tmp_path, text.replace(old, new)))


def test_rows_must_be_sections(tmp_path: Path) -> None:
    for rows in ("[1]", "3"):
        message = refusal(tmp_path, GOOD + f'[measured]\nsource = "x"\nrow = {rows}\n')
        assert "measured.row" in message


def test_commands_print_the_time(
    board: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["budget", "--features", 8, "--classes", 2, "--board", board]
    shape = ["--model", "shrub", "--window", 16, "--trees", 4, "--depth", 4]
    assert run(*words, *shape) == 0
    assert "microseconds per learn: 1,000, p99 1,500" in capsys.readouterr().out
    assert run(*words, *shape, "--json", "-") == 0
    time = json.loads(capsys.readouterr().out)["sample_time"]
    assert (time["learn_us"], time["basis"]) == ([1000, 1500], "measured")
    assert time["without"] == []
    assert run(*words, *shape, "--anomaly", "0.01", "--label-budget", "10%") == 0
    assert "anomaly score, label queries" in capsys.readouterr().out
    assert run(*words, "--json", "-", "--model", "shrub", "--window", 64) == 0
    assert json.loads(capsys.readouterr().out)["sample_time"] is None
    data = tmp_path / "stream.csv"
    names = ",".join("abcdefgh") + ",label\n"
    data.write_text(names + "1,2,3,4,5,6,7,8,0\n2,3,1,4,5,1,7,9,1\n" * 100)
    assert run("simulate", data, "--board", board, *shape, "--details", "--engine", "python") == 0
    assert "1,000, p99 1,500" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "core"),
    [
        (name, CORES[board_files.load(name).arch])
        for name in board_files.names()
        if board_files.load(name).cost
    ],
)
def test_a_boards_instructions_equal_those_of_the_cost_page(key: str, core: str) -> None:
    page = (ROOT / "docs" / "reference" / "results" / "cost.md").read_text(encoding="utf-8")
    sections = page[: page.index("## What learning is made of")].split("## With native kernels")
    cost = board_files.load(key).cost
    assert cost is not None
    for section, kept in zip(sections, (cost.of_viper(), cost.rows), strict=True):
        rows = [
            line.split(" | ") for line in section.splitlines() if line.startswith(f"| {core} ")
        ]
        lines = [row for row in rows if row[2] in ("predict", "learn")]
        pairs = [[int(word.strip("| ").replace(",", "")) for word in line[4:6]] for line in lines]
        assert [list(pair) for row in kept for pair in (row.predict, row.learn)] == pairs
