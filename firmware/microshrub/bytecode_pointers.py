"""ptr8, ptr16 and ptr32 for files without machine code: `build --emit bytecode`.

By ptr16(buffer), kernels mean its items of 16 bits. These are the items of an array; a bytearray
that is read like this holds them in pairs of bytes, the low one first. A table of
addresses is a tuple of the buffers themselves.
"""


class Pairs:
    """A bytearray's items of 16 bits."""

    def __init__(self, buffer):
        self._bytes = buffer

    def __getitem__(self, index):
        return self._bytes[2 * index] | self._bytes[2 * index + 1] << 8

    def __setitem__(self, index, value):
        self._bytes[2 * index] = value & 255
        self._bytes[2 * index + 1] = value >> 8


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
