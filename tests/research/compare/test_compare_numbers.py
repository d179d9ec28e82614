"""`microshrub compare --target`: our regressors compared with River's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from page_support import Parsed

from microshrub_host.base.worker_process import Ended
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_research.compare.regression_peers import PEERS, RiverNumbers
from microshrub_research.compare.regression_report import figures
from microshrub_research.compare.regression_runner import NumberContest
from microshrub_tools.cli.main import main


class Remembers:
    """A learner with River's interface that predicts the sum of the targets so far."""

    def __init__(self) -> None:
        self.sum = 0.0

    def predict_one(self, x: dict[int, float]) -> float:
        assert not any(np.isnan(list(x.values())))
        return self.sum

    def learn_one(self, x: dict[int, float], y: float) -> None:
        self.sum += y


@pytest.mark.parametrize("horizon", [0, 1, 4])
def test_a_peer_learns_a_row_when_its_target_is_known(horizon: int) -> None:
    stream = open_numbers("river:AirlinePassengers", horizon=horizon, lags=3)
    peer = RiverNumbers(Remembers(), stream)
    parts = [slice(0, 50), slice(50, stream.samples)]
    numbers = [number for part in parts for number in peer.run(peer.prepare(part))]
    sums = np.concatenate([[0], np.cumsum(stream.targets)])
    for i in range(len(numbers)):
        assert numbers[i] == pytest.approx(sums[max(i - stream.late, 0)])


@pytest.fixture
def heat(tmp_path: Path) -> Path:
    """A file with 300 rows of a temperature that follows a fan; one row has no temperature."""
    rng = np.random.default_rng(5)
    fan = np.repeat(rng.integers(0, 4, 30), 10)
    warm = np.round(20 + np.cumsum(fan - 1.5) * 0.1 + rng.normal(size=300) * 0.05, 2)
    rows = [f"{a},{b}" for a, b in zip(fan, warm, strict=True)]
    rows[40] = "1,"
    path = tmp_path / "heat.csv"
    path.write_text("\n".join(["fan,warm", *rows]))
    return path


@pytest.mark.long
def test_ours_equal_simulates_and_rivers_are_compared(
    heat: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Errors, bytes and baselines equal those of `simulate --target`; page and table have them."""
    ahead = ["--target", "warm", "--horizon", "2", "--lags", "2", "--warmup", "50"]
    learner = ["--model", "hoeffding", "--grace-period", "20"]
    assert main(["simulate", str(heat), *ahead, *learner, "--json", str(tmp_path / "s.json")]) == 0
    alone = json.loads((tmp_path / "s.json").read_text())
    capsys.readouterr()
    wanted = ["--ours", "hoeffding grace_period=20", "--peers", "nochange,mean,river:scaled-SGD"]
    outputs = ["--json", tmp_path / "c.json", "--html", tmp_path / "c.html"]
    assert main(["compare", str(heat), *ahead, *wanted, *map(str, outputs)]) == 0
    output = capsys.readouterr().out
    result = json.loads((tmp_path / "c.json").read_text())
    cells = {cell["name"]: cell for cell in result["cells"]}
    ours = "ours:hoeffding grace_period=20"
    names = {"": ours, "_nochange": "nochange", "_running_mean": "mean"}
    for score in ("mae", "rmse", "r2"):
        for ending, name in names.items():
            assert cells[name][score] == pytest.approx(alone[score + ending])
    assert cells[ours]["model_bytes"] == alone["model_bytes"]
    peer = cells["river:scaled-SGD"]
    assert (peer["samples"], peer["failure"]) == (298, "")
    assert peer["model_bytes"] > 1000
    assert peer["curve"][-1] == [298, pytest.approx(peer["mae"])]
    rows = Parsed((tmp_path / "c.html").read_text(encoding="utf-8")).rows
    for name, cell in cells.items():
        assert f"{cell['mae']:.4g}" in output
        assert [name, f"{cell['mae']:.4g}"] in [row[:2] for row in rows]


def test_a_learner_that_diverges_is_reported() -> None:
    """The learner's squared errors overflow, which JSON cannot represent."""
    stream = open_numbers("river:AirlinePassengers")
    messages = iter([([1e200] * stream.samples, 0.1), 500])

    class Work:
        def receive(self) -> object:
            for message in messages:
                return message
            raise Ended

    cell = NumberContest(Work(), PEERS["river:HTR"], stream).advance()
    assert cell is not None
    assert cell.mae is cell.rmse is cell.r2 is None
    assert figures(cell)[:2] == ["diverged", "-"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "trees"], "--set trees is for classes"),
        (["--ours", "softmax"], "it predicts no numbers. Known are: "),
        (["--ours", "shrub depth=3"], "depth is not a parameter of shrub-regressor"),
        (["--peers", "river:HAT"], "--peers: river:HAT is unknown"),
        (["--bytes", "100", "--peers", "none"], "and --bytes is 100"),
        (["--label", "fan"], "--label is for classes"),
    ],
)
def test_bad_input_is_refused(
    heat: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["compare", str(heat), "--target", "warm", *words]) == 2
    assert message in capsys.readouterr().err
