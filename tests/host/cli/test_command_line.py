"""The command line end to end, as users and scripts call it."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microshrub_host.simulation import engines
from microshrub_tools.cli.main import main

SHRUB = ["--model", "shrub"]
SMALL = [*SHRUB, "--window", "16", "--trees", "4", "--depth", "3", "--step", "1"]
PROMISED = {
    "samples", "features", "classes", "accuracy", "running_average_accuracy", "accuracy_nochange",
    "accuracy_majority", "kappa", "kappa_temporal", "model_bytes", "ram_bytes", "trees_used",
    "clamped", "missing", "state_crc32", "samples_per_second", "engine", "board", "board_given",
    "limit", "warmup", "shuffle", "label", "class_names", "feature_names", "versions", "fits",
    "free_bytes", "machine_code_bytes", "executable_bytes", "model_budget_bytes",
}  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file with 300 rows: two numbers (some values are missing), a text feature,
    text classes.
    """
    rng = np.random.default_rng(5)
    path = tmp_path / "stream.csv"
    rows = ["speed,heat,place,state"]
    for i in range(300):
        speed, heat = rng.normal(size=2)
        state = "run" if speed > 0 else "rest"
        rows.append(f"{speed:.3f},{'' if i % 50 == 7 else f'{heat:.2f}'},{'ab'[i % 2]},{state}")
    path.write_text("\n".join(rows) + "\n")
    return path


def run(*words: str | Path) -> int:
    """Return the exit code of `microshrub WORDS`."""
    try:
        return main([str(w) for w in words])
    except SystemExit as stop:
        return int(stop.code or 0)


