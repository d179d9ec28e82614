"""A second version of MicroPython: Debian's newest one computes the same."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from device_support import Device
from sleeping_support import USUAL, live, put_sleeper

from microshrub_host.base import micropython_binary
from microshrub_host.base.micropython_binary import MicroPython, NoMicroPython
from microshrub_tools.cli.main import main


@pytest.fixture(scope="module")
def newest() -> MicroPython:
    try:
        return micropython_binary.fetch_newest()
    except NoMicroPython as reason:
        pytest.skip(str(reason))


@pytest.mark.long
@pytest.mark.parametrize("model", ["thicket", "shrub", "hoeffding"])
def test_the_newest_one_learns_the_same_bits(
    model: str,
    newest: MicroPython,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MICROPYTHON", shlex.join(newest.command))
    assert micropython_binary.find().version == newest.version
    words = ["parity", "synth:rbf_m", "--limit", "400", "--warmup", "64", "--model", model]
    assert main(words) == 0
    assert "micropython" in capsys.readouterr().out


@pytest.mark.long
def test_the_program_runs_on_the_newest_one(newest: MicroPython, tmp_path: Path) -> None:
    put_sleeper(tmp_path, USUAL, {})
    with Device(newest.command, tmp_path, "192k") as device:
        status, board = live(device, tmp_path)
    assert status.missed == 0
    assert board["asleep"] - 1 <= status.asleep <= board["asleep"]


def test_newest_is_for_this_pc_only(capsys: pytest.CaptureFixture[str]) -> None:
    for more in (["--find-only"], ["--board", "rv32"]):
        assert main(["micropython", "--newest", *more]) == 2
        assert "--newest is for this PC" in capsys.readouterr().err
