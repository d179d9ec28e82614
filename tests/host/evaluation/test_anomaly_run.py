"""--anomaly: its options, and the results of a simulation,
a budget and a comparison of engines.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests_support import make_blobs

from microshrub_host.base.errors import UserError
from microshrub_host.evaluation import parity
from microshrub_host.simulation import engines
from microshrub_host.simulation.anomaly import Anomaly
from microshrub_tools.cli.main import main


def of_words(*words: str, hertz: float | None = None) -> Anomaly:
    anomaly = Anomaly.of_options({"anomaly": words}, hertz)
    assert anomaly
    return anomaly


MODEL = ("--model", "shrub", "--window", "8", "--trees", "2", "--depth", "2")


@pytest.mark.parametrize(
    ("text", "samples"),
    [
        ("0.001", 1000),
        ("0.1%", 1000),
        ("0.1 %", 1000),
        ("1", 1),
        ("1 per day at 50 Hz", 86400 * 50),
        ("2 per hour at 10 hz", 18000),
        ("1 per 2 weeks at 0.1 Hz", 120960),
        ("1 per 1,000 samples", 1000),
        ("1 per sample", 1),
        ("3 per minute at 1 Hz", 20),
    ],
)
def test_a_rate_of_alarms_is_a_number_of_samples(text: str, samples: int) -> None:
    assert of_words(text).period == samples


def test_the_sensors_rate_is_used_where_the_text_has_none() -> None:
    assert of_words("1 per day", hertz=50).period == 86400 * 50
    assert of_words("1 per day at 2 Hz", hertz=50).period == 86400 * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["often"], "is not how often an alarm may come"),
        (["0"], "0 is not a number above 0"),
        (["120%"], "a share has to be above 0 and at most 1"),
        (["1 per day"], "Write '1 per day at 50 Hz'"),
        (["0 per day at 1 Hz"], "0 is not a number above 0"),
        (["1.2.3 per day at 1 Hz"], "1.2.3 is not a number above 0"),
        (["0.01", "depth=3"], "--anomaly has no depth"),
        (["0.01", "reach"], "is not a setting such as rate=50"),
        (["0.01", "reach=99"], "reach .* 1..32, not 99"),
        (["0.01", "window=x"], "window .* 0..1000, not 'x'"),
        (["0.0000000001"], "the samples to an alarm .* 1..536870912"),
    ],
)
def test_wrong_options_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message.replace("(", r"\(")):
        of_words(*words)


@pytest.fixture
def data(tmp_path: Path) -> str:
    rows, labels = make_blobs(900)
    rows[700] += 5000
    lines = [f"{a},{b},{label}" for (a, b), label in zip(rows, labels, strict=True)]
    path = tmp_path / "blobs.csv"
    path.write_text("\n".join(["a,b,class", *lines]) + "\n", encoding="utf-8")
    return str(path)


OutputOf = Callable[..., str]


def test_a_button_needs_a_board(data: str) -> None:
    assert of_words("0.01", "pin=15").program(())["anomaly"]["pin"] == 15
    assert main(["simulate", data, *MODEL, "--anomaly", "0.01", "pin=15"]) == 2


def test_a_simulation_has_the_scores(data: str, tmp_path: Path, output_of: OutputOf) -> None:
    plot = tmp_path / "run.png"
    anomaly = ("--anomaly", "1 per 500 samples", "reach=1", "window=100")
    simulate = ("simulate", data, *MODEL, "--json", "-")
    result = json.loads(output_of(*simulate, *anomaly, "--plot", str(plot)))
    scores = result["anomaly"]["scores"]
    assert len(scores) == 900
    assert np.argmax(scores[100:]) + 100 == 700
    assert 700 in result["anomaly"]["alarms"]
    assert 700 in result["anomaly"]["peaks"]
    assert len(result["anomaly"]["peaks"]) == len(result["anomaly"]["alarms"])
    assert result["anomaly"]["period"] == 500
    assert result["anomaly"]["window"] == 100
    assert plot.stat().st_size > 10000
    without = json.loads(output_of(*simulate))
    assert "anomaly" not in without
    assert {name: without[name] for name in ("accuracy", "state_crc32", "model_bytes")} == {
        name: result[name] for name in ("accuracy", "state_crc32", "model_bytes")
    }
    assert result["ram_bytes"] - without["ram_bytes"] > result["anomaly"]["bytes"]
    table = output_of("simulate", data, *MODEL, *anomaly)
    assert "one in 500 samples is allowed" in table
    assert f"sample 701, with a score of {scores[700]}" in table


def test_the_budget_has_its_buffers_and_its_code(output_of: OutputOf) -> None:
    shape = ("--own-program", "--features", "14", "--classes", "2", "--json", "-", *MODEL)
    result = json.loads(output_of("budget", *shape, "--anomaly", "0.001"))
    without = json.loads(output_of("budget", *shape))
    assert result["buffers"]["anomaly.codes"] == 512 * 14
    assert result["code"]["anomaly"] > 0
    assert "anomaly" not in without["code"]
    assert "anomaly.codes" not in without["buffers"]


def test_parity_includes_the_anomaly_score() -> None:
    """A difference between two engines' anomaly scores is reported, with the buffer."""
    shape = {"features": 2, "classes": 2, "window": 8, "trees": 2, "depth": 2}
    rows, labels = make_blobs(120)
    one, other = Anomaly(1 / 20, 30), Anomaly(1 / 20, 30, reach=5)
    starters = {
        "one": lambda: engines.start("python", "ShrubEnsemble", shape, [one]),
        "other": lambda: engines.start("llvm", "ShrubEnsemble", shape, [other]),
    }
    *_, last = parity.check(starters, rows, labels, warmup=20, every=50)
    assert isinstance(last, parity.Difference)
    assert last.buffer.startswith("anomaly.")
