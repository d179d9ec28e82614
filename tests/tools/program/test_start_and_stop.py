"""The program while it starts, with an impatient PC, on a board as strict as a real one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from board_support import UnixBoard
from device_support import configuration, put_device
from patience import PATIENCE

from microshrub_tools.board.board_code import LOADER
from microshrub_tools.board.board_repl import Device
from microshrub_tools.link import client
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.messages import STATUS, DeviceStatus, sample
from microshrub_tools.link.prompt import hello_line
from microshrub_tools.link.serial_line import SerialLine

CONFIG = configuration("ShrubEnsemble", {"features": 2, "classes": 2, "window": 8, "trees": 2})


def flashed(folder: Path) -> Path:
    """A board's flash with the program in a folder of its own."""
    slot = folder / "microshrub.0001"
    slot.mkdir(parents=True)
    put_device(slot, CONFIG | {"warmup": 1})
    (folder / "main.py").write_text(LOADER)
    return folder


@pytest.fixture
def board(tmp_path: Path, micropython_command: tuple[str, ...]) -> Iterator[UnixBoard]:
    with UnixBoard(micropython_command, flashed(tmp_path / "flash"), mode="raw") as board:
        yield board


def hostile() -> bytes:
    """Return frames with every byte that a REPL obeys: a hello of session 0x0345, and samples."""
    frames = [Frame(1, 0x0345, 0, b"")]
    frames += [Frame(4, 0x0103, k, bytes([1, 3, 1, 4, 2, 3, 5, 1, 3])) for k in range(4)]
    return b"".join(map(pack, frames))


def started_while_a_pc_talks(line: SerialLine) -> bytes:
    """Return the board's output from its reset to the start of its program, or to its prompt."""
    line.write(b"\x02\x04")
    received = b""
    while b"soft reboot" not in received:
        received += line.read(1.0)
    received = received.partition(b"soft reboot")[2]
    end = time.monotonic() + PATIENCE
    while not (b"\0" in received or b">>>" in received) and time.monotonic() < end:
        time.sleep(0.02)
        line.write(hostile())
        received += line.read(0.0)
    return received


def test_a_pc_that_sends_while_the_board_starts(board: UnixBoard) -> None:
    """The program starts, unless Ctrl-C comes before its first line; then hello starts it."""
    stopped = 0
    for _ in range(3):
        line = SerialLine(board.port)
        stopped += b">>>" in started_while_a_pc_talks(line)
        with HostLink(line) as link:
            assert link.connect().features == 2
            assert isinstance(link.ask(STATUS), DeviceStatus)
        with Device(board.port):
            pass  # leaves a prompt for the next round
        if not stopped:
            break
    assert stopped <= 1


def test_a_board_at_its_prompt_is_started_by_hello(board: UnixBoard) -> None:
    with HostLink(SerialLine(board.port)) as link:  # in the raw REPL
        assert link.connect().features == 2
    with Device(board.port):
        pass  # leaves the board in the friendly REPL
    with HostLink(SerialLine(board.port)) as link:
        assert link.connect().features == 2


def test_a_raw_prompt_is_recognised_whatever_follows_it(
    board: UnixBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To a raw REPL, the end of a hello can be Ctrl-E, which it answers with R and a zero."""
    sessions = [session for session in range(1, 1 << 16) if hello_line(session)[-2:] == b"\5\0"]
    harmless = [session for session in sessions if not set(hello_line(session)) & set(b"\2\3\4")]
    monkeypatch.setattr(client, "drawn_session", lambda: harmless[0])
    with HostLink(SerialLine(board.port)) as link:
        assert link.connect().features == 2


def test_a_session_continues_when_the_line_is_back(board: UnixBoard) -> None:
    line = SerialLine(board.port)
    with HostLink(line) as link:
        link.connect()
        for k in range(5):
            link.ask(sample([k, k], 1))
        before = link.ask(STATUS)
        pending = link.post(sample([1, 2], 0))
        line._port.close()  # as with a pulled cable
        link.wait(pending)
        after = link.ask(STATUS)
    assert isinstance(before, DeviceStatus)
    assert isinstance(after, DeviceStatus)
    assert after.samples == before.samples + 1


@pytest.mark.parametrize("program", ["hangs", "resets itself"])
def test_access_to_a_program_that_does_not_listen(
    program: str, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    """A pending Ctrl-C stops a starting program before it creates any object."""
    flash = flashed(tmp_path / "flash")
    body = "while True:\n            pass" if program == "hangs" else "import sys; sys.exit(9)"
    (flash / "microshrub.0001" / "main.py").write_text(f"""
import time
time.sleep_ms(800)  # as long as a board takes to import the program
from microshrub.device import hardware
from microshrub.device.program import main
class Dead(hardware.Hardware):
    def watchdog(self, _):
        {body}
main(Dead())
""")
    config = flash / "microshrub.0001" / "config.json"
    config.write_text(config.read_text().replace('"watchdog": 0', '"watchdog": 9'))
    with UnixBoard(micropython_command, flash) as board:
        cuts = threading.Timer(0.5, board.cut_power)  # like the reset button
        cuts.start()
        with Device(board.port) as device:
            assert device.value("6 * 7") == 42
        cuts.cancel()
