"""`microshrub compare`, as users and scripts call it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from compare_support import make_stream

from microshrub_host.base.versions import version_of
from microshrub_host.evaluation.prequential import compile_kernels
from microshrub_host.library import loader
from microshrub_research.cli import compare
from microshrub_research.compare import catalogue, speed_set
from microshrub_tools.cli.main import main


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file with 600 samples of three features and three classes."""
    made = make_stream(600)
    rows = [",".join(map(repr, row)) for row in made.values.tolist()]
    lines = [f"{row},{made.class_names[y]}" for row, y in zip(rows, made.labels, strict=True)]
    path = tmp_path / "made.csv"
    path.write_text("\n".join(["x,y,z,class", *lines]))
    return path


def run(*words: str | Path) -> int:
    """Return the exit code of `microshrub compare WORDS`."""
    try:
        return main(["compare", *map(str, words)])
    except SystemExit as stop:
        return int(stop.code or 0)


def test_table_and_json_have_the_same_figures(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    record = tmp_path / "found.json"
    words = ["--limit", "500", "--ours", "shrub window=16 trees=4", "--peers", "nochange,majority"]
    assert run(data, "synth:sea_a", *words, "--jobs", "2", "--json", record) == 0
    output = capsys.readouterr().out
    assert output.index("made.csv: 500 samples") < output.index("sea_a: 500 samples")
    result = json.loads(record.read_text())
    names = ["ours:shrub window=16 trees=4", "nochange", "majority"]
    assert [c["name"] for c in result["cells"]] == names * 2
    assert [s["name"] for s in result["streams"]] == ["made.csv", "synth:sea_a"]
    assert result["versions"]["llvmlite"]
    for cell in result["cells"]:
        assert f"{cell['accuracy']:.2f}" in output
        assert cell["samples"] == 500
    assert result["cells"][0]["settings"]["window"] == 16


def test_figures_and_order_equal_those_of_one_job(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only times differ. Without --jobs, a note has the number of parallel runs."""
    monkeypatch.setattr("microshrub_host.cli.run_options.cores", lambda: 2)
    record = tmp_path / "found.json"
    words = ["--ours", "shrub window=16 trees=4", "--peers", "nochange,majority"]
    results = []
    for jobs in (["--jobs", "1"], []):
        assert run(data, *words, *jobs, "--json", record) == 0
        captured = capsys.readouterr()
        assert ("2 learners at a time, as there are 2 cores" in captured.err) == (not jobs)
        cells = json.loads(record.read_text())["cells"]
        results.append([{k: v for k, v in c.items() if "second" not in k} for c in cells])
    for one, two in zip(*results, strict=True):
        del one["curve"], two["curve"]
        assert one == two


@pytest.fixture
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Java and without a compiler; the kernels are compiled before."""
    for model in ("hoeffding", "shrub"):
        compile_kernels(model, {})
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.mark.long
@pytest.mark.usefixtures("without_java")
def test_the_set_of_trees_works_without_java(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    record = tmp_path / "found.json"
    assert run(data, "--set", "trees", "--json", record) == 0
    captured = capsys.readouterr()
    assert "MOA's learners are skipped" in captured.err
    cells = {cell["name"]: cell["accuracy"] for cell in json.loads(record.read_text())["cells"]}
    for tree in ("VFDT", "EFDT"):
        (row,) = [line for line in captured.out.splitlines() if f" {tree} " in line]
        first, second = cells[f"ours:{tree}"], cells[f"river:{tree}"]
        expected = [tree, f"{first:.2f}", f"{second:.2f}", "-", f"{second - first:+.2f}", "-"]
        assert [word for word in row.split() if word not in "│┃|"] == expected


@pytest.mark.long
@pytest.mark.usefixtures("without_java")
def test_the_set_of_speed_has_ratios(
    capsys: pytest.CaptureFixture[str], data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The set has one tree here, without Java; ratios follow from the printed
    samples per second.
    """
    assert set(speed_set.speed_rows()) == {"VFDT", "EFDT", "HAT", "shrubs"}
    trees = {"HAT": speed_set.tree_rows()["HAT"]}
    monkeypatch.setattr(speed_set, "tree_rows", lambda: trees)
    record = tmp_path / "found.json"
    assert run(data, "--set", "speed", "--limit", "100", "--json", record) == 0
    captured = capsys.readouterr()
    assert "MOA's learners are skipped" in captured.err
    assert "on an idle computer" in captured.out
    assert f"ours: engine {loader.fastest()}" in captured.out
    assert f"river: River {version_of('river')}, CPython" in captured.out
    cells = {c["name"]: c["samples_per_second"] for c in json.loads(record.read_text())["cells"]}
    assert list(cells) == ["ours:HAT", "river:HAT", "ours:shrubs"]
    (row,) = [line for line in captured.out.splitlines() if " HAT " in line]
    words = [word for word in row.split() if word not in "│┃|"]
    ours, river = cells["ours:HAT"], cells["river:HAT"]
    assert words == [
        "HAT", f"{ours:,.0f}", f"{river:,.0f}", "-", "-", f"{ours / river:.1f}", "-", "-",
    ]  # fmt: skip
    assert run(data, "--set", "speed", "--jobs", "2") == 2
    assert "one learner at a time" in capsys.readouterr().err


def test_a_timeout_is_reported_in_its_cell(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    """The limit is too short for any machine."""
    peer = ["--peers", "river:SRP", "--time-limit", "1"]
    assert run("synth:rbf_m", "--limit", "50000", "--ours", "shrub window=16", *peer) == 0
    output = capsys.readouterr().out
    assert "river:SRP: time limit of 1 s, after" in output
    (row,) = [line for line in output.splitlines() if line.startswith(" river:SRP ")]
    assert row.split() == ["river:SRP", "timeout", *"-----"]
    assert "in s" in output, "the last column"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--ours", "shrub depth=deep"], "--ours 'shrub depth=deep': depth has to be a whole"),
        (["--ours", "shrub depth=99"], "ours:shrub depth=99 on made.csv: --depth has to be"),
        (["--ours", "tree"], "the model 'tree' is unknown"),
        (["--ours", "shrub", "--bytes", "100"], "and --bytes is 100"),
        (["--bytes", "0"], "--bytes has to be at least 1"),
        (["--peers", "weka"], "--peers: weka is unknown"),
        (["--set", "trees", "--peers", "river"], "leave out --ours and --peers"),
        (["--set", "speed", "--label-budget", "10%"], "leave out --label-budget"),
        (["--spare-classes", "4", "new=x"], "compare has no --spare-classes: the others know"),
        (["--time-limit", "0"], "--time-limit has to be at least 1, not 0"),
        (["--jobs", "0"], "--jobs has to be at least 1"),
        (["--json", "/nowhere/x.json"], "there is no folder"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str], data: Path, words: list[str], message: str
) -> None:
    assert run(data, *words) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert not captured.out


@pytest.mark.long
def test_a_label_budget_holds_for_all_learners(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    """Ours learn as with `simulate`; the others learn as many labels, drawn at random."""
    words = [data, "--label-budget", "10%"]
    ours = ["--model", "shrub", "--window", "16"]
    assert main(["simulate", *map(str, words), *ours, "--json", str(tmp_path / "s.json")]) == 0
    alone = json.loads((tmp_path / "s.json").read_text())
    capsys.readouterr()
    rest = ["--ours", "shrub window=16", "--peers", "majority,river:NaiveBayes"]
    outputs = ["--json", tmp_path / "c.json", "--html", tmp_path / "c.html"]
    assert run(*words, *rest, *outputs) == 0
    output = capsys.readouterr().out
    mine, *others = json.loads((tmp_path / "c.json").read_text())["cells"]
    assert mine["accuracy"] == alone["accuracy"]
    assert mine["labels"] == len(alone["label_budget"]["asked"])
    drawn = others[0]["labels"]
    assert [other["labels"] for other in others] == [drawn, drawn]
    assert mine["labels"] <= drawn < 1.4 * mine["labels"], "as many as ours may query"
    assert "drawn at random" in output
    assert "drawn at random" in (tmp_path / "c.html").read_text(encoding="utf-8")
    assert run(data, *rest, "--json", tmp_path / "all.json") == 0
    every = json.loads((tmp_path / "all.json").read_text())["cells"]
    assert [cell["labels"] for cell in every] == [None] * 3
    assert every[0]["accuracy"] > mine["accuracy"]


def test_a_learner_within_the_limit_of_bytes_runs(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    ours = ["--ours", "hoeffding depth=3", "--peers", "none"]
    assert run(data, *ours, "--bytes", "20000") == 0
    assert "ours:hoeffding" in capsys.readouterr().out


def test_by_default_all_learners_that_can_run_are_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = argparse.Namespace(ours=None, peers=None, model=None)
    names = [c.name for c in compare._contenders(arguments, {})]
    ours = [name for name in names if name.startswith("ours:")]
    assert {"ours:shrub", "ours:hoeffding", "ours:thicket"} <= set(ours) == set(names[: len(ours)])
    missing = [system for system in ("moa", "torch") if catalogue.missing_for(system)]
    assert names[len(ours) :] == [n for n in catalogue.PEERS if n.partition(":")[0] not in missing]
    assert capsys.readouterr().err.count("skipped") == len(missing)


def test_a_saved_model_continues_next_to_fresh_ones(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    """The model's accuracy equals `simulate`'s; columns are matched by name."""
    model, record = tmp_path / "made.mshrub", tmp_path / "met.json"
    words = [data, "--limit", "300", "--model", "gaussian", "--save", model]
    assert main(["simulate", *map(str, words)]) == 0
    rows = [line.split(",") for line in data.read_text().splitlines()]
    other = tmp_path / "other.csv"
    other.write_text("\n".join(",".join([z, "1", y, x, c]) for x, y, z, c in rows))
    assert main(["simulate", str(other), "--model", str(model), "--json", str(record)]) == 0
    alone = json.loads(record.read_text())["accuracy"]
    results = tmp_path / "found.json"
    words = [other, "--model", model, "--ours", "gaussian", "--peers", "nochange"]
    assert run(*words, "--json", results) == 0
    cells = {cell["name"]: cell for cell in json.loads(results.read_text())["cells"]}
    assert set(cells) == {"saved:made.mshrub", "ours:gaussian", "nochange"}
    assert cells["saved:made.mshrub"]["accuracy"] == pytest.approx(alone)
    assert cells["saved:made.mshrub"]["model_bytes"] == cells["ours:gaussian"]["model_bytes"]
    capsys.readouterr()
    for more in (["--features", "window=8"], ["--label-budget", "10%"], ["--target", "x"]):
        assert run(other, "--model", model, *more) == 2
        assert more[0] in capsys.readouterr().err


def test_tune_refuses_a_saved_model_and_names_the_right_command(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    assert main(["tune", str(data), "--board", "rpi_pico", "--model", "made.mshrub"]) == 2
    err = capsys.readouterr().err
    assert "simulate DATA --model FILE" in err
    assert "compare DATA --model FILE" in err
