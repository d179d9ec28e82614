"""`microshrub reproduce` from the command to the report, also after an interruption."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.streams.stream import Stream
from microshrub_research.compare import catalogue
from microshrub_research.compare.contender import Contender
from microshrub_research.papers import experiment_runner
from microshrub_research.papers.experiment import Method
from microshrub_research.papers.paper_streams import Source
from microshrub_research.papers.shrub_experiment import EXPERIMENT
from microshrub_tools.cli.main import main

pytestmark = pytest.mark.usefixtures("without_java")
SMALL = ["shrub-ensembles", "--streams", "agrawal_a,led_a", "--methods", "NB,SE", "--limit", "500"]
SMALL += ["--configurations", "1"]
JAVA = {name: os.environ[name] for name in ("PATH", "JAVA_HOME") if name in os.environ}
NAMES = [
    "ranks",
    "ranks-paper",
    *(f"{s}-{p}" for s in ("agrawal_a", "led_a") for p in ("time", "front")),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was not interrupted."""
    folder = tmp_path_factory.mktemp("reproduce") / "whole"
    assert run(folder) == 0
    return folder


def run(folder: Path, *words: str) -> int:
    """Return the exit code of a small run, with more options."""
    try:
        return main(["reproduce", *SMALL, "--output", str(folder), *words])
    except SystemExit as stop:
        return int(stop.code or 0)


def lines(folder: Path) -> list[str]:
    file = folder / "results.jsonl"
    return file.read_text().splitlines() if file.exists() else []


def without_times(folder: Path) -> list[str]:
    """Return the tables without the rows of times."""
    text = (folder / "tables.md").read_text()
    return [line for line in text.splitlines() if "| time, s |" not in line]


def test_the_report_has_tables_and_pictures(whole: Path) -> None:
    endings = [f"{name}.{suffix}" for name in NAMES for suffix in ("png", "svg")]
    files = sorted([*endings, "report.html", "results.jsonl", "tables.md"])
    assert sorted(path.name for path in whole.iterdir()) == files
    records = [json.loads(line) for line in lines(whole)[1:]]
    assert {(r["method"], r["stream"], r["samples"]) for r in records} == {
        (m, s, 500) for m in ("NB", "SE") for s in ("agrawal_a", "led_a")
    }
    text, page = (whole / "tables.md").read_text(), (whole / "report.html").read_text()
    for record in records:
        assert not record["failure"]
        assert f"{record['accuracy']:.2f}" in text
        assert f"{record['running_average_accuracy']:.2f}" in page
        assert record["sizes"][0][0] == 0
        assert record["sizes"][-1] == [500, record["model_bytes"]]
        assert 15 <= len(record["sizes"]) <= 30
        assert record["accuracies"][-1] == [500, record["accuracy"]]
    assert "--streams agrawal_a,led_a --methods NB,SE --configurations 1 --limit 500" in text
    assert "River's learners replace MOA's" in text
    assert str(whole) not in text + page
    assert page.count("<svg") == len(NAMES)


