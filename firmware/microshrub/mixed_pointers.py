"""Pointers for programs whose machine code has too little room: some kernels stay bytecode.

In machine code, kernels read a table of addresses as numbers; in bytecode, they read the buffers
themselves. So a table keeps both. In such a program, `build` replaces the address_table() of
buffers.py by this one, and in bytecode kernels, ptr16 by items16(), ptr32 by items32(), and ptr8
by the buffer itself.
"""

from array import array

from .buffers import write_addresses
from .pairs import Pairs


class Addresses(array):
    """array('i') of the addresses of `buffers`, a tuple."""

    buffers = ()


def address_table(buffers):
    """Stands in for buffers.address_table()."""
    table = Addresses("i", bytes(4 * len(buffers)))
    table.buffers = buffers
    return write_addresses(buffers, table)


def items16(buffer):
    """The items of an array('H') or of a bytearray."""
    return Pairs(buffer) if isinstance(buffer, bytearray) else buffer


def items32(buffer):
    """The items of an array('i'), or the buffers of a table of addresses."""
    return buffer.buffers if isinstance(buffer, Addresses) else buffer
