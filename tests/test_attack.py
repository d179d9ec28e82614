"""A small part of `make attack`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests_support import ROOT


@pytest.mark.usefixtures("micropython_command")
def test_the_quick_attacks_fail_as_expected() -> None:
    command = [sys.executable, str(ROOT / "tests" / "attack.py"), "--quick", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines()[2:-1]]
    tries = {row[4].split(" --")[0].split("`")[1]: int(row[1].replace(",", "")) for row in rows}
    assert tries.pop("microshrub dev fuzz-states") >= 750  # at least 50 of each kind
    assert tries == {
        "microshrub dev fuzz-link": 2000,
        "microshrub dev simulate-year": 4320,
        "python tests/support/sharing_attack.py": 1000,
        "python tests/support/datagram_attack.py": 2000,
        "python tests/support/hostile_broker.py": 1000,
        "python tests/support/hostile_to_pc.py": 10,
        "python tests/support/network_attack.py": 1000,
    }
