"""`flash` onto an emulated board whose firmware has a partition for a ROM file system."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import frozen_firmware
import pytest
from emulated_support import START, OnLine, board_file
from flash_support import Cut, tiny
from patience import PATIENCE

from microshrub_host.base.debian_packages import PackagesError
from microshrub_host.boards import emulated_boards, import_heap
from microshrub_host.boards.emulated_boards import FILES_BYTES, Emulator, NoEmulator
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_tools.board import build, flash, rom_library
from microshrub_tools.board.board_code import HELPERS, ROM_PATH
from microshrub_tools.cli.main import main

SOURCE = ["synth:rbf_m", "--warmup", "64", "--limit", "160"]
IN_ROM = "import sys\nprint(sys.path[0])"


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Emulator:
    """A Cortex-M3 with a ROM partition; skips without compiler or source."""
    try:
        plain = emulated_boards.find_or_build("cortex-m3")
        elf = tmp_path_factory.mktemp("firmware") / "firmware.elf"
        return frozen_firmware.with_rom(plain, elf)
    except NoEmulator as reason:
        if isinstance(reason.__cause__, PackagesError):
            pytest.skip(str(reason))
        raise


@pytest.fixture
def board(emulator: Emulator) -> Iterator[EmulatedBoard]:
    with EmulatedBoard(emulator) as running:
        yield running


class Steps(OnLine):
    """The board on a line that breaks after `left` steps; -1: never."""

    left = -1

    def run(self, code: str, seconds: float = PATIENCE) -> str:
        if not self.left:
            raise Cut
        self.left -= 1
        return super().run(code, seconds)


def starts(board: EmulatedBoard) -> str:
    """Return the program's output after power-on, beginning with the first entry of sys.path."""
    board.reset()
    return board.exec(START)


def program(words: str) -> dict[str, bytes]:
    """Return a program that prints the first entry of sys.path, and then its library's words."""
    files = tiny(words)
    main_file = b"import sys\nprint(sys.path[0])\n" + files["main.py"]
    return files | {"main.py": main_file, "lib/microshrub/a.py": words.encode() * 1600}


@pytest.mark.long
def test_a_library_in_rom_saves_the_counted_ram(
    emulator: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described = board_file(tmp_path, emulator.board.arch)
    stock = 'romfs_source = "an emulated board, for this test"\n'
    described.write_text(stock + described.read_text())
    folder = tmp_path / "program"
    where = ["--board", str(described), "--output", str(folder)]
    assert main(["build", *SOURCE, "--bytes", "12000", *where]) == 0
    counted = re.search(r"([\d,]+) bytes less with the library in", capsys.readouterr().out)
    assert counted
    files = build.read(folder)
    image = rom_library.image_of(files)

    with EmulatedBoard(emulated_boards.find("cortex-m3")) as plain:
        in_ram = flash.flash(OnLine(plain), files)
    assert (in_ram.rom_bytes, in_ram.not_in_rom) == (0, rom_library.NO_FIRMWARE)
    with EmulatedBoard(emulator) as board:
        in_rom = flash.flash(OnLine(board), files)
        assert (in_rom.rom_bytes, in_rom.not_in_rom) == (len(image), "")
        assert in_rom.crc32 == in_ram.crc32 == flash.expected_crc32(files)
        board.reset()
        board.start(START)
        assert main(["stream", *SOURCE, "--port", board.port, "--build", str(folder)]) == 0
        assert "agree: 160 samples" in capsys.readouterr().out
        board.connect()
    took_in_ram = in_ram.free_before - in_ram.free_after
    took_in_rom = in_rom.free_before - in_rom.free_after
    spared = int(counted[1].replace(",", ""))
    assert took_in_ram - took_in_rom == pytest.approx(spared, rel=0.01)


@pytest.mark.long
def test_cut_while_rom_is_written(board: EmulatedBoard) -> None:
    line = Steps(board)
    flash_without_test(line, program("old"))
    assert starts(board).split() == [ROM_PATH, "old"]
    line.reset()
    flash.prepare(line)
    flash.copy(line, program("new"))
    heard = []
    for left in range(0, 100, 4):
        board.reset()
        board.exec(HELPERS)
        line.left = left
        with contextlib.suppress(Cut):
            flash.put_into_rom(line, program("new"))
            break
        heard.append(starts(board).split())
    where = [path for path, _ in heard]
    assert where == sorted(where)  # first from ROM, then from lib
    assert {*where} == {ROM_PATH, "lib"}
    assert {words for _, words in heard} == {"old"}
    line.left = -1
    flash.switch(line)
    assert starts(board).split() == [ROM_PATH, "new"]


def flash_without_test(line: OnLine, files: dict[str, bytes]) -> None:
    """Do everything that flash() does except the self-test."""
    line.reset()
    flash.prepare(line)
    flash.copy(line, files)
    flash.verify(line, files)
    flash.put_into_rom(line, files)
    flash.switch(line)


@pytest.mark.long
def test_another_rom_file_system_stays(board: EmulatedBoard, tmp_path: Path) -> None:
    """The file system is not overwritten, and no program takes it for its library."""
    line = OnLine(board)
    flash_without_test(line, program("old"))
    assert starts(board).split() == [ROM_PATH, "old"]
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts" / "large.bin").write_bytes(b"font" * 100)
    deploy = [sys.executable, "-m", "mpremote", "connect", board.port, "resume"]
    board.disconnect()
    subprocess.run(
        [*deploy, "romfs", "deploy", str(tmp_path)], check=True, timeout=300, capture_output=True
    )
    board.connect()
    assert starts(board).split() == ["lib", "old"]
    line.reset()
    flash.prepare(line)
    outcome = rom_library.put(line, program("new"))
    assert not outcome.program
    assert "holds fonts" in outcome.why_not
    assert board.exec("print(open('/rom/fonts/large.bin').read()[:8])") == "fontfont\n"
    board.exec(f"import uctypes\nuctypes.bytearray_at({rom_at(board)}, 1)[0] = 1")
    assert "not a ROM file system" in rom_library.put(line, program("new")).why_not
    assert "takes 140,0" in rom_library.put(line, {"lib/a.py": bytes(140_000)}).why_not
    assert not rom_library.put(line, {"main.py": b""}).why_not


def rom_at(board: EmulatedBoard) -> int:
    return board.emulator.board.files_at + FILES_BYTES


def test_names_and_bytecode_in_rom_are_not_counted(tmp_path: Path) -> None:
    """For files that are not in ROM, names and bytecode are on the heap."""
    whole = import_heap.library_heap("armv7m", ("quantizer",))
    in_rom = import_heap.library_heap("armv7m", ("quantizer",), import_heap.ROM)
    assert in_rom.names < whole.names
    assert sum(m.other for m in in_rom.modules) < sum(m.other for m in whole.modules)
    assert [m.native for m in in_rom.modules] == [m.native for m in whole.modules]
