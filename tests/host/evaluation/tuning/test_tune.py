"""The search for a model: its candidates, its samples, and its behaviour after an interruption."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare_support import make_stream
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE
from property_support import examples

from microshrub_host.base.cluster import Outcome
from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.boards.default_bytes import bytes_for
from microshrub_host.boards.deployment import Deployment
from microshrub_host.evaluation import trials
from microshrub_host.evaluation.holdout import ask, measure
from microshrub_host.evaluation.holdout_scores import Scores
from microshrub_host.evaluation.search_space import first, sample
from microshrub_host.evaluation.splits import (
    ACCURACY,
    AS_OF_NOW,
    MAE,
    StreamSplit,
    error_of_accuracy,
)
from microshrub_host.evaluation.study import FinishedTrial, Search, of_default, smallest, take
from microshrub_host.evaluation.trials import Candidate, Limits
from microshrub_host.library.learners import check_parameters, defaults, specification
from microshrub_host.reports.tuning_report import TuningReport
from microshrub_host.streams.stream import Stream
from microshrub_tools.cli.main import main

optuna = pytest.importorskip("optuna", reason="needs the extra tune")
psutil = pytest.importorskip("psutil", reason="comes with the extra tune")
BOARD = board_files.load("rpi_pico")
LIMITS = Limits(BOARD, 3000)
MODELS = StreamSplit(make_stream(600), 100, 250).models()


def write(path: Path, samples: int) -> Path:
    made = make_stream(samples)
    rows = [",".join(map(repr, row)) for row in made.values.tolist()]
    lines = [f"{row},{made.class_names[y]}" for row, y in zip(rows, made.labels, strict=True)]
    path.write_text("\n".join(["x,y,z,class", *lines]))
    return path


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with 600 samples of three features and three classes,
    in the commands' working folder.
    """
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "made.csv", 600)


def tuning(folder: Path, *words: str, **options: Any) -> subprocess.Popen[str]:
    """Start `microshrub tune made.csv` as a process that gets Ctrl-C alone."""
    code = "import sys; from microshrub_tools.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "tune", "made.csv", "--board", "rpi_pico", *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        command, cwd=folder, text=True, start_new_session=True, **pipes, **options
    )


def finished(path: Path) -> list[Any]:
    """Return the finished trials in a study's file."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(study_name=None, storage=f"sqlite:///{path}")
    return [trial for trial in study.get_trials() if trial.state.name == "COMPLETE"]


def wait_for_trials(process: subprocess.Popen[str], path: Path, count: int) -> None:
    """Wait until a study's file has this many trials."""
    complete = 0
    while complete < count:
        assert process.poll() is None, f"it ended with {complete} trials"
        with contextlib.suppress(sqlite3.OperationalError):  # the file or table does not exist yet
            study = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            with contextlib.closing(study):
                words = "SELECT COUNT(*) FROM trials WHERE state = 'COMPLETE'"
                (complete,) = study.execute(words).fetchone()
        time.sleep(0.02)


def refusal(model: str, parameters: dict[str, Any]) -> str:
    """Return the learner's message for refused parameters; "" if they are accepted."""
    try:
        check_parameters(model, parameters)
    except UserError as error:
        return str(error)
    return ""


@given(st.integers(0, 1 << 20), st.integers(1, 256), st.integers(2, 256))
@settings(max_examples=examples(60))
def test_every_proposal_is_a_valid_model(seed: int, features: int, classes: int) -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    known = first(MODELS, "thicket", 16384)
    for choice in known:
        study.enqueue_trial(choice)
    for number in range(len(known) + 3):
        model, settings = sample(study.ask(), MODELS, features, 16384)
        message = refusal(model, settings | {"features": features, "classes": classes})
        assert not message or re.match("--bytes has to be more", message)  # counts as too large
        if number < len(known):
            assert model == known[number]["model"]
            for name, value in known[number].items():
                if name.endswith(("window", "step", "depth", "adaptive", "grace_period")):
                    assert settings[name.partition(" ")[2]] == value


