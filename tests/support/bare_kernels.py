"""A compiled kernel without what makes it take objects: for loops of millions of calls."""

from __future__ import annotations

import ctypes
from typing import Any

from microshrub_host.library import loader


def bare_kernel(module: str, name: str) -> Any:
    """It takes the address of the table that is its first argument, then integers."""
    kernel = loader.compiler("llvm").functions("")[module, name]
    integers = [ctypes.c_int32] * (kernel.arguments - 1)
    return ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *integers)(kernel.address)


def address_of(table: Any) -> int:
    """Of a table of addresses, which has to outlive the calls."""
    return ctypes.addressof(ctypes.c_char.from_buffer(table))
