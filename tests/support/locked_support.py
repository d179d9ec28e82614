"""Lines of Python that lock the heap of a real MicroPython, and also run on the PC's engines."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from microshrub_host.library import loader

_HEAD = """\
from array import array
from micropython import heap_lock as lock, heap_unlock as unlock
from microshrub import {names}
say = print
"""


def printed_on_micropython(
    run: Callable[[str], str], code: str, names: tuple[str, ...], **given: Any
) -> list[str]:
    """Return the lines that the code prints with say(); lock() and unlock() lock the heap.

    names are imported from the library, given are variables: numbers, bytearrays, arrays. run runs
    a script.
    """
    values = "".join(f"{name} = {value!r}\n" for name, value in given.items())
    return run(_HEAD.format(names=", ".join(names)) + values + code).splitlines()


def printed_on(engine: str, code: str, names: tuple[str, ...], **given: Any) -> list[str]:
    """Return the same lines from an engine in this process, which has no heap to lock."""
    library = loader.load(engine)
    lines: list[str] = []
    space: dict[str, Any] = {name: getattr(library, name) for name in names} | given
    space |= {"array": array, "lock": int, "unlock": int}
    space["say"] = lambda *words: lines.append(" ".join(map(str, words)))
    exec(code, space)
    return lines
