"""Ctrl-C while a command starts: one line, during any import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

# Runs first in a fresh Python: raises Ctrl-C when a module is imported
STRIKE = """
import os, signal, sys
class Strike:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Strike())
"""
LEARN = ["simulate", "synth:sea_a", "--limit", "2000"]


def struck(name: str, folder: Path) -> tuple[int, str]:
    """Return exit code and error of a command that gets Ctrl-C when it imports this module."""
    (folder / "sitecustomize.py").write_text(STRIKE.format(name=name))
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "microshrub_command", *LEARN],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "microshrub_tools", "microshrub_tools.cli.main", "microshrub_host", "argparse",
        "microshrub_host.base.exits", "microshrub_host.cli.plain_parser",
        "microshrub_host.cli.simulate", "rich", "numpy", "microshrub_host.base.text",
        "microshrub_host.library.loader",
    ],
)  # fmt: skip
def test_an_early_ctrl_c_is_reported_in_one_line(name: str, tmp_path: Path) -> None:
    code, output = struck(name, tmp_path)
    assert (code, output.splitlines()[-1:]) == (130, ["microshrub: stopped"]), output
    assert "Traceback" not in output


def test_the_installed_command_is_this_module() -> None:
    command = Path(sys.executable).with_name("microshrub")
    assert "microshrub_command" in command.read_text()
