"""What each kernel of a learner has to do: so it is known which of them need machine code most.

The learner runs on the engine `counted`, with samples of a made-up stream: overlapping classes, or
numbers with noise. What else a program has is not run.
"""

from __future__ import annotations

import ast
import json
import random
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..base.cache import remembered
from ..kernels import counted_work, kernel_rules
from ..library import loader
from ..sources import library_files
from .ram_budget import modules_of

_SAMPLES = 512
_SEED = 1
_SPREAD, _NOISE = 4096, 1200  # of the means of classes, and around them
_NOT_RUN = ("quantizer", "first_ranges", "metrics", "target")
_SIZE, _MOST = "bytes", 16384  # no learner where there is too little room is larger
_KEPT = 64  # learners whose work is remembered


def kernel_work(kind: str, parameters: Mapping[str, Any]) -> dict[str, int]:
    """What each kernel that the learner ran did, as "thicket.search.search", in nodes a sample.

    kind is the learner's class. Kernels that had nothing to do are there, with 0, if they are in
    modules that it imports.
    """
    given = dict(parameters)
    if _SIZE in given:
        given[_SIZE] = min(given[_SIZE], _MOST)
    asked = f"{loader.digest()} {kind} {sorted(given.items())}"
    key = asked.encode() + Path(__file__).read_bytes() + Path(counted_work.__file__).read_bytes()
    found: dict[str, int] = json.loads(
        remembered("work", key, lambda: json.dumps(_measured(kind, given)).encode(), _KEPT)
    )
    return found


def _measured(kind: str, parameters: Mapping[str, Any]) -> dict[str, int]:
    library = loader.load("counted")
    work = getattr(library, loader.WORK)
    learner = library.learners.learner_class(kind)(**parameters)
    work.clear()
    grows = getattr(learner, "moves", False)
    modules = {*library_files.closure(modules_of(kind, parameters, grows))}.difference(_NOT_RUN)
    if grows:
        quantizer = library.GrowingQuantizer(learner.features, (learner,))
        encode = quantizer.encode
    else:
        encode = _cut
    codes = array("H", bytes(2 * learner.features))
    for raw, outcome in _samples(learner.features, getattr(learner, "classes", 0)):
        encode(raw, codes)
        learner.predict(codes)
        learner.learn(codes, outcome)
    return {name: work[name] // _SAMPLES for name in _kernels_of(sorted(modules))}


def _kernels_of(modules: Iterable[str]) -> Iterator[str]:
    for module in modules:
        tree = ast.parse(library_files.source_of(module).read_text(encoding="utf-8"))
        for kernel in kernel_rules.kernels(tree):
            if kernel.name != library_files.WRITE_ADDRESSES:  # which only machine code can do
                yield f"{module}.{kernel.name}"


def _samples(features: int, classes: int) -> Iterator[tuple[array[int], int]]:
    """Rows of raw values, and the class, or a code of a number."""
    chance = random.Random(_SEED)
    means = [[chance.randrange(_SPREAD) for _ in range(features)] for _ in range(classes or 1)]
    for _ in range(_SAMPLES):
        label = chance.randrange(len(means))
        raw = [int(chance.gauss(mean, _NOISE)) for mean in means[label]]
        number = 32768 + sum(raw) % 4096 * 4 if raw else 0
        yield array("i", raw), label if classes else number


def _cut(raw: array[int], codes: array[int]) -> None:
    """Codes as a quantizer gives them whose ranges are frozen."""
    for k, value in enumerate(raw):
        codes[k] = min(max(value * 8 + 16384, 0), 65535)
