"""A learner of one's own is checked when it is registered, and completely by `check-learner`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from learner_faults import FAULTS, MAJORITY, faulty, registered_learners_forgotten
from script_support import run

from microshrub_host.base.errors import UserError
from microshrub_host.library import learners, library_files, loader
from microshrub_tools.learner_check import learner_rules

# The message about each fault: its place and its text, or the beginning of the text
MESSAGES = {
    "beyond a buffer": "line 34, kernel predict: votes[5000] = 7: IndexError",
    "below a buffer": "line 34, kernel predict: votes[c - 4] = 0: IndexError: negative index",
    "more than 32 bits": "does not fit into 32 bits",
    "a float": "line 37, kernel predict: '0.5' is not for kernels (other literals)",
    "a list": "line 37, kernel predict: '[best]' is not for kernels (allocating syntax)",
    "an uncast call": "line 51, kernel learn: 'predict(t, rows, at)' is not for kernels (uncast",
    "another module": "line 9: a board's library does not import numpy",
    "votes that do not add up": "votes have to add up to about 65536 * 255, or to 0, not to",
    "a class that is not the one with most votes": "it predicted class 0, and the most votes are",
    "a class that is none": "it predicted",
    "another answer when asked twice": "when asked once more",
    "a place behind a buffer, now and then": "kernel learn: labels[place + 1] = 0: IndexError",
    "a loop without an end": "kernel predict: while held == 5:: RuntimeError: the loop does",
    "a shift by as many bits as there are": "a shift by 32 bits is not the same on all processors",
    "no viper": "line 45: learn uses pointers, so it needs @micropython.viper",
    "no votes": "votes has 0 places, and needs one for each of the",
    "votes that raise": "'Majority' object has no attribute '_vote'",
    "no kernel that learns": "majority.py: it needs a _learn() of its own",
    "no table": "majority.py: it needs a _table() of its own",
    "no answer": "it predicted None, and has 0..",
    "a state of its own": "self._count changes, and is in no buffer of _table()",
    "a state in the module": "_COUNT changes, and is in no buffer of _table()",
    "an allocation late": "learn allocates: a board's heap fills up with it",
    "one name of two buffers": "_table() has one name twice: state, votes, votes",
    "progress in parts": "for 'labels_held', not a whole number",
    "no _is_sound": "Majority has no _is_sound(), so every saved state is refused",
    "an _is_sound that believes all": "IndexError",
}
LATER = (  # found after the quick part
    *("no _is_sound", "an _is_sound that believes all", "a state of its own"),
    *("a state in the module", "an allocation late"),
    *("one name of two buffers", "progress in parts"),
)


@pytest.fixture(autouse=True)
def nothing_stays_registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(library_files.VARIABLE, "")
    with registered_learners_forgotten():
        yield


def test_each_fault_has_its_message() -> None:
    assert set(MESSAGES) == set(FAULTS)


def test_a_good_learner_passes(
    capsys: pytest.CaptureFixture[str], micropython_command: tuple[str, ...]
) -> None:
    assert run("check-learner", f"{MAJORITY}:Majority") == 0
    output = capsys.readouterr().out
    assert output.count("holds  ") == 11
    assert "FAILS" not in output
    assert "left out" not in output
    assert "Majority keeps" in output.splitlines()[-1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("", "", "MeanRegressor keeps what a learner has to."),
        ("return 0 <=", "return True or 0 <=", "_is_sound() lets a state pass, and then it predi"),
        ("class MeanRegressor(Regressor)", "class MeanRegressor(Learner)", "its name does end in"),
        ("class MeanRegressor", "class Mean", "its name does not end in Regressor"),
    ],
)
def test_a_learner_of_numbers(
    old: str, new: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = MAJORITY.with_name("mean_regressor.py").read_text(encoding="utf-8")
    file = tmp_path / "mean_regressor.py"
    source = source.replace("import Regressor\n", "import Learner, Regressor\n")
    file.write_text(source.replace(old, new, 1) if old else source, encoding="utf-8")
    name = "Mean" if new == "class Mean" else "MeanRegressor"
    assert run("check-learner", f"{file}:{name}") == int(bool(old))
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported_with_kernel_and_line(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check-learner", f"{faulty(fault, tmp_path)}:Majority") == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "FAILS" in output
    assert MESSAGES[fault] in output


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in LATER])
def test_register_refuses_a_faulty_learner_and_accepts_the_mended_one(
    fault: str, tmp_path: Path
) -> None:
    file = faulty(fault, tmp_path)
    with pytest.raises(UserError) as refusal:
        learners.register("Majority", file)
    assert MESSAGES[fault] in str(refusal.value)
    assert str(refusal.value).startswith("majority.py")
    assert "majority" not in learners.MODELS
    file.write_text(MAJORITY.read_text(encoding="utf-8"), encoding="utf-8")
    learners.register("Majority", file)
    assert "majority" in learners.MODELS


@pytest.mark.parametrize("name", loader.load("python").learners.learner_names())
def test_the_librarys_own_learners_pass(name: str) -> None:
    library_learner = learner_rules.CheckedLearner(name, MAJORITY)
    learner_rules.all_in_buffers(library_learner)
    learner_rules.whole_numbers(library_learner)
    learner_rules.bytes_are_known(library_learner)


def test_a_command_reports_a_fault_and_does_not_crash(tmp_path: Path) -> None:
    file = faulty("beyond a buffer", tmp_path)
    command = [sys.executable, "-m", "microshrub_tools.cli.main", "simulate", "synth:sea_a"]
    done = subprocess.run(
        [*command, "--model", "majority", "--limit", "50"],
        env={**os.environ, library_files.VARIABLE: f"{file}:Majority"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert MESSAGES["beyond a buffer"] in " ".join(done.stderr.split())


def test_a_state_without_a_check_is_refused(tmp_path: Path) -> None:
    learners.register("Majority", faulty("no _is_sound", tmp_path))
    model = loader.load("python").learners.learner_class("Majority")(features=1, classes=2)
    fresh = model.state_crc32()
    with pytest.raises(ValueError, match="the saved state"):
        model.load(model.save())
    assert model.state_crc32() == fresh


@pytest.mark.parametrize(("place", "value"), [(0, 10**6), (2, 9), (3, 100), (3, -1), (2, -1)])
def test_a_forged_state_is_refused(place: int, value: int) -> None:
    """A saved state with a wrong window, held or next is refused."""
    learners.register("Majority", MAJORITY)
    model = loader.load("python").learners.learner_class("Majority")(features=1, classes=2)
    good = model.save()
    model.buffers()[0][2][place] = value
    forged = model.save()
    model.reset()
    with pytest.raises(ValueError, match="the saved state"):
        model.load(forged)
    model.load(good)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("majority.py", "has to be FILE.py:CLASS"),
        (f"{MAJORITY}:Minority", "there is no class Minority in"),
        (f"{MAJORITY}:Thicket", "Thicket cannot be called thicket"),
    ],
)
def test_invalid_entries_are_refused(
    entry: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check-learner", entry) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_simulate_checked_gives_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    results = []
    for engine in ("checked", "python"):
        words = ("--model", "shrub", "--window", 8, "--trees", 2, "--limit", 200)
        assert run("simulate", "synth:sea_a", *words, "--engine", engine, "--json", "-") == 0
        results.append(capsys.readouterr().out)
    assert "state_crc32" in results[0]
    lines = [
        {line for line in each.splitlines() if "second" not in line and "engine" not in line}
        for each in results
    ]
    assert lines[0] == lines[1]
