"""The choice of kernels that become machine code if there is no room for all of them.

On the ESP32s, machine code is in executable RAM, which has room for less than half of a thicket's
machine code, or for most of it. But sixty of its 150 kernels do 95 % of the work. So the kernels
with the least work for each byte of machine code stay bytecode. The bits are the same, see
plain_kernels.py.

On other boards, machine code is on the heap, where a kernel as bytecode takes a quarter of the
space. There, the kernels with the least work for each byte saved stay bytecode, until a program
fits.

The engine `counted` counts the work of each kernel, with samples of a made-up stream: overlapping
classes, or numbers with noise. The rest of a program is not run.
"""

from __future__ import annotations

import ast
import json
import random
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..base.cache import remembered
from ..library import kernel_rewriting, kernel_rules, library_files, loader
from ..programs import mpy
from ..programs.merged_files import MergedFiles
from .import_heap import blocks, files_heap
from .ram_budget import Budget, Kernels, modules_of

_SAMPLES = 512
_SEED = 1
_SPREAD, _NOISE = 4096, 1200  # spread of the classes' means, and deviation from a mean
_NOT_RUN = ("quantizer", "initial_ranges", "metrics", "target")
_SIZE, _MOST = "bytes", 16384  # on a board with too little room, no learner is larger
_KEPT = 64  # number of learners whose work is cached


