"""Energy per sample and battery life: estimates, each with its source."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from board_file_support import GOOD, refusal, write
from script_support import run
from tests_support import ROOT

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files, counted_times, energy
from microshrub_host.reports import board_page
from microshrub_host.reports.markdown import markdown_table
from microshrub_tools.board.bench import table

CURRENTS = '\n[energy]\nsource = "of a test"\nvolts = 5\nawake_ma = 20.0\nsleep_ma = 1\n'
ROW = board_files.CostRow("shrub window=16 trees=4 depth=4", 8, 2, (1000, 1200), (4000, 5000))
SHAPE = ["--features", 8, "--classes", 2]
MODEL = ["--model", "shrub", "--window", 16, "--trees", 4, "--depth", 4]


@pytest.fixture
def board(tmp_path: Path) -> str:
    return write(tmp_path, GOOD + CURRENTS + table("of a test", (ROW,)))


def test_energy_is_power_times_time() -> None:
    """100 mW awake, 5 mW asleep; 10 ms per sample, 2 per second: 2 % of the time awake."""
    currents = board_files.Currents("of a test", 5.0, 20.0, 1.0)
    estimate = energy.estimate(currents, 1000, 4000, 10_000, 2.0, energy.battery("7.4Wh"))
    assert (estimate.predict, estimate.learn, estimate.sample) == pytest.approx((100, 400, 1000))
    assert (estimate.awake, estimate.asleep) == pytest.approx((100, 0.02 * 100 + 0.98 * 5))
    assert estimate.learning == pytest.approx(0.8)
    assert estimate.battery
    assert estimate.battery.days(estimate.awake) == pytest.approx(7400 / 100 / 24)


def test_a_board_that_is_always_busy_never_sleeps() -> None:
    currents = board_files.Currents("of a test", 5.0, 20.0, 1.0)
    estimate = energy.estimate(currents, 1000, 4000, 10_000, 1000.0)
    assert estimate.asleep == estimate.awake == 100
    assert estimate.between(estimate.awake, estimate.asleep).startswith("100; ")


def test_a_board_without_light_sleep_has_no_sleeping_power() -> None:
    estimate = energy.estimate(board_files.Currents("of a test", 5.0, 20.0), 1, 1, 1, 1.0)
    assert estimate.asleep is None
    assert "the board cannot sleep" in estimate.rows()[1][1]
    assert json.loads(json.dumps(estimate.record()))["asleep_mw"] is None


@pytest.mark.parametrize(
    ("text", "milliwatt_hours"),
    [("2000mAh", 7400), ("2 Ah", 7400), ("2000mAh@3.0V", 6000), ("7.4Wh", 7400), ("9mWh", 9)],
)
def test_batteries_have_the_energy_of_their_text(text: str, milliwatt_hours: float) -> None:
    assert energy.battery(text).milliwatt_hours == pytest.approx(milliwatt_hours)


@pytest.mark.parametrize(
    "text", ["", "2000", "mAh", "0mAh", "-5mAh", "2000mah", "1e3mAh", "7Wh@3V", "5mAh@0V", "nanWh"]
)
def test_other_texts_are_no_batteries(text: str) -> None:
    with pytest.raises(UserError, match=r"--battery has to be 2000mAh.*not"):
        energy.battery(text)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("volts = 5", "volts = 0", "energy.volts has to be a number above 0, not 0"),
        ("volts = 5", "volts = -3.3", "energy.volts has to be"),
        ("volts = 5", "volts = inf", "energy.volts has to be"),
        ("volts = 5", "volts = nan", "energy.volts has to be"),
        ("volts = 5", 'volts = "5V"', "energy.volts has to be"),
        ("awake_ma = 20.0", "awake_ma = true", "energy.awake_ma has to be"),
        ("awake_ma = 20.0\n", "", "energy.awake_ma is missing"),
        ("sleep_ma = 1", "sleep_ma = 21", "energy.sleep_ma is above awake_ma (20)"),
        ('source = "of a test"', 'source = " "', "energy.source is empty"),
        ("sleep_ma", "doze_ma", "energy.doze_ma is not a key"),
    ],
)
def test_wrong_currents_are_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in CURRENTS
    assert complaint in refusal(tmp_path, GOOD + CURRENTS.replace(old, new))


def test_budget_prints_the_energy_as_an_estimate(
    board: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["budget", *SHAPE, *MODEL, "--board", board]
    assert run(*words, "--battery", "2000mAh", "--sample-rate", "0.5") == 0
    output = capsys.readouterr().out
    assert "microjoules of a sample, an estimate: 100 to predict, 400 to learn" in output
    assert re.search(
        r"milliwatts at 0\.5 a second, an estimate: 100 without sleep, 5\.\d+", output
    )
    assert re.search(r"days on 2000mAh, an estimate: 3\.08 without sleep, \d\d\.\d asleep", output)
    assert "20 mA awake, 1 mA in light sleep, at 5 V: of a test" in output
    assert run(*words, "--json", "-") == 0
    result = json.loads(capsys.readouterr().out)["sample_time"]["energy"]
    assert result["estimate"] is True
    assert (result["predict_uj"], result["learn_uj"]) == pytest.approx((100, 400))
    assert "days_awake" not in result


def test_simulate_prints_the_energy_for_a_named_board(
    board: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "stream.csv"
    data.write_text(
        ",".join("abcdefgh") + ",label\n" + "1,2,3,4,5,6,7,8,0\n2,3,1,4,5,1,7,9,1\n" * 99
    )
    words = ["simulate", data, *MODEL, "--engine", "python"]
    assert run(*words, "--board", board, "--battery", "100mAh", "--json", "-") == 0
    result = json.loads(capsys.readouterr().out)["sample_time"]["energy"]
    assert result["days_awake"] == pytest.approx(370 / 100 / 24)
    assert run(*words, "--battery", "100mAh") == 2
    assert "--battery needs --board NAME" in capsys.readouterr().err
    assert run(*words, "--board", board, "--no-label", "--anomaly", "0.1", "--sample-rate", 2) == 2
    assert "--sample-rate is for" in capsys.readouterr().err


@pytest.mark.parametrize("rate", ["0", "-1", "1001", "nan"])
def test_an_impossible_rate_is_refused(
    rate: str, board: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("budget", *SHAPE, *MODEL, "--board", board, "--sample-rate", rate) == 2
    assert re.search("--sample-rate .* 0, .* 1000, not", capsys.readouterr().err)


def test_without_currents_no_energy_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["budget", *SHAPE, *MODEL, "--battery", "2000mAh", "--board"]
    assert run(*words, write(tmp_path, GOOD + table("of a test", (ROW,)))) == 0
    output, noted = capsys.readouterr()
    assert "microjoules" not in output
    assert re.search(r"nothing is known .* Test board .* --battery", noted)
    assert run(*words, write(tmp_path, GOOD + CURRENTS)) == 0
    output, noted = capsys.readouterr()
    assert "microjoules" not in output
    assert re.search(r"Test board.* 3\.08 days on 2000mAh, an estimate", noted)


def test_build_prints_the_energy_at_the_sensors_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "stream.csv"
    data.write_text("a,b,label\n" + "1,2,0\n2,3,1\n" * 99)
    words = ["build", data, "--board", "rpi_pico", "--output", tmp_path / "out", "--warmup", 64]
    words += ["--sensor", "adc", "pins=26,27", "rate=20", "--bytes", 16384]
    assert run(*words, "--battery", "2000mAh") == 0
    output = " ".join(capsys.readouterr().out.split())
    match = re.search(
        r"energy ([\d,]+) microjoules a labelled sample; milliwatts at 20 a second: 105 without "
        r"sleep, ([\d.]+) asleep between samples: estimated from 21 mA awake",
        output,
    )
    assert match
    sample, asleep = (float(text.replace(",", "")) for text in match.groups())
    assert asleep == pytest.approx(
        20 * sample / 1000 + (1 - 20 * sample / 105_000) * 4.95, rel=0.02
    )
    assert "days on 2000mAh: 2.94 without sleep" in output


@pytest.mark.parametrize("name", board_files.names())
def test_currents_of_shipped_boards_have_a_source(name: str) -> None:
    currents = board_files.load(name).currents
    if currents:
        assert re.search(r"measured|derived|maker", currents.source)
        assert re.search(r"issue|topic|\.com|\.me|\.ru", currents.source)


def test_the_explanations_table_equals_the_commands_output(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "explanation" / "battery.md").read_text(encoding="utf-8")
    boards = [board_files.load(name) for name in board_files.names()]
    rows = board_page.battery_rows(boards, energy.battery("2000mAh"), 1.0)
    assert len(rows) >= 9
    assert page.endswith("\n\n" + markdown_table(board_page.BATTERY_HEAD, rows) + "\n")
    assert run("boards", "--battery", "2000mAh", "--markdown", tmp_path / "t.md") == 0
    assert page.endswith((tmp_path / "t.md").read_text(encoding="utf-8"))


def test_a_sample_of_a_window_includes_the_features_energy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without learning, a sample takes more energy than one without features, by at least that of
    the window.
    """
    recording = tmp_path / "shakes.csv"
    rows = [f"{(7 * i) % 90},{'up' if i // 80 % 2 else 'down'}" for i in range(800)]
    recording.write_text("\n".join(["ax,label", *rows, ""]), encoding="utf-8")
    words = ["--board", "rpi_pico", "--battery", "2000mAh", "--json", "-"]
    other_uj = []
    for more in (["--features", "window=32", "hop=8", "rate=50"], []):
        assert run("simulate", recording, *words, *more) == 0
        result = json.loads(capsys.readouterr().out)["sample_time"]["energy"]
        other_uj.append(result["sample_uj"] - result["learn_uj"])
    options = {"window": 32, "hop": 8, "zero": [0], "plain": [], "statistics": ["mean"]}
    board = board_files.load("rpi_pico")
    window = counted_times.window_of(board, {**options, "bands": []})
    assert board.currents
    assert window
    milliwatts = board.currents.volts * board.currents.awake_ma
    assert other_uj[0] - other_uj[1] > milliwatts * window.us / 1000


def test_the_table_of_batteries_fits_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No word is cut at 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run("boards", "--battery", "2000mAh") == 0
    out = capsys.readouterr().out
    assert "\u2026" not in out
    rows = [
        tuple(cell.strip() for cell in line.split("\u2502")[1:-1]) for line in out.splitlines()
    ]
    assert ("thicket, 64 KB", "122", "206", "736", "5.65", "54.6") in rows
