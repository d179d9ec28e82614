"""A small part of `make attack`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests_support import ROOT


@pytest.mark.usefixtures("micropython_command")
def test_the_quick_attacks_are_withstood() -> None:
    command = [sys.executable, str(ROOT / "tests" / "attack.py"), "--quick", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [row[1] for row in rows] == [
        "750",
        "2,000",
        "4,320",
    ]  # 50 at least of each kind of state
