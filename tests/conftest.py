"""What all tests share: the oracles can be imported, and a real MicroPython where there is one."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).with_name("oracles")))
settings.register_profile("microshrub", deadline=None)  # numba compiles in the first example
settings.load_profile("microshrub")
# A script that runs in the background ignores Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def micropython_command() -> tuple[str, ...]:
    """The command that starts a real 32-bit MicroPython; skips the test if none can be had."""
    from microshrub_host.micropython_binary import NoMicroPython, find_or_fetch

    try:
        return find_or_fetch().command
    except NoMicroPython as reason:
        pytest.skip(str(reason))


@pytest.fixture
def run_micropython(micropython_command: tuple[str, ...], tmp_path: Path) -> Callable[[str], str]:
    """Runs a script on a real MicroPython that can import microshrub; gives what it printed."""
    from microshrub_host import firmware

    def run(script: str) -> str:
        file = tmp_path / "script.py"
        path = f"import sys\nsys.path.insert(0, {str(firmware.folder().parent)!r})\n"
        file.write_text(path + script, encoding="utf-8")
        command = [*micropython_command, "-X", "heapsize=16m", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout[-500:] + done.stderr
        return done.stdout

    return run
