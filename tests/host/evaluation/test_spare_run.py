"""--spare-classes: novel classes in a simulation; engines; refused options."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import parity, prequential
from microshrub_host.models import model_files
from microshrub_host.simulation import companion_registry, engines
from microshrub_host.simulation.spare_classes import SpareClasses
from microshrub_host.streams.open_stream import open_stream
from microshrub_tools.cli.main import main

OutputOf = Callable[..., str]
MODEL = ("--model", "nearest", "--window", "40")


@pytest.fixture
def data(tmp_path: Path) -> str:
    """walk and rest; run from the 301st sample on, for 60 samples; rest; then all three."""
    rng = np.random.default_rng(4)
    kinds = [*rng.integers(0, 2, 300), *[2] * 60, *[1] * 40, *rng.integers(0, 3, 300)]
    rows = np.array([(0, 0, 9), (9, 0, 0), (5, 9, 5)])[kinds] + rng.normal(0, 0.5, (700, 3))
    lines = [
        f"{a:.2f},{b:.2f},{c:.2f},{('walk', 'rest', 'run')[kind]}"
        for (a, b, c), kind in zip(rows, kinds, strict=True)
    ]
    path = tmp_path / "moves.csv"
    path.write_text("\n".join(["x,y,z,class", *lines]) + "\n", encoding="utf-8")
    return str(path)


def test_a_class_that_comes_later_is_noticed_and_learned(data: str, output_of: OutputOf) -> None:
    run = ("simulate", data, *MODEL, "--json", "-")
    result = json.loads(output_of(*run, "--spare-classes", "2", "collect=6"))
    spare = result["spare_classes"]
    assert sorted(spare["known"]) == ["rest", "walk"]
    (named,) = spare["named"]
    assert named["name"] == "run"
    assert 306 <= named["sample"] <= 320
    assert named["right"] == named["labelled"] == 6
    assert named["recall"] > 97
    assert named["of_class"] + named["later"] == sum(
        result["confusion"][result["class_names"].index("run")]
    )
    assert spare["taken_for_new"] < 3
    assert spare["accuracy_of_named"] > 97 > 90 < result["accuracy"]
    assert spare["never"] == {}
    without = json.loads(output_of(*run))
    assert "spare_classes" not in without
    assert result["ram_bytes"] - without["ram_bytes"] > spare["bytes"]


def test_the_output_describes_novel_classes(data: str, output_of: OutputOf) -> None:
    words = output_of("simulate", data, *MODEL, "--spare-classes", "1", "new=walk,run")
    assert "classes known from the start" in words
    assert "named: " in words
    assert "queries with no class left" in words
    assert "never named: " in words


def test_the_name_of_a_novel_class_may_have_a_comma(data: str, output_of: OutputOf) -> None:
    path = Path(data)
    path.write_text(path.read_text().replace(",run\n", ',"up, down"\n'), encoding="utf-8")
    words = output_of("simulate", data, *MODEL, "--spare-classes", "1", 'new="up, down"')
    assert "named: up, down" in words
    assert "for 1 spare class " in words


def test_the_engines_have_the_same_bits_and_allocate_nothing(data: str) -> None:
    """On MicroPython the heap is locked, except for the answers to queries."""
    stream = open_stream(data)
    spare = SpareClasses(2, window=64, collect=5).on_stream(stream, 256)
    parameters = spare.learner_parameters({"features": 3, "rate": 0.05, "classes": 3})
    start = functools.partial(
        engines.start, learner="SoftmaxRegression", parameters=parameters, companions=[spare]
    )
    names = ("python", "c", "micropython")
    starters = {name: functools.partial(start, name) for name in names}
    rows = stream.raw_rows()
    steps = list(parity.check(starters, rows, stream.labels, warmup=256, every=233))
    assert not any(isinstance(step, parity.Difference) for step in steps)
    assert isinstance(steps[-1], parity.Step)
    results = []
    for name in ("c", "micropython"):
        with starters[name]() as engine:
            prequential.fit(engine, rows[:256], 256)
            engine.run(rows, stream.labels)
            results.append((engine.status().companions[0]["answers"], engine.outputs()))
    assert results[0] == results[1]
    assert len(results[0][0]) >= 1


def test_parity_detects_a_difference_in_the_novelty_detector(data: str) -> None:
    stream = open_stream(data)
    shape = {"features": 3, "classes": 4, "window": 40}
    starters: dict[str, Any] = {
        str(reach): functools.partial(
            engines.start,
            "c",
            "NearestNeighbours",
            shape,
            [SpareClasses(2, reach=reach).on_stream(stream, 256)],
        )
        for reach in (4, 5)
    }
    rows = stream.raw_rows()
    *_, last = parity.check(starters, rows, stream.labels, warmup=256, every=300)
    assert isinstance(last, parity.Difference)
    assert last.buffer.startswith("novelty.")


def test_the_budget_has_its_buffers_and_its_code(output_of: OutputOf) -> None:
    shape = ("--features", "14", "--classes", "2", "--json", "-", "--model", "softmax")
    shape += ("--own-program",)
    result = json.loads(output_of("budget", *shape, "--spare-classes", "4"))
    without = json.loads(output_of("budget", *shape))
    assert result["buffers"]["novelty.codes"] == 256 * 14
    assert result["buffers"]["names.texts"] == 6 * 16
    assert result["buffers"]["softmax.weight"] == 3 * without["buffers"]["softmax.weight"]
    assert {"spare_classes", "class_names", "novelty_detection"} <= set(result["code"])
    assert not {"spare_classes", "novelty_detection"} & set(without["code"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["some"], "has to be how many there are, not 'some'"),
        (["0"], r"the number of them .* 1\.\.255, not 0"),
        (["4", "collect=65"], r"collect .* 1\.\.64, not 65"),
        (["4", "window"], "is not a setting such as rate=50"),
        (["4", "depth=3"], "--spare-classes has no depth"),
        (["4", 'new="up, down'], "--spare-classes new=.* cannot be read"),
        (["4", "new=fly"], "moves.csv has no class 'fly'"),
        (["4", "new=walk,rest,run"], "one class at least has to be known"),
    ],
)
def test_wrong_options_are_refused(words: list[str], message: str, data: str) -> None:
    def asked_for() -> None:
        for each in companion_registry.of_options({"spare_classes": words}):
            each.on_stream(open_stream(data), 256)

    with pytest.raises(UserError, match=message):
        asked_for()


def test_a_note_says_if_all_classes_are_known(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "m.mshrub"
    run = ("simulate", data, *MODEL, "--spare-classes", "2", "--warmup", "400")
    assert main([*run, "--save", str(saved)]) == 0
    captured = capsys.readouterr()
    assert "of them is new. new=" in captured.err
    assert "queries about a class with a name" in captured.out
    names = model_files.read(saved).class_names
    assert names[3:] == ("spare 1", "spare 2")


def test_senseless_combinations_are_refused(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    spare = ("--spare-classes", "2")
    for command, words in (
        (("simulate", data, *spare, "--target", "x"), "--spare-classes is for classes"),
        (("budget", "--features", "2", "--model", "linear-regressor", *spare), "is for classes"),
    ):
        assert main([*command]) == 2
        assert words in capsys.readouterr().err
