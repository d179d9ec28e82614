"""A command that is killed while it counts leaves no emulator running."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys

import pytest
from child_support import children, is_running
from patience import PATIENCE, wait_until

from microshrub_host.boards import emulated_boards

BOARD = "cortex-m0"


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_emulator_ends_with_its_command(number: signal.Signals) -> None:
    try:
        emulated_boards.find_or_build(BOARD)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    command = [sys.executable, "-m", "microshrub_command", "costs", "--board", BOARD]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe) as process:
        wait_until(lambda: any("qemu" in line for line in children(process.pid).values()))
        started = children(process.pid)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE)
    wait_until(lambda: not any(map(is_running, started)))