def simulate_json(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, Any]:
    """Return the JSON object that simulate prints."""
    assert run("simulate", *words, "--json", "-") == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_json_has_all_documented_keys(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    record = simulate_json(capsys, data, *SMALL)
    assert set(record) >= PROMISED
    assert record["samples"] == 300
    assert (record["features"], record["classes"]) == (3, 2)
    assert record["missing"] == 6
    assert float(str(record["accuracy"])) > 85
    assert (record["board"], record["board_given"]) == ("rpi_pico", False)
    assert (record["limit"], record["warmup"], record["shuffle"]) == (None, 256, None)
    assert record["class_names"] == ["rest", "run"]
    assert record["feature_names"] == ["speed", "heat", "place"]
    assert set(record["versions"]) == {"microshrub", "llvmlite", "numpy", "python"}
    given = simulate_json(capsys, data, *SMALL, "--board", "esp32", "--label", "place")
    assert (given["board"], given["board_given"], given["label"]) == ("esp32", True, "place")


@pytest.mark.parametrize("engine", ["python", "llvm", "micropython"])
def test_all_engines_give_the_same(
    capsys: pytest.CaptureFixture[str],
    data: Path,
    engine: str,
    micropython_command: tuple[str, ...],
) -> None:
    record = simulate_json(capsys, data, *SMALL, "--engine", engine)
    reference = simulate_json(capsys, data, *SMALL, "--engine", "python")
    for timing in ("samples_per_second", "seconds", "engine"):
        del record[timing], reference[timing]
    assert record == reference


def test_table_plot_and_json_file_are_written(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    plot, record = tmp_path / "run.png", tmp_path / "run.json"
    assert run("simulate", data, *SMALL, "--plot", plot, "--json", record) == 0
    captured = capsys.readouterr()
    for word in ("accuracy", "NoChange", "MajorityClass"):
        assert word in captured.out
    for word in ("kappa temporal", "state CRC32"):
        assert word not in captured.out
    assert "learning" not in captured.err, "progress of what takes no time"
    assert not [line for line in captured.err.splitlines() if line.endswith(" ")]
    assert f"written to {plot}" in captured.err.replace("\n", " ")
    assert f"written to {record}" in captured.err.replace("\n", " ")
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert json.loads(record.read_text())["samples"] == 300


def test_without_a_board_the_report_mentions_none(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    page = tmp_path / "run.html"
    assert run("simulate", data, *SMALL, "--html", page) == 0
    for text in (capsys.readouterr().out, page.read_text()):
        assert "RAM on" not in text
        assert "Raspberry" not in text
    assert run("simulate", data, *SMALL, "--html", page, "--board", "rpi_pico") == 0
    output = capsys.readouterr().out
    for text in (output, page.read_text()):
        assert "RAM on Raspberry Pi Pico" in text
        assert "Fits the Raspberry Pi Pico" in " ".join(text.split())


def test_a_note_says_when_the_last_label_predicts_better(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{rng.random():.3f},{(i // 50) % 2}" for i in range(400)]
    path = tmp_path / "runs.csv"
    path.write_text("noise,class\n" + "\n".join(rows))
    assert run("simulate", path, *SMALL) == 0
    output = capsys.readouterr().out
    assert "no better than guessing" in output
    assert re.search(r"98\.00 %, .* long runs", " ".join(output.split()))


def test_options_reach_the_model(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    changes = {
        "--loss": "cross_entropy", "--splitter": "random", "--max-features": "1",
        "--leaf": "class", "--train-every": "3", "--trigger": "error", "--feature-bits": "8",
        "--seed": "2", "--window": "20", "--trees": "3", "--depth": "2", "--step": "0.3",
    }  # fmt: skip
    base = simulate_json(capsys, data, *SMALL)["state_crc32"]
    for option, value in changes.items():
        changed = simulate_json(capsys, data, *SMALL, option, value)
        assert changed["state_crc32"] != base, option


def test_options_and_switches_reach_the_tree(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    tree = [data, "--model", "hoeffding", "--leaves", "8"]
    plain, adaptive, boost, both = (
        simulate_json(capsys, *tree, *words)
        for words in (
            ["--no-adaptive"],
            [],
            ["--boost", "--no-adaptive"],
            ["--boost", "--adaptive"],
        )
    )
    switches = [
        (record["parameters"]["adaptive"], record["parameters"]["boost"])
        for record in (plain, adaptive, boost, both)
    ]
    assert switches == [(False, False), (True, False), (False, True), (True, True)]
    more = [record["model_bytes"] - plain["model_bytes"] for record in (adaptive, boost, both)]
    assert min(more) > 0
    assert more[2] == more[0] + more[1]
    changes = {"--lambda-min": "0.5", "--lambda-max": "9", "--seed": "2", "--policy": "svfdt2"}
    for option, value in changes.items():
        changed = simulate_json(capsys, *tree, "--boost", option, value)
        assert changed["state_crc32"] != boost["state_crc32"], option


def test_label_limit_and_shuffle_change_the_stream(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    record = simulate_json(capsys, data, *SMALL, "--label", "place", "--limit", "100")
    assert (record["samples"], record["classes"]) == (100, 2)
    one = simulate_json(capsys, data, *SMALL, "--shuffle", "1")
    two = simulate_json(capsys, data, *SMALL, "--shuffle", "2")
    assert one["state_crc32"] != two["state_crc32"]


BAD_FILES = {
    "empty": ("", "empty"),
    "one class": ("a,class\n" + "1,x\n" * 20, "class"),
    "ragged": ("a,b,class\n1,2,x\n3,y\n", "3"),
    "text in numbers": ("a,class\n1,x\n2,y\nwarm,x\n", "warm"),
    "infinity": ("a,class\n1,x\ninf,y\n", "inf"),
    "257 classes": ("a,class\n" + "".join(f"{i},c{i}\n" for i in range(257)), "256"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    content, word = BAD_FILES[name]
    path = tmp_path / "bad.csv"
    path.write_text(content)
    target = tmp_path / "out.json"
    assert run("simulate", path, *SMALL, "--json", target) == 2
    err = capsys.readouterr().err
    assert "bad.csv" in err
    assert word in err
    assert "Traceback" not in err
    assert not target.exists(), "nothing is written after an error"


def test_a_damaged_gzip_file_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(b"a,class\n" + b"1,x\n2,y\n" * 500)[:-20])
    assert run("simulate", path, *SMALL) == 2
    assert "cut.csv.gz" in capsys.readouterr().err


BAD_WORDS = [  # in addition to refusals.txt
    (["DATA", *SHRUB, "--window", "1025"], r"--window .* 2\.\.1024, not 1025"),
    (["DATA", *SHRUB, "--step", "0"], r"--step .* 1/1024\.\.64, not 0"),
    (["DATA", *SHRUB, "--step", "64.5"], r"--step .* 1/1024\.\.64, not 64\.5"),
    (["DATA", "--label", "sate"], "mean state"),
    (["DATA", "--plot", "x.bmp"], r"--plot .*\.png"),
    (["river:NoSuch"], "NoSuch .*ImageSegments"),
    (["DATA", *SHRUB, "--window", "1024", "--trees", "200", "--depth", "10", "--board", "esp32"],
     "model takes .* ESP32 "),
]  # fmt: skip


@pytest.mark.parametrize(("words", "expected"), BAD_WORDS, ids=lambda v: " ".join(v)[:40])
def test_bad_options_are_refused(
    capsys: pytest.CaptureFixture[str], data: Path, words: list[str], expected: str
) -> None:
    assert run("simulate", *[data if w == "DATA" else w for w in words]) == 2
    captured = capsys.readouterr()
    assert re.search(expected, captured.err)
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_budget_says_whether_a_model_fits(capsys: pytest.CaptureFixture[str]) -> None:
    shape = ["--features", "14", "--classes", "2"]
    assert run("budget", *shape, *SMALL, "--board", "rpi_pico", "--json", "-") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["fits"] is True
    assert record["model_bytes"] < record["ram_bytes"] < record["free_bytes"]
    assert record["buffers"]["window.codes"] == 14 * 16 * 2
    assert record["model_budget_bytes"] == 65_536
    large = ["--model", "shrub", "--window", "1024", "--trees", "100", "--depth", "9"]
    assert run("budget", *shape, *large, "--board", "esp32") == 1
    output = capsys.readouterr().out
    assert "It does not fit." in output
    assert "--trees" in output or "--window" in output
    assert "more than the 28,672 bytes" in output


def test_budget_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["budget", "--features", "14", "--classes", "2", *SMALL]
    assert run(*words, "--json", "-") == 0
    record = json.loads(capsys.readouterr().out)
    assert run(*words) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    sizes = {row[0]: int(row[1].replace(",", "")) for row in cells if row[0]}
    owners = ("model", "quantizer", "rows", "program", "code", "metrics")
    # some are also the names of parts, which follow
    first = {row[0]: row[1] for row in reversed(cells)}
    assert sum(int(first[owner].replace(",", "")) for owner in owners) == record["ram_bytes"]
    assert sizes["all"] == record["ram_bytes"]
    assert 0 not in sizes.values()
    left = record["free_bytes"] - record["ram_bytes"]
    assert lines[-1].startswith(f"It fits: {left:,} bytes")
    assert lines[-2] == (
        f"model {record['model_bytes']:,} bytes, RAM {record['ram_bytes']:,} of "
        f"{record['free_bytes']:,}"
    )


@pytest.mark.parametrize("option", ["--features", "--classes"])
def test_budget_names_its_own_options_in_errors(
    capsys: pytest.CaptureFixture[str], option: str
) -> None:
    shape = {"--features": "3", "--classes": "2"} | {option: "0"}
    assert run("budget", *[word for pair in shape.items() for word in pair]) == 2
    assert f"{option} has to be" in capsys.readouterr().err


def test_the_option_that_budget_advises_helps(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["budget", "--features", "14", "--classes", "2", *SHRUB,
             "--window", "512", "--trees", "200",
             "--depth", "5", "--board", "esp32", "--json", "-"]  # fmt: skip
    assert run(*words) == 1
    advice = json.loads(capsys.readouterr().out)["advice"]
    way = re.split(" together fit| fits", advice)[0]
    options = re.findall(r"--[a-z-]+ \d+", way)
    assert options
    assert run(*words, *" ".join(options).split()) == 0


def test_parity_prints_equal_crcs_for_all_engines(
    capsys: pytest.CaptureFixture[str], data: Path, micropython_command: tuple[str, ...]
) -> None:
    assert run("parity", data, *SMALL, "--every", "100") == 0
    lines = capsys.readouterr().out.splitlines()
    names = list(engines.available())
    assert {"python", "llvm", "micropython"} <= set(names)
    assert lines[0].split() == ["samples", *names]
    for line in lines[1:4]:
        assert len(set(line.split()[1:])) == 1
        assert all(len(crc) == 8 for crc in line.split()[1:])
    last_line = f"All {len(names)} engines are identical: 300 samples, compared after every 100."
    assert lines[-1] == last_line
    assert run("parity", data, "--every", "0") == 2


def test_soak_sees_a_flat_heap(
    capsys: pytest.CaptureFixture[str], data: Path, micropython_command: tuple[str, ...]
) -> None:
    assert run("dev", "soak", data, *SMALL, "--samples", "20500", "--heap", "80k") == 0
    output = capsys.readouterr().out
    assert "simulator's: CRC32" in output
    assert "Nothing was allocated while learning." in output
    assert [line.split()[0] for line in output.splitlines()[1:3]] == ["10,000", "20,500"]
    assert run("dev", "soak", data, "--samples", "19999") == 2
    assert run("dev", "soak", data, "--heap", "64 kilo") == 2
    assert "--heap has to be" in capsys.readouterr().err


def test_the_micropython_command_finds_one(
    capsys: pytest.CaptureFixture[str], micropython_command: tuple[str, ...]
) -> None:
    assert run("micropython", "--find-only") == 0
    assert "MicroPython" in capsys.readouterr().out


def test_a_file_name_is_not_markup(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    named = data.rename(tmp_path / "y[bold] :smile: $x$.csv")
    plot = tmp_path / "p[red].png"
    assert run("simulate", named, *SMALL, "--limit", "150", "--plot", plot) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("y[bold] :smile: $x$.csv: 150 samples, 3 features, 2 classes\n")
    assert "p[red].png" in captured.err


def test_a_note_says_when_the_warm_up_is_the_whole_stream(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    assert run("simulate", data, *SMALL, "--limit", "90", "--engine", "python") == 0
    captured = capsys.readouterr()
    assert re.search("--warmup 256 .* 90 samples", captured.err)
    assert "too few to tell" in captured.out
    assert run("simulate", data, *SMALL, "--engine", "python") == 0
    assert "quantizer" not in capsys.readouterr().err


def test_simulate_prints_the_ram_left_on_the_board(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    words = ("simulate", data, *SMALL, "--engine", "python")
    assert run(*words, "--board", "esp32", "--json", data.with_suffix(".json")) == 0
    output = capsys.readouterr().out
    result = json.loads(data.with_suffix(".json").read_text())
    left = result["free_bytes"] - result["ram_bytes"]
    assert f"Fits the ESP32, {left // 1024} KB to spare." in " ".join(output.split())
    assert re.search(rf"left for your program +│ {left:,} bytes", output)
    assert run(*words) == 0
    assert "to spare" not in capsys.readouterr().out


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("microshrub 0.")


def test_it_runs_as_a_module_in_its_own_process(data: Path) -> None:
    command = [sys.executable, "-m", "microshrub_tools.cli.main", "simulate", str(data), *SMALL]
    done = subprocess.run(
        [*command, "--engine", "python", "--json", "-"], capture_output=True, check=True
    )
    assert json.loads(done.stdout)["samples"] == 300
