"""Altered states, loaded and used on an engine: each is refused, or can be used."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from microshrub_host.base import child_process
from microshrub_host.base.micropython_binary import code_words, find_or_fetch
from microshrub_host.library import library_files, loader
from microshrub_host.programs import native_files

from .altered_states import attack

NATIVE = "native"
_ON_DEVICE = """
import microshrub
import microshrub.learners
from altered_states import attack
{registrations}
print(*attack(microshrub, {number}, {seed}, {states}))
"""


def fuzz(engine: str, number: int, seed: int, states: int) -> tuple[int, int]:
    """Return how many altered states of one target were refused, and how many were used.

    engine is one of the simulator's, or "native": a MicroPython with a native module.
    """
    if engine not in ("micropython", NATIVE):
        return attack(loader.load(engine), number, seed, states)
    learners = library_files.user_learners()
    registrations = [
        f"microshrub.learners.register({each.name!r}, {each.path.stem!r})" for each in learners
    ]
    script = _ON_DEVICE.format(
        registrations="\n".join(registrations),
        number=number,
        seed=seed,
        states=states,
    )
    with tempfile.TemporaryDirectory() as folder:  # a learner's own folder may have an array.py
        for each in learners:
            shutil.copy(each.path, folder)
        library = library_files.folder().parent
        if engine == NATIVE:
            library = native_files.compiled("x86")[0].parents[1]
        places = (library, Path(__file__).parent, Path(folder))
        command = [*find_or_fetch().command, "-X", "heapsize=16m", *code_words(script, *places)]
        done = child_process.run(command)
    if done.returncode:
        raise AssertionError(f"MicroPython ended with {done.returncode}: {done.stderr[-2000:]}")
    refused, used = map(int, done.stdout.split())
    return refused, used
