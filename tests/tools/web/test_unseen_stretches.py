"""The playground's headline is the accuracy on the stretches that the simulator holds out."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from blind_runs import write_blind_runs
from browser_support import Browser
from node_support import run_in_node
from patience import PATIENCE
from playground_support import choose, choose_quick, crc_of_run, give_csv, set_option, start

from microshrub_host import open_stream
from microshrub_host.evaluation.holdout import draws, measure, predictable
from microshrub_host.evaluation.stretches import find
from microshrub_host.evaluation.unseen import Holdout
from microshrub_host.library.learners import defaults
from microshrub_tools.web import site

HEADLINE = "document.querySelector('#ahead').textContent"
SHARE = r"(\d+) % of ([\d,]+) samples? \(guessing: (\d+) %\)"
FIGURE = rf"On unseen data: {SHARE}; as of now: {SHARE}"
Figure = tuple[int, ...]


def shown(page: Browser) -> Figure:
    """Return percentage right, number of samples, percentage of guessing; overall and recent."""
    page.wait(f"{HEADLINE}.startsWith('On unseen data')", PATIENCE)
    match = re.fullmatch(FIGURE, page.run(HEADLINE))
    assert match, page.run(HEADLINE)
    return tuple(int(each.replace(",", "")) for each in match.groups())


def expected(path: Path, model: str, **options: object) -> Figure:
    """Return the simulator's figures."""
    stream = open_stream(str(path))
    shape = {"features": len(stream.feature_names), "classes": len(stream.class_names)}
    measured = measure(stream, model, {**defaults(model), **shape, **options})
    assert measured
    assert measured.holdout
    assert measured.now
    return (*_rounded(measured.holdout), *_rounded(measured.now))


def _rounded(unseen: Holdout) -> Figure:
    each = round(unseen.samples / len(unseen.draws))
    return round(unseen.accuracy), each, round(unseen.guessing)


def test_the_page_holds_out_the_same_samples_as_the_simulator(tmp_path: Path) -> None:
    """Streams have runs, some of them flickering or a class's only one, or blocks of time."""
    chance = np.random.default_rng(3)
    streams = [chance.choice(3, 700, p=(0.6, 0.3, 0.1)), chance.choice(2, 37)]
    for classes, runs in ((2, 4), (3, 6), (3, 30), (4, 41), (5, 9)):
        sizes = chance.integers(30, 90, runs)
        streams.append(np.repeat(np.arange(runs) % classes, sizes))
        flickering = streams[-1].copy()
        flickering[chance.integers(0, len(flickering), 12)] = 0
        streams.append(flickering)
    streams.append(np.repeat([0, 1, 0, 1, 2], 60))
    streams.append(np.repeat([0, 1, 2], 60))
    program = """
    import { readFileSync } from "node:fs";
    import { splits } from "./bundle.mjs";
    const streams = JSON.parse(readFileSync(0, "utf8"));
    const of = (labels) => splits(Uint8Array.from(labels), Math.max(...labels) + 1);
    console.log(JSON.stringify(streams.map(of)));
    """
    given = [labels.tolist() for labels in streams]
    page = run_in_node(tmp_path, program, {"learning/holdout": "splits"}, given)
    for labels, splits in zip(streams, page, strict=True):
        labels = labels.astype(np.uint8)
        stretches = find(labels, int(labels.max()) + 1)
        last = stretches.last()
        now = [last] if last and len(np.unique(labels[last.asked])) > 1 else []
        drawn = [draw for draw in draws(stretches) if draw.asked.any()]
        for part, wanted in (("byDraw", drawn), ("now", now)):
            assert [each["learned"] for each in splits[part]] == [
                np.flatnonzero(draw.learned).tolist() for draw in wanted
            ]
            assert [each["asked"] for each in splits[part]] == [
                np.flatnonzero(predictable(draw, labels)).tolist() for draw in wanted
            ]


def test_the_headline_of_a_stream_matches_the_simulators(playground: Browser) -> None:
    """The prequential accuracy comes second."""
    choose_quick(playground)
    crc_of_run(playground)
    path = site.FOLDER / "streams" / "led.csv.gz"
    assert shown(playground) == expected(path, "hoeffding", depth=0, leaf="mc")
    assert "before each label" in playground.run("document.querySelector('#status').textContent")
    choose(playground, "learner", "shrub")
    assert playground.run(HEADLINE) == ""


def test_runs_without_information_about_the_class_are_no_success(
    playground: Browser, tmp_path: Path
) -> None:
    """Rows between known neighbours are easy: the prequential accuracy is nearly 100 %."""
    path = tmp_path / "runs.csv"
    give_csv(playground, path, write_blind_runs(path, 30))
    choose(playground, "learner", "thicket")
    set_option(playground, "bytes", 8192)
    crc_of_run(playground)
    figures = shown(playground)
    assert figures == expected(path, "thicket", bytes=8192)
    assert figures[0] < 70


def test_one_stretch_of_each_class_gives_no_figure_and_a_new_run_clears_the_message(
    playground: Browser, tmp_path: Path
) -> None:
    rows = [f"{k % 20},{c}" for c in "xy" for k in range(60)]
    give_csv(playground, tmp_path / "sorted.csv", "\n".join(["a,what", *rows]) + "\n")
    choose(playground, "learner", "hoeffding")
    crc_of_run(playground)
    playground.wait(f"{HEADLINE}.startsWith('Each class has only one stretch')", PATIENCE)
    start(playground)
    assert playground.run(HEADLINE) == ""
