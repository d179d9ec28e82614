"""The tables of the Shrub Ensembles experiment, from results made by hand, and the paper's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from microshrub_research.compare.contender import Contender
from microshrub_research.papers import experiment_runner, shrub_tables
from microshrub_research.papers.experiment import (
    RUNNING,
    TRUE,
    ExperimentResults,
    Method,
    ReportTable,
    RunOutcome,
)
from microshrub_research.papers.experiment_report import introduction, markdown, table_text
from microshrub_research.papers.printed_figures import load_paper
from microshrub_research.papers.shrub_methods import shrub_methods
from microshrub_research.papers.shrub_pictures import pictures

PAPER = load_paper("shrub-ensembles")


def made(
    method: str, stream: str, number: int, size: float, running: float, true: float = 90.0
) -> RunOutcome:
    """Return a result of a run that finished."""
    return RunOutcome(
        method=method,
        stream=stream,
        configuration=number,
        contender=f"{method} #{number}",
        system="ours",
        settings={},
        failure="",
        samples=1000,
        features=4,
        classes=2,
        accuracy=true,
        running_average_accuracy=running,
        average_bytes=size,
        seconds=1.5,
        accuracies=[(500, 80.0), (1000, true)],
        sizes=[(0, size), (500, size), (1000, size)],
    )


def failed(method: str, stream: str, number: int, failure: str) -> RunOutcome:
    return RunOutcome(method, stream, number, "", "ours", {}, failure, 10, 4, 2)


def method(name: str, count: int = 2) -> Method:
    contenders = [Contender(f"{name} #{i}", "ours", name) for i in range(count)]
    return Method(name, f"the {name}", contenders)


@pytest.fixture
def outcome() -> ExperimentResults:
    """Results of two methods on two streams; the biggest model on elec has 400 bytes."""
    results = [
        made("SE", "elec", 0, 100, 50),
        made("SE", "elec", 1, 300, 80, true=70),
        made("NB", "elec", 0, 200, 90),
        made("NB", "elec", 1, 400, 70),
        made("SE", "weather", 0, 2e6, 60),
        replace(failed("SE", "weather", 1, "2,000 bytes, and 1,000 is the most"), too_large=True),
        failed("NB", "weather", 0, "time limit of 5 s"),
        made("NB", "weather", 1, 3e8, 99),
    ]
    return ExperimentResults(
        [method("SE"), method("NB")], ["elec", "weather"], results, ["A note."]
    )


def table(outcome: ExperimentResults, title: str) -> ReportTable:
    (one,) = [each for each in shrub_tables.tables(outcome) if title in each.title]
    return one


def test_the_area_equals_the_case_by_hand(outcome: ExperimentResults) -> None:
    """SE: 0.5 from 100 to 300 and 0.8 up to 400; NB: 0.9 from 200 on; both relative to 400."""
    assert shrub_tables.apf(outcome, "elec", "SE", RUNNING) == pytest.approx(0.45)
    assert shrub_tables.apf(outcome, "elec", "NB", RUNNING) == pytest.approx(0.45)
    assert shrub_tables.apf(outcome, "elec", "SE", TRUE) == pytest.approx(0.9 * 300 / 400)
    assert shrub_tables.apf(outcome, "weather", "SE", RUNNING) == 0, "the biggest is the only one"
    assert shrub_tables.apf(outcome, "weather", "NB", RUNNING) is None, "it has 300 MB"


def test_the_papers_figures_are_in_brackets(outcome: ExperimentResults) -> None:
    areas = table(outcome, "Area under the Pareto front, mean")
    assert areas.head == ["stream", "SE", "NB"]
    assert areas.rows[0] == ["elec", "0.4500 (0.9401)", "0.4500 (0.7616)"]
    assert areas.best == {(0, 1), (0, 2), (1, 1)}
    assert areas.rows[1] == ["weather", "0.0000 (0.7586)", "- (0.6958)"]


def test_the_best_models_are_listed_without_and_with_a_limit(outcome: ExperimentResults) -> None:
    rows = table(outcome, "without a limit").rows
    assert rows[0] == ["elec", "running, %", "80.00 (94.01)", "90.00 (76.17)"]
    assert rows[1] == ["elec", "accuracy, %", "70.00", "90.00"], "of the same configuration"
    assert rows[2] == ["elec", "size, KB", "0.3 (1.0)", "0.2 (3.0)"]
    assert rows[3] == ["elec", "time, s", "1.5 (12.0)", "1.5 (25.0)"]
    assert rows[4] == ["weather", "running, %", "60.00 (75.86)", "99.00 (69.58)"]
    below = table(outcome, "below 1 MB")
    assert below.rows[3] == ["weather", "running, %", "- (75.86)", "- (69.58)"]
    assert len(below.rows) == 6
    assert not [place for place in below.best if place[0] >= 3]
    assert table(outcome, "below 16 KB").rows[0][2] == "80.00", "the paper has none"


def test_failures_are_counted_by_reason(outcome: ExperimentResults) -> None:
    lines = introduction(outcome)
    assert lines[0] == "Streams: elec (1,000 samples, 4 features, 2 classes), weather (1,000 " + (
        "samples, 4 features, 2 classes)."
    )
    assert "A note." in lines
    assert lines[-1].startswith("2 of 8 runs")
    assert "SE: takes too many bytes (1); NB: time limit of 5 s (1)" in lines[-1]


def test_the_whole_report_is_markdown(outcome: ExperimentResults) -> None:
    made_tables = shrub_tables.tables(outcome)
    text = markdown("Title", "microshrub reproduce x", outcome, made_tables, pictures(outcome), {})
    for each in made_tables:
        assert f"## {each.title}" in text
    assert "| elec | **0.4500 (0.9401)** | **0.4500 (0.7616)** |" in text
    for name in ("ranks", "ranks-paper", "elec-time", "elec-front", "weather-front"):
        assert f"]({name}.svg)" in text
    assert table_text(ReportTable("", ["a", "b"], [["x|y", "1"]])).splitlines()[1:] == [
        "| --- | ---: |",
        "| x\\|y | 1 |",
    ]


def test_the_papers_ranks_are_reproduced() -> None:
    """The paper's text says that SE's rank is between 1 and 2,
    in one clique with SRP and ARF alone.
    """
    ranking = shrub_tables.rank_paper(PAPER)
    best = [PAPER.methods[i] for i in np.argsort(ranking.ranks)]
    assert best[:3] == ["SE", "SRP", "ARF"]
    assert best[-2:] == ["NB", "SDT"]
    assert 1 <= ranking.ranks.min() <= 2
    assert [PAPER.methods[i] for i in ranking.cliques[0]] == ["SE", "SRP", "ARF"]


def test_the_papers_tables_agree_with_each_other() -> None:
    """A limit only removes models, and the area is below the best accuracy."""
    for stream in PAPER.tables["apf"]:
        for name in PAPER.methods:
            best = PAPER.value("accuracy", stream, name)
            ten = PAPER.value("accuracy_10_mb", stream, name) or 0
            one = PAPER.value("accuracy_1_mb", stream, name) or 0
            area = PAPER.value("apf", stream, name) or 0
            assert best is not None
            assert one <= ten <= best
            assert 100 * area <= best + 0.011
    assert PAPER.value("apf", "led_g", "SDT") is None
    assert PAPER.value("apf", "sea_a", "SE") is None
    assert PAPER.value("apf", "elec", "Hoeffding") is None


@pytest.mark.parametrize(
    ("system", "expected"), [("moa", 1000.0), ("river", 1000.0), ("ours", 2000.0)]
)
def test_the_average_size_is_over_time(system: str, expected: float) -> None:
    """For objects of a virtual machine, the size before the first sample is subtracted."""
    sizes = [(0, 1000), (10, 1500), (20, 2500)]
    assert experiment_runner.average_size(system, sizes) == expected
    assert experiment_runner.average_size(system, sizes[:1]) is None
    assert experiment_runner.average_size(system, [(20, 2500)]) == 2500


def test_configurations_are_the_first_of_a_longer_draw() -> None:
    few, many = (shrub_methods(count, 3)[0] for count in (3, 9))
    for one, other in zip(few, many, strict=True):
        assert one.name == other.name
        assert other.contenders[: len(one.contenders)] == one.contenders
        assert len(one.contenders) == (1 if one.name == "NB" else 3)
        assert len({str(c.settings) for c in other.contenders}) == len(other.contenders)
