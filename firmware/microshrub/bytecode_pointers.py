"""ptr8, ptr16 and ptr32 for files without machine code: `build --emit bytecode`.

For kernels, ptr16(buffer) is the buffer's items of 16 bits: the items of an array, or the pairs
of bytes of a bytearray, the low byte first. A table of addresses is a tuple of the buffers.
"""

from .pairs import Pairs


def ptr8(buffer):
    """The buffer's items of 8 bits; it is bytes, a bytearray or a memoryview of one."""
    return buffer


def ptr16(buffer):
    """The items of an array('H') or of a bytearray."""
    return Pairs(buffer) if isinstance(buffer, bytearray) else buffer


def ptr32(buffer):
    """The items of an array('i'), or the buffers of a table of addresses."""
    return buffer


def write_addresses(buffers, table):
    """Stands in for buffers.write_addresses()."""
    return buffers
