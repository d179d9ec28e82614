"""The best known models of a small memory fit their limit, and have the figures of evaluate()."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from microshrub_host.evaluation.prequential import evaluate
from microshrub_host.library.learners import learner, stream_parameters
from microshrub_host.streams.open_stream import open_stream
from microshrub_research.benchmarks import small_memory
from microshrub_research.benchmarks.best_known import LARGE, PICKS, Pick
from microshrub_research.benchmarks.known_streams import CHOSEN
from microshrub_research.compare.comparison_runner import Cell
from microshrub_tools.cli.main import main

COMMAND = ["benchmark", "small-memory"]
SHAPES = {  # features, the two-valued ones, classes
    "elec": (14, range(7, 14), 2),
    "weather": (8, (), 2),
    "agrawal_a": (40, range(6, 40), 2),
    "led_a": (24, range(24), 10),
    "rbf_m": (10, (), 5),
    "sea_a": (3, (), 2),
    "wisdm": (42, (), 6),
    "roomocc": (16, (), 4),
}


def cell(name: str, accuracy: float | None, failure: str = "") -> Cell:
    return Cell("elec", name, "moa", name, {}, failure, 10, 2048, accuracy=accuracy)


@pytest.mark.parametrize(
    "pick", PICKS, ids=[f"{pick.stream}-{pick.contender().name}" for pick in PICKS]
)
def test_a_pick_fits_its_limit(pick: Pick) -> None:
    features, two_valued, classes = SHAPES[pick.stream]
    shape = {"features": features, "classes": classes}
    if pick.model == "hoeffding":
        shape["two_valued"] = tuple(two_valued)
    assert learner(pick.model).nbytes(**shape, **pick.parameters) <= pick.budget


def test_no_two_rows_have_the_same_name() -> None:
    names = [(pick.stream, pick.contender().name) for pick in PICKS]
    assert len(set(names)) == len(names)
    assert {pick.stream for pick in PICKS} == set(CHOSEN)


def test_a_row_has_the_figures_of_simulate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, "--streams", "sea_a", "--limit", "2000"]) == 0
    output = capsys.readouterr().out
    stream = open_stream("synth:sea_a", limit=2000)
    for pick in PICKS:
        if pick.stream == "sea_a":
            wanted = stream_parameters(pick.model, stream, 256) | dict(pick.parameters)
            accuracy = evaluate(stream, pick.model, wanted).accuracy
            size = learner(pick.model).nbytes(**wanted)
            row = ["sea_a", f"{pick.budget >> 10} KB", pick.model, f"{size:,}", f"{accuracy:.2f}"]
            assert f"| {' | '.join(row)} |" in output
    assert "microshrub benchmark small-memory --streams sea_a --limit 2000" in output


def test_the_lead_is_over_the_better_rival_and_a_failure_is_reported() -> None:
    pick = next(pick for pick in PICKS if pick.stream == "elec" and pick.budget == LARGE)
    cells = {
        ("elec", pick.contender().name): cell("ours", 94.0),
        ("elec", "moa:ARF"): cell("moa:ARF", 90.5),
        ("elec", "moa:SRP"): cell("moa:SRP", 91.25),
    }
    assert small_memory.accuracy_row(pick, cells, True)[-3:] == (
        "ARF 90.50, 2 KB",
        "SRP 91.25, 2 KB",
        "+2.75",
    )
    cells["elec", "moa:SRP"] = replace(
        cell("moa:SRP", None, "time limit of 3 s"), model_bytes=None
    )
    assert small_memory.accuracy_row(pick, cells, True)[-2:] == ("SRP time limit of 3 s", "+3.50")


def test_missing_files_are_reported_and_a_run_without_streams_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*COMMAND, "--streams", "elec,wisdm", "--data", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "elec, wisdm" in err
    assert "no stream is available" in err


def test_the_page_has_the_options(tmp_path: Path) -> None:
    target = tmp_path / "small.md"
    words = ["--streams", "sea_a", "--limit", "500", "--output", str(target)]
    assert main([*COMMAND, *words]) == 0
    text = target.read_text()
    for pick in PICKS:
        if pick.stream == "sea_a":
            assert small_memory.options_row(pick)[2] in text
