"""`build --freeze`: the library in an emulated board's firmware, linked by MicroPython's tools."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import frozen_firmware
import pytest
from emulated_support import OnLine, board_file
from program_support import program, x86
from tests_support import ROOT

from microshrub_host.base.debian_packages import PackagesError
from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files, emulated_boards
from microshrub_host.boards.emulated_boards import Emulator, NoEmulator
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_tools.board import build, flash
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import CHECKPOINT, STATUS, DeviceStatus
from microshrub_tools.link.serial_line import SerialLine

SOURCE = ["synth:rbf_m", "--warmup", "64", "--limit", "160"]
MODELS = {
    "shrub": ["--window", "16", "--trees", "4", "--depth", "4"],
    "hoeffding": ["--grace-period", "50", "--adaptive", "--boost"],
    "thicket": ["--bytes", "12000"],
}
BYTES = r"([\d,]+) bytes for the (?:imported code|model)"
# 2,000 bytes for the texts of main.py, and for the emulated board's file system and serial line.
# The first name beyond 150 that is interned at run time takes 992 more: a table for 160 names
OTHER_BYTES = 3200
START = """
import gc
gc.collect()
used = gc.mem_alloc()
with open("used", "w") as file:
    file.write(str(used))
exec(open("main.py").read())
"""


@pytest.fixture(params=emulated_boards.COUNTED)
def emulator(request: pytest.FixtureRequest) -> Emulator:
    try:
        return emulated_boards.find_or_build(request.param)
    except NoEmulator as reason:
        pytest.skip(str(reason))


def frozen(emulator: Emulator, manifest: Path, folder: Path) -> Emulator:
    """Return the board with these files in its firmware; skips without compiler or source."""
    try:
        return frozen_firmware.with_frozen(emulator, manifest, folder / "firmware.elf")
    except NoEmulator as reason:
        if isinstance(reason.__cause__, PackagesError):
            pytest.skip(str(reason))
        raise


def heap_used(board: EmulatedBoard) -> int:
    """Return the heap use that the running program reports."""
    with HostLink(SerialLine(board.port)) as link:
        link.connect()
        link.ask(CHECKPOINT)  # collects the garbage of reading the configuration
        used = []
        for _ in range(5):
            status = link.ask(STATUS)
            assert isinstance(status, DeviceStatus)
            used.append(status.heap_used)
    board.connect()
    board.reset()
    return min(used) - int(board.exec("print(open('used').read())"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("emulator", "model"),
    [("cortex-m0", "thicket"), ("cortex-m0", "hoeffding"), ("cortex-m3", "shrub")],
    indirect=["emulator"],
)
def test_a_frozen_program_learns_as_the_simulator_does_in_the_counted_ram(
    emulator: Emulator, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "program"
    where = ["--board", str(board_file(tmp_path, emulator.board.arch))]
    made = ["--model", model, *MODELS[model], "--freeze", "--output", str(folder)]
    assert main(["build", *SOURCE, *where, *made]) == 0
    output = capsys.readouterr().out
    assert f"FROZEN_MANIFEST={folder / build.MANIFEST}" in output

    files = build.read(folder)
    assert not [name for name in files if name.endswith(".mpy")]
    with EmulatedBoard(frozen(emulator, folder / build.MANIFEST, tmp_path)) as board:
        tested = flash.flash(OnLine(board), files)
        assert tested.crc32 == flash.expected_crc32(files)
        board.reset()
        board.start(START)
        assert main(["stream", *SOURCE, "--port", board.port, "--build", str(folder)]) == 0
        assert "agree: 160 samples" in capsys.readouterr().out
        used = heap_used(board)
    code, model_bytes = (int(text.replace(",", "")) for text in re.findall(BYTES, output))
    assert code < 28_500
    assert 0 <= used - code - model_bytes < OTHER_BYTES


@pytest.mark.parametrize("emulator", ["cortex-m0"], indirect=True)
def test_a_board_without_the_library_in_its_firmware_is_detected(
    emulator: Emulator, tmp_path: Path
) -> None:
    board = board_files.load(str(board_file(tmp_path, emulator.board.arch)))
    made = build.make(program(), board, tmp_path / "out", freeze=True)
    with EmulatedBoard(emulator) as plain:
        with pytest.raises(UserError, match="this board's has none"):
            flash.flash(OnLine(plain), build.read(made.folder))
        assert plain.exec("import os\nprint(os.listdir('/'))") == "['new.microshrub']\n"


@pytest.mark.long
@pytest.mark.parametrize("emulator", ["cortex-m3"], indirect=True)
def test_the_whole_library_is_frozen_by_its_own_manifest(
    emulator: Emulator, tmp_path: Path
) -> None:
    with EmulatedBoard(frozen(emulator, ROOT / "firmware" / "manifest.py", tmp_path)) as board:
        output = board.exec(
            "from microshrub import Thicket\nprint(Thicket.nbytes(features=3, classes=2) > 0)"
        )
        assert output == "True\n"


def test_the_librarys_manifest_refuses_a_cortex_m0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["makemanifest.py", "-f-march=armv6m"])
    with pytest.raises(ValueError, match="build --freeze"):
        exec((ROOT / "firmware" / "manifest.py").read_text(), {"package": None})


def test_a_native_module_cannot_be_frozen(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--freeze without --emit native"):
        build.make(program(), x86(tmp_path), tmp_path / "out", "native", freeze=True)


def test_a_program_that_would_fit_frozen_is_reported(tmp_path: Path) -> None:
    board = x86(tmp_path)
    whole = build.make(program(), board, tmp_path / "out", freeze=True).budget.peak_bytes
    small = dataclasses.replace(board, heap_free_bytes=whole)
    with pytest.raises(UserError, match=r"--freeze`, it fits"):
        build.make(program(), small, tmp_path / "other")
    build.make(program(), small, tmp_path / "other", freeze=True)