def test_stored_results_are_not_run_again(
    whole: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The report has a part of the results, and the page is in another folder."""
    folder, page = tmp_path / "some", tmp_path / "other.html"
    folder.mkdir()
    shutil.copy(whole / "results.jsonl", folder)
    words = ["--methods", "SE", "--streams", "led_a", "--html", str(page)]
    assert run(folder, *words) == 0
    assert lines(folder) == lines(whole)
    assert "| led_a | running, % |" in capsys.readouterr().out
    assert "agrawal_a" not in page.read_text()
    assert not (folder / "report.html").exists()


@pytest.mark.long
def test_a_method_starts_no_run_after_its_time_is_up(tmp_path: Path) -> None:
    """A started second counts in full."""
    words = ["--streams", "led_a", "--methods", "SE,Thicket", "--configurations", "3"]
    words += ["--jobs", "1"]  # otherwise as many start at once as there are cores
    assert run(tmp_path, *words, "--method-time", "1") == 0
    text = (tmp_path / "tables.md").read_text()
    assert "| led_a | 1 of 500 | 1 of 500 |" in text
    assert "--method-time 1" in text
    assert run(tmp_path, *words, "--method-time", "2") == 0
    assert "| led_a | 2 of 500 | 2 of 500 |" in (tmp_path / "tables.md").read_text()
    assert len(lines(tmp_path)) == 1 + 4


@pytest.mark.long
def test_methods_of_others_may_learn_less(tmp_path: Path) -> None:
    """Each method learns its own share of the stream, and ranks are over the common share."""
    words = ["--streams", "led_a", "--peer-limit", "300", "--peer-time", "1"]
    assert run(tmp_path, *words, "--configurations", "2") == 0
    text = (tmp_path / "tables.md").read_text()
    assert "| led_a | 1 of 300 | 2 of 500 |" in text
    assert "Samples: led_a 300;" in text
    assert "--peer-limit 300 --peer-time 1" in text


@pytest.mark.long
def test_a_killed_run_continues(whole: Path, tmp_path: Path) -> None:
    """The last line of its results is torn."""
    folder = tmp_path / "killed"
    program = "import sys; from microshrub_tools.cli.main import main; sys.exit(main())"
    words = [sys.executable, "-c", program, "reproduce", *SMALL, "--output", str(folder)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        while len(lines(folder)) < 2 and process.poll() is None:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    before = lines(folder)
    assert 2 <= len(before) < len(lines(whole))
    with (folder / "results.jsonl").open("a") as file:
        file.write('{"method": "SE", "str')
    assert run(folder) == 0
    after = lines(folder)
    assert after[: len(before)] == before
    keys = [(r["method"], r["stream"], r["configuration"]) for r in map(json.loads, after[1:])]
    assert len(keys) == len(set(keys)) == 4
    assert without_times(folder) == without_times(whole)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--limit", "400"], "made with --limit 500, not 400"),
        (["--seed", "1"], "made with --seed 0, not 1"),
        (["--time-limit", "7"], "--time-limit"),
    ],
)
def test_results_of_other_options_are_not_mixed_in(
    whole: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    before = lines(whole)
    assert run(whole, *words) == 2
    assert message in capsys.readouterr().err
    assert lines(whole) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--methods", "NB,HTTT"], "--methods: there is no HTTT. Did you mean HTT?"),
        (["--streams", "led"], "--streams: there is no led. Did you mean led_"),
        (["--streams", ","], "--streams names nothing"),
        (["--configurations", "0"], "--configurations has to be at least 1, not 0"),
        (["--limit", "0"], "--limit has to be at least 1"),
        (["--jobs", "0"], "--jobs has to be at least 1"),
        (["--data", "/nowhere"], "--data /nowhere: there is no such folder"),
        (["--html", "/nowhere/x.html"], "--html /nowhere/x.html"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert run(tmp_path / "new", *words) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_missing_streams_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--streams", "nomao,weather", "--data", str(tmp_path)]
    assert run(tmp_path / "new", *words) == 2
    err = capsys.readouterr().err
    assert "nomao is skipped: http://127.0.0.1:9/" in err
    assert "weather is skipped: --data" in err
    assert "no stream is available" in err


def test_a_file_that_is_not_a_stream_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "weather.csv").write_text("x,class\n1,a\n2\n")
    words = ["--streams", "weather", "--data", str(tmp_path)]
    assert run(tmp_path / "new", *words) == 2
    assert "weather.csv, line 3" in capsys.readouterr().err


@pytest.mark.long
def test_a_run_that_a_worker_cannot_do_is_tried_again(tmp_path: Path) -> None:
    """The run's failure is in the tables, but is not stored."""
    stream = tmp_path / "weather.csv"
    stream.write_text("x,class\n1,a\n2,b\n")
    contender = Contender("nobody:0", "nobody", "nothing")
    experiment = replace(EXPERIMENT, streams=("weather",))
    plan = experiment_runner.Plan(
        experiment=experiment,
        extent=replace(experiment.quick, samples=None),
        methods=[Method("M", "nobody", [contender])],
        sources={"weather": Gone("weather", str(stream))},
        seed=0,
    )
    for _ in range(2):
        (result,) = experiment_runner.reproduce(plan, tmp_path / "out").results
        assert "gone in the workers" in result.failure
        assert len(lines(tmp_path / "out")) == 1


@dataclass(frozen=True)
class Gone(Source):
    """A stream that only the parent process of the workers can open."""

    here: int = field(default_factory=os.getpid)

    def open(self, limit: int | None) -> Stream:
        if os.getpid() != self.here:
            raise UserError("it is gone in the workers")
        return super().open(limit)


def one(contender: Contender, **changes: Any) -> experiment_runner.PlannedRun:
    source = Source("led_a", "synth:led_a")
    return experiment_runner.PlannedRun(
        "M", 0, contender, source, **{"samples": 400, "seconds": 60} | changes
    )


def test_a_model_that_is_too_large_is_not_run() -> None:
    contender = Contender(
        "ours:SE", "ours", "shrub", {"window": 1024, "max_features": "sqrt(features)"}
    )
    result = experiment_runner.run_one(one(contender, most_bytes=1000))
    assert result.too_large
    assert result.failure.endswith("and 1,000 is the most")
    assert result.accuracy is None
    assert result.settings["max_features"] == 5, "of 24"
    wrong = Contender("ours:SE", "ours", "shrub", {"depth": 99})
    assert "--depth" in experiment_runner.run_one(one(wrong)).failure


def test_a_run_beyond_its_time_limit_is_stopped() -> None:
    contender = Contender("river:ARF", "river", "forest.ARFClassifier", {"n_models": 50})
    result = experiment_runner.run_one(one(contender, samples=20_000, seconds=2))
    assert result.failure == "time limit of 2 s"
    assert result.accuracy is None


def test_moas_bytes_are_measured_along_the_way() -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in JAVA.items():
            patch.setenv(name, value)
        missing = catalogue.missing_for_moa()
        if missing:
            pytest.skip(f"MOA needs {missing}")
        result = experiment_runner.run_one(
            one(Contender("moa:HT", "moa", "trees.HoeffdingTree", {"-g": 50}))
        )
    assert not result.failure
    later = [size for samples, size in result.sizes if samples]
    assert result.sizes[0][0] == 0
    assert result.average_bytes == pytest.approx(sum(later) / len(later) - result.sizes[0][1])
    assert 0 < result.average_bytes < result.model_bytes
