"""A board whose program keeps printing: after Ctrl-C, or after any input."""

from __future__ import annotations

from pathlib import Path

import pytest
from board_support import UnixBoard
from patience import wait_until

from microshrub_host.base.child_process import VARIABLE
from microshrub_host.base.errors import UserError
from microshrub_tools.board import board_repl

# Ctrl-C ends the program, but its thread runs until a reset
THREAD = """
import _thread, time
def tick():
    while True:
        time.sleep(0.01)
        print("tick")
_thread.start_new_thread(tick, ())
while True:
    time.sleep(1)
"""
# To this program Ctrl-C is an ordinary byte, as soon as its file exists
STUBBORN = """
import micropython, time
micropython.kbd_intr(-1)
open("started", "w").close()
while True:
    time.sleep(0.01)
    print("hello from an old program")
"""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def board(command: tuple[str, ...], folder: Path, program: str) -> UnixBoard:
    (folder / "main.py").write_text(program)
    return UnixBoard(command, folder)


def test_a_board_that_does_not_answer_is_reported(
    tmp_path: Path, micropython_command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_repl, "_PATIENCE", 1.0)
    with board(micropython_command, tmp_path, STUBBORN) as there:
        wait_until((tmp_path / "started").exists)
        with pytest.raises(UserError, match="MicroPython does not answer"):
            board_repl.Device(there.port)


def test_a_thread_that_prints_ends_with_the_soft_reset(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    with (
        board(micropython_command, tmp_path, THREAD) as there,
        board_repl.Device(there.port) as device,
    ):
        assert device.run("print(6 * 7)").strip() == "42"
