"""What a model knows once nobody tells it labels: kept aside, asked at the end, and told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microshrub_host import simulate
from microshrub_host.evaluation import kept_aside
from microshrub_host.reports import run_report
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main

CLASSES = ("rest", "walk", "run")


def taught_in_blocks(rounds: int = 1, block: int = 300) -> Stream:
    """Class after class; each class' features lie elsewhere."""
    rng = np.random.default_rng(8)
    labels = np.tile(np.repeat(np.arange(3, dtype=np.uint8), block // rounds), rounds)
    values = rng.normal(labels[:, None] * [40, -25, 60], 12).round(1)
    return Stream("blocks", values, labels, ("a", "b", "c"), CLASSES)


@pytest.mark.parametrize("size", [4096, 16384, 65536])
@pytest.mark.parametrize("rounds", [1, 3])
def test_who_was_taught_class_after_class_knows_all_classes(size: int, rounds: int) -> None:
    run = simulate(taught_in_blocks(rounds), bytes=size)
    assert run.accuracy_nochange > 98
    assert run.alone is not None
    assert run.alone.balanced_accuracy > 95


def halves(order: str, samples: int = 4000) -> tuple[Any, Any, Any, Any]:
    """Two classes that a plane parts: rows, labels, and others with theirs."""
    rng = np.random.default_rng(3)
    points = rng.random((samples + 1000, 8))
    labels = (points @ (w := rng.random(8)) > w.sum() / 2).astype(np.uint8)
    rows = (points * 65535).astype(np.uint16)
    taught = np.arange(samples)
    if order == "class after class":
        taught = taught[np.argsort(labels[:samples], kind="stable")]
    return rows[taught], labels[taught], rows[samples:], labels[samples:]


@pytest.mark.parametrize(("size", "worse"), [(16384, 6), (65536, 3)])
def test_a_long_block_of_each_class_teaches_nearly_what_they_teach_mixed(
    size: int, worse: int
) -> None:
    """Neither the trees nor the memory unlearn one class while the other one is taught."""
    right = {}
    for order in ("mixed", "class after class"):
        rows, labels, asked, answers = halves(order)
        found = [
            kept_aside.answers(
                "thicket",
                {"features": 8, "classes": 2, "bytes": size, "seed": seed},
                rows,
                labels,
                asked,
            )
            for seed in range(3)
        ]
        right[order] = 100 * float(np.mean([said == answers for said in found]))
    assert right["class after class"] > right["mixed"] - worse


def test_who_repeats_the_last_label_knows_one_class() -> None:
    """The figure sees what the prequential accuracy hides: a shrub of a tiny window."""
    run = simulate(taught_in_blocks(), "shrub", window=8, trees=2, depth=2, step=8)
    assert run.accuracy > 90
    assert run.alone is not None
    assert run.alone.balanced_accuracy < 60


def test_every_fifth_sample_of_the_last_20000_is_asked() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 20_503).astype(np.uint8)
    values = labels[:, None] + np.zeros((1, 2))
    values[:503] = 1 - values[:503]  # what is not looked at, and says the contrary
    stream = Stream("long", values, labels, ("a", "b"), ("no", "yes"))
    found = kept_aside.measure(stream, "thicket", {"features": 2, "classes": 2, "bytes": 4096})
    assert found is not None
    assert (found.samples, found.learned) == (4000, 16_000)
    assert found.accuracy == found.balanced_accuracy == 100


def test_the_answers_are_those_of_the_rows_kept_aside() -> None:
    stream = taught_in_blocks(3)
    shape: dict[str, Any] = {"features": 3, "classes": 3, "bytes": 8192}
    rows = stream.scale.apply(stream.values)
    aside = np.arange(len(rows)) % 5 == 4
    said = kept_aside.answers("thicket", shape, rows[~aside], stream.labels[~aside], rows[aside])
    found = kept_aside.measure(stream, "thicket", shape)
    assert found is not None
    assert found.accuracy == pytest.approx(100 * np.mean(said == stream.labels[aside]))
    order = np.random.default_rng(1).permutation(aside.sum())
    mixed = kept_aside.answers(
        "thicket", shape, rows[~aside], stream.labels[~aside], rows[aside][order]
    )
    assert np.array_equal(mixed, said[order])  # whatever was asked before


def test_too_few_samples_tell_nothing() -> None:
    stream = taught_in_blocks()
    few = Stream("few", stream.values[:9], stream.labels[:9], stream.feature_names, CLASSES)
    assert kept_aside.measure(few, "thicket", {"features": 3, "classes": 3}) is None


def test_the_command_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream, path = taught_in_blocks(), tmp_path / "walk.csv"
    rows = [
        ",".join([*map(str, row), CLASSES[label]])
        for row, label in zip(stream.values.tolist(), stream.labels.tolist(), strict=True)
    ]
    path.write_text("\n".join(["a,b,c,class", *rows]) + "\n")
    out = tmp_path / "run.json"
    assert main(["simulate", str(path), "--json", str(out), "--bytes", "8192"]) == 0
    told = json.loads(out.read_text())
    assert told["accuracy_without_labels"] > 95
    assert told["balanced_accuracy_without_labels"] > 95
    assert told["recall_without_labels"].keys() == set(CLASSES)
    said = capsys.readouterr().out
    assert "without labels" in said
    assert "Without labels, after learning 720 samples, the model predicts" in " ".join(
        said.split()
    )


def test_the_verdict_speaks_of_it() -> None:
    run = simulate(taught_in_blocks(), bytes=8192)
    assert "(balanced accuracy " in run_report.verdict(run)
