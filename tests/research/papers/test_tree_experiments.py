"""`microshrub reproduce` of the papers on Hoeffding trees: small runs from end to end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microshrub_host.streams.generators import SAMPLES
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_research.compare import catalogue
from microshrub_research.papers import tree_streams
from microshrub_research.papers.experiment import RunOutcome
from microshrub_research.papers.experiments import load_experiment
from microshrub_research.papers.olboost_report import is_better
from microshrub_research.papers.regularized_report import part_of
from microshrub_research.papers.tree_tables import errors
from microshrub_tools.cli.main import main

pytestmark = pytest.mark.usefixtures("without_java")
NAMES = ("regularized", "efdt", "olboost")


Reproduce = Callable[..., tuple[str, list[dict[str, Any]], set[str]]]


@pytest.fixture
def reproduce(tmp_path: Path) -> Reproduce:
    """A function that runs an experiment, and returns its tables,
    its results and the pictures' names.
    """

    def run(name: str, **options: str) -> tuple[str, list[dict[str, Any]], set[str]]:
        words = [word for o, value in options.items() for word in (f"--{o}", value)]
        folder = tmp_path / "found"
        assert main(["reproduce", name, "--quick", "--output", str(folder), *words]) == 0
        lines = (folder / "results.jsonl").read_text().splitlines()[1:]
        pictures = {path.stem for path in folder.glob("*.png")}
        assert (folder / "report.html").is_file()
        return (folder / "tables.md").read_text(), [json.loads(line) for line in lines], pictures

    return run


def rows(text: str, first: str, second: str) -> list[list[str]]:
    """Return the cells of the tables' rows that begin with these two."""
    begin = f"| {first} | {second} |"
    lines = [line.split(" | ") for line in text.splitlines() if line.startswith(begin)]
    return [[cell.strip("| *") for cell in line] for line in lines]


@pytest.mark.long
def test_regularized_has_the_papers_figures(reproduce: Reproduce) -> None:
    text, results, pictures = reproduce(
        "regularized",
        streams="BG1-50,SEA-50-drift",
        methods="HT,HT-REG,HAT-REG,river HT",
        limit="1000",
        configurations="2",
    )
    assert len(results) == 2 * 5  # HT-REG has two configurations
    assert not [result["failure"] for result in results if result["failure"]]
    by_key = {(r["stream"], r["method"], r["configuration"]): r for r in results}
    plain = by_key["BG1-50", "HT", 0]
    assert plain["features"] == 50
    assert plain["settings"]["regularization"] == 1
    omegas = [by_key["BG1-50", "HT-REG", n]["settings"]["regularization"] for n in (0, 1)]
    assert omegas == [0.5, 0.1]
    (accuracy,) = rows(text, "BG1-50", "accuracy, %")
    assert accuracy[2].startswith(f"{plain['accuracy']:.2f}")
    assert "(89.93)" in accuracy[2]  # the paper's figure
    assert "(" not in accuracy[5]  # which does not have River's
    (nodes,) = rows(text, "BG1-50", "nodes")
    assert nodes[2] == str(plain["shapes"][-1][1]["nodes"])
    (drift,) = rows(text, "SEA-50-drift", "accuracy, %")
    assert "(85.98)" in drift[3]
    assert pictures == {"BG1-50-time", "SEA-50-drift-time", "ranks-accuracy", "ranks-nodes"}


@pytest.mark.long
def test_efdt_has_the_mean_errors_of_random_trees(reproduce: Reproduce) -> None:
    text, results, pictures = reproduce(
        "efdt",
        streams="random_tree_5_2_1,random_tree_5_2_2,random_tree_2_2_1",
        methods="VFDT,EFDT",
        limit="10000",
    )
    assert len(results) == 3 * 2
    wrong = {(r["stream"], r["method"]): 100 - r["accuracy"] for r in results}
    (error,) = rows(text, "5 classes, 2 values", "error, %")
    for place, method in ((2, "VFDT"), (3, "EFDT")):
        mean = (
            wrong["random_tree_5_2_1", method] + wrong["random_tree_5_2_2", method]
        ) / 2  # fmt: skip
        assert error[place] == f"{mean:.2f}"
    assert float(error[3]) < float(error[2])
    assert pictures == {"random-trees-2-values"}


@pytest.mark.long
def test_olboost_has_the_papers_counts(reproduce: Reproduce) -> None:
    text, results, pictures = reproduce(
        "olboost",
        streams="led24,sea",
        methods="VFDT,O_VFDT,VFDT mc,O_VFDT mc",
        limit="3000",
        configurations="6",
    )
    assert len(results) == 2 * (2 * 6 + 2)
    settings: dict[str, list[Any]] = {"VFDT": [], "O_VFDT": []}
    for r in results:
        if r["method"] in settings and r["stream"] == "sea":
            settings[r["method"]].append(
                (r["configuration"], r["settings"]["grace_period"], r["settings"]["tie_threshold"])
            )
    assert sorted(settings["VFDT"]) == sorted(settings["O_VFDT"])
    assert len(set(settings["VFDT"])) == 6
    memory = text[text.index("Table I (b)") :]
    assert "| VFDT | 2 (11) | - |" in memory  # a boosted tree is larger in every setting
    assert "| O_VFDT | - | 0 (0) |" in memory
    assert len(rows(text, "led24", "mc")) == 1
    assert not rows(text, "led24", "nb")
    assert pictures == {"ranks", "gain-by-size", "led24-boxes", "sea-boxes"}


