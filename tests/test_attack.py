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
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:-1]]
    states, requests, samples, messages, heard, packets, records = [
        int(row[1].replace(",", "")) for row in rows
    ]
    assert states >= 750  # 50 at least of each kind
    assert (requests, samples, messages) == (2000, 4320, 1000)
    assert (heard, packets, records) == (2000, 1000, 1000)