def test_the_printed_commands_work(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, scheduler: str
) -> None:
    words = ["--board", "rpi_pico", "--bytes", "3000", "--limit", "500", "--trials", "7"]
    words += ["--scheduler", scheduler]
    files = ["--json", "found.json", "--plot", "front.svg", "--html", "front.html"]
    assert main(["tune", "made.csv", *words, *files]) == 0
    captured = capsys.readouterr()
    result = json.loads((tmp_path / "found.json").read_text())
    assert len(result["trials"]) == 7
    assert max(trial["model_bytes"] for trial in result["trials"]) <= 3000
    for command in (result["simulate"], result["build"]):
        assert f"  {command}" in captured.out.splitlines()
        program, *arguments = shlex.split(command)
        simulates = command == result["simulate"]
        more = ["--json", "run.json"] if simulates else []
        assert (program, main([*arguments, *more])) == ("microshrub", 0)
        printed = capsys.readouterr().out
        if simulates:
            assert f"{result['taken']['model_bytes']:,} bytes" in printed
            run = json.loads((tmp_path / "run.json").read_text())
            now = "as_of_now" if result["score"].endswith("as of now") else "holdout"
            whole = result["taken"]["accuracy"]["whole"]
            assert run["unseen_data"][now]["accuracy"] == pytest.approx(whole)
    assert (tmp_path / "build" / "rpi_pico" / "config.json").exists()
    assert "<svg" in (tmp_path / "front.svg").read_text()
    assert "<svg" in (tmp_path / "front.html").read_text()
    front = [(f["model_bytes"], f["accuracy"]["first"]) for f in result["front"]]
    assert front == sorted(front)
    assert result["taken"]["accuracy"]["first"] == front[-1][1]
    assert f"{result['baselines']['guessing']['first']:.2f}" in captured.out
    assert f"Chosen on {result['samples_that_choose']} samples of them" in captured.out


def stable(samples: int) -> Stream:
    """Return three classes without drift, in random order."""
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 3, samples).astype(np.uint8)
    values = rng.normal(labels[:, None] * [20, -10], 12)
    return Stream("stable", values, labels, ("a", "b"), ("x", "y", "z"))


def test_scores_equal_those_of_simulate_and_the_choice_ignores_the_rest() -> None:
    stream = stable(900)
    split = StreamSplit(stream, 100, 450)
    candidate = Candidate(0, "shrub", {**defaults("shrub"), "window": 32, "trees": 8})
    parameters = split.parameters(candidate)
    unseen = measure(stream, "shrub", parameters, warmup=100, forest=True)
    assert unseen
    assert unseen.holdout
    score, exam = split.run(candidate), split.holdout
    assert exam
    assert score.whole == pytest.approx(unseen.holdout.accuracy)
    baselines = {name: scores.whole for name, scores in split.baselines().items()}
    both = {"guessing": unseen.holdout.guessing, "batch forest": unseen.holdout.forest}
    assert baselines == pytest.approx(both)
    known = exam.known
    predictions = [
        ask(known, draw, "shrub", parameters, warmup=100).predictions for draw in exam.draws
    ]
    first, rest = exam.choosing, ~exam.choosing
    for part, same, other in ((rest, "first", "rest"), (first, "rest", "first")):
        wrong = [
            np.where(part[known.stretches.of[draw.held_out]], 255, answers)
            for draw, answers in zip(exam.draws, predictions, strict=True)
        ]
        changed = exam.scores(wrong)
        assert getattr(changed, same) == getattr(score, same)
        assert getattr(changed, other) == 0


def test_after_a_drift_the_search_uses_the_present_concept() -> None:
    stream = stable(2000)
    labels = stream.labels.copy()
    labels[:1000] = (labels[:1000] + 1) % 3
    split = StreamSplit(replace(stream, labels=labels), 100, 1000)
    assert split.holdout
    assert split.measure is AS_OF_NOW
    (draw,) = split.holdout.draws
    assert np.flatnonzero(draw.learned).max() < np.flatnonzero(draw.asked).min()


def size_of(split: StreamSplit, candidate: Candidate, limits: Limits) -> trials.Size | None:
    return trials.size_within(
        candidate.model, limits.deployment(candidate.model, split.parameters(candidate)), limits
    )


