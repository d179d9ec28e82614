"""`benchmark teach`: the lessons have the described samples, in their order;
and a small real run.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

from microshrub_research.benchmarks.lessons import (
    BLOCKS,
    BOTH_UNITS,
    IN_ORDER,
    MIXED,
    NEW_UNIT,
    SHUFFLED,
    TESTS,
    TWO_ROUNDS,
    Lesson,
    handful_way,
    in_blocks,
)
from microshrub_research.benchmarks.taught_learners import BATCH, RIVER, thicket
from microshrub_research.benchmarks.taught_sets import opener
from microshrub_research.benchmarks.unseen_groups import KINDS, recording
from microshrub_tools.cli.main import main

SETS = opener(None)


def lesson(test: str, name: str, way: str, seed: int = 0, most: int = 8000) -> Lesson:
    return TESTS[test].make(name, way, SETS, most, seed)


def runs(labels: np.ndarray) -> int:
    """Return the number of runs of equal labels."""
    return 1 + int(np.count_nonzero(np.diff(labels.astype(int))))


def rows(*values: np.ndarray) -> list[list[float]]:
    """Return a list that does not depend on the order of the samples."""
    return sorted(np.column_stack(values).tolist())


def test_blocks_have_each_class_once_per_round_in_random_order() -> None:
    labels = np.array([2, 0, 1, 0, 2, 1, 1, 0], dtype=np.uint8)
    order = in_blocks(labels, np.random.default_rng(1), 2)
    assert sorted(order[:4].tolist()) == [0, 1, 2, 3]
    assert runs(labels[order[:4]]) == runs(labels[order[4:]]) == 3
    orders = {tuple(labels[in_blocks(labels, np.random.default_rng(s))]) for s in range(40)}
    assert len(orders) == 6
    once = in_blocks(labels, np.random.default_rng(1))
    assert np.flatnonzero(labels == 0).tolist() == [i for i in once if labels[i] == 0]


@pytest.mark.parametrize("count", [1, 5, 50])
def test_a_handful_is_the_same_in_both_orders_and_never_in_the_test(count: int) -> None:
    blocks, mixed = (
        lesson("B", "wine", handful_way(count, order), seed=3) for order in (BLOCKS, MIXED)
    )
    assert rows(blocks.values, blocks.labels) == rows(mixed.values, mixed.labels)
    assert blocks.asked.tolist() == mixed.asked.tolist()
    assert runs(blocks.labels) == 3
    assert max(np.bincount(blocks.labels)) == min(count, 71 // 2)
    assert set(blocks.answers) == {0, 1, 2}
    taught = set(map(tuple, blocks.values))
    assert not any(tuple(row) in taught for row in blocks.asked)


def test_rounds_have_the_same_training_rows_and_test_blocks_of_time() -> None:
    natural, once, twice = (
        lesson("E", "sea_a", way, most=1000) for way in (IN_ORDER, BLOCKS, TWO_ROUNDS)
    )
    taught = set(map(tuple, natural.values.tolist()))
    assert not taught.intersection(map(tuple, natural.asked.tolist()))
    assert 0.15 < len(natural.asked) / 1000 < 0.3
    assert len(natural.asked) + len(natural.values) < 1000  # minus the gaps
    assert runs(once.labels) == 2
    assert runs(twice.labels) in (3, 4)
    for other in (once, twice):
        assert rows(other.values, other.labels) == rows(natural.values, natural.labels)
        assert other.answers.tolist() == natural.answers.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_whole_groups_are_in_the_test_and_not_in_the_training(kind: str) -> None:
    made, stream = lesson("G", kind, IN_ORDER, 3), recording(kind, 3)
    taught, unseen = (
        {tuple(row) for row in values.tolist()} for values in (made.values, made.asked)
    )
    assert not taught & unseen
    group_of = dict(zip(map(tuple, stream.values.tolist()), stream.groups.tolist(), strict=True))
    assert not {group_of[row] for row in taught} & {group_of[row] for row in unseen}
    assert set(made.answers) == set(made.labels) == set(range(made.classes))
    assert 0.1 < len(made.asked) / stream.samples < 0.4
    other = recording(kind, 4)
    assert other.values[:9].tolist() != stream.values[:9].tolist()


def test_the_test_has_new_rows_of_the_second_concept() -> None:
    made = lesson("F", "stagger_0_to_1", BLOCKS)
    assert made.labels.shape == (3000,)
    assert runs(made.labels[:2000]) == runs(made.labels[2000:]) == 2
    first, second = SETS("stagger_0"), SETS("stagger_1")
    taught = made.values[:2000], made.labels[:2000]
    assert rows(*taught) == rows(first.values[:2000], first.labels[:2000])
    assert made.asked.tolist() == second.values[3000:4000].tolist()
    assert made.answers.tolist() == second.labels[3000:4000].tolist()


def test_another_unit_follows_the_first_one_or_is_alone() -> None:
    both, alone = (lesson("unit", "sea_a", way) for way in (BOTH_UNITS, NEW_UNIT))
    values, labels = SETS("sea_a").values, SETS("sea_a").labels
    assert both.values[:2000].tolist() == values[:2000].tolist()
    assert both.values[2000:].tolist() == alone.values.tolist()
    assert alone.values.tolist() == (values[2000:2500] * 0.001).tolist()
    assert alone.labels.tolist() == labels[2000:2500].tolist()
    for made in (both, alone):
        assert made.asked.tolist() == (values[2500:3500] * 0.001).tolist()
        assert made.answers.tolist() == labels[2500:3500].tolist()


def test_a_stream_gives_its_first_samples_and_a_table_is_shuffled() -> None:
    made = lesson("first", "Phishing", "first 100")
    assert made.prequential
    assert made.values.tolist() == SETS("Phishing").values[:100].tolist()
    assert made.answers.tolist() == made.labels.tolist()
    digits = [lesson("first", "digits", "first 100", seed) for seed in (0, 1)]
    assert digits[0].drawn
    assert digits[0].labels.tolist() != digits[1].labels.tolist()


def test_every_way_of_a_test_gives_a_lesson() -> None:
    """Only sets without files are used, with at most 200 samples of a stream."""
    for letter, test in TESTS.items():
        name = next((n for n in test.names if n in ("wine", "sea_a", "Phishing")), test.names[-1])
        if letter in ("A", "G"):  # these need more samples
            continue
        for way in test.ways:
            made = lesson(letter, name, way, most=200)
            assert made.prequential or len(made.asked) == len(made.answers) > 0
            assert made.labels.max() < made.classes


@pytest.mark.parametrize("learner", [thicket(16384), *RIVER.values(), *BATCH.values()])
def test_every_learner_learns_an_easy_lesson(learner) -> None:
    easy = lesson("B", "wine", handful_way(20, MIXED))
    assert np.mean(learner.answers(easy, 1) == easy.answers) > 0.8
    made = lesson("first", "Phishing", "first 100")
    assert learner.can(made) != learner.batch
    if learner.can(made):
        assert len(learner.answers(made, 1)) == 100


def test_on_unseen_groups_a_thicket_beats_neighbours_and_naive_bayes() -> None:
    """A thicket is at most 2 points behind a batch forest, on people, days and rooms,
    with two draws each.
    """
    shown = {"thicket": thicket(65536)} | {
        name: BATCH[name] for name in ("extra-trees", "bayes", "neighbours")
    }
    right: dict[str, list[float]] = {name: [] for name in shown}
    for kind in KINDS:
        for seed in (48, 49):
            made = lesson("G", kind, IN_ORDER, seed)
            for name, learner in shown.items():
                is_right = learner.answers(made, seed) == made.answers
                parts = [is_right[made.answers == c].mean() for c in range(made.classes)]
                right[name].append(100 * float(np.mean(parts)))
    mean = {name: np.mean(each) for name, each in right.items()}
    assert mean["thicket"] > max(mean["bayes"], mean["neighbours"]) + 1
    assert mean["thicket"] > mean["extra-trees"] - 2


@pytest.mark.parametrize("name", [*RIVER, *BATCH])
def test_a_seed_always_gives_the_same_predictions(name: str) -> None:
    learner = (RIVER | BATCH)[name]
    hard = lesson("E", "led_a", MIXED, most=2000)
    first, again = (learner.answers(hard, 3) for _ in range(2))
    assert first.tolist() == again.tolist()


def test_missing_values_stop_no_learner() -> None:
    easy = lesson("B", "wine", handful_way(20, MIXED))
    easy.values[::7, 3] = np.nan
    easy.asked[0] = np.nan
    for learner in (thicket(16384), RIVER["NaiveBayes"], BATCH["discriminant"]):
        assert np.mean(learner.answers(easy, 0) == easy.answers) > 0.8


def table(text: str, title: str) -> list[list[str]]:
    """Return the rows of the first table below a heading."""
    part = text.split(f"# {title}")[1].split("\n## ")[0]
    return [re.split(r" *\| *", line.strip("| ")) for line in part.splitlines() if "|" in line]


WORDS = ["benchmark", "teach", "--tests", "B,F", "--sets", "wine,sine_0_to_1,sea_0_to_3"]
MORE = ["--limit", "400", "--bytes", "4096,8192", "--seeds", "2"]


def test_the_command_writes_the_page_and_stores_the_others_figures(tmp_path: Path) -> None:
    page, kept = tmp_path / "teach.md", tmp_path / "kept"
    where = ["--keep", str(kept), "--output", str(page)]
    assert main([*WORDS, *MORE, "--peers", "NaiveBayes", *where]) == 0
    text = page.read_text(encoding="utf-8")
    assert f"`microshrub {' '.join([*WORDS, '--bytes', '4096,8192'])}" in text
    names = ["thicket 4 KB", "thicket 8 KB", "NaiveBayes"]
    rows = table(text, TESTS["F"].title)
    assert rows[0] == ["taught", "set", *names]
    assert [row[:2] for row in rows[2:4]] == [[BLOCKS, "mean of 2"], [MIXED, "mean of 2"]]
    cells = np.array([row[2:] for row in rows[2:]], dtype=float)
    assert cells[0] == pytest.approx(cells[[2, 4]].mean(axis=0), abs=0.11)
    assert cells.min() >= 0
    assert cells.max() <= 100
    lines = (kept / "results.jsonl").read_text().splitlines()
    assert {json.loads(line)["key"][3] for line in lines[1:]} == {"NaiveBayes"}
    assert main([*WORDS, *MORE, "--peers", "NaiveBayes", *where]) == 0
    assert (kept / "results.jsonl").read_text().splitlines() == lines
    assert page.read_text(encoding="utf-8") == text


def test_stored_figures_of_other_lessons_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["benchmark", "teach", "--tests", "first", "--sets", "Phishing", "--bytes", "4096"]
    words += ["--seeds", "1", "--peers", "none", "--keep", str(tmp_path)]
    assert main([*words, "--limit", "60"]) == 0
    out = capsys.readouterr().out
    assert [row[0] for row in table(out, TESTS["first"].title)[2:]] == ["first 100", "first 500"]
    assert main([*words, "--limit", "61"]) == 2
    assert "another --keep" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tests", "H"], "--tests: there is no 'H'"),
        (["--sets", "iris"], "--sets: there is no 'iris'"),
        (["--peers", "HATT"], "--peers: there is no 'HATT'. Did you mean HAT"),
        (["--bytes", "4k"], "--bytes has to be whole numbers"),
        (["--tests", "B", "--sets", "elec"], "no set of these tests is available"),
        (["--seeds", "0"], "--seeds has to be at least 1"),
    ],
)
def test_wrong_options_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["benchmark", "teach", *words]) == 2
    assert message in capsys.readouterr().err


def test_whole_runs_of_a_recording_are_held_out(tmp_path: Path) -> None:
    values = np.arange(240)
    text = "a,b,class\n" + "".join(f"{i},{i % 3},{i // 20 % 2}\n" for i in values)
    (tmp_path / "occupancy.csv.gz").write_bytes(gzip.compress(text.encode()))
    sets = opener(tmp_path)
    ordered, mixed = (
        TESTS["A"].make("occupancy", way, sets, 200, 5) for way in (IN_ORDER, SHUFFLED)
    )
    runs = set(ordered.asked[:, 0] // 20)
    assert len(ordered.asked) == 20 * len(runs) == 40  # one of five runs of each class
    assert runs.isdisjoint(ordered.values[:, 0] // 20)
    assert set(ordered.answers) == {0, 1}
    assert mixed.asked.tolist() == ordered.asked.tolist()
    assert mixed.values[:, 0].tolist() != ordered.values[:, 0].tolist()
    assert rows(mixed.values) == rows(ordered.values)
    handful = TESTS["B"].make("occupancy", handful_way(5, MIXED), sets, 200, 5)
    assert set(handful.asked[:, 0] // 20).isdisjoint(handful.values[:, 0] // 20)
