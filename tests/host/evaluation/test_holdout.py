"""A model's accuracy on unseen data, without labels: compared with guessing and a batch forest,
and the same in the table, the verdict, the picture and JSON.
"""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microshrub_host import open_stream, simulate
from microshrub_host.evaluation import batch_forest, holdout
from microshrub_host.reports import plots, run_report
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main

CLASSES = ("rest", "walk", "run")


def taught_in_blocks(rounds: int = 1, block: int = 300) -> Stream:
    """Return a stream in order of the classes; each class has features in another range."""
    rng = np.random.default_rng(8)
    labels = np.tile(np.repeat(np.arange(3, dtype=np.uint8), block // rounds), rounds)
    values = rng.normal(labels[:, None] * [40, -25, 60], 12).round(1)
    return Stream("blocks", values, labels, ("a", "b", "c"), CLASSES)


@pytest.mark.parametrize("size", [4096, 16384, 65536])
@pytest.mark.parametrize("rounds", [1, 3])
def test_a_model_trained_class_after_class_knows_all_classes(size: int, rounds: int) -> None:
    run = simulate(taught_in_blocks(rounds), bytes=size)
    assert run.accuracy_nochange > 98
    assert run.unseen
    unseen = run.unseen.ends if rounds == 1 else run.unseen.holdout
    assert unseen
    assert unseen.balanced_accuracy > 95
    assert unseen.guessing < 40


def halves(order: str, draw: int, samples: int = 4000) -> tuple[Any, Any, Any, Any]:
    """Return two classes, in a ball and around it: training rows, labels, test rows and labels."""
    points = np.random.default_rng(draw).random((samples + 1000, 8))
    away = ((points[:, :4] - 0.5) ** 2).sum(axis=1)
    labels = (away > np.median(away)).astype(np.uint8)
    rows = (points * 65535).astype(np.uint16)
    taught = np.arange(samples)
    if order == "class after class":
        taught = taught[np.argsort(labels[:samples], kind="stable")]
    return rows[taught], labels[taught], rows[samples:], labels[samples:]


@pytest.mark.parametrize(("size", "worse"), [(16384, 4), (65536, 2)])
def test_long_blocks_of_classes_are_nearly_as_good_as_mixed_samples(size: int, worse: int) -> None:
    """The trees and the memory do not unlearn one class during the training of the other.

    No plane separates the classes, as planes suit the softmax regression best, and its votes count
    for mixed classes, but not after runs.
    """
    right = {}
    for order in ("mixed", "class after class"):
        results = []
        for draw in range(4):
            rows, labels, asked, answers = halves(order, draw)
            shape = {"features": 8, "classes": 2, "bytes": size, "seed": draw}
            results.append(holdout.answers("thicket", shape, rows, labels, asked) == answers)
        right[order] = 100 * float(np.mean(results))
    assert right["class after class"] > right["mixed"] - worse


def test_a_model_that_repeats_the_last_label_knows_one_class() -> None:
    """The holdout reveals the weakness of a tiny window, which the prequential accuracy hides."""
    run = simulate(taught_in_blocks(3), "shrub", window=8, trees=2, depth=2, step=8)
    assert run.accuracy > 90
    assert run.unseen
    assert run.unseen.holdout
    assert run.unseen.holdout.balanced_accuracy < 60


def test_only_the_last_20000_samples_are_used() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 20_503).astype(np.uint8)
    values = labels[:, None] + np.zeros((1, 2))
    values[:503] = 1 - values[:503]  # not used, and with opposite labels
    stream = Stream("long", values, labels, ("a", "b"), ("no", "yes"))
    measured = holdout.measure(stream, "thicket", {"features": 2, "classes": 2, "bytes": 4096})
    assert measured
    assert measured.holdout
    assert measured.holdout.samples + measured.holdout.learned <= 20_000
    assert measured.holdout.accuracy == measured.holdout.balanced_accuracy == 100


def test_earlier_test_samples_do_not_change_a_prediction() -> None:
    stream = taught_in_blocks(3)
    shape: dict[str, Any] = {"features": 3, "classes": 3, "bytes": 8192}
    known = holdout.held_out(stream)
    assert known
    draw = next(holdout.draws(known.stretches))
    parts = known.rows[draw.learned], known.labels[draw.learned]
    rows = known.rows[draw.asked]
    answers = holdout.answers("thicket", shape, *parts, rows)
    order = np.random.default_rng(1).permutation(len(rows))
    assert np.array_equal(holdout.answers("thicket", shape, *parts, rows[order]), answers[order])


def test_too_few_samples_give_no_holdout() -> None:
    stream = taught_in_blocks()
    few = Stream("few", stream.values[:9], stream.labels[:9], stream.feature_names, CLASSES)
    assert holdout.measure(few, "thicket", {"features": 3, "classes": 3}) is None


def test_after_an_abrupt_drift_the_test_uses_the_present_concept() -> None:
    """The headline figure includes old stretches only if there was no drift."""
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 4000).astype(np.uint8)
    changed = np.where(np.arange(4000) < 2000, 1 - labels, labels)
    values = (40 * changed + rng.normal(0, 5, 4000))[:, None].round(1)
    for begin, drifts in ((0, True), (2000, False)):
        stream = Stream("turn", values[begin:], labels[begin:], ("a",), ("no", "yes"))
        run = simulate(stream, bytes=8192)
        unseen = run.unseen
        assert unseen
        assert unseen.now
        assert unseen.holdout
        assert unseen.drifts is drifts
        assert unseen.headline is (unseen.now if drifts else unseen.holdout)
        assert unseen.now.accuracy > 95
        assert (unseen.holdout.accuracy < 80) is drifts
        assert ("drifts" in run_report.verdict(run)) is drifts


