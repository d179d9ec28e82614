"""`simulate --target` and related commands, compared with the same steps by hand."""

from __future__ import annotations

import json
import re
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microshrub_host.library import loader
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_tools.cli.main import main

SMALL = [
    "--model",
    "shrub",
    "--window",
    "60",
    "--trees",
    "4",
    "--leaves",
    "12",
    "--engine",
    "python",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sum of two columns, in tenths, and a third column with texts."""
    path = tmp_path_factory.mktemp("regression") / "sum.csv"
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 90, (2, 300))
    rows = [f"{x},{(x + y) / 10},{['no', 'yes'][y % 2]},{y}" for x, y in zip(a, b, strict=True)]
    path.write_text("a,sum,odd,b\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def record(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert main([*map(str, words), "--json", "-"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def by_hand(
    path: Path, model: str, horizon: int, lags: int
) -> tuple[list[float], list[float], list[float]]:
    """Return predictions, targets and known targets from the library's objects,
    sample by sample.
    """
    cells = [line.split(",") for line in path.read_text().split()[1:]]
    y = [round(float(c[1]) * 10) for c in cells]
    rows = [[int(c[0]), ["no", "yes"].index(c[2]), int(c[3])] for c in cells]
    texts = list(dict.fromkeys(c[2] for c in cells))
    for row, c in zip(rows, cells, strict=True):
        row[1] = texts.index(c[2])
    library = loader.load("python")
    if horizon:
        for i, row in enumerate(rows):
            row += [y[i - k] if i >= k else library.MISSING for k in range(lags)]
    count = len(rows) - horizon
    quantizer, target = library.Quantizer(len(rows[0])), library.Target()
    for row, value in zip(rows[:100], y[:100], strict=True):
        quantizer.observe(array("i", row))
        target.observe(value)
    target.freeze()
    if horizon:
        for end in target.ends:
            quantizer.observe(array("i", [library.MISSING] * 3 + [end] * lags))
    quantizer.freeze()
    if model == "shrub":
        learner = library.ShrubRegressor(len(rows[0]), window=60, trees=4, leaves=12)
    else:
        learner = library.ThicketRegressor(len(rows[0]), bytes=3000, late=max(horizon - 1, 0))
    coded, predictions = [], []
    naive = library.NaiveForecasts(horizon, horizon * 2 + 340) if horizon else None
    ring = array("i", [library.MISSING] * (horizon * 2 + 340))
    for i in range(count):
        codes = array("H", [0] * len(rows[0]))
        quantizer.encode(array("i", rows[i]), codes)
        coded.append(codes)
        if naive and i >= horizon:
            naive.judge(i % horizon, y[i - horizon], y[i], target.span)
        raw = target.predicted(learner.predict(codes))
        if naive:
            ring[i % len(ring)] = y[i]
            naive.note(ring, i % len(ring), target.span)
            raw = target.within(naive.foresee(i % horizon, raw, ring, i % len(ring)))
        predictions.append(raw / 10)
        due = i - max(horizon - 1, 0)  # the sample whose target becomes known next
        if due >= 0:
            learner.learn(coded[due], target.learn(y[due + horizon]))
    known = y[:count] if horizon else [float("nan"), *y[:-1]]
    return predictions, [v / 10 for v in y[horizon:]], [v / 10 for v in known]


@pytest.mark.parametrize("model", ["shrub", "thicket"])
@pytest.mark.parametrize(("horizon", "lags"), [(0, 1), (1, 3), (4, 2)])
def test_the_errors_equal_those_of_predicting_and_learning_by_hand(
    capsys: pytest.CaptureFixture[str], data: Path, model: str, horizon: int, lags: int
) -> None:
    options = SMALL if model == "shrub" else ["--bytes", 3000, "--engine", "python"]
    words = ["simulate", data, "--target", "sum", *options, "--warmup", 100]
    if horizon:
        words += ["--horizon", horizon, "--lags", lags]
    result = record(capsys, *words)
    predictions, targets, known = map(np.array, by_hand(data, model, horizon, lags))
    scored = ~np.isnan(known)
    assert result["scored"] == scored.sum()
    for name, baseline in (("", predictions), ("_nochange", known)):
        away = (baseline - targets)[scored]
        assert result["mae" + name] == pytest.approx(np.abs(away).mean())
        assert result["rmse" + name] == pytest.approx(np.sqrt((away**2).mean()))
        spread = ((targets[scored] - targets[scored].mean()) ** 2).sum()
        assert result["r2" + name] == pytest.approx(1 - (away**2).sum() / spread)
    sums = np.nancumsum(known)
    means = (sums / np.maximum(np.cumsum(scored), 1))[scored]
    assert result["mae_running_mean"] == pytest.approx(np.abs(means - targets[scored]).mean())
    if not horizon:
        assert result["mae"] < 0.5 * result["mae_running_mean"]


def test_simulate_prints_the_errors(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    assert main(["simulate", str(data), "--target", "sum", *SMALL]) == 0
    out = capsys.readouterr().out
    assert "300 samples, 3 features; the target is sum" in out
    for text in ("shrub-regressor", "NoChange", "MAE", "RMSE", "R2", "below that of"):
        assert text in out


def test_a_given_range_replaces_the_warm_up(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    words = ["simulate", data, "--target", "sum", *SMALL]
    one = record(capsys, *words, "--target-range", "0,18", "--warmup", 300)
    other = record(capsys, *words, "--target-range", "0,18", "--warmup", 1)
    third = record(capsys, *words, "--target-range", "0,900", "--warmup", 300)
    assert one["state_crc32"] != third["state_crc32"]
    assert one["mae"] == pytest.approx(other["mae"], rel=0.3)


@pytest.mark.long
def test_parity_and_budget_work_for_regression(
    capsys: pytest.CaptureFixture[str], data: Path, micropython_command: tuple[str, ...]
) -> None:
    words = ["parity", data, "--target", "sum", "--horizon", 3, "--lags", 2, "--interval", 80]
    assert main([*map(str, words)]) == 0
    assert "engines are identical: 300 samples" in capsys.readouterr().out
    shape = ["budget", "--features", 5, "--model", "shrub-regressor", "--window", 60]
    result = record(capsys, *shape)
    learner_class = loader.load("python").ShrubRegressor
    assert result["model_bytes"] == learner_class.nbytes(features=5, window=60)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target", "summ"], "has no column summ. Did you mean sum"),
        (["--target", "odd"], "line 2, column odd: 'yes' is not a number"),
        (["--horizon", "2"], "--horizon needs --target COLUMN"),
        (["--target", "sum", "--lags", "2"], "--lags needs --horizon"),
        (["--target", "sum", "--horizon", "0"], "--horizon has to be at least 1"),
        (["--target", "sum", "--horizon", "300"], "too few for --horizon 300"),
        (["--target", "sum", "--horizon", "1", "--lags", "255"], "more than 256 features"),
        (["--target", "sum", "--model", "softmax"], "predicts classes"),
        (["--target", "sum", "--label", "a"], "--label is for classes"),
        (["--target", "sum", "--target-range", "4"], "LOW,HIGH"),
        (["--target", "sum", "--target-range", "9,2"], "has no such range"),
        (["--interval", "90"], "--interval needs --target COLUMN"),
        (["--target", "sum", "--interval", "30"], "--interval has to be 50 to 99 percent"),
        (["--model", "shrub-regressor"], "it needs --target COLUMN"),
    ],
)
def test_wrong_options_are_refused(
    capsys: pytest.CaptureFixture[str], data: Path, words: list[str], message: str
) -> None:
    assert main(["simulate", str(data), *words]) == 2
    assert message in capsys.readouterr().err


def test_two_targets_are_refused(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", str(data), "--target", "a", "--target", "b"])
    assert "a or b, not both" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "linear", "--horizon", "1000"], "lower --horizon or --lags"),
        (["--model", "linear", "--horizon", "2000"], "--horizon has to be 1 to 1,000"),
        (["--model", "linear", "--lags", "2"], "--lags needs --horizon N"),
        (["--model", "linear", "--horizon", "2", "--lags", "201"], "--lags has to be 1 to 200"),
        (["--classes", "2", "--interval", "90"], "--interval is for numbers, and thicket"),
    ],
)
def test_budget_refuses_forecasts_that_are_too_large_or_wrong(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["budget", "--features", "200", *words]) != 0
    captured = capsys.readouterr()
    assert message in captured.out + captured.err


def test_intervals_have_about_the_given_coverage(
    capsys: pytest.CaptureFixture[str], data: Path
) -> None:
    words = ["simulate", data, "--target", "sum", *SMALL]
    plain = record(capsys, *words)
    assert "interval" not in plain
    interval = record(capsys, *words, "--interval", 80)["interval"]
    assert interval["share"] == 80
    assert interval["inside"] == pytest.approx(80, abs=12)
    assert interval["mean_width"] > 0
    assert main([*map(str, words), "--interval", "80"]) == 0
    assert "intervals of 80 %" in capsys.readouterr().out


def test_a_page_has_the_printed_figures(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    target = tmp_path / "page.html"
    words = [
        "simulate",
        data,
        "--target",
        "sum",
        *SMALL,
        "--interval",
        80,
        "--details",
        "--html",
        target,
    ]
    assert main(list(map(str, words))) == 0
    printed = capsys.readouterr().out
    page = target.read_text(encoding="utf-8")
    crc = re.search(r"state CRC32 +│ ([0-9a-f]{8})", printed)
    errors = re.search(r"NoChange \(the last target\) +│ +([0-9.e-]+) │ +([0-9.e-]+)", printed)
    assert crc
    assert errors
    for text in (crc[1], *errors.groups(), "intervals of 80 %", "mean absolute error"):
        assert text in page, text


@pytest.mark.parametrize("interval", [[], ["--interval", "80"]])
def test_a_picture_is_drawn(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, interval: list[str]
) -> None:
    target = tmp_path / "sum.svg"
    words = ["simulate", str(data), "--target", "sum", *SMALL, *interval, "--plot", str(target)]
    assert main(words) == 0
    drawn = target.read_text()
    for text in ("mean absolute error so far", "NoChange (the last target)", "prediction"):
        assert text in drawn
    assert ("interval of 80 %" in drawn) == bool(interval)
    assert f"written to {target}" in capsys.readouterr().err


def test_a_random_walk_cannot_be_forecast(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """NoChange is the best possible forecast; knowledge of later values would show here."""
    file = tmp_path / "walk.csv"
    steps = np.random.default_rng(2).integers(-9, 10, 3000)
    rows = [f"{y},{y % 7}" for y in np.cumsum(steps)]
    file.write_text("y,digit\n" + "\n".join(rows) + "\n", encoding="utf-8")
    for horizon in (1, 7):
        words = ["simulate", file, "--target", "y", "--horizon", horizon, "--lags", 2]
        result = record(capsys, *words)
        assert 0.99 < result["mae"] / result["mae_nochange"] < 1.15


@pytest.mark.parametrize("horizon", [0, 2])
def test_rows_without_a_target_are_neither_learned_nor_scored(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, horizon: int
) -> None:
    """Without a horizon, the result is that of a file without these rows; with one,
    they are a gap.
    """
    values = np.random.default_rng(3).integers(0, 90, (200, 2))
    rows = [f"{a},{a + b % 4}" for a, b in values]
    gaps = {20, 21, 90}
    holes = [f"{v.split(',')[0]}," if i in gaps else v for i, v in enumerate(rows)]
    file = tmp_path / "gap.csv"
    file.write_text("a,y\n" + "\n".join(holes) + "\n", encoding="utf-8")
    words = ["simulate", file, "--target", "y", *SMALL]
    if horizon:
        words += ["--horizon", horizon]
    assert main([*map(str, words), "--json", "-"]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert "3 rows have no y" in captured.err
    assert result["scored"] == (196 if not horizon else 198 - 6)
    assert 0 < result["mae"] < 40
    if not horizon:
        file.write_text("a,y\n" + "\n".join(v for v in holes if v[-1] != ",") + "\n")
        assert record(capsys, *words)["mae_nochange"] == pytest.approx(result["mae_nochange"])


@pytest.mark.parametrize("before", ["20.00", ""], ids=["still", "missing"])
def test_a_target_that_is_missing_or_constant_at_first_gets_its_range_later(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, before: str
) -> None:
    """A range of one value has no steps: the error used to be NoChange's, 9 times as large."""
    chance = np.random.default_rng(5)
    values = 20 + 5 * np.sin(np.arange(1300) * np.pi / 12) + chance.normal(0, 0.3, 1300)
    file = tmp_path / "late.csv"
    rows = [f"{value:.2f},{chance.integers(90)}" for value in values]
    rows[:300] = [f"{before},{chance.integers(90)}" for _ in range(300)]
    file.write_text("y,b\n" + "\n".join(rows) + "\n", encoding="utf-8")
    words = ["simulate", file, "--target", "y", "--horizon", 12]
    assert main([*map(str, words), "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["mae"] < 0.2 * result["mae_nochange"]
    assert result["season"] in range(24, 360, 24)
    assert main(["parity", *map(str, words[1:]), "--every", "1300"]) == 0
    assert "engines are identical" in capsys.readouterr().out


def test_an_absurd_value_is_left_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [f"{i % 7},{i % 7 * 10}" for i in range(300)]
    file = tmp_path / "typo.csv"
    file.write_text("a,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    words = ["simulate", file, "--target", "y", *SMALL]
    plain = record(capsys, *words)
    rows[30], rows[40] = "1e120,20", "5,-1e120"
    file.write_text("a,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert main([*map(str, words), "--json", "-"]) == 0
    captured = capsys.readouterr()
    assert "line 32, column a: 1e+120" in captured.err
    assert "line 42, column y: -1e+120" in captured.err
    assert json.loads(captured.out)["mae"] == pytest.approx(plain["mae"], rel=0.2)


def test_a_file_without_any_target_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "none.csv"
    file.write_text("a,y\n1,\n3,?\n", encoding="utf-8")
    assert main(["simulate", str(file), "--target", "y"]) == 2
    assert "column y has no number" in capsys.readouterr().err


def test_rivers_streams_can_be_opened() -> None:
    trump = open_numbers("river:TrumpApproval", limit=50)
    assert trump.values.shape == (50, 6)
    assert trump.targets[0] == pytest.approx(43.75505)
    planes = open_numbers("synth:planes2d", horizon=2, lags=3, limit=50)
    assert planes.values.shape == (48, 13)
    assert (
        planes.values[5, -3:].tolist()
        == open_numbers("synth:planes2d", limit=50).targets[[5, 4, 3]].tolist()
    )
    assert planes.known[5] == planes.values[5, -3]
