"""How the command ends: with its exit code, whatever libraries do when a process is taken down."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

# A library's destructor that aborts, as pyarrow's now and then; and what Python is to do last
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
def test_what_aborts_at_the_end_does_not_change_the_exit_code(
    words: list[str], code: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ABORTS, *words],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert ("Pico" in done.stdout) == (code == 0)
    assert (tmp_path / "last").exists()
