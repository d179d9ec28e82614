"""A build's use of a board's flash: `build` prints the bytes that `flash` then requires."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flash_support import Direct
from program_support import x86

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_tools.board import build, flash, flash_memory
from microshrub_tools.cli.main import main

BLOCKS = 300
ON_LITTLEFS = """
import os

class Flash:
    def __init__(self):
        self.data = bytearray(BLOCKS * 4096)

    def readblocks(self, block, buffer, offset=0):
        at = block * 4096 + offset
        memoryview(buffer)[:] = memoryview(self.data)[at : at + len(buffer)]

    def writeblocks(self, block, buffer, offset=0):
        at = block * 4096 + offset
        memoryview(self.data)[at : at + len(buffer)] = buffer

    def ioctl(self, what, block):
        if what == 6:
            self.writeblocks(block, b"\\xff" * 4096)
        return {4: BLOCKS, 5: 4096}.get(what, 0)

def copy(source, target):
    os.mkdir(target)
    for name, kind, *_ in os.ilistdir(source):
        if kind == 0x4000:
            copy(source + "/" + name, target + "/" + name)
        else:
            with open(source + "/" + name, "rb") as old, open(target + "/" + name, "wb") as new:
                new.write(old.read())

flash = Flash()
os.VfsLfs2.mkfs(flash, progsize=256)
os.mount(os.VfsLfs2(flash, progsize=256), "/flash")
free = os.statvfs("/flash")[3]
copy(FOLDER, "/flash/new.microshrub")
print(free - os.statvfs("/flash")[3])
"""


@pytest.mark.parametrize("model", ["thicket", "hoeffding"])
def test_build_prints_the_bytes_that_littlefs_takes_and_flash_requires(
    model: str,
    tmp_path: Path,
    micropython_command: tuple[str, ...],
    run_micropython: Callable[[str], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    x86(tmp_path)
    out = tmp_path / "out"
    words = ["--model", model, "--board", str(tmp_path / "x86.toml"), "--output", str(out)]
    assert main(["build", "synth:rbf_m", "--warmup", "64", "--limit", "300", *words]) == 0
    match = re.search(r"([\d,]+) bytes that they take in its file system", capsys.readouterr().out)
    assert match
    number = int(match[1].replace(",", ""))
    taken = 4096 * int(run_micropython(f"BLOCKS, FOLDER = {BLOCKS}, {str(out)!r}\n{ON_LITTLEFS}"))
    assert taken <= number <= 1.3 * taken
    board = Direct(micropython_command, tmp_path / "flash", -1)
    flash.prepare(board)
    files = build.read(out)
    blocks = number // 4096
    board.run(f"class os:\n    statvfs = staticmethod(lambda _: (4096, 4096, 999, {blocks}))")
    flash.check_fit(board, files)
    less = blocks - 1
    board.run(f"class os:\n    statvfs = staticmethod(lambda _: (4096, 4096, 999, {less}))")
    with pytest.raises(
        UserError, match=f"The program needs {number:,} bytes of the board's flash"
    ):
        flash.check_fit(board, files)
    board.close()


def test_a_large_file_has_separate_blocks() -> None:
    nothing = flash_memory.blocks({})
    assert flash_memory.blocks({"a": 513}) - nothing in (1, 3)
    assert flash_memory.blocks({"a": 4097}) == flash_memory.blocks({"a": 513}) + 1
    assert flash_memory.blocks({"x/y/a": 513}) >= flash_memory.blocks({"a": 513}) + 4


@pytest.mark.parametrize("board", board_files.names())
def test_by_default_the_flash_lasts_ten_years(board: str) -> None:
    """This holds for checkpoints at the highest rate, day and night, for each size of a model."""
    known = board_files.load(board)
    assert known.flash_bytes
    seconds = flash_memory.seconds_between(known)
    for size in (4096, 46_500, 65_536):
        assert flash_memory.years(known, size, seconds) >= 10
        lasting = flash_memory.lasting(known, size)
        assert flash_memory.years(known, size, lasting) >= 10
        assert lasting <= seconds
        assert lasting == 60 or flash_memory.years(known, size, lasting - 60) < 10


def test_years_match_a_calculation_by_hand() -> None:
    """46.5 KB are 12 sectors and the folder's, 1,440 times a day, on a Pico's 265 free sectors."""
    pico = board_files.load("rpi_pico")
    assert flash_memory.erases(46_500) == 13
    assert 3.5 < flash_memory.years(pico, 46_500, 60) < 5.5


def test_build_reports_the_lifetime_of_the_flash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["build", "synth:rbf_m", "--warmup", "64", "--limit", "300", "--board", "rpi_pico"]
    words += ["--bytes", "49152", "--output", str(tmp_path / "out")]
    assert main(words) == 0
    captured = capsys.readouterr()
    match = re.search(
        r"are saved every (\d+) seconds, and the flash lasts (\d+) years", captured.out
    )
    assert match
    assert int(match[2]) >= 10
    assert "lets it last" not in captured.err
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["checkpoint"]["seconds"] == int(match[1])
    assert main([*words, "--checkpoint-seconds", "20"]) == 0
    captured = capsys.readouterr()
    assert re.search(r"every 20 seconds, .* lasts 1\.\d years", captured.out)
    match = re.search(r"--checkpoint-seconds (\d+) lets it last 10 years", captured.err)
    assert match
    assert main([*words, "--checkpoint-seconds", match[1]]) == 0
    assert "lets it last" not in capsys.readouterr().err
