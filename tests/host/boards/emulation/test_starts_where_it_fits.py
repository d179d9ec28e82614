"""A program of `build` starts on an emulated Cortex-M0 with no more RAM than `build` asks for.

`build` adds START_BYTES to the budget's figures, for temporary objects of the start. With less
RAM, the program prints what does not fit.

The emulated board has other names than a real one: its firmware lacks the names of `time`,
`select` and asyncio, and the disk in its RAM adds some, so the pools of names may double earlier
or later. The test corrects the RAM by the difference between counted and actual names.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from emulated_support import UNTIL_STARTED, board_file
from patience import PATIENCE

from microshrub_host.boards import emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.boards.import_heap import qstr_bytes
from microshrub_host.boards.ram_budget import START_BYTES
from microshrub_tools.board import build
from microshrub_tools.cli.main import main

HEAP = 210_000  # bytes of the emulated board's heap; ON_BOARD fills the surplus
ON_BOARD = (
    UNTIL_STARTED
    + """
import micropython

def started():
    micropython.qstr_info()

micropython.qstr_info()
gc.collect()
taken = bytearray(max(gc.mem_free() - FREE, 0))
gc.collect()
exec(open("main.py").read())
"""
)
# The program's imports, all but the first only temporary
IMPORTED = ("__init__", "device/config_fields", "device/states")


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        "--bytes 12288 --spare-classes 2 --anomaly 1%",
        "--bytes 24576",
        "--model shrub --window 16 --trees 4 --depth 4",
        "--bytes 8192 --label-budget 10% --alarm adwin --pending 64",
    ],
)
def test_it_starts_or_reports_what_does_not_fit(
    options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        emulator = emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    recording, folder = tmp_path / "recording.csv", tmp_path / "program"
    rows = [f"{k % 97},{k % 89},{'rest' if k // 200 % 2 else 'move'}" for k in range(2000)]
    recording.write_text("\n".join(["a,b,label", *rows]))
    board = board_file(tmp_path, emulator.board.arch)
    text = re.sub(r"heap_free_bytes = \S+", f"heap_free_bytes = {HEAP}", board.read_text())
    board.write_text(text)
    where = ["--board", str(board), "--output", str(folder)]
    assert main(["build", str(recording), *options.split(), *where]) == 0
    left = re.search(r"It fits: ([\d,]+) bytes", capsys.readouterr().out)
    assert left
    taken = HEAP - int(left[1].replace(",", ""))
    files = {f"/{path}": data for path, data in build.read(folder).items()}

    def output_with(free: int) -> str:
        with EmulatedBoard(emulator, files) as running:
            return running.exec(f"FREE = {free}\n{ON_BOARD}", PATIENCE)

    before, after = map(int, re.findall(r"n_total_bytes=(\d+)", output_with(HEAP)))
    modules = [folder / build.LIBRARY / f"{name}.mpy" for name in IMPORTED]
    taken += after - before - qstr_bytes(modules)
    assert "stopped: Ctrl-C" in output_with(taken + START_BYTES)
    assert "does not fit" in output_with(taken + START_BYTES // 2)
