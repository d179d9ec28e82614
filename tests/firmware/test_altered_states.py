"""States with altered words and a valid checksum are refused, or they work."""

from __future__ import annotations

import io
import random
import zipfile
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples
from script_support import run

from microshrub_host.library import loader
from microshrub_tools.state_fuzz.altered_states import Chance, alter, targets
from microshrub_tools.state_fuzz.fuzz import fuzz

llvm = loader.load("llvm")
TARGETS = targets(loader.load("python"))


@pytest.mark.parametrize("number", range(len(TARGETS)))
@pytest.mark.parametrize(("engine", "states"), [("python", 50), ("llvm", 100)])
def test_an_altered_state_is_refused_or_works(engine: str, states: int, number: int) -> None:
    refused, used = fuzz(engine, number, 11, states)
    assert refused > states // 10
    assert used > states // 20


@pytest.mark.parametrize("number", range(len(TARGETS)))
def test_on_micropython(number: int, micropython_command: tuple[str, ...]) -> None:
    refused, used = fuzz("micropython", number, 12, 50)
    assert refused + used >= 50


TREES = st.fixed_dictionaries(
    {
        "features": st.integers(1, 4),
        "classes": st.integers(2, 4),
        "depth": st.sampled_from((0, 2, 9)),
        "nodes": st.sampled_from((1, 2, 9, 31)),
        "leaves": st.sampled_from((1, 3, 20)),
        "grace_period": st.just(7),
        "tie_threshold": st.just(0.5),
        "policy": st.sampled_from(("vfdt", "efdt", "svfdt1", "svfdt2")),
        "adaptive": st.booleans(),
        "boost": st.booleans(),
        "leaf": st.sampled_from(("mc", "nb", "nba")),
        "regularization": st.sampled_from((0.5, 1.0)),
    }
)
SHRUBS = st.fixed_dictionaries(
    {
        "features": st.integers(1, 4),
        "classes": st.integers(2, 4),
        "window": st.sampled_from((2, 9, 40, 300)),
        "trees": st.integers(1, 4),
        "depth": st.sampled_from((1, 4, 11)),
        "train_every": st.just(5),
        "splitter": st.sampled_from(("best", "random")),
        "leaf": st.sampled_from(("proba", "class")),
        "feature_bits": st.sampled_from((8, 16)),
    }
)


@settings(deadline=None, max_examples=examples(25))
@given(
    st.one_of(
        st.tuples(st.just("ShrubEnsemble"), SHRUBS), st.tuples(st.just("HoeffdingTree"), TREES)
    ),
    st.integers(0, 999),
)
def test_no_genuine_state_is_refused(what: tuple[str, dict[str, Any]], seed: int) -> None:
    class_name, parameters = what
    rng = random.Random(seed)
    model = getattr(llvm, class_name)(**parameters)
    row = array("H", bytes(2 * model.features))
    for k in range(700):
        label = rng.randrange(model.classes)
        drift = k // 200
        for f in range(model.features):
            mean = 20000 + 6000 * ((label + drift) % model.classes) * (f % 2 + 1)
            row[f] = min(max(int(rng.gauss(mean, 7000)), 0), 65535)
        model.learn(row, label)
        if k % 50 == 0:
            model.load(model.save())


def test_a_forged_model_file_is_refused_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = tmp_path / "good.mshrub"
    words = ("--model", "shrub", "--window", 8, "--trees", 2, "--depth", 3, "--limit", 600)
    assert run("simulate", "synth:agrawal_a", *words, "--save", good) == 0
    with zipfile.ZipFile(good) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    chance = Chance(3)
    forged = tmp_path / "forged.mshrub"
    refused = 0
    for _ in range(12):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as file:
            for name, data in parts.items():
                file.writestr(
                    name, bytes(alter(data, chance)) if name == "learner.state" else data
                )
        forged.write_bytes(stream.getvalue())
        capsys.readouterr()
        code = run("show", forged)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        assert code in (0, 2)
        refused += code == 2
    assert refused > 3
