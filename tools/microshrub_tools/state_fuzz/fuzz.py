"""Altered states, loaded and used on an engine: each is refused, or it serves."""

from __future__ import annotations

from pathlib import Path

from microshrub_host.base import child_process
from microshrub_host.fetch.micropython_binary import find_or_fetch
from microshrub_host.library import loader
from microshrub_host.sources import library_files

from .altered_states import attack

_ON_DEVICE = """
import sys
sys.path[:0] = [{library!r}, {here!r}]
import microshrub
import microshrub.learners
from altered_states import attack
{own}
print(*attack(microshrub, {number}, {seed}, {states}))
"""


def fuzz(engine: str, number: int, seed: int, states: int) -> tuple[int, int]:
    """How many of the states of one target were refused, and how many were used."""
    if engine != "micropython":
        return attack(loader.load(engine), number, seed, states)
    own = [
        f"sys.path.append({str(each.path.parent)!r}); "
        f"microshrub.learners.register({each.name!r}, {each.path.stem!r})"
        for each in library_files.own_learners()
    ]
    script = _ON_DEVICE.format(
        own="\n".join(own),
        library=str(library_files.folder().parent),
        here=str(Path(__file__).parent),
        number=number,
        seed=seed,
        states=states,
    )
    command = [*find_or_fetch().command, "-X", "heapsize=16m", "-c", script]
    done = child_process.run(command)
    if done.returncode:
        raise AssertionError(f"MicroPython ended with {done.returncode}: {done.stderr[-2000:]}")
    refused, used = map(int, done.stdout.split())
    return refused, used
