"""The cost of a sample: the same count each time, bounded by the model, not by the stream."""

from __future__ import annotations

import statistics
import sys
from typing import Any

import numpy as np
import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader
from microshrub_host.library.learners import MODELS
from microshrub_host.simulation.session import Session
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream
from microshrub_research.benchmarks import per_sample_growth
from microshrub_research.cli.benchmark_growth import points_of
from microshrub_tools.cli.main import main

COMMAND = ["benchmark", "growth"]

FEATURES, CLASSES, BINS, LEAVES = 3, 2, 8, 8
TREE = {
    "features": FEATURES, "classes": CLASSES, "bins": BINS, "leaves": LEAVES, "grace_period": 25,
    "split_confidence": 0.3, "tie_threshold": 0.3, "adaptive": False,
}  # fmt: skip
SHRUB = {"features": FEATURES, "classes": CLASSES, "window": 16, "trees": 4, "depth": 3}


@pytest.fixture(scope="module")
def stream() -> Stream:
    return open_stream("synth:sea_a", limit=2500)


def session_after(stream: Stream, samples: int, engine: str = "llvm", **options: Any) -> Session:
    """Return a session of a Hoeffding tree that has learned this many samples."""
    session = Session(loader.load(engine), MODELS["hoeffding"], TREE | options)
    endless = per_sample_growth.Endless(stream)
    session.observe(endless.cut(0, 256)[0])
    session.freeze()
    session.run(*endless.cut(0, samples))
    return session


def lines_after(stream: Stream, samples: int, **options: Any) -> list[int]:
    """Return the lines executed for each of the next 200 samples."""
    session = session_after(stream, 0, "python", **options)
    per_sample_growth.restore(
        session, per_sample_growth.state_of(session_after(stream, samples, **options))
    )
    return per_sample_growth.count_lines(session, per_sample_growth.Endless(stream), samples, 200)


def test_a_count_is_the_same_each_time(stream: Stream) -> None:
    first = per_sample_growth.measure(stream, "hoeffding", TREE, [600, 5000])
    second = per_sample_growth.measure(stream, "hoeffding", TREE, [600, 5000])
    assert [c.lines for c in first] == [c.lines for c in second]
    assert [c.progress for c in first] == [c.progress for c in second]
    assert [c.samples for c in first] == [600, 5000]
    assert all(len(c.lines) == per_sample_growth.WINDOW and c.nanoseconds > 0 for c in first)


def test_shrubs_are_measured_too(stream: Stream) -> None:
    measured = per_sample_growth.measure(stream, "shrub", SHRUB, [50, 3000])
    assert measured[-1].progress["trees_used"] > 0
    assert min(measured[-1].lines) > 0


@pytest.mark.parametrize("depth", [0, 1, 6])
def test_lines_are_bounded_by_the_model_and_not_by_the_stream(stream: Stream, depth: int) -> None:
    """A leaf computes two logarithms for each count, in two votes (nba): 180 lines.

    Only a sample after which a leaf is checked for a split costs more, as all its counts are read.
    """
    path = 400 + FEATURES * (180 * CLASSES + 60) + 12 * depth
    judged = path + 100 * FEATURES * BINS * CLASSES + 10 * LEAVES * CLASSES
    for samples in (1000, 20_000):
        lines = lines_after(stream, samples, depth=depth)
        assert statistics.median(lines) <= path
        assert max(lines) <= judged


def test_the_state_moves_from_engine_to_engine(stream: Stream) -> None:
    fast = session_after(stream, 1500)
    exact = session_after(stream, 0, "python")
    per_sample_growth.restore(exact, per_sample_growth.state_of(fast))
    endless = per_sample_growth.Endless(stream)
    per_sample_growth.count_lines(exact, endless, 1500, 50)
    fast.run(*endless.cut(1500, 1550))
    assert exact.status() == fast.status()
    assert fast.status()["samples"] == 1550


def test_a_repeated_block_is_the_same_block(stream: Stream) -> None:
    endless = per_sample_growth.Endless(stream)
    fresh = session_after(stream, 0)
    blocks = per_sample_growth.blocks_before(
        fresh, endless, [400, 500, 3000], lambda done, total: None
    )
    assert [(b.begin, b.end) for b in blocks] == [(200, 400), (400, 500), (2800, 3000)]
    assert fresh.status() == session_after(stream, 3000).status()
    times = per_sample_growth.time_blocks(fresh, endless, blocks)
    assert len(times) == 3
    assert min(times) > 0
    blocks[1].run(fresh, endless)
    assert fresh.status() == session_after(stream, 500).status()


def test_a_stream_begins_again_at_its_end(stream: Stream) -> None:
    rows, labels = per_sample_growth.Endless(stream).cut(2499, 2502)
    raw = stream.raw_rows()
    assert list(rows) == raw[[2499, 0, 1]].ravel().tolist()
    assert list(labels) == stream.labels[[2499, 0, 1]].tolist()


def test_only_lines_of_the_device_library_count() -> None:
    library = loader.load("python")
    before = sys.gettrace()
    with per_sample_growth.counting_lines() as counted:
        np.arange(3).sum()
        assert counted.lines == 0
        library.Metrics(2)
    assert counted.lines > 0
    assert sys.gettrace() is before


@pytest.mark.parametrize("text", ["", "1", "0,5", "5,5", "9,3", "10,x", "10,,20", "-5", "1e4"])
def test_senseless_points_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="--samples"):
        points_of(text)


def test_the_command_prints_a_row_for_each_point(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["synth:sea_a", "--limit", "2500", "--model", "hoeffding", "--samples", "500, 3000"]
    assert main([*COMMAND, *words, "--grace-period", "50"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [row.split("│")[1].strip() for row in rows] == ["500", "3,000"]
    assert rows[0].count("1.00") >= 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["synth:sea_b"], "sea_b"),
        (["synth:sea_a", "--limit", "0"], "--limit"),
        (["synth:sea_a", "--limit", "300", "--grace-period", "9"], "--grace-period"),
        (["synth:sea_a", "--limit", "300", "--trees", "0"], "--trees"),
        (["synth:sea_a", "--samples", "10,5"], "--samples"),
    ],
)
def test_wrong_options_are_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main([*COMMAND, *words]) == 2
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert complaint.startswith("microshrub: ")
    assert message in complaint
