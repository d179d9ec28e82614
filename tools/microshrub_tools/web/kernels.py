"""The device library's kernels in the page, as machine code that shares MicroPython's memory.

The page's worker gives MicroPython the module `machine_code`. The module's functions are the
kernels; each takes integers and addresses. This file runs in the page, in MicroPython.
"""

from array import array

import machine_code  # type: ignore[import-not-found]  # the worker's module
from uctypes import addressof  # type: ignore[import-not-found]

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Callable
    from typing import Any


def write_addresses(buffers: "tuple[Any, ...]", table: "array[int]") -> "array[int]":
    """Write the addresses of the buffers to the table, array('i'), and return it."""
    for i in range(len(buffers)):
        table[i] = addressof(buffers[i])
    return table


def kernel(name: str, pointers: "tuple[int, ...]") -> "Callable[..., Any]":
    """Return the kernel of that name; arguments at `pointers` are buffers or tuples of buffers."""
    call: Any = getattr(machine_code, name)

    def run(*given: "Any") -> "Any":
        numbers = list(given)
        tables = []  # the only references to the tables while the kernel runs
        for place in pointers:
            thing = given[place]
            if type(thing) is tuple:
                thing = write_addresses(thing, array("i", bytes(4 * len(thing))))
                tables.append(thing)
            numbers[place] = addressof(thing)
        return call(*numbers)

    return run
