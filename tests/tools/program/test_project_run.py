"""`microshrub init --example NAME` and `microshrub run`, on a virtual board."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from simulated_support import environment, simulated_board

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", ["gestures", "soil"])
def test_an_example_runs_in_one_go(
    name: str, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    def microshrub(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "microshrub_command", *words], cwd=tmp_path,
            env=environment(tmp_path), timeout=PATIENCE, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    microshrub("init", "--example", name)
    with simulated_board(tmp_path) as port:
        output = microshrub("run", "--port", port, "--seconds", "1")
    commands = [line.split()[2] for line in output.splitlines() if line.startswith("$ ")]
    assert commands == ["simulate", "build", "flash", "monitor"]
    assert "board has started the program." in output
    assert (tmp_path / f"{name}.mshrub").exists()
