"""The kernels as a WebAssembly module: all are exported, and compute the same as in Python."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from node_support import run_program

from microshrub_host.library import loader, wasm_kernels
from microshrub_host.library.kernel_sources import read

FIXED = {  # functions of one whole number, and the least and the greatest argument of each
    "square_root": (0, (1 << 30) - 1),
    "log2": (1, (1 << 30) - 1),
    "n_log2": (0, 32768),
    "exp_negative": (0, 65536),
    "exp_decay": (0, (1 << 31) - 1),
}
PROGRAM = """
import { readFileSync } from "node:fs";
const { calls } = JSON.parse(readFileSync(0, "utf8"));
const memory = new WebAssembly.Memory({ initial: 1 });
const table = new WebAssembly.Table({ element: "anyfunc", initial: 0 });
const env = { __linear_memory: memory, __indirect_function_table: table };
const code = readFileSync(new URL("kernels.wasm", import.meta.url));
const { instance } = await WebAssembly.instantiate(code, { env });
const results = calls.map(([name, ...given]) => instance.exports[name](...given));
process.stdout.write(JSON.stringify({ results, names: Object.keys(instance.exports) }));
"""


def run(folder: Path, code: bytes, calls: list[tuple[str, int]]) -> Any:
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    (folder / "kernels.wasm").write_bytes(code)
    (folder / "program.mjs").write_text(PROGRAM)
    return run_program(folder / "program.mjs", {"calls": calls})


def test_the_module_exports_the_kernels_and_they_compute_the_same(tmp_path: Path) -> None:
    code, kernels = wasm_kernels.compiled(["fixed"])
    chance = np.random.default_rng(1)
    cases = [
        (name, x)
        for name, (least, most) in FIXED.items()
        for x in (least, most, *chance.integers(least, most, 300, endpoint=True).tolist())
    ]
    calls = [(f"fixed__{name}", x) for name, x in cases]
    output = run(tmp_path, code, calls)
    functions = vars(loader.load("python").fixed)
    assert output["results"] == [functions[name](x) for name, x in cases]
    assert sorted(output["names"]) == sorted(kernel.name for kernel in kernels)
    assert {kernel.node.name for kernel in kernels} == {node.name for node in read("fixed").nodes}


def test_the_module_is_the_same_each_time() -> None:
    """The page's files, which a browser caches for offline use, stay the same, too."""
    assert wasm_kernels.compiled(["fixed"])[0] == wasm_kernels.compiled(["fixed"])[0]
