"""The library is for MicroPython; on a PC, the import error says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from microshrub_host.library import library_files


def python(code: str, folder: Path) -> tuple[int, str]:
    """Return the exit code of the code on CPython, and the last line of its error output."""
    environment = os.environ | {"PYTHONPATH": str(library_files.folder().parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, (done.stderr.splitlines() or [""])[-1]


@pytest.mark.parametrize("name", ["ShrubEnsemble", "Thicket", "Metrics", "Quantizer"])
def test_the_import_of_a_part_says_what_to_do(name: str, tmp_path: Path) -> None:
    message = f"ImportError: this is for boards. On a PC: microshrub_host.load('python').{name}"
    assert python(f"from microshrub import {name}", tmp_path) == (1, message)
    host = f"{library_files.folder().parents[1] / 'host'}"
    todo = f"import sys; sys.path.append({host!r}); import microshrub_host"
    assert python(f"{todo}; microshrub_host.load('python').{name}", tmp_path) == (0, "")


def test_an_unknown_name_is_an_ordinary_import_error(tmp_path: Path) -> None:
    assert python("import microshrub; microshrub.__version__", tmp_path) == (0, "")
