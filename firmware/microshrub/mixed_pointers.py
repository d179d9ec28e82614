"""Pointers for programs whose machine code has too little room: some kernels stay bytecode.

To machine code, a table of addresses is numbers; a kernel in bytecode reads the buffers
themselves. So a table keeps both. In such a program, `build` has this address_table() take the
place of that in buffers.py, and in kernels that are bytecode, items16() and items32() that of
ptr16 and ptr32; a ptr8 is the buffer itself.
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
