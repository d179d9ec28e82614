"""Watching a real MicroPython over a real pty: the displayed numbers are the device's."""

from __future__ import annotations

import dataclasses
import re
import signal
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from patience import PATIENCE
from rich.console import Console
from script_support import RESET_ONCE, SERVER, Device, run, spawn
from tests_support import ROOT

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader
from microshrub_tools.cli import monitor
from microshrub_tools.cli.monitor import facts, has_room, view
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import STATUS, DeviceStatus, Observed, Prediction
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch import exam
from microshrub_tools.watch.device_watch import Watch, drift_name, strangest_of
from microshrub_tools.watch.history import Moment, Recent
from microshrub_tools.watch.interrupts import Interrupts


def device_metrics() -> object:
    """Return the metrics of SERVER."""
    metrics = loader.load("python").Metrics(3)
    for n in range(300):
        metrics.update(n // 10 % 3, n % 7 % 3)
    return metrics


class Spy(SerialLine):
    """A port that records the sent bytes."""

    sent = b""

    def write(self, data: bytes) -> None:
        self.sent += data
        super().write(data)


def test_the_numbers_match_the_device(device: Device) -> None:
    metrics = device_metrics()
    line = Spy(device(SERVER))
    with HostLink(line) as link:
        watch = Watch(link)
        while len(link.observed) < 30:
            link.poll(0.05)
        status = watch.ask(matrix=True)
        again = link.ask(STATUS)
        assert isinstance(again, DeviceStatus)
    assert status == again
    for name in ("samples", "accuracy", "accuracy_nochange", "kappa", "kappa_temporal"):
        assert getattr(status, name) == getattr(metrics, name)
    assert watch.classes == 3
    assert watch.confusion == [
        tuple(metrics.confusion(label, p) for p in range(3))  # type: ignore[attr-defined]
        for label in range(3)
    ]
    assert [label for label, _, _ in watch.predictions] == [0, 1]
    assert sum(n for _, n, _ in watch.predictions) > 20
    assert {confidence for _, _, confidence in watch.predictions} == {0.2}
    kinds = {part[2] for part in line.sent.split(b"\0") if len(part) > 2}
    assert kinds <= {1, 6, 7, 11}  # hello, status, confusion, configuration
    shown = dict(facts(watch))
    assert shown["accuracy"] == f"{metrics.accuracy / 10_000:.2f} % of 300"  # type: ignore[attr-defined]
    assert re.fullmatch("[01], confidence 0.20", shown["newest sample"])
    last = sum(n for _, n, _ in watch.predictions)
    for label, n, _ in watch.predictions:
        assert shown[f"predicted {label}"] == f"{n} of the last {last}, confidence 0.20"
    rows = np.array(watch.confusion)
    recalls = 100 * np.diag(rows) / rows.sum(axis=1)
    assert shown["balanced accuracy"] == f"{recalls.mean():.2f} %"
    assert shown["G-mean"] == f"{recalls.prod() ** (1 / 3):.2f} %"
    assert shown["drift"] == "drift, 4 alarms"
    assert shown["heap"] == "40,000 bytes used, 25,000 free"
    console = Console(width=80, height=40)
    with console.capture() as picture:
        console.print(view(watch))
    assert re.search(r"as 0.*as 1.*as 2.*recall", picture.get())
    watch.is_virtual = True
    assert "on this PC" in dict(facts(watch))["heap"]
    watch.taught = 1
    of_one = dict(facts(watch))
    assert "%" not in of_one["accuracy"]
    assert not {"accuracy now", "NoChange", "kappa", "G-mean"} & of_one.keys()
    watch.taught = 0
    watch.history.note(Moment(1.0, dataclasses.replace(status, samples=0)))
    unlabelled = dict(facts(watch))
    assert unlabelled["accuracy"] == "no labels yet"
    assert not {"NoChange", "kappa", "balanced accuracy", "G-mean"} & unlabelled.keys()


def test_a_device_gets_a_new_hello_after_a_reset(device: Device) -> None:
    with HostLink(SerialLine(device(RESET_ONCE))) as link:
        watch = Watch(link)
        for _ in range(8):
            watch.ask(matrix=True)
            link.poll(0.1)
        watch.collect()
    assert len(watch.history.moments) >= 8
    assert len(watch.confusion) == 3


def test_plain_lines_until_ctrl_c_and_then_a_plot(device: Device, tmp_path: Path) -> None:
    plot = tmp_path / "watch.svg"
    with spawn("monitor", "--port", device(SERVER), "--plot", plot) as process:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, error
    assert all(
        "; drift drift, 4 alarms; saved 0 s ago; heap 40,000 bytes used" in line for line in lines
    )
    assert "confidence 0.20" in lines[1]
    assert "<svg" in plot.read_text()
    assert "written to" in error


def test_it_ends_after_the_given_seconds(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "watch.png"
    assert run("monitor", "--port", device(SERVER), "--seconds", 0.001, "--plot", plot) == 0
    assert capsys.readouterr().out.count("accuracy") >= 1
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_an_exam_counts_predictions_without_a_label(
    device: Device, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The device predicts class 0 for each sample without a label."""
    monkeypatch.setattr(exam, "_READY", 0.01)
    assert run("monitor", "--port", device(SERVER), "--exam", 0.3) == 0
    output = capsys.readouterr().out
    assert re.search(
        r"^0: get ready to show it for 0.3 s\n0: now\n0: (\d+) of \1 right$", output, re.M
    )
    assert re.search(r"^2: 0 of \d+ right, most others 0$", output, re.M)
    assert output.endswith("Exam: 33.33 % right, with equal weight for each class\n")


def test_an_exam_of_a_board_that_sends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    silent = SimpleNamespace(observed=deque(), poll=lambda seconds: None)
    watch = SimpleNamespace(link=silent, target=None, matrix_names=("a", "b"))
    outcome = exam.take(watch, 1.0, Interrupts())
    assert "b: the board sent no" in capsys.readouterr().out
    assert exam.grade(outcome).startswith("Exam: the board sent no")
    with pytest.raises(UserError, match="predicts a number"):
        exam.take(SimpleNamespace(target=2), 1.0, Interrupts())


@pytest.mark.usefixtures("no_virtual_board")
def test_a_missing_board_and_wrong_options_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("monitor", "--port", tmp_path / "none") == 2
    assert "Is the board plugged in?" in capsys.readouterr().err
    assert run("monitor", "--port", "x", "--plot", tmp_path / "a.txt") == 2
    assert ".png" in capsys.readouterr().err
    assert run("monitor", "--port", "x", "--seconds", "0") == 2
    assert "--seconds has to be" in capsys.readouterr().err
    for words in (("--exam", "-1"), ("--exam", "--seconds", "3")):
        assert run("monitor", "--port", "x", *words) == 2
        assert "--exam" in capsys.readouterr().err
    assert run("monitor") == 2
    assert "--port" in capsys.readouterr().err


def test_the_recent_accuracy_covers_the_last_samples() -> None:
    recent = Recent()
    assert recent.accuracy is None
    for samples, right in ((100, 90), (400, 300), (700, 500), (1000, 560)):
        recent.note(DeviceStatus(samples, right, *[0] * 16))
    assert recent.accuracy == (pytest.approx(100 * 260 / 600), 600)
    recent.note(DeviceStatus(50, 10, *[0] * 16))  # the counts start again
    assert recent.accuracy is None
    recent.note(DeviceStatus(60, 19, *[0] * 16))
    assert recent.accuracy == (90, 10)


def test_room_for_labels_and_names_of_drift_levels() -> None:
    assert has_room("abc", 80, 24)
    assert not has_room("abcdefghijkl", 80, 24)
    assert not has_room("abcdefghi", 60, 60)
    assert not has_room(["sitting on a chair", "standing at a desk", "walking"], 80, 24)
    assert [drift_name(k) for k in (0, 1, 2, 7)] == ["none", "warning", "drift", "7"]


def test_an_idle_board_is_watched_for_ever() -> None:
    recent = Recent()
    for _ in range(5000):
        recent.note(DeviceStatus(100, 90, *[0] * 16))
    assert len(recent._statuses) == 1


def observations(scores: list[int], threshold: int = 100) -> list[Observed]:
    """Return one observation for each score, above the threshold or not."""
    return [
        Observed(k, Prediction(0, 0, 255, score, int(score > threshold)), None, ())
        for k, score in enumerate(scores)
    ]


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        ([10] * 90, None),
        ([10, 240, *[10] * 50, 120, 10, 10, 160, 150, 10], 160),
        ([10, 240, *[10] * 30, 120, 10, 10, 160, 150, 10], 240),
        ([160, *[10] * 80], 160),
    ],
)
def test_the_last_episode_is_reported_with_its_peak(scores: list[int], wanted: int | None) -> None:
    peak = strangest_of(observations(scores))
    assert (peak and peak.prediction.score) == wanted


def test_each_word_is_explained_on_the_page() -> None:
    """All names that monitor.py yields are in the page's table of meanings."""
    source = Path(monitor.__file__).read_text(encoding="utf-8")
    page = (ROOT / "docs/how-to/put-a-model-on-a-board.md").read_text(encoding="utf-8")
    table = page.partition("What its words mean:")[2].partition("## ")[0]
    names = re.findall(r'yield \(?\s*f?"([^"{]+)', source)
    names += re.findall(r'return "(\w+)", ', source)
    assert len(names) > 15
    for name in names:
        assert name.strip() in table, name
