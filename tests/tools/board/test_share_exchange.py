"""`share exchange`: two programs in MicroPython teach each other, on a cable and over TCP."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mqtt_support import free_port, needs_broker
from packet_support import saved_model
from patience import PATIENCE
from sharing_board import SharingBoard

from microshrub_research.benchmarks.local_broker import LocalBroker
from microshrub_tools.board import exchange
from microshrub_tools.cli.main import main
from microshrub_tools.link.serial_line import PortError

Boards = tuple[SharingBoard, SharingBoard]


@pytest.fixture
def boards(
    micropython_command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Boards]:
    """A kitchen that never learned walk, and an attic that never learned run."""
    monkeypatch.setenv("MICROSHRUB_PATIENCE", "120")
    kitchen = SharingBoard(micropython_command, tmp_path / "kitchen", (0, 2))
    attic = SharingBoard(micropython_command, tmp_path / "attic", (0, 1))
    with kitchen.pc, attic.pc:
        for each in (kitchen, attic):
            each.right(0)
        yield kitchen, attic


def ports(boards: Boards) -> list[str]:
    """Return the options of both boards: one is on a cable, the other in the network."""
    kitchen, attic = boards
    words = ["--port", f"kitchen={kitchen.pc.port}", "--port", f"attic={attic.network}"]
    return [*words, "--key", str(attic.key)]


def test_two_boards_teach_each_other_the_named_classes(
    boards: Boards, capsys: pytest.CaptureFixture[str]
) -> None:
    kitchen, attic = boards
    words = ["share", "exchange", *ports(boards), "--classes"]
    assert main([*words, "rum"]) == 2
    assert "rum. Did you mean run?" in capsys.readouterr().err
    kitchen.right(0)
    assert main([*words, "rest,run"]) == 0
    out = capsys.readouterr().out
    assert "attic" in out
    assert "walk" not in out
    assert attic.right(2) > 0.9
    assert kitchen.right(1) == 0  # its class was not named
    assert main([*words, "all"]) == 0
    assert "walk" in capsys.readouterr().out
    assert min(each.right(label) for each in boards for label in range(3)) > 0.9
    assert main([*words, "all"]) == 0
    assert "No board lacks anything" in capsys.readouterr().out


def test_samples_of_another_board_are_not_passed_on_and_are_forgotten_everywhere(
    boards: Boards,
    micropython_command: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The hall learns the kitchen's samples from the kitchen, not from the attic."""
    kitchen, attic = boards
    hall = SharingBoard(micropython_command, tmp_path / "hall", (0, 1))
    every = {"kitchen": kitchen, "attic": attic, "hall": hall}

    def ports(*names: str) -> list[str]:
        for name in names:
            every[name].right(0)  # wait until the board answers
        return [word for n in names for word in ("--port", f"{n}={every[n].pc.port}")]

    with hall.pc:
        words = ["share", "exchange", "--classes", "all"]
        assert main([*words, *ports("kitchen", "attic")]) == 0
        assert attic.right(2) > 0.9
        assert main([*words, *ports("attic", "hall")]) == 0
        assert hall.right(2) == 0, "it is the kitchen's to give"
        assert main([*words, *ports("hall", "kitchen", "attic")]) == 0
        assert "hall" in capsys.readouterr().out
        assert hall.right(2) > 0.9
        for board in (hall, attic):
            assert main(["share", "forget", *board.port("cable"), "--origin", "kitchen"]) == 0
            assert "without 20 samples of kitchen" in capsys.readouterr().out
            assert board.right(2) == 0
            assert board.right(1) > 0.9
            assert main(["share", "forget", *board.port("cable"), "--origin", "kitchen"]) == 0
            assert "without 0 samples of kitchen" in capsys.readouterr().out


@needs_broker
def test_a_missing_board_is_skipped_and_a_broker_adds_packets(
    boards: Boards, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kitchen, _ = boards
    hall = str(saved_model(tmp_path / "hall.mshrub", (0, 1), 5))
    words = ["--port", f"kitchen={kitchen.pc.port}", "--classes", "all"]
    words += ["--port", f"attic=socket://127.0.0.1:{free_port()}"]
    with LocalBroker(tmp_path, 4) as broker:
        store = ["--mqtt", f"127.0.0.1:{broker.port}", "--group", "things"]
        assert main(["share", "export", hall, "--classes", "walk", *store]) == 0
        capsys.readouterr()
        assert main(["share", "exchange", *words, *store]) == 1
        captured = capsys.readouterr()
        assert "is skipped" in captured.err
        assert "hall" in captured.out
        assert kitchen.right(1) > 0.9
        more = str(tmp_path / "more.mshrub")
        assert main(["share", "import", hall, *store, "-o", more]) == 0
        assert "from kitchen" in capsys.readouterr().out
    assert main(["share", "exchange", *words, *store]) == 1
    assert f"{store[1]} is skipped" in capsys.readouterr().err


def test_a_board_that_disappears_is_skipped_and_the_other_one_is_taught(
    boards: Boards, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kitchen, attic = boards
    plain, opened = exchange.board_model, []

    def board_model(port: str, key: Path | None) -> Any:
        opened.append(port)
        if opened.count(kitchen.pc.port) > 1:
            kitchen.pc.cut_power()
            raise PortError("it is gone")
        return plain(port, key)

    with monkeypatch.context() as patched:
        patched.setattr(exchange, "board_model", board_model)
        words = ["--port", f"attic={attic.network}", "--port", f"kitchen={kitchen.pc.port}"]
        words += ["--key", str(attic.key), "--classes", "all"]
        assert main(["share", "exchange", *words]) == 1
    assert "is skipped: it is gone" in capsys.readouterr().err
    assert attic.right(2) > 0.9
    assert kitchen.right(1) == 0
    assert kitchen.right(2) > 0.9


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
def test_the_exchange_repeats_until_ctrl_c(boards: Boards) -> None:
    words = ["share", "exchange", *ports(boards), "--classes", "all", "--every", "1d"]
    command = [sys.executable, "-m", "microshrub_command", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stderr
        for line in process.stderr:
            if "The next exchange is in 1d" in line:
                break
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    assert min(each.right(label) for each in boards for label in range(3)) > 0.9


def test_invalid_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    two = ["--port", "a", "--port", "b", "--classes", "all"]
    for words, message in (
        (["--port", "a", "--classes", "all"], "--port for each of two boards"),
        (two[:4], "--classes is missing"),
        (["--port", "x=a", "--port", "x=b", "--classes", "all"], "with another name"),
        (["--port", "a", "--port", "a", "--classes", "all"], "has to be another board"),
        ([*two, "--every", "0m"], "--every has to be like"),
        ([*two, "--every", "day"], "--every has to be like"),
        ([*two, "--key", "k", "--key", "l"], "one --key, or one for each"),
        ([*two, "--mqtt", "h"], "--mqtt needs --group"),
    ):
        assert main(["share", "exchange", *words]) == 2
        assert message in capsys.readouterr().err


def test_without_an_answer_no_missing_class_is_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["share", "exchange", "--port", "a=/dev/none", "--port", "b=/dev/nil"]
    assert main([*words, "--classes", "all"]) == 1
    captured = capsys.readouterr()
    assert captured.err.count("is skipped") == 2
    assert "Nothing is exchanged" in captured.out
    assert "lacks" not in captured.out