def test_models_beyond_the_time_limit_are_not_tried() -> None:
    values = np.random.default_rng(0).normal(size=(600, 8))
    labels = (values[:, 0] > 0).astype(np.uint8)
    stream = Stream("made", values, labels, tuple("abcdefgh"), ("no", "yes"))
    known = "shrub window=32 trees=8 depth=5"
    usual = Candidate(0, *specification(known))
    split = StreamSplit(stream, 100, 300)
    assert BOARD.cost is not None
    row = next(r for r in BOARD.cost.rows if (r.features, r.classes) == (8, 2))
    assert row.model == known
    cycles = BOARD.cost.cycles * (row.predict[1] + row.learn[1])
    wanted = 1000 * cycles / BOARD.clock_hz + 2 * BOARD.cost.uncached_us / 1000
    for most, latency in ((None, wanted), (wanted * 1.01, wanted), (wanted * 0.99, None)):
        size = size_of(split, usual, Limits(BOARD, 9999, most))
        assert (size and size.latency) == (latency and pytest.approx(latency))
    small = size_of(split, usual, Limits(BOARD, 9999))
    assert small is not None
    assert size_of(split, usual, Limits(BOARD, small.model_bytes)) == small
    assert size_of(split, usual, Limits(BOARD, small.model_bytes - 1)) is None


def shuffled(
    work: Any, tasks: Iterator[Candidate | None], *, jobs: int, scheduler: str | None
) -> Iterator[Outcome]:
    """Stand in for spread(): yield the results of running jobs in random order."""
    draw = random.Random(jobs)
    running: list[Candidate] = []
    more = True
    while more or running:
        while more and len(running) < jobs:
            task = next(tasks, ...)
            more = task is not ...
            if not isinstance(task, Candidate):
                break
            running.append(task)
        if running:
            task = running.pop(draw.randrange(len(running)))
            yield Outcome(task, work(task))


def test_the_candidates_equal_those_of_one_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("microshrub_host.evaluation.study.spread", shuffled)
    results = []
    for jobs in (1, 7):
        split = StreamSplit(make_stream(600), 100, 250)
        with Search(tmp_path / str(jobs), split, LIMITS, seed=3) as search:
            search.run(11, jobs=jobs, scheduler=None, progress=lambda *_: None)
            results.append(search.within_limits())
    assert results[0] == results[1]


def trial(model: str, size: int, first: float, samples: int) -> FinishedTrial:
    scores = Scores(first, 0, 0, error_of_accuracy(first, samples))
    return FinishedTrial(Candidate(0, model, {}), scores, trials.Size(size, 0, None))


def known(samples: int) -> list[FinishedTrial]:
    return [
        trial("shrub", 1000, 88.0, samples),
        trial("shrub", 2000, 89.75, samples),
        trial("thicket", 4000, 89.8, samples),
        trial("shrub", 8000, 90.0, samples),
    ]


def test_the_rule_of_one_standard_error() -> None:
    """At 90 %, a standard error is 0.3 points for 10,000 samples, and 3 for 100.
    The most accurate model is suggested at any size; the cost of fewer bytes is reported.
    """
    small = [smallest(known(n), ACCURACY).size.model_bytes for n in (100, 10_000, 1_000_000)]
    assert small == [1000, 2000, 8000]
    assert {take(known(n), ACCURACY).size.model_bytes for n in (100, 1_000_000)} == {8000}
    same = of_default(known(10_000), ACCURACY, "thicket")
    assert same is not None
    assert same.size.model_bytes == 4000
    assert of_default(known(1_000_000), ACCURACY, "thicket") is None
    errors = [replace(f, scores=Scores(100 - f.scores.first, 0, 0, 0.3)) for f in known(1)]
    assert smallest(errors, MAE).size.model_bytes == 2000
    assert take(errors, MAE).size.model_bytes == 8000
    equal = [*known(1), trial("shrub", 6000, 90.0, 1)]
    assert take(equal, ACCURACY).size.model_bytes == 6000


def test_the_default_model_is_tried_in_its_own_size(tmp_path: Path) -> None:
    split = StreamSplit(make_stream(600), 100, 250)
    limits = Limits(BOARD, BOARD.model_budget_bytes)
    default_bytes = bytes_for(
        limits.deployment("thicket", split.parameters(Candidate(0, "thicket", {})))
    )
    with Search(tmp_path / "study", split, limits, seed=3) as search:
        search.run(1, jobs=1, scheduler=None, progress=lambda *_: None)
        (default,) = search.within_limits()
    assert default.configuration.settings["bytes"] == default_bytes
    assert simulate_bytes(split.stream) == default_bytes


