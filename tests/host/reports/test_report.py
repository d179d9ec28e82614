"""The verdict on a run, soak's conclusion, the plot: claims have to follow from the figures."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.base.text import count
from microshrub_host.evaluation import classes, prequential
from microshrub_host.evaluation.by_class import ByClass
from microshrub_host.evaluation.stretches import RUNS
from microshrub_host.evaluation.unseen import Holdout, Unseen
from microshrub_host.reports import plots, run_report
from microshrub_host.reports.result_tables import progress_rows
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli import soak

PARAMETERS = {"features": 1, "classes": 2, "window": 8, "trees": 2, "depth": 2, "step": 1.0}


def result_of(labels: list[int], values: list[float] | None = None) -> classes.Result:
    """Return a run over these labels, by default with a feature without information."""
    rng = np.random.default_rng(4)
    column = np.array(values) if values else rng.random(len(labels))
    stream = Stream(
        "made", column.reshape(-1, 1), np.array(labels, dtype=np.uint8), ("x",), ("a", "b")
    )
    return prequential.evaluate(stream, "shrub", PARAMETERS, engine="python")


def test_independent_labels_are_not_called_runs() -> None:
    for seed, share in ((1, 0.5), (2, 0.9), (3, 0.7), (4, 0.99)):
        rng = np.random.default_rng(seed)
        verdict = run_report.verdict(result_of((rng.random(500) < share).astype(int).tolist()))
        assert "runs" not in verdict
        assert "--shuffle" not in verdict


def test_labels_in_runs_are_reported() -> None:
    result = result_of([(i // 40) % 2 for i in range(400)])
    verdict = run_report.verdict(result)
    assert re.search(r"not beat NoChange \(97\.50 %\)\. .* long runs", verdict)
    assert "--shuffle SEED" in verdict
    assert "neighbours in time leak" in verdict
    shuffled = run_report.verdict(result, shuffled=True)
    assert "long runs" in shuffled
    assert "--shuffle" not in shuffled


def test_the_accuracy_on_unseen_data_decides_where_labels_come_in_runs() -> None:
    labels = [(i // 40) % 2 for i in range(400)]
    result = result_of(labels, [float(30 * label + i % 7) for i, label in enumerate(labels)])
    for right, beats in ((39, True), (21, False)):
        by_class = ByClass(("no", "yes"), np.array([[right, 40 - right], [40 - right, right]]))
        figure = Holdout(by_class, (2.5 * right,), 2, 320, 50.0, None)
        unseen = Unseen(RUNS, figure, None, None, drifts=False, single=())
        outcome = replace(result, accuracy=97.0, unseen=unseen)
        first, verdict = run_report.answer(outcome), run_report.verdict(outcome)
        assert first.startswith(f"On its own: right in {figure.percent(figure.accuracy)}")
        assert "guessing: 50 %" in first
        assert ("no better than guessing" in first) is not beats
        assert "does not beat" not in verdict
        assert "97.50 %" in verdict, "what repeating the last label would reach is not concealed"


@pytest.mark.parametrize(
    ("counts", "beats"),
    [
        ([[1432, 0], [0, 8]], True),  # all that are rare, and no false alarm
        ([[1380, 52], [1, 7]], True),  # less often right than guessing, but it finds them
        ([[1430, 2], [7, 1]], False),
        ([[1440, 0], [0, 0]], False),  # there is no rare sample
        ([[0, 8], [0, 1432]], False),  # it always guesses
    ],
)
def test_a_model_that_finds_a_rare_class_is_better_than_guessing(
    counts: list[list[int]], beats: bool
) -> None:
    result = result_of([i % 2 for i in range(100)])
    by_class = ByClass(("usual", "rare"), np.array(counts))
    figure = Holdout(by_class, (99.0,), 20, 4000, 99.4, None)
    outcome = replace(result, unseen=Unseen(RUNS, figure, None, None, drifts=False, single=()))
    first = run_report.answer(outcome)
    assert ("no better than guessing" in first) is not beats
    found = f"Averaged over the classes, it finds {by_class.balanced_accuracy:.0f} %"
    assert (f"{found} (guessing: 50 %)." in first) is beats


def test_the_better_baseline_is_named() -> None:
    rng = np.random.default_rng(7)
    verdict = run_report.verdict(result_of((rng.random(500) < 0.03).astype(int).tolist()))
    assert "not beat MajorityClass (9" in verdict


def test_a_tie_is_not_a_win() -> None:
    result = result_of([i % 2 for i in range(200)])
    tie = replace(result, accuracy=99.0, accuracy_nochange=99.0, accuracy_majority=99.0)
    assert run_report.verdict(tie).endswith("not beat NoChange (99.00 %).")
    assert "0.01 points above" in run_report.verdict(replace(tie, accuracy=99.01))


def test_a_win_may_be_due_to_a_shuffle() -> None:
    """After a shuffle, nearly equal samples of a recording are both before and after
    each other.
    """
    result = result_of([i % 2 for i in range(100)], [float(i % 2) for i in range(100)])
    assert "neighbours in time leak" in run_report.verdict(result, shuffled=True)
    assert "neighbours" not in run_report.verdict(result)


def test_a_win_needs_enough_samples() -> None:
    labels = [i % 2 for i in range(100)]
    values = [float(label) for label in labels]
    assert "points above the better" in run_report.verdict(result_of(labels, values))
    assert "99 samples: too few" in run_report.verdict(result_of(labels[:99], values[:99]))


def test_label_agreement_is_the_chance_of_two_equal_labels() -> None:
    labels = np.array([0, 0, 0, 2], dtype=np.uint8)
    equal = np.mean([[a == b for a in labels] for b in labels]) * 100
    assert classes.label_agreement(labels) == pytest.approx(equal)


def test_counts_have_the_right_plural() -> None:
    texts = [count(n, noun) for n, noun in ((1, "sample"), (2310, "sample"), (2, "class"))]
    assert texts == ["1 sample", "2,310 samples", "2 classes"]


class TestSoak:
    def test_marks_end_with_the_last_sample(self) -> None:
        assert soak.marks(20_000) == [10_000, 20_000]
        assert soak.marks(100_000) == [10_000, 100_000]
        assert soak.marks(250_001) == [10_000, 100_000, 250_001]

    def test_soak_fails_only_for_a_growing_heap(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert soak.conclude([500, 564], [10.0, 14.0]) == 0
        output = capsys.readouterr().out
        assert "1.40 times the first.\n" in output
        assert "Nothing was allocated" in output
        assert soak.conclude([500, 500], [10.0, 16.0]) == 0
        assert "1.60 times the first: it became slower." in capsys.readouterr().out
        assert soak.conclude([500, 565], [10.0, 10.0]) == 1
        assert "The heap grew." in capsys.readouterr().out


class TestPlot:
    @pytest.mark.parametrize("samples", [1, 2, 9, 10, 11, 300])
    def test_a_run_of_any_length_can_be_drawn(self, tmp_path: Path, samples: int) -> None:
        result = result_of([i % 2 for i in range(samples)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plots.draw_run(result).savefig(tmp_path / "x.png")
        axes = plots.draw_run(result).axes[0]
        for line in axes.lines:
            assert (line.get_marker() == "o") == (len(line.get_xdata()) < 10)
        assert axes.get_title().endswith("1 sample") == (samples == 1)

    def test_no_settled_value_is_cut_off(self) -> None:
        result = result_of([(i // 40) % 2 for i in range(400)])
        axes = plots.draw_run(result).axes[0]
        low = axes.get_ylim()[0]
        assert len(axes.lines) == 4
        for line in axes.lines:
            settled = line.get_ydata()[line.get_xdata() > 40]
            assert settled.min() > low


def test_an_ensemble_shows_the_shares_of_its_members() -> None:
    """The picture has a line and a name for each member, and the table its share and accuracy."""
    progress = {"trees_used": 3, "share_one": 70, "accuracy_one": 91, "share_two": 30}
    result = result_of([(i // 40) % 2 for i in range(400)])
    points = [replace(point, progress=progress) for point in result.history]
    figure = plots.draw_run(replace(result, progress=progress, history=points))
    lower = figure.axes[1]
    assert [line.get_label() for line in lower.lines] == ["one", "two"]
    assert lower.get_legend() is not None
    rows = dict(progress_rows(progress))
    assert rows["  one"] == "70 % of the votes, lately 91 % right"
    assert rows["trees used"] == "3"
    assert rows["share two"] == "30"