def kernel_work(learner: str, parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of syntax nodes that each kernel runs for a sample, by the kernel's name.

    Names are like "thicket.neighbours.search"; learner is the name of the learner's class. Kernels
    of imported modules that had no work are included, with 0.
    """
    given = dict(parameters)
    if _SIZE in given:
        given[_SIZE] = min(given[_SIZE], _MOST)
    asked = f"{loader.digest()} {learner} {sorted(given.items())}"
    key = (
        asked.encode() + Path(__file__).read_bytes() + Path(kernel_rewriting.__file__).read_bytes()
    )
    nodes: dict[str, int] = json.loads(
        remembered("work", key, lambda: json.dumps(_measured(learner, given)).encode(), _KEPT)
    )
    return nodes


def _measured(learner: str, parameters: Mapping[str, Any]) -> dict[str, int]:
    library = loader.load("counted")
    work = getattr(library, kernel_rewriting.WORK)
    model = library.learners.learner_class(learner)(**parameters)
    work.clear()
    grows = getattr(model, "moves", False)
    modules = {*library_files.closure(modules_of(learner, parameters, grows))}.difference(_NOT_RUN)
    if grows:
        quantizer = library.GrowingQuantizer(model.features, (model,))
        encode = quantizer.encode
    else:
        encode = _cut
    codes = array("H", bytes(2 * model.features))
    for raw, outcome in _samples(model.features, getattr(model, "classes", 0)):
        encode(raw, codes)
        model.predict(codes)
        model.learn(codes, outcome)
    return {name: work[name] // _SAMPLES for name in _kernels_of(sorted(modules))}


def _kernels_of(modules: Iterable[str]) -> Iterator[str]:
    for module in modules:
        tree = ast.parse(library_files.source_of(module).read_text(encoding="utf-8"))
        for kernel in kernel_rules.kernels(tree):
            if kernel.name != library_files.WRITE_ADDRESSES:  # only possible in machine code
                yield f"{module}.{kernel.name}"


def _samples(features: int, classes: int) -> Iterator[tuple[array[int], int]]:
    """Yield rows of raw values, each with the class, or with a number's code."""
    chance = random.Random(_SEED)
    means = [[chance.randrange(_SPREAD) for _ in range(features)] for _ in range(classes or 1)]
    for _ in range(_SAMPLES):
        label = chance.randrange(len(means))
        raw = [int(chance.gauss(mean, _NOISE)) for mean in means[label]]
        number = 32768 + sum(raw) % 4096 * 4 if raw else 0
        yield array("i", raw), label if classes else number


def _cut(raw: array[int], codes: array[int]) -> None:
    """Compute codes as a quantizer with frozen ranges does."""
    for k, value in enumerate(raw):
        codes[k] = min(max(value * 8 + 16384, 0), 65535)


# Counted on an emulated RV32, with a thicket of 12 KB: its kernels take an eighth longer with
# tables that bytecode can read; and 2.8 times as long if bytecode does 4.4 % of the work.
_TABLES, _BYTECODE = 1.12, 39.0
_SPARE = 1024  # bytes left empty: the room may be two blocks, with unused ends
# Heap bytes that each step saves in addition, as each try compiles a program.
_STEP = 2048
ANY = 1e9  # factor of a sample's time: no limit
USUAL = 1.5  # factor of a sample's time that a default size may cost


def _kernels(plain: Collection[str], of: int, work: float) -> Kernels:
    """Return the kernels left as bytecode: their names, the number of all, and the slowdown."""
    return Kernels(tuple(sorted(plain)), of, round(_slower(work), 2) if plain else 1.0)


def _slower(work: float) -> float:
    return _TABLES + work * _BYTECODE


def plain_within(files: MergedFiles, room: int, work: Mapping[str, int]) -> Kernels:
    """Choose the bytecode kernels of a program so that the others fit `room` bytes.

    work has the work of each kernel; a kernel without an entry stays machine code. If these
    kernels alone are too large, there is more machine code than room.
    """
    sizes = _sizes(files)
    known = [name for name in sizes if name in work]
    whole = sum(module.native for module in files_heap(files.imported).modules)
    if whole <= room:
        return Kernels()
    left = room - _SPARE - whole + sum(sizes[name] for name in known)
    plain = []
    for name in sorted(known, key=lambda name: (-work[name] / sizes[name], name)):
        if sizes[name] <= left:
            left -= sizes[name]
        else:
            plain.append(name)
    done = sum(work[name] for name in plain) / max(1, sum(work[name] for name in known))
    return _kernels(plain, len(sizes), done)


def able(files: MergedFiles, work: Mapping[str, int]) -> tuple[str, ...]:
    """Return the kernels that could be bytecode, of a program with machine code only."""
    return tuple(name for name in _sizes(files) if name in work)


def plain_of_heap(
    files: MergedFiles,
    plain_files: MergedFiles,
    saved: int,
    slowest: float,
    work: Mapping[str, int],
) -> Kernels:
    """Choose the kernels that become bytecode to save `saved` bytes of the heap.

    In plain_files, all kernels that can be bytecode are bytecode. If a sample would take more than
    `slowest` times as long, fewer bytes are saved.
    """
    sizes, bytecode = _sizes(files), _sizes(plain_files, native=False)
    less = {name: sizes[name] - bytecode.get(name, 0) for name in able(files, work)}
    of_all = max(1, sum(work[name] for name in less))
    plain, done = [], 0
    for name in sorted(less, key=lambda name: (work[name] / max(1, less[name]), name)):
        longer = _slower((done + work[name]) / of_all)
        if saved > 0 and less[name] > 0 and longer <= slowest:
            plain.append(name)
            done += work[name]
            saved -= less[name]
    return _kernels(plain, len(sizes), done / of_all)


def saved_as_needed(count: Callable[[int], Budget]) -> int:
    """Return the heap bytes that kernels have to save for a program to fit; 0 if it fits anyway.

    count() returns the budget for a number of saved bytes. If the program never fits, the result
    is the most that the kernels can save.
    """
    saved, plain = 0, -1
    budget = count(saved)
    while not budget.fits and budget.kernels.plain > plain:
        missing = max(budget.ram_bytes, budget.peak_bytes) - budget.free_bytes
        if missing <= 0:  # a single buffer is too long
            break
        plain = budget.kernels.plain
        saved = -(-(saved + missing) // _STEP) * _STEP
        budget = count(saved)
    return saved


def _sizes(files: MergedFiles, native: bool = True) -> dict[str, int]:
    """Return the allocated bytes of each kernel's machine code, or else bytecode."""
    names = files.kernels.read_text(encoding="utf-8").split("\n")
    codes = mpy.functions(mpy.read(files.imported[0]).code)
    return {
        name: blocks(len(code.data))
        for name, code in zip(names, codes, strict=True)
        if name and code.native == native
    }
