"""Items of 16 bits where there is no machine code to read them."""


class Pairs:
    """A bytearray's items of 16 bits."""

    def __init__(self, buffer):
        self._bytes = buffer

    def __getitem__(self, index):
        return self._bytes[2 * index] | self._bytes[2 * index + 1] << 8

    def __setitem__(self, index, value):
        self._bytes[2 * index] = value & 255
        self._bytes[2 * index + 1] = value >> 8
