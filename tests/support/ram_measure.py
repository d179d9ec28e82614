"""Heap use of the library on a real 32-bit MicroPython, to check ram_budget.py."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from microshrub_host.base.micropython_binary import find_or_fetch
from microshrub_host.boards.import_heap import BLOCK, imported_files, library_heap, qstr_bytes
from microshrub_host.boards.ram_budget import Parameters, modules_of
from microshrub_host.library import library_files, loader
from microshrub_host.programs import mpy, native_files

_SECONDS = 120

# The collector treats values on the C stack as pointers, also left-over ones. So both files are
# compiled beforehand, and code that makes garbage runs in functions, deeper in the stack. The
# first file has hardly any names: names shared with the library would not be counted.
_IMPORT = """\
import gc, micropython, sys
sys.path[:] = ["lib"]
def deep(n, *a):  # each level's frame is larger
    return deep(n - 1, n, *a) + 1 if n else 0
def used():
    deep(40)
    gc.collect()
    return gc.mem_alloc()
def go():
    from microshrub import LEARNER, Metrics, RANGES
    import MODULES
def both(sizes):
    micropython.qstr_info()
    sizes[0] = used()
    go()
    sizes[1] = used()
    micropython.qstr_info()
sizes = [0] * 6
both(sizes)
sys.path.append("")
import create
create.go(sizes, used)
print([sizes[i + 1] - sizes[i] for i in range(5)])
"""
_CREATE = """\
import json, microshrub
from array import array
def model(kept):
    kept[0] = microshrub.LEARNER(**json.loads(PARAMETERS))
def quantizer(kept):
    kept[1] = microshrub.RANGES(kept[0].features)
def metrics(kept):
    kept[2] = microshrub.Metrics(kept[0].classes)
def rows(kept):
    kept[3] = array("i", range(kept[0].features))
    kept[4] = array("H", range(kept[0].features))
def go(sizes, used):
    kept = [None] * 5
    makers = [model, quantizer, metrics, rows]
    for i in range(4):
        before = used()
        makers[i](kept)
        sizes[i + 2] = sizes[i + 1] + used() - before
"""


def measure(learner_kwargs: Parameters, learner: str, native: bool = False) -> dict[str, int]:
    """Measure "code", "model", "quantizer", "metrics" and "rows" in bytes with gc.mem_alloc().

    With `native`, the kernels are in a native module.

    The MicroPython is a 32-bit one on this machine, where machine code is not on the heap. The
    block that its port, and no board's, keeps per function of machine code is left out. Raises
    NoMicroPython, ValueError for parameters that the learner refuses, and RuntimeError if the
    program ends with an error. The bytes of names are computed, not measured: pools of names
    double, and the few names of the measuring program would decide whether there is one more pool.
    """
    growing = getattr(loader.load("python").learners.learner_class(learner), "moves", False)
    ranges = "GrowingQuantizer" if growing else "Quantizer"
    create = _CREATE.replace("LEARNER", learner).replace(
        "PARAMETERS", repr(json.dumps(learner_kwargs))
    )
    create = create.replace("RANGES", ranges)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        modules = modules_of(learner, learner_kwargs, growing)
        needed = library_files.closure(modules)
        files = native_files.compiled("x86", needed) if native else mpy.compiled("x86")
        for file in files:
            target = folder / "lib" / mpy.in_library(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
        there = set(map(library_files.module_name, files))
        # a module that only imported another one may be in the native module
        imported = [m for m in needed if m != "__init__"] if native else modules
        names = ", ".join(f"{library_files.PACKAGE}.{m}" for m in imported if m in there)
        imports = _IMPORT.replace("LEARNER", learner).replace("MODULES", names)
        imports = imports.replace("RANGES", ranges)
        for stem, text in (("m", imports), ("create", create)):
            source = folder / f"{stem}.txt"
            source.write_text(text, encoding="utf-8")
            mpy.compile_file(source, folder / f"{stem}.mpy", "x86")
        output = _run(folder)
    parts = ("code", "model", "quantizer", "metrics", "rows")
    sizes = dict(zip(parts, ast.literal_eval(output.splitlines()[-1]), strict=True))
    heap = library_heap("x86", modules, native=native)
    functions = sum(module.functions for module in heap.modules)
    totals = [int(total) for total in re.findall(r"n_total_bytes=(\d+)", output)]
    code = sizes["code"] - BLOCK * functions - (totals[1] - totals[0])
    return {**sizes, "code": code + qstr_bytes(imported_files("x86", modules, native))}


def _run(folder: Path) -> str:
    command = [*find_or_fetch().command, "-X", "heapsize=16m", "-c", "import m"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS)
    if done.returncode != 0:
        raise RuntimeError(f"MicroPython failed: {(done.stdout + done.stderr).strip()}")
    return done.stdout
