"""ptr8, ptr16 and ptr32 for numba: loads give signed 64-bit ints, stores truncate, as in viper.

numba would load a uint16 as uint16, and 1 - 3 of two of them would be 1.8e19. A type of our own,
whose items are always int64, has no such trap, and no bounds or wraparound to handle.

A table of addresses is an array of 64-bit ints, the same type for every learner, so each kernel is
compiled once; the items of ptr32(table) are these ints, and ptr8(table[i]) is a pointer again.
"""

from __future__ import annotations

import operator
from array import array
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.extending import intrinsic, lower_builtin, register_model, type_callable
from numba.np.arrayobj import make_array


class Pointer(types.Type):
    """Address of items of one width; instances of the same width are one numba type."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        super().__init__(name=f"ptr{bits}")


@register_model(Pointer)
class _PointerModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.IntType(64))


_ADDRESS = 64  # bits of an item of a table of addresses


def _pointer(bits: int) -> Any:
    allowed = {8: (types.uint8,), 16: (types.uint16, types.uint8), 32: (types.int32,)}[bits]

    @intrinsic
    def cast(typingctx: Any, buffer: Any) -> Any:
        if isinstance(buffer, types.Integer):
            return Pointer(bits)(types.int64), lambda context, builder, sig, args: args[0]
        if not isinstance(buffer, types.Buffer):
            return None
        if bits == 32 and buffer.dtype == types.int64:
            return Pointer(_ADDRESS)(buffer), _data
        if buffer.dtype not in allowed and not (bits == 8 and buffer.dtype == types.uint16):
            return None

        return Pointer(bits)(buffer), _data

    return cast


def _data(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of a buffer's first item."""
    data = make_array(signature.args[0])(context, builder, args[0]).data
    return builder.ptrtoint(data, ir.IntType(64))


def write_addresses(buffers: tuple[Any, ...], table: array[int]) -> memoryview:
    """Stands in for firmware's buffers.write_addresses().

    A memoryview cannot be copied or pickled, so no copy can end up with these addresses.
    """
    addresses = [np.frombuffer(b, np.uint8).ctypes.data if len(b) else 0 for b in buffers]
    return np.array(addresses, np.int64).data


ptr8 = _pointer(8)
ptr16 = _pointer(16)
ptr32 = _pointer(32)


def _address(builder: Any, pointer: Pointer, base: Any, index: Any) -> Any:
    offset = builder.mul(index, ir.IntType(64)(pointer.bits // 8))
    item = ir.IntType(pointer.bits)
    return builder.inttoptr(builder.add(base, offset), item.as_pointer())


@type_callable(operator.getitem)
def _type_load(context: Any) -> Any:
    def typer(pointer: Any, index: Any) -> Any:
        return types.int64 if isinstance(pointer, Pointer) else None

    return typer


@type_callable(operator.setitem)
def _type_store(context: Any) -> Any:
    def typer(pointer: Any, index: Any, value: Any) -> Any:
        return types.none if isinstance(pointer, Pointer) else None

    return typer


@lower_builtin(operator.getitem, Pointer, types.Integer)
def _load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    pointer, index = signature.args
    at = context.cast(builder, args[1], index, types.int64)
    value = builder.load(_address(builder, pointer, args[0], at))
    widen = builder.zext if pointer.bits < 32 else builder.sext
    return widen(value, ir.IntType(64))


@lower_builtin(operator.setitem, Pointer, types.Integer, types.Integer)
def _store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    pointer, index, given = signature.args
    at = context.cast(builder, args[1], index, types.int64)
    value = context.cast(builder, args[2], given, types.int64)
    narrow = builder.trunc(value, ir.IntType(pointer.bits))
    builder.store(narrow, _address(builder, pointer, args[0], at))
    return context.get_dummy_value()