def simulate_bytes(stream: Stream) -> int:
    """Return the size that `simulate --board rpi_pico` gives a thicket without options."""
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    return bytes_for(Deployment({**shape, **defaults("thicket")}, BOARD, "Thicket"))


def test_the_gain_of_more_bytes_is_reported() -> None:
    def report(finished_trials: list[FinishedTrial]) -> str:
        split = StreamSplit(make_stream(600), 100, 250)
        made = TuningReport(
            split, LIMITS, finished_trials, {}, ["made.csv"], ["--board", "rpi_pico"], 0
        )
        return "\n".join(made.advice())

    text = report(known(10_000))
    assert "8,000 bytes" in text
    assert re.search(r"6,000 fewer, 2,000, .* 0\.25 points worse", text)
    assert "No smaller model" in report(known(1_000_000))


def test_a_sampler_that_repeats_refused_models_does_not_stop_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On elec within 16 KB, the sampler proposed the same naive Bayes and too large
    groves 2,000 times.
    """

    class Insistent(optuna.samplers.RandomSampler):
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__(0)

        def sample_independent(self, study: Any, trial: Any, name: str, values: Any) -> Any:
            if name == "model":
                return "gaussian"
            return super().sample_independent(study, trial, name, values)

    monkeypatch.setattr(optuna.samplers, "TPESampler", Insistent)
    monkeypatch.setattr("microshrub_host.evaluation.study._REFUSED", 60)
    monkeypatch.setattr("microshrub_host.evaluation.study._STUBBORN", 3)
    split = StreamSplit(make_stream(60), 20, 30)
    with Search(tmp_path / "s.tune", split, LIMITS, 0) as search:
        waiting = len(search._trials("WAITING"))
        models = {search._ask().model for _ in range(waiting + 3)}
        assert len(models) > 2


def test_thickets_are_tried_first() -> None:
    models = [choice["model"] for choice in first(MODELS, "thicket", 65536)]
    assert models[: models.count("thicket")] == ["thicket"] * models.count("thicket")


def test_a_study_of_other_data_or_another_board_is_refused(tmp_path: Path) -> None:
    stream, path = make_stream(600), tmp_path / "study"
    split = StreamSplit(stream, 100, 250)
    Search(path, split, LIMITS, seed=0).close()
    Search(path, split, replace(LIMITS, budget=5000), seed=1).close()
    others = {
        "data": (replace(split, stream=make_stream(600, seed=1)), LIMITS),
        "board": (split, Limits(board_files.load("esp32"), 3000)),
        "samples that choose": (replace(split, first=300), LIMITS),
        "warm-up": (replace(split, warmup=50), LIMITS),
        "--emit": (split, replace(LIMITS, emit="viper")),
    }
    for name, (other, limits) in others.items():
        with pytest.raises(UserError, match=f"another search: .* {name}"):
            Search(path, other, limits, seed=0)
    path.write_text("x,y\n1,2\n")
    with pytest.raises(UserError, match="is no study of tune"):
        Search(path, split, LIMITS, seed=0)
    assert path.read_text() == "x,y\n1,2\n"


def small(trees: int) -> tuple[str, dict[str, Any]]:
    """Return a model and its settings, which fit LIMITS."""
    return "shrub", {**defaults("shrub"), "window": 32, "trees": trees, "depth": 3}


def test_no_configuration_is_tried_twice_nor_in_a_later_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr("microshrub_host.evaluation.study.sample", lambda *_: proposed.pop(0))
    split = StreamSplit(make_stream(600), 100, 250)
    proposed += [small(trees) for trees in (1, 1, 2)]
    with Search(tmp_path / "study", split, LIMITS, seed=0) as search:
        search.run(2, jobs=1, scheduler=None, progress=lambda *_: None)
    proposed += [small(trees) for trees in (2, 1, 3)]
    with Search(tmp_path / "study", split, LIMITS, seed=0) as search:
        search.run(3, jobs=1, scheduler=None, progress=lambda *_: None)
        tried = [trial.configuration.settings["trees"] for trial in search.within_limits()]
    assert tried == [1, 2, 3]


def test_trials_of_a_stopped_search_are_proposed_again(tmp_path: Path) -> None:
    split = StreamSplit(make_stream(600), 100, 250)
    with Search(tmp_path / "study", split, LIMITS, seed=0) as search:
        stopped = [search._ask().options for _ in range(2)]
    with Search(tmp_path / "study", split, LIMITS, seed=0) as search:
        again = [search._ask().options for _ in range(len(search._trials("WAITING")))]
    assert set(stopped) <= set(again)


class NotedClock:
    """A clock that counts nothing and records the remembered times."""

    def __init__(self) -> None:
        self.remembered: list[tuple[str, float]] = []

    def milliseconds(self, model: str, wanted: dict[str, Any], most: float) -> float:
        return 7.5

    def remember(self, model: str, wanted: dict[str, Any], milliseconds: float) -> None:
        self.remembered.append((model, milliseconds))


def test_times_from_an_earlier_run_are_not_counted_again(tmp_path: Path) -> None:
    split = StreamSplit(make_stream(600), 100, 250)
    for runs in range(2):
        clock: Any = NotedClock()
        limits = replace(LIMITS, board=replace(BOARD, cost=None), max_latency=1e9, clock=clock)
        with Search(tmp_path / "study", split, limits, seed=0) as search:
            assert clock.remembered == runs * [("thicket", 7.5)]
            search.run(1, jobs=1, scheduler=None, progress=lambda *_: None)


def test_only_one_search_at_a_time_can_use_a_study(tmp_path: Path) -> None:
    path, split = tmp_path / "study", StreamSplit(make_stream(600), 100, 250)
    with (
        Search(path, split, LIMITS, seed=0),
        pytest.raises(UserError, match="study: another run"),
    ):
        Search(path, split, LIMITS, seed=0)
    Search(path, split, LIMITS, seed=0).close()


@pytest.mark.parametrize("name", ["q?mode=memory.db", "{x}", "per%cent", "a b#c"])
def test_a_study_may_have_any_name(tmp_path: Path, name: str, scheduler: str) -> None:
    split = StreamSplit(make_stream(600), 100, 250)
    with Search(tmp_path / name, split, LIMITS, seed=0) as search:
        search.run(1, jobs=1, scheduler=scheduler, progress=lambda *_: None)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with Search(tmp_path / name, split, LIMITS, seed=0) as search:
        assert search.finished() == 1


def complaint_about(path: Path, split: StreamSplit) -> str:
    try:
        Search(path, split, LIMITS, seed=0).close()
    except UserError as error:
        return str(error)
    return ""


def test_a_damaged_study_is_reported_in_one_line(tmp_path: Path, scheduler: str) -> None:
    path, split = tmp_path / "study", StreamSplit(make_stream(600), 100, 250)
    with Search(path, split, LIMITS, seed=0) as search:
        search.run(3, jobs=1, scheduler=scheduler, progress=lambda *_: None)
    whole = path.read_bytes()
    count = 0
    for seed in range(25):
        draw = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(draw.choice([1, 10, 100, 1000])):
            damaged[draw.randrange(16, len(whole))] ^= draw.randrange(1, 256)
        path.write_bytes(damaged[: draw.choice([len(whole), draw.randrange(16, len(whole))])])
        message = complaint_about(path, split)
        assert not message or re.search("damaged|another search|no study", message), seed
        assert "\n" not in message
        count += bool(message)
    assert count > 10


def test_a_limit_without_any_model_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheduler: str
) -> None:
    monkeypatch.setattr("microshrub_host.evaluation.study._REFUSED", 5)
    search = Search(
        tmp_path / "s", StreamSplit(make_stream(600), 100, 250), Limits(BOARD, 10), seed=0
    )
    with pytest.raises(UserError, match="raise --bytes"):
        search.run(1, jobs=1, scheduler=scheduler, progress=lambda *_: None)


def test_a_limit_that_is_far_too_small_is_reported_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search ends after a few configurations that are all too large, not after 2,000."""
    monkeypatch.setattr("microshrub_host.evaluation.study._FEW", 20)
    limits = Limits(BOARD, 10)
    search = Search(tmp_path / "s", StreamSplit(make_stream(600), 100, 250), limits, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserError, match=r"10 bytes .* 20 takes"):
            search.run(1, jobs=1, scheduler=None, progress=lambda *_: None)


