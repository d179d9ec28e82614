"""`microshrub simulate-fleet`: boards that lack classes learn them from each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from blind_runs import write_blind_runs
from packet_support import CLASSES, NAMES, rows_of

from microshrub_host import open_stream
from microshrub_host.evaluation import fleet as fleets
from microshrub_tools.cli.main import main


def lines_of(*counts: int) -> list[str]:
    """Return lines with this many samples of each class, mixed."""
    rows = np.concatenate([rows_of(c, count, 1) for c, count in enumerate(counts) if count])
    labels = np.repeat(CLASSES[: len(counts)], counts)
    order = np.random.default_rng(0).permutation(len(labels))
    return [",".join([*map(str, rows[k]), labels[k]]) for k in order]


def write(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join([",".join([*NAMES, "what"]), *lines]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def stream(tmp_path: Path) -> str:
    """A file of three classes, mixed."""
    return write(tmp_path / "three.csv", lines_of(250, 250, 250))


def fleet(stream: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """Return the JSON object that simulate-fleet prints with these options."""
    arguments = ["simulate-fleet", stream, "--bytes", "8192", "--json", "-", *options]
    assert main(arguments) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_boards_learn_the_classes_that_they_lack(
    stream: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = fleet(stream, capsys, "--boards", "3")
    assert result["lacking"] == 1
    assert result["alone"] < 67
    assert result["together"] > 95
    assert result["whole"] > 95
    for board in result["each"]:
        assert board["taken"] == 1
        assert 10 < board["learned"] <= 20
        # 20 samples of 5 bytes each, with names, units and ranges
        assert 100 < board["received"] / board["looked"] < 300
        assert 200 < board["sent"] < 600


def test_a_rare_class_that_a_board_lacks_counts_as_much_as_a_frequent_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "rare.csv", lines_of(450, 60, 60))
    for board in fleet(path, capsys, "--boards", "3")["each"]:
        assert 50 < board["alone"] < 67
        assert board["together"] > 90


def test_each_row_goes_to_one_board(stream: str) -> None:
    wanted = {"lacking": 1, "exchange": 20, "bytes": 8192, "seed": 0, "engine": "python"}
    plan = fleets.plan(open_stream(stream), boards=2, **wanted)
    dealt = np.concatenate([plan.dealt(board) for board in range(2)])
    assert sorted(dealt) == np.flatnonzero(plan.draw.learned).tolist()


def test_a_class_of_the_second_half_is_learned_with_and_without_sharing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "late.csv", lines_of(150, 150, 0) + lines_of(100, 100, 150))
    result = fleet(path, capsys, "--boards", "2", "--lacking", "0")
    for how in ("alone", "together", "whole"):
        assert result[how] > 90, how


def test_boards_with_the_same_classes_lose_nothing(
    stream: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = fleet(stream, capsys, "--boards", "3", "--lacking", "0")
    assert result["together"] >= result["alone"] - 0.5
    assert result["whole"] == result["alone"]


def test_labels_that_cannot_be_predicted_on_unseen_runs_are_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.csv"
    write_blind_runs(path, 40)
    result = fleet(str(path), capsys, "--boards", "2", "--lacking", "0")
    assert result["held_out"] == "runs"
    assert result["whole"] < 70


def test_one_stretch_of_each_class_is_too_few(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sorted.csv"
    rows = [f"{k},{c}" for c in "xyz" for k in range(40)]
    path.write_text("\n".join(["a,what", *rows]) + "\n", encoding="utf-8")
    assert main(["simulate-fleet", str(path), "--bytes", "8192"]) == 2
    assert "one stretch of each class" in capsys.readouterr().err


def test_a_small_share_means_one_class(stream: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fleet(stream, capsys, "--boards", "3", "--lacking", "0.1")["lacking"] == 1


def test_there_may_be_more_boards_than_rows(
    stream: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = fleet(stream, capsys, "--boards", "60", "--limit", "20")
    assert len(result["each"]) == 60
    assert 0 < result["alone"] < 100


def test_simulated_boards_have_the_same_bits_as_programs_in_micropython(
    stream: str, capsys: pytest.CaptureFixture[str], micropython_command: tuple[str, ...]
) -> None:
    options = ("--boards", "3", "--exchange", "8", "--limit", "300")
    wanted = fleet(stream, capsys, *options)
    real = fleet(stream, capsys, *options, "--engine", "micropython")
    assert real["engine"] == "micropython"
    assert real | {"engine": ""} == wanted | {"engine": ""}
    assert real["states"] != fleet(stream, capsys, *options, "--seed", "1")["states"]


def test_workers_get_the_same_result(stream: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    options = ("--boards", "7", "--limit", "400")
    assert fleet(stream, capsys, *options, "--jobs", "2") == fleet(stream, capsys, *options)


def test_many_boards_learn_from_each_other(
    stream: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = fleet(stream, capsys, "--boards", "40", "--limit", "400")
    assert len(result["each"]) == 40
    assert result["together"] > result["alone"] + 10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--boards", "0"], "--boards has to be at least 1, not 0"),
        (["--lacking", "0.9"], "with --lacking 9/10 a board lacks all 3 classes"),
        (["--limit", "8"], "has 8 rows: a fleet takes 20"),
        (["--exchange", "0"], "--exchange has to be at least 1"),
        (["--bytes", "100"], "bytes has to be"),
    ],
)
def test_wrong_options_are_refused(
    stream: str, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate-fleet", stream, *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("part", ["1", "-1", "1/0", "some"])
def test_a_wrong_share_is_refused(
    stream: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["simulate-fleet", stream, "--lacking", part])
    words = f"has to be at least 0 and below 1, such as 1/3 or 0.25, not '{part}'"
    assert words in capsys.readouterr().err
