"""`microshrub build` counts what the program makes beside the learner."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import pytest
from device_support import put_device
from test_build import program, x86

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_tools.board import build

# What making the service takes, after all is imported
SERVICE = """
import gc
def deep(n, *a):  # the collector takes for a pointer what it finds on the stack
    return deep(n - 1, n, *a) + 1 if n else 0
def used():
    deep(40)
    gc.collect()
    return gc.mem_alloc()
import microshrub.pending, microshrub.checkpoint, microshrub.drift_alarm
import microshrub.shrub.ensemble, microshrub.device.plotter
from microshrub.device.hardware import Hardware
from microshrub.device.service import Service
from microshrub.device.stdin import Input
kept = [None]
def go():
    board = Hardware()
    kept[0] = Service(board, "", Input(board.milliseconds), print)
before = used()
go()
print(used() - before)
"""


@pytest.mark.parametrize("pending", [32, 1000])
def test_what_the_program_makes_is_counted(
    pending: int, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    wanted = program()
    around: dict[str, Any] = wanted.around | {"pending": pending}
    wanted = dataclasses.replace(wanted, around=around)
    made = build.make(wanted, x86(tmp_path), tmp_path / "out")
    files = build.read(made.folder)
    folder = tmp_path / "device"
    put_device(folder, files["config.json"])
    for name, data in files.items():
        if name.endswith(".state"):
            (folder / name).write_bytes(data)
    (folder / "service.py").write_text(SERVICE)
    done = subprocess.run(
        [*micropython_command, "-X", "heapsize=1m", "service.py"],
        cwd=folder, env={"MICROPYPATH": "lib"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    measured = int(done.stdout.splitlines()[-1])
    assert made.budget.ram_bytes - made.code_bytes == pytest.approx(measured, rel=0.02)


def test_too_many_waiting_samples_are_named(tmp_path: Path) -> None:
    wanted = program()
    wanted = dataclasses.replace(wanted, around=wanted.around | {"pending": 32768})
    with pytest.raises(UserError, match="lower --pending"):
        build.make(wanted, board_files.load("rpi_pico"), tmp_path / "out")
