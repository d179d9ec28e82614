"""A program whose trees are small has no kernels of large ones, and says so if asked for them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from patience import PATIENCE
from program_support import AROUND, blobs, x86

from microshrub_tools.board import build, program_config

_LARGER = """
import sys
sys.path[:] = ["lib"]
from array import array
from microshrub import Thicket
for size in (16384, 131072):
    try:
        model = Thicket(features=2, classes=2, bytes=size)
        for k in range(300):
            model.learn(array("H", [k * 97 % 65536, k * 31 % 65536]), k & 1)
        print(size, "learned")
    except ImportError as error:
        print(size, error)
"""


def test_larger_trees_are_refused(tmp_path: Path, micropython_command: tuple[str, ...]) -> None:
    sizes = {"features": 2, "classes": 2, "bytes": 16384}
    small = program_config.of_stream(blobs(), "thicket", sizes, 256, AROUND)
    made = build.make(small, x86(tmp_path), tmp_path / "out")
    done = subprocess.run(
        [*micropython_command, "-X", "heapsize=2m", "-c", _LARGER],
        cwd=made.folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "16384 learned",
        "131072 no module named 'microshrub.thicket.wide'",
    ], done.stderr
