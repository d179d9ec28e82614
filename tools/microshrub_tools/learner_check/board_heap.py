"""Runs a learner on a real MicroPython with the heap locked: any allocation fails."""

from __future__ import annotations

import shutil
import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from microshrub_host.base import child_process
from microshrub_host.base.micropython_binary import code_words, find_or_fetch
from microshrub_host.library import library_files

_BEGIN = 60  # samples learned before the heap is locked
_SCRIPT = """\
from array import array
from micropython import heap_lock, heap_unlock
from microshrub.learners import learner_class, register
register({name!r}, {module!r})
learner = learner_class({name!r})(**{parameters!r})
rows = {rows!r}
labels = {labels!r}
what = "predict"
try:
    for k in range(len(rows)):
        if k == {begin}:
            heap_lock()
        what = "predict"
        learner.predict(rows[k])
        what = "learn"
        learner.learn(rows[k], labels[k])
    heap_unlock()
except MemoryError:
    heap_unlock()
    print(what, "allocates: a board's heap fills up with it")
"""


def run(path: Path, name: str, learner: Any, rows: Sequence[tuple[array[int], int]]) -> str:
    """Run the learner and return an error message, "" without an error. Raises NoMicroPython."""
    script = _SCRIPT.format(
        name=name,
        module=path.stem,
        parameters={word: getattr(learner, word) for word in learner._SHAPE},
        begin=_BEGIN,
        rows=[row for row, _ in rows],
        labels=[label for _, label in rows],
    )
    with tempfile.TemporaryDirectory() as folder:  # the learner's own folder may have an array.py
        shutil.copy(path, folder)
        places = (library_files.folder().parent, Path(folder))
        command = [*find_or_fetch().command, "-X", "heapsize=4m", *code_words(script, *places)]
        done = child_process.run(command)
    if done.returncode:
        return f"MicroPython ended with {done.returncode}: {done.stderr.strip()[-500:]}"
    return done.stdout.strip()