def written(folder: Path, stream: Stream, **more: list[str]) -> Path:
    """Write the stream to a file, with further columns before the class."""
    path = folder / f"{stream.name}.csv"
    head = [*stream.feature_names, *more, "label"]
    rows = [
        ",".join([*map(str, row), *others, stream.class_names[label]])
        for row, label, *others in zip(
            stream.values.tolist(), stream.labels.tolist(), *more.values(), strict=True
        )
    ]
    path.write_text("\n".join([",".join(head), *rows]) + "\n")
    return path


def slow_runs() -> Stream:
    """Return 24 long runs of slow features that do not depend on the label:
    only neighbours are alike.
    """
    rng = np.random.default_rng(0)
    steps, labels = rng.normal(0, 1, (2880, 3)), np.repeat(np.arange(24) % 4, 120)
    values = np.zeros((2880, 3))
    for i in range(1, 2880):
        values[i] = 0.97 * values[i - 1] + steps[i]
    classes = ("w", "x", "y", "z")
    return Stream(
        "slow", (10 * values).round(1), labels.astype(np.uint8), ("a", "b", "c"), classes
    )


def simulated(path: Path, *options: str) -> dict[str, Any]:
    out = path.with_suffix(".json")
    assert main(["simulate", str(path), "--json", str(out), "--bytes", "8192", *options]) == 0
    result: dict[str, Any] = json.loads(out.read_text())
    return result


class _Raising:
    """A stand-in for a forest that raises an error."""

    def __init__(self, *_: object, **__: object) -> None:
        raise ValueError("of another numpy")


