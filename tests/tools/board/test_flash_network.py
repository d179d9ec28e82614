"""`microshrub flash` over TCP: onto a real 32-bit MicroPython, completely or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from device_support import learn
from mqtt_support import free_port
from patience import PATIENCE

from microshrub_host import open_stream
from microshrub_host.base.errors import UserError
from microshrub_tools import flash as tools_flash
from microshrub_tools.board import build, flash, flash_network, simulated_board
from microshrub_tools.board.flash_network import NetworkDevice
from microshrub_tools.board.pc_board import PcBoard
from microshrub_tools.cli.main import main
from microshrub_tools.link import key_file
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import STATUS, DeviceStatus
from microshrub_tools.link.serial_line import PortError
from microshrub_tools.link.tcp_line import TcpLine

SOURCE = "synth:sea_a"
BOARD = "rpi_pico2_w"


class Board:
    """A virtual board in the network, with a program that serves the link there."""

    def __init__(self, command: tuple[str, ...], folder: Path, *, trial: bool = False) -> None:
        self.tcp, self.key_file, self.build = free_port(), folder / "board.key", folder / "build"
        words = ["build", SOURCE, "--limit", "300", "--board", BOARD, "--bytes", "12000"]
        words += ["--tcp", str(self.tcp), "--key", str(self.key_file)]
        assert main([*words, "--output", str(self.build)]) == 0
        self.key = key_file.read(self.key_file)
        self.port = f"tcp://127.0.0.1:{self.tcp}"
        self.flash = folder / "flash"
        self.flash.mkdir()
        simulated_board.put_program(self.flash, self.build)
        if trial:
            shutil.copytree(self.flash / "microshrub.0001", self.flash / "microshrub.0002")
            (self.flash / "microshrub.0002" / "ready").touch()
        sensors = simulated_board.write_sensors(folder, None, 100.0, {}, speed=100 if trial else 1)
        self.pc = PcBoard(command, self.flash, "1m", sensors=sensors)

    def files(self, mark: str) -> dict[str, bytes]:
        """Return the build's files for this board, with a mark that identifies the program."""
        return simulated_board.for_this_pc(build.read(self.build)) | {"mark": mark.encode()}

    def until(self, made: Callable[[], object]) -> object:
        """Return the value of `made()`, as soon as the board accepts a connection."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return made()
            except PortError:
                assert time.monotonic() < end
                time.sleep(0.1)

    def link(self) -> HostLink:
        line = self.until(lambda: TcpLine(self.port, self.key))
        assert isinstance(line, TcpLine)
        connected = HostLink(line)
        connected.connect()
        return connected

    def device(self) -> NetworkDevice:
        connected = self.until(lambda: NetworkDevice(self.port, self.key))
        assert isinstance(connected, NetworkDevice)
        return connected

    def flashed(self, files: dict[str, bytes]) -> flash.SelfTest:
        with self.link():  # wait until the board answers
            pass
        return flash_network.flash_network(self.port, self.key, files, lambda done, total: None)

    def runs(self) -> str:
        """Return the mark of the program that starts; check that its files are complete."""
        device = self.device()
        folder: str = device.value("here")
        device.close()
        path = self.flash / folder / "mark"
        mark = path.read_text() if path.exists() else "old"
        for name, data in self.files(mark).items():
            assert name == "mark" or (self.flash / folder / name).read_bytes() == data
        return mark


@pytest.fixture
def board(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Board]:
    made = Board(micropython_command, tmp_path)
    with made.pc:
        yield made


def samples_of(link: HostLink) -> int:
    status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    return status.samples


def test_a_new_program_is_installed_over_the_network(
    board: Board, capsys: pytest.CaptureFixture[str]
) -> None:
    data = open_stream(SOURCE, limit=300)
    with board.link() as link:
        learn(link, data, 0, 300)
        samples = samples_of(link)
    words = ["flash", str(board.build), "--board", BOARD, "--port", board.port]
    assert main([*words, "--key", str(board.key_file)]) == 0
    assert "model is the simulator's" in capsys.readouterr().out
    with board.link() as link:
        assert samples_of(link) == samples > 0
    assert [path.name for path in board.flash.glob("microshrub.*")] == ["microshrub.0002"]
    tools_flash(BOARD, board.port, folder=board.build, key=board.key_file)
    with board.link() as link:
        assert samples_of(link) == samples
    other = board.key_file.with_name("other.key")
    key_file.kept(other)
    assert main([*words, "--key", str(other)]) == 2
    assert "another board's key" in capsys.readouterr().err


def test_a_program_that_does_not_start_is_rolled_back(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    for files in (board.files("a"), board.files("b") | {"config.json": b"{}"}):
        monkeypatch.setattr(flash, "expected_crc32", lambda _: 0)  # not the board's checksum
        with pytest.raises(UserError, match="gone back to its previous"):
            board.flashed(files)
        monkeypatch.undo()
        assert board.runs() == "old"
    with pytest.raises(UserError, match="gone back to its previous"):
        board.flashed(board.files("c") | {"secrets.json": b"{}"})  # its link would have no key
    assert board.runs() == "old"
    assert [path.name for path in board.flash.glob("microshrub.*")] == ["microshrub.0001"]
    board.flashed(board.files("d"))
    assert board.runs() == "d"


def test_a_program_to_which_no_pc_connects_is_rolled_back(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    """The board's clock runs a hundred times as fast."""
    board = Board(micropython_command, tmp_path, trial=True)
    with board.pc:
        port = os.open(board.pc.port, os.O_RDWR | os.O_NOCTTY)
        output, end = b"", time.monotonic() + PATIENCE
        while output.count(b"the link listens") < 2:
            assert time.monotonic() < end
            output += os.read(port, 4096)
        os.close(port)
    assert b"no PC connected" in output
    assert (board.flash / "microshrub.0002" / "tried").exists()


class Cut(Exception):  # noqa: N818
    """A power cut."""


def test_a_cut_at_any_step_leaves_the_old_program_or_the_new_one(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = NetworkDevice.run
    wanted = [""]

    def run(device: NetworkDevice, code: str, seconds: float = 30.0) -> str:
        if wanted[0] and wanted[0] in code:
            board.pc.cut_power()
            raise Cut
        return plain(device, code, seconds)

    before = "old"
    early = (
        "(listing('.'))", "statvfs", "open('new.microshrub/config.json'",
        "open('new.microshrub/trial'", "digest('new.microshrub/main.py'", "install('new",
    )  # fmt: skip
    for step in (*early, "/selftest", "/tried"):
        with monkeypatch.context() as patched:
            patched.setattr(NetworkDevice, "run", run)
            wanted[0] = step
            with contextlib.suppress(Cut):
                board.flashed(board.files(step))
            wanted[0] = ""
        assert board.runs() == before, step
    board.flashed(board.files("last"))
    assert board.runs() == "last"