@pytest.mark.long
def test_ctrl_c_loses_no_finished_trial(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    scheduler: str,
) -> None:
    """The continued search uses a cluster whose worker has started already, to save time."""
    write(tmp_path / "made.csv", 2000)
    words = ["--bytes", "3000", "--trials"]
    with tuning(tmp_path, *words, "30") as process:
        wait_for_trials(process, tmp_path / "made-rpi_pico.tune", 3)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert (out, err.splitlines()[-1]) == ("", "microshrub: stopped")
    before = finished(tmp_path / "made-rpi_pico.tune")
    assert 2 <= len(before) < 30
    all_of_them = len(before) + 3
    monkeypatch.chdir(tmp_path)
    words += [str(all_of_them), "--scheduler", scheduler]
    code = main(["tune", "made.csv", "--board", "rpi_pico", *words])
    err = capsys.readouterr().err
    assert code == 0, err
    after = finished(tmp_path / "made-rpi_pico.tune")
    assert len(after) == all_of_them
    assert [t.number for t in after[: len(before)]] == [t.number for t in before]
    configurations = [json.dumps(t.user_attrs["configuration"]) for t in after]
    assert len(set(configurations)) == all_of_them
    assert f"has {len(before)} finished trials" in err


@pytest.mark.long
def test_a_killed_worker_loses_no_trial(tmp_path: Path) -> None:
    write(tmp_path / "made.csv", 3000)
    with tuning(tmp_path, "--bytes", "3000", "--trials", "6", "--jobs", "2") as process:
        wait_for_trials(process, tmp_path / "made-rpi_pico.tune", 2)
        running = [
            child
            for child in psutil.Process(process.pid).children(recursive=True)
            if "spawn_main" in " ".join(child.cmdline())
        ]
        assert len(running) == 2
        running[0].kill()
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    trials = finished(tmp_path / "made-rpi_pico.tune")
    assert len({json.dumps(t.user_attrs["configuration"]) for t in trials}) == len(trials) == 6