@pytest.mark.parametrize("installed", [{}, {"ExtraTreesClassifier": _Raising}])
def test_with_a_broken_scikit_learn_there_is_no_batch_forest(
    installed: dict[str, type], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("sklearn.ensemble")
    module.__dict__.update(installed)
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", module)
    monkeypatch.setattr(batch_forest, "remembered", lambda kind, key, make, most: make())
    unseen = simulated(written(tmp_path, taught_in_blocks(6)))["unseen_data"]["holdout"]
    assert unseen["batch_forest"] is None
    assert unseen["accuracy"] > 90


@pytest.mark.parametrize("shuffle", [[], ["--shuffle", "1"]])
def test_long_runs_without_information_are_not_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shuffle: list[str]
) -> None:
    result = simulated(written(tmp_path, slow_runs()), *shuffle)
    unseen = result["unseen_data"]["holdout"]
    assert result["accuracy"] > (40 if shuffle else 90)  # with labels
    assert unseen["accuracy"] == result["accuracy_on_unseen_data"] < 35
    assert unseen["accuracy"] == pytest.approx(unseen["batch_forest"], abs=5)
    assert "no better than guessing" in " ".join(capsys.readouterr().out.split())


def test_table_verdict_picture_and_json_have_the_same_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, taught_in_blocks(6))
    result = simulated(path)
    output = " ".join(capsys.readouterr().out.split())
    run = simulate(open_stream(path), bytes=8192)
    head = run.unseen and run.unseen.headline
    assert head
    assert result["accuracy_on_unseen_data"] == head.accuracy
    assert result["unseen_data"]["holdout"]["confusion"] == head.by_class.counts.tolist()
    assert run.unseen
    assert head.short == dict(run.unseen.rows())["on unseen data"]
    assert f"On its own: right in {head.percent(head.accuracy)} of what it never saw" in output
    figure = plots.draw_run(run)
    lines = {line.get_label(): line.get_ydata()[0] for line in figure.axes[0].get_lines()}
    assert lines["on unseen data"] == head.accuracy
    assert lines["guessing"] == head.guessing
    assert head.text in " ".join(figure.axes[0].get_title().split())


def test_without_a_second_run_of_any_class_there_is_no_headline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = taught_in_blocks()
    unseen = simulated(written(tmp_path, stream))["unseen_data"]
    assert (unseen["headline"], unseen["cannot_tell"]) == (None, sorted(CLASSES))
    assert unseen["ends_of_runs"]["accuracy"] > 95
    assert "cannot tell" in " ".join(capsys.readouterr().out.split())


def person_each(persons: int = 6, labels: int = 2) -> tuple[Stream, list[str]]:
    """Return a stream in which each person does each class a dozen times,
    in a way that differs from person to person.
    """
    rng = np.random.default_rng(4)
    classes = np.tile(np.repeat(np.arange(labels, dtype=np.uint8), 10), 12 * persons)
    who = np.repeat(np.arange(persons), 12 * 10 * labels)
    place = rng.permutation(1000 * np.arange(persons * labels)).reshape(persons, labels)
    values = place[who, classes][:, None] + rng.normal(0, 20, (len(who), 2)).round(1)
    stream = Stream("people", values, classes, ("a", "b"), CLASSES[:labels])
    return stream, [f"p{k}" for k in who]


def test_groups_come_from_a_column_that_is_not_a_feature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stream, who = person_each()
    path = written(tmp_path, stream, person=who)
    runs = simulated(path)
    assert "--group person" in " ".join(capsys.readouterr().err.split())
    groups = simulated(path, "--group", "person")
    assert "--group person" not in " ".join(capsys.readouterr().err.split())
    assert groups["feature_names"] == ["a", "b"]
    assert groups["unseen_data"]["stretches"] == "person"
    assert runs["accuracy_on_unseen_data"] > 95
    assert groups["accuracy_on_unseen_data"] < 75


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--group", "nobody"], "nobody"),
        (["--group", "label", "--label", "label"], "label"),
        (["--group", "person", "--columns", "a", "person"], "--columns"),
        (["--group", "person", "--target", "a"], "--group"),
    ],
)
def test_a_wrong_column_of_groups_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], named: str
) -> None:
    stream, who = person_each(3)
    path = written(tmp_path, stream, person=who)
    assert main(["simulate", str(path), *options]) == 2
    assert named in capsys.readouterr().err
