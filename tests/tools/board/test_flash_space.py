"""What a build takes of a board's flash: what `build` tells is what `flash` asks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flash_support import Direct
from program_support import x86

from microshrub_host.base.errors import UserError
from microshrub_tools.board import build, flash, flash_space
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


@pytest.mark.parametrize("model", ["thicket", "shrub", "hoeffding"])
def test_build_tells_what_littlefs_takes_and_flash_asks_for_it(
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
    match = re.search(r"([\d,]+) bytes of its file system", capsys.readouterr().out)
    assert match
    told = int(match[1].replace(",", ""))
    taken = 4096 * int(run_micropython(f"BLOCKS, FOLDER = {BLOCKS}, {str(out)!r}\n{ON_LITTLEFS}"))
    assert taken <= told <= 1.3 * taken
    board = Direct(micropython_command, tmp_path / "flash", -1)
    flash.prepare(board)
    files = build.read(out)
    blocks = told // 4096
    board.run(f"class os:\n    statvfs = staticmethod(lambda _: (4096, 4096, 999, {blocks}))")
    flash.check_fit(board, files)
    less = blocks - 1
    board.run(f"class os:\n    statvfs = staticmethod(lambda _: (4096, 4096, 999, {less}))")
    with pytest.raises(UserError, match=f"The program needs {told:,} bytes of the board's flash"):
        flash.check_fit(board, files)
    board.close()


def test_a_large_file_has_its_own_blocks() -> None:
    nothing = flash_space.blocks({})
    assert flash_space.blocks({"a": 513}) - nothing in (1, 3)
    assert flash_space.blocks({"a": 4097}) == flash_space.blocks({"a": 513}) + 1
    assert flash_space.blocks({"x/y/a": 513}) >= flash_space.blocks({"a": 513}) + 4