@pytest.mark.long
def test_methods_of_others_can_run_alone(reproduce: Reproduce) -> None:
    """Empty tables and pictures are left out."""
    text, results, pictures = reproduce(
        "olboost", streams="sea", methods="river VFDT", limit="300", configurations="1"
    )
    assert len(results) == 1
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## VFDT of three systems with the same settings",
        "## How this was made",
    ]
    assert not pictures


@pytest.mark.parametrize("name", NAMES)
def test_the_extents_name_known_streams(name: str) -> None:
    experiment = load_experiment(name)
    for extent in (experiment.quick, experiment.full):
        assert set(extent.streams) <= set(experiment.streams)


@pytest.mark.parametrize("name", NAMES)
def test_synthetic_streams_can_be_opened_and_each_method_has_configurations(
    name: str, tmp_path: Path
) -> None:
    experiment = load_experiment(name)
    sources, notes = experiment.find(experiment.streams, tmp_path)
    assert sources
    assert len(notes) == len(set(notes))
    generated = [s for s in sources.values() if s.origin.startswith("generated")]
    assert {source.name for source in generated} == set(sources)
    for source in generated[:: max(1, len(generated) // 12)]:
        stream = source.open(300)
        assert stream.name == source.name
        assert len(stream.labels) == 300
    methods, _ = experiment.methods(2, 0)
    for method in methods:
        assert 1 <= len(method.contenders) <= 2
        assert len({c.name for c in method.contenders}) == len(method.contenders)


def test_methods_of_each_paper_exist() -> None:
    wanted = {
        "regularized": {"HT", "HT-REG", "HAT", "HAT-REG", "river HT", "river HAT"},
        "efdt": {"VFDT", "EFDT", "VFDT mc", "EFDT mc", "river VFDT", "river EFDT"},
        "olboost": {"VFDT", "O_SVFDT-II", "SVFDT-I", "O_VFDT nb", "river VFDT"},
    }
    for name, methods in wanted.items():
        chosen, notes = load_experiment(name).methods(1, 0)
        assert methods <= {method.name for method in chosen}
        assert bool(notes) == bool(catalogue.missing_for_moa())


# Streams


def test_the_change_is_in_the_middle_of_the_requested_samples() -> None:
    source = tree_streams.Changing("BG1-drift", "bg1_0_to_1_at_{at}_irrelevant_4")
    stream = source.open(8000)
    same = open_stream("synth:bg1_0_to_1_at_4000_irrelevant_4", limit=8000)
    assert stream.name == "BG1-drift"
    np.testing.assert_array_equal(stream.labels, same.labels)
    assert source.open(None).values.shape == (SAMPLES, 10)


def test_shuffled_streams_are_found_and_a_missing_one_has_one_note(
    put: Any, tmp_path: Path
) -> None:
    put("a,class\n" + "".join(f"{i},{i % 2}\n" for i in range(40)), "here.csv")
    names = ["here", "here_shuffled_1", "here_shuffled_2", "gone", "gone_shuffled_1"]
    sources, notes = tree_streams.find(names, tmp_path)
    assert list(sources) == names[:3]
    assert len(notes) == 1
    assert "gone" in notes[0]
    plain, one, two = (sources[name].open(None) for name in names[:3])
    assert one.name == names[1]
    assert sorted(one.values[:, 0]) == sorted(plain.values[:, 0])
    assert not np.array_equal(one.values, two.values)
    np.testing.assert_array_equal(one.values[:, 0] % 2, one.labels)
    cut: Stream = sources[names[1]].open(7)
    np.testing.assert_array_equal(cut.values, one.values[:7])


def test_streams_belong_to_parts_of_the_regularized_paper() -> None:
    names = ("AGR-50", "BG1-250-drift", "COV", "elec")
    assert [part_of(name) for name in names] == ["stationary", "drifting", "real", "real"]


# Figures of results


def test_errors_of_parts_add_up() -> None:
    rng = np.random.default_rng(1)
    right = rng.random(2000) < np.linspace(0.2, 0.9, 2000)
    running = np.cumsum(right) / np.arange(1, 2001) * 100
    curve = [(n, float(running[n - 1])) for n in range(10, 2001, 10)]
    result = RunOutcome("", "", 0, "", "ours", {}, "", 2000, 1, 2, accuracies=curve)
    middles, percents = errors(result, points=50)
    assert len(middles) == len(percents) == 50
    assert np.mean(percents) == pytest.approx(100 * (1 - right.mean()))
    assert percents[0] == pytest.approx(100 * (1 - right[:40].mean()))
    assert middles[0] == 20


@pytest.mark.parametrize(
    ("a", "b", "better"),
    [
        ([5, 6, 7, 8, 9, 10], [1, 1, 2, 3, 3, 5], True),
        ([1, 1, 2, 3, 3, 5], [5, 6, 7, 8, 9, 10], False),
        ([5, 6, 7, 8, 9], [1, 1, 2, 3, 3], False),  # five pairs cannot have such a p-value
        ([5, 6, 7, 8, 9, 10], [5, 6, 7, 8, 9, 10], False),
        ([5, 6, 7, 8, 9, 10], [4, 7, 6, 9, 8, 11], False),
    ],
)
def test_better_means_significant_by_wilcoxon(a: list[int], b: list[int], better: bool) -> None:
    assert is_better(np.array(a, dtype=float), np.array(b, dtype=float)) == better
