"""--label-budget, --label-delay, --unanswered: their values, and the output of commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests_support import learned_once, make_blobs

from microshrub_host import Stream, UserError, open_stream, simulate
from microshrub_host.evaluation import parity, prequential
from microshrub_host.evaluation.classes import Result
from microshrub_host.library import loader
from microshrub_host.simulation import engines
from microshrub_host.simulation.label_budget import LabelBudget
from microshrub_tools.cli.main import main

MODEL: dict[str, Any] = {"window": 8, "trees": 2, "depth": 2}


def of_words(
    budget: str, delay: int | None = None, never: str | None = None, hertz: float | None = None
) -> LabelBudget:
    words = {"label_budget": budget, "label_delay": delay, "unanswered": never}
    label_budget = LabelBudget.of_options(words, hertz)
    assert label_budget
    return label_budget


WORDS = ("--model", "shrub", "--window", "8", "--trees", "2", "--depth", "2")


@pytest.mark.parametrize(
    ("text", "labels", "samples"),
    [
        ("10%", 1, 10),
        ("0.15", 3, 20),
        ("1", 1, 1),
        ("1 per 20 samples", 1, 20),
        ("30 per day at 2 Hz", 1, 5760),
        ("3 per second at 2 Hz", 1, 1),
    ],
)
def test_texts_of_budgets_are_parsed(text: str, labels: int, samples: int) -> None:
    assert of_words(text).budget() == {"labels": labels, "samples": samples}


def test_the_sensors_rate_is_used_where_the_text_has_none() -> None:
    assert of_words("1 per minute", hertz=0.5).samples == 30


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("some", 0, None), "'some' is not .* a share"),
        (("0%", 0, None), "--label-budget '0%': 0 "),
        (("101%", 0, None), "--label-budget '101%': .* 0 .* 1"),
        (("3 per hour", 0, None), "Write '3 per hour at 50 Hz'"),
        (("1 per 100000000000 samples", 0, None), "less than .* 536,870,912 samples"),
        (("10%", -1, None), "--label-delay .* 0..32,767 samples, not -1"),
        (("10%", 40000, None), "--label-delay .* 0..32,767 samples, not 40,000"),
        (("10%", 0, "often"), "--unanswered 'often' is not"),
    ],
)
def test_wrong_texts_are_refused(words: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UserError) as caught:
        of_words(*words)
    assert re.search(message, str(caught.value))


@pytest.fixture(scope="module")
def stream() -> Stream:
    return open_stream("synth:sea_a", limit=3000)


def shrub(stream: Stream, **options: Any) -> Result:
    return simulate(stream, "shrub", **options, **MODEL)


def first(stream: Stream, samples: int) -> Stream:
    rows, labels = stream.values[:samples], stream.labels[:samples]
    return Stream(stream.name, rows, labels, stream.feature_names, stream.class_names)


def test_with_all_labels_a_model_learns_as_without_a_budget(stream: Stream) -> None:
    plain, budgeted = shrub(stream), shrub(stream, companions=[LabelBudget()])
    assert (budgeted.state_crc32, budgeted.accuracy) == (plain.state_crc32, plain.accuracy)
    assert budgeted.label_budget
    assert budgeted.label_budget.queries == 3000
    assert plain.label_budget is None


def test_a_model_learns_only_the_labels_of_its_queries(stream: Stream) -> None:
    """A learner that gets these labels alone has the same state."""
    whole = shrub(stream, companions=[LabelBudget(0.1, unanswered=0.25)]).label_budget
    assert whole
    assert 300 <= whole.queries <= whole.options.most(3000) == 300 + 300
    assert dict(whole.rows())["labels asked for"].endswith("10 % are allowed, and 300 in advance")
    assert [whole.options.most(n) for n in (100, 23000, 26000, 40000)] == [100, 2450, 2600, 4000]
    assert 0.6 <= whole.answered.sum() / whole.queries <= 0.9
    assert not (whole.answered & ~whole.asked).any()
    part = first(stream, int(np.flatnonzero(whole.answered)[-1]) + 1)  # ends with a label
    run = shrub(part, companions=[LabelBudget(0.1, unanswered=0.25)])
    assert run.label_budget
    with engines.start(loader.fastest(), "ShrubEnsemble", run.parameters) as engine:
        rows = part.raw_rows()
        prequential.fit(engine, rows[:256], 256)
        engine.run(rows[run.label_budget.answered], part.labels[run.label_budget.answered])
        assert engine.status().state_crc32 == run.state_crc32


def changed(name: str, seed: int, at: int, imbalanced: bool) -> Stream:
    """Return a stream whose labels, features or concept change at that sample."""
    sources = {"labels": ("clusters_0",), "features": ("rbf_10",), "concept": ("sine_0", "sine_1")}
    streams = [open_stream(f"synth:{source}", limit=12000) for source in sources[name]]
    order = np.random.default_rng(seed).permutation(12000)
    if imbalanced:  # nine of ten samples are of one class
        label = streams[0].labels[order]
        of_one, of_another = (order[label == c] for c in (0, 1))
        order = np.resize(of_one, 12000)
        order[::10] = np.resize(of_another, 1200)
    order = order[: at + 500]
    rows, labels = streams[0].values[order], streams[0].labels[order]
    if name == "labels":
        labels[at:] = (labels[at:] + 1) % len(streams[0].class_names)
    elif name == "features":
        rows[at:] = rows[at:, ::-1]
    else:
        rows[at:], labels[at:] = streams[1].values[order[at:]], streams[1].labels[order[at:]]
    return Stream(name, rows, labels, streams[0].feature_names, streams[0].class_names)


@pytest.mark.long
@pytest.mark.parametrize("at", [1000, 5000])
def test_a_drift_causes_queries_also_early_in_a_stream(at: int) -> None:
    """On average, three times the usual share of the next 200 samples is queried."""
    asked, before = [], []
    for name, imbalanced, seed in product(
        ("labels", "features", "concept"), (False, True), range(2)
    ):
        stream = changed(name, seed, at, imbalanced)
        run = learned_once(stream, companions=[LabelBudget(0.1)]).label_budget
        assert run
        before.append(run.asked[at - 400 : at].mean())
        asked.append(run.asked[at : at + 200].mean())
        assert run.queries <= run.options.most(at + 500)
    assert np.mean(before) < 0.13
    assert np.mean(asked) > 0.3, asked


def test_late_labels_are_learned_when_they_arrive(stream: Stream) -> None:
    """With every label 50 samples late, the state equals that after a stream without
    the last 50.
    """
    late = shrub(stream, companions=[LabelBudget(delay=50)])
    assert late.state_crc32 == shrub(first(stream, 2950)).state_crc32
    assert shrub(stream, companions=[LabelBudget(unanswered=1)]).accuracy < late.accuracy


def test_parity_includes_the_label_budget() -> None:
    shape = {"features": 2, "classes": 2, **MODEL}
    rows, labels = make_blobs(300)
    options = LabelBudget(0.2, delay=7, unanswered=0.18)

    def differ(other: LabelBudget) -> list[parity.Step | parity.Difference]:
        starters = {
            "one": lambda: engines.start("python", "ShrubEnsemble", shape, [options]),
            "other": lambda: engines.start("micropython", "ShrubEnsemble", shape, [other]),
        }
        return list(parity.check(starters, rows, labels, warmup=20, every=150))

    assert not any(isinstance(step, parity.Difference) for step in differ(options))
    last = differ(replace(options, share=1 / 6))[-1]
    assert isinstance(last, parity.Difference)
    assert last.buffer.startswith("query.")


OutputOf = Callable[..., str]


def test_the_command_prints_the_queries(output_of: OutputOf, tmp_path: Path) -> None:
    budget = ("--label-budget", "10%", "--label-delay", "20", "--unanswered", "20%")
    simulate = ("simulate", "synth:sea_a", "--limit", "2000", *WORDS)
    plot = tmp_path / "run.png"
    result = json.loads(output_of(*simulate, *budget, "--json", "-", "--plot", str(plot)))
    queries = result["label_budget"]["asked"]
    assert result["label_budget"]["delay"] == 20
    assert result["samples"] == 2000
    assert set(result["label_budget"]["answered"]) < set(queries)
    assert plot.stat().st_size > 10000
    table = output_of(*simulate, *budget)
    assert f"{len(queries):,}, {len(queries) / 20:.2f} %; 10 % are allowed" in table
    assert "20 samples later" in table
    assert "know every label" in table


def test_the_budget_has_its_buffers_and_its_code(output_of: OutputOf) -> None:
    shape = ("--own-program", "--features", "3", "--classes", "2", "--json", "-", *WORDS)
    result = json.loads(output_of("budget", *shape, "--label-budget", "10%"))
    without = json.loads(output_of("budget", *shape))
    assert result["code"]["active_learning"] > 0
    assert result["buffers"]["query.words"] > 0
    assert "active_learning" not in without["code"]
    assert np.array(list(without["buffers"].values())).sum() == without["model_bytes"] + sum(
        size for name, size in without["buffers"].items() if name.split(".")[0] in OTHERS
    )


OTHERS = ("quantizer", "metrics", "raw", "codes")


def test_regression_has_no_label_budget(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--target", "target", "--label-budget", "10%")
    assert main(["simulate", "synth:friedman", "--limit", "500", *words]) == 2
    assert "--label-budget is for classes" in capsys.readouterr().err