@pytest.mark.long
def test_a_cluster_needs_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The worker is a process in another folder."""
    import distributed

    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    write(here / "made.csv", 600)
    monkeypatch.chdir(here)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, protocol="tcp://", host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster, timeout=PATIENCE) as client,
    ):  # fmt: skip
        address = cluster.scheduler_address
        worker = [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1"]
        with subprocess.Popen([*worker, "--no-dashboard"], cwd=there, **quiet) as process:
            try:
                client.wait_for_workers(1, timeout=PATIENCE)
                words = ["--bytes", "3000", "--trials", "3", "--scheduler", address]
                words += ["--json", "-"]
                code = main(["tune", "made.csv", "--board", "rpi_pico", *words])
            finally:
                process.terminate()
    captured = capsys.readouterr()
    assert code == 0, captured.err
    assert len(json.loads(captured.out)["trials"]) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--choose-on", "1"], "--choose-on has to be between 0 and 1, not 1"),
        (["--trials", "0"], "--trials has to be above 0, not 0"),
        (["--max-latency", "-1"], "--max-latency has to be above 0, not -1.0"),
        (["--scheduler", "nowhere"], "nowhere: no Dask scheduler answers there"),
        (["--choose-on", "0.0001"], "too few"),
    ],
)
def test_impossible_options_are_refused(
    words: list[str],
    message: str,
    data: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("microshrub_host.base.cluster._CONNECT", 0.5)
    assert main(["tune", str(data), "--board", "rpi_pico", *words]) == 2
    assert message in capsys.readouterr().err


def test_the_size_of_a_thicket_is_drawn_within_the_limit() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    for _ in range(60):
        model, settings = sample(study.ask(), MODELS, 5, 16384)
        assert model != "thicket" or 2048 <= settings["bytes"] <= 16384
    known = first(MODELS, "thicket", 16384)
    assert max(choice.get("thicket bytes", 0) for choice in known) == 16384
