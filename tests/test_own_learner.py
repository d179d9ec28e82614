"""A user's learner, tests/support/majority.py, works wherever the library's learners work."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_support import Device
from learner_faults import registered_learners_forgotten

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.library import learners, library_files, loader
from microshrub_host.streams.open_stream import open_stream
from microshrub_tools.cli.main import main

FILE = Path(__file__).parent / "support" / "majority.py"
SAMPLES = 400


@pytest.fixture(autouse=True)
def registered_learner(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the learner, and remove it after the test."""
    monkeypatch.setenv(library_files.VARIABLE, "")
    with registered_learners_forgotten():
        learners.register("Majority", FILE)
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of labels in runs, with a feature that has no information."""
    path = tmp_path_factory.mktemp("own") / "runs.csv"
    rng = np.random.default_rng(3)
    labels = np.repeat(rng.integers(0, 3, SAMPLES // 20), 20)
    values = rng.integers(0, 99, SAMPLES)
    rows = [f"{x},{'abc'[label]}" for x, label in zip(values, labels, strict=True)]
    path.write_text("x,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def expected(data: Path, window: int) -> float:
    """Return the accuracy in percent, from the labels alone; in a tie, the earlier leader wins."""
    labels = [line[-1] for line in data.read_text().split()[1:]]
    ring: list[str] = []
    right = 0
    for i, label in enumerate(labels):
        best = "a"
        for j, other in enumerate(ring):
            seen = ring[: j + 1]
            best = other if seen.count(other) > seen.count(best) else best
        right += best == label
        if len(ring) < window:
            ring.append(label)
        else:
            ring[i % window] = label
    return 100 * right / len(labels)


def record(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert main([*map(str, words), "--json", "-"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_simulate_accepts_the_learner(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    for engine in ("python", "llvm"):
        words = ["simulate", data, "--model", "majority", "--engine", engine]
        result = record(capsys, *words)
        assert result["accuracy"] == pytest.approx(expected(data, 8), abs=0.01)
        assert record(capsys, *words, "--window", 3)["accuracy"] == pytest.approx(
            expected(data, 3), abs=0.01
        )


def test_all_engines_agree_on_the_learner(
    capsys: pytest.CaptureFixture[str], data: Path, micropython_command: tuple[str, ...]
) -> None:
    assert main(["parity", str(data), "--model", "majority"]) == 0
    assert "engines are identical: 400 samples" in capsys.readouterr().out


def test_budget_includes_the_learner(capsys: pytest.CaptureFixture[str]) -> None:
    shape = ["--features", 4, "--classes", 3, "--window", 64]
    result = record(capsys, "budget", *shape, "--model", "majority")
    learner_class = learners.learner("majority")
    assert (
        result["model_bytes"]
        == learner_class.nbytes(features=4, classes=3, window=64)
        == 16 + 12 + 64
    )
    assert main(["budget", "--own-program", *map(str, shape), "--model", "majority"]) == 0
    assert "majority" in capsys.readouterr().out  # its module is part of the code


def test_tune_accepts_the_learner(data: Path) -> None:
    pytest.importorskip("optuna", reason="needs the extra tune")
    from microshrub_host.evaluation import holdout, search_space, trials
    from microshrub_host.evaluation.splits import StreamSplit

    split = StreamSplit(open_stream(str(data)), warmup=100, first=200)
    models = split.models()
    assert {"model": "majority"} in search_space.first(models, "thicket", 65536)
    for window in (1, 40):
        trial = _Trial({"model": "majority", "majority window": window})
        assert search_space.sample(trial, models, 1, 1000) == ("majority", {"window": window})
    assert trial.asked["majority window"] == (1, 255)
    candidate = trials.Candidate(0, "majority", {"window": 3})
    assert candidate.options == "--model majority --window 3"
    unseen = holdout.measure(split.stream, "majority", split.parameters(candidate), warmup=100)
    assert unseen
    assert unseen.headline
    assert split.run(candidate).whole == pytest.approx(unseen.headline.accuracy)
    limits = trials.Limits(board_files.load("rpi_pico"), 1000)
    size = trials.size_within(
        candidate.model, limits.deployment(candidate.model, split.parameters(candidate)), limits
    )
    assert size is not None
    assert size.model_bytes == 16 + 12 + 3


def test_the_command_tune_tries_the_learner(
    capsys: pytest.CaptureFixture[str],
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("optuna", reason="needs the extra tune")
    from microshrub_host.evaluation import search_space, study

    known = search_space.first(list(learners.MODELS), "thicket", 65536)
    choices = [choice for choice in known if choice["model"] == "majority"]
    monkeypatch.setattr(study, "first", lambda *_: choices)  # the others take long
    words = ["tune", data, "--board", "rpi_pico", "--warmup", 100, "--study", tmp_path / "study"]
    trials = 1 + len(choices)  # the model of its own size is the first
    result = record(capsys, *words, "--trials", trials)
    ours = [trial for trial in result["trials"] if trial["model"] == "majority"]
    assert len(ours) == len(choices)
    window = ours[0]["settings"]["window"]
    words = ["simulate", data, "--model", "majority", "--window", window, "--warmup", 100]
    simulated = record(capsys, *words)["accuracy_on_unseen_data"]
    assert ours[0]["accuracy"]["whole"] == pytest.approx(simulated)
    assert ours[0]["model_bytes"] == 16 + 12 + window


class _Trial:
    """A stand-in for Optuna's trial with fixed parameters, which records the ranges."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: dict[str, tuple[int, int]] = {}

    def suggest_categorical(self, name: str, choices: list[Any]) -> Any:
        assert self.answers[name] in choices
        return self.answers[name]

    def suggest_int(self, name: str, low: int, high: int, *, log: bool) -> int:
        self.asked[name] = (low, high)
        return int(self.answers[name])


