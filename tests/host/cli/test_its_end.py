"""The end of the command: its exit code, even if a library aborts at exit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

# A library's destructor that aborts, as pyarrow's sometimes does; then Python's last statement
ABORTS = """
import atexit, ctypes, sys
c = ctypes.CDLL(None)
c.__cxa_atexit(ctypes.cast(c.abort, ctypes.c_void_p), None, None)
from microshrub_command import main
code = main()
atexit.register(lambda: open("last", "w").close())
sys.exit(code)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is glibc's")
@pytest.mark.parametrize(("words", "code"), [(["boards"], 0), (["simulate", "none.csv"], 2)])
def test_an_abort_at_exit_does_not_change_the_exit_code(
    words: list[str], code: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ABORTS, *words],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert ("Pico" in done.stdout) == (code == 0)
    assert (tmp_path / "last").exists()
