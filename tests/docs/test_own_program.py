"""The users' own programs on the pages, on a real 32-bit MicroPython, from sources."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE
from tests_support import ROOT

from microshrub_host.library import library_files

PAGES = ["README.md", "docs/how-to/use-in-your-own-program.md"]
HEAP = "140k"
MODELS = {  # the page's model, and a larger one
    PAGES[0]: (
        "model = Thicket(features=3, classes=2, bytes=16384)",
        "model = Thicket(features=3, classes=2, bytes=49152)",
    ),
    PAGES[1]: (
        "model = ShrubEnsemble(features=3, classes=2, window=32, trees=8, depth=5, step=0.5)",
        "from microshrub import Thicket\nmodel = Thicket(features=3, classes=2, bytes=49152)",
    ),
}


def shown(page: str) -> str:
    """Return the page's program up to the loop."""
    text = (ROOT / page).read_text(encoding="utf-8")
    before, loop, _ = text.partition("\nwhile True:\n")
    assert loop
    return before.rpartition("```python\n")[2]


def run(command: tuple[str, ...], folder: Path, code: str) -> str:
    file = folder / "main.py"
    path = f"import sys\nsys.path.insert(0, {str(library_files.folder().parent)!r})\n"
    file.write_text(path + code + "\nprint(gc.threshold())\n")
    done = subprocess.run(
        [*command, "-X", f"heapsize={HEAP}", str(file)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_a_large_model_fits_and_no_garbage_is_collected_afterwards(
    page: str, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    code = shown(page)
    model, more = MODELS[page]
    assert model in code
    assert run(micropython_command, tmp_path, code) == "-1\n"
    large = code.replace(model, more)
    assert run(micropython_command, tmp_path, large) == "-1\n"
    without = large.replace("gc.threshold(2048)", "pass")
    assert "MemoryError" in run(micropython_command, tmp_path, without)