def test_a_saved_model_of_the_learner_can_be_shown(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    file = tmp_path / "m.mshrub"
    words = ["simulate", data, "--model", "majority", "--engine", "python", "--save", file]
    assert main([*map(str, words)]) == 0
    capsys.readouterr()
    assert main(["show", str(file)]) == 0
    output = capsys.readouterr().out
    assert output.startswith("Majority of runs.csv: 400 samples")
    assert "labels held: 8" in output
    assert main(["show", str(file), "--row", "5"]) == 0
    assert "of the votes" in capsys.readouterr().out
    words = ["build", "--model", file, "--board", "rpi_pico", "--output", tmp_path / "build"]
    assert main([*map(str, words)]) == 0
    assert json.loads((tmp_path / "build" / "config.json").read_text())["learner"] == "Majority"
    capsys.readouterr()
    assert main(["export", str(file), "--format", "c", "-o", str(tmp_path / "m.h")]) == 0
    assert main(["export", str(file), "--format", "c-frozen", "-o", str(tmp_path / "f.h")]) == 2
    output = " ".join(capsys.readouterr().err.split())
    assert "Majority cannot be exported" in output
    assert "--format c" in output


def test_the_devices_program_can_be_built_with_the_learner(
    capsys: pytest.CaptureFixture[str],
    data: Path,
    tmp_path: Path,
    micropython_command: tuple[str, ...],
) -> None:
    board, folder = tmp_path / "pc.toml", tmp_path / "build"
    boards = library_files.folder().parents[1] / "boards"
    text = (boards / "rpi_pico.toml").read_text(encoding="utf-8")
    board.write_text(text.replace('arch = "armv6m"', 'arch = "x86"'), encoding="utf-8")
    words = ["build", data, "--model", "majority", "--board", board, "--output", folder]
    assert main([*map(str, words)]) == 0
    assert (folder / "lib" / "microshrub" / "majority.mpy").exists()
    assert json.loads((folder / "config.json").read_text())["learner"] == "Majority"
    with Device(micropython_command, folder) as device:
        words = ["stream", data, "--port", device.port, "--build", folder]
        assert main([*map(str, words)]) == 0
    assert f"Device and simulator agree: {SAMPLES} samples" in capsys.readouterr().out


def test_the_adapters_have_the_learner(data: Path) -> None:
    from microshrub_host.api import river_adapter, sklearn_adapter

    assert river_adapter.MajorityClassifier(window=3).window == 3
    model = sklearn_adapter.MajorityClassifier(window=3, warmup=3, engine="python")
    model = pickle.loads(pickle.dumps(model.fit([[1], [2], [3]], ["no", "yes", "yes"])))
    assert model.predict([[7]]).tolist() == ["yes"]
    with pytest.raises(AttributeError, match="MinorityClassifier"):
        _ = river_adapter.MinorityClassifier


def test_the_command_line_in_another_process_has_the_learner(data: Path) -> None:
    command = [sys.executable, "-m", "microshrub_tools.cli.main", "simulate", str(data)]
    command += ["--model", "majority", "--engine", "python", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # uses VARIABLE
    assert json.loads(done.stdout)["model"] == "majority"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("majority.py", "has to be FILE.py:CLASS"),
        ("no_such.py:Majority", "cannot be read"),
        (f"{FILE}:Minority", "there is no class Minority in"),
    ],
)
def test_an_entry_without_a_learner_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], entry: str, words: str
) -> None:
    monkeypatch.setenv(library_files.VARIABLE, entry)
    loader.load.cache_clear()
    assert main(["budget", "--features", "1", "--classes", "2"]) == 2
    assert words in capsys.readouterr().err
    monkeypatch.setenv(library_files.VARIABLE, "")


def test_an_unknown_name_is_reported_with_the_known_ones(data: Path) -> None:
    with pytest.raises(UserError, match=r"the model 'minority' is unknown\."):
        learners.defaults("minority")
    with pytest.raises(ValueError, match=r"one of ShrubEnsemble, .*Majority, not"):
        loader.load("python").learners.learner_class("Minority")
