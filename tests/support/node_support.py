"""The page's own code, run in node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from tests_support import ROOT

WEB = ROOT / "tools" / "web"


def run_in_node(folder: Path, program: str, exports: Mapping[str, str], given: Any) -> Any:
    """Run a program that reads `given` and imports from ./bundle.mjs; return its JSON output.

    exports: the names that the bundle takes from each of the page's modules. Skips the test
    without node.
    """
    bundler = WEB / "node_modules" / ".bin" / "esbuild"
    if shutil.which("node") is None or not bundler.exists():
        pytest.skip("there is no node, or the page's packages are not installed: make web")
    entry = folder / "entry.ts"
    source = (WEB / "src").as_posix()
    lines = [f'export {{ {what} }} from "{source}/{module}";' for module, what in exports.items()]
    entry.write_text("\n".join([*lines, ""]))
    bundle = ["--bundle", "--format=esm", f"--outfile={folder / 'bundle.mjs'}"]
    subprocess.run([str(bundler), str(entry), *bundle, "--log-level=error"], check=True)
    (folder / "program.mjs").write_text(program)
    return run_program(folder / "program.mjs", given)


def run_program(program: Path, given: Any) -> Any:
    """Run a program in node that reads `given`; return its JSON output."""
    done = subprocess.run(
        ["node", str(program)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
