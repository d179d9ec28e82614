"""From a recording to a board: the program of `build` learns the same as `simulate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from device_support import Device
from program_support import x86
from tests_support import make_blobs

from microshrub_tools.cli.main import main


@pytest.mark.parametrize("more", [[], ["--model", "shrub", "--window", "16", "--warmup", "64"]])
def test_a_recording_is_simulated_built_and_learned(
    more: list[str],
    tmp_path: Path,
    micropython_command: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The default learner and another one pass, on a real MicroPython on a serial line."""
    recording, out, result = tmp_path / "blobs.csv", tmp_path / "out", tmp_path / "result.json"
    rows, labels = make_blobs(400)
    lines = [f"{a},{b},{'ny'[c]}" for (a, b), c in zip(rows, labels, strict=True)]
    recording.write_text("\n".join(["a,b,class", *lines, ""]))
    more = more or ["--bytes", "8192"]
    x86(tmp_path)
    board = ["--board", str(tmp_path / "x86.toml")]
    assert main(["simulate", str(recording), *more, "--json", str(result)]) == 0
    assert main(["build", str(recording), *more, *board, "--output", str(out)]) == 0
    with Device(micropython_command, out, "1m") as device:
        words = ["stream", str(recording), "--port", device.port, "--build", str(out)]
        capsys.readouterr()
        assert main(words) == 0
    output = capsys.readouterr().out
    assert "agree: 400 samples" in output
    simulated = json.loads(result.read_text())
    assert f"{simulated['state_crc32']:08x}" in output
