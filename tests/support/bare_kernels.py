"""A compiled kernel without its Python wrapper, for loops of millions of calls."""

from __future__ import annotations

import ctypes
from typing import Any

from microshrub_host.library import loader


def bare_kernel(module: str, name: str) -> Any:
    """Return the kernel as a function of the address of its table, then integers."""
    kernel = loader.compiler("llvm").functions("")[module, name]
    integers = [ctypes.c_int32] * (kernel.arguments - 1)
    return ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *integers)(kernel.address)


def address_of(table: Any) -> int:
    """Return the address of a table of addresses; the table has to outlive the calls."""
    return ctypes.addressof(ctypes.c_char.from_buffer(table))
