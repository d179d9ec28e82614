"""ptr8, ptr16 and ptr32 on CPython, for the engine `python`, and with checks for tests.

In viper, a pointer reads the bytes of any buffer. Here, a buffer has to have the pointer's own
typecode, or be a bytearray, so that a kernel that confuses types fails instead of reading
nonsense. A table of addresses holds the buffers themselves, so that ptr8(table[i]) is a pointer to
the buffer.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, MutableSequence
from typing import Any

Memory = MutableSequence[int] | memoryview
_SMALL = 1 << 30
_TURNS = 1_000_000  # limit for all `while` loops in a call, beyond the library's needs


class AddressTable(tuple[Any, ...]):
    """The buffers of a learner, in place of their addresses."""


def write_addresses(buffers: tuple[Any, ...], table: array[int]) -> AddressTable:
    """Make the table of addresses, in place of firmware's buffers.write_addresses()."""
    return AddressTable(buffers)


def _pointer(name: str, typecode: str, size: int) -> Callable[[Any], Any]:
    def cast(buffer: Any) -> Any:
        if isinstance(buffer, AddressTable) and size == 4:
            return buffer
        if isinstance(buffer, array):
            if buffer.typecode != typecode:
                raise ValueError(f"{name} needs array('{typecode}'), not '{buffer.typecode}'")
            return buffer
        view = memoryview(buffer)
        if size == 1:
            return view
        # A narrow buffer may have an odd length; its wide view is then never read.
        whole = len(view) // size * size
        return view[:whole].cast(typecode) if whole else array(typecode)  # type: ignore[call-overload]

    cast.__name__ = name
    return cast


ptr8 = _pointer("ptr8", "B", 1)
ptr16 = _pointer("ptr16", "H", 2)
ptr32 = _pointer("ptr32", "i", 4)


def i32(value: int) -> int:
    """Return value if it fits viper's 32 bits, else raise OverflowError."""
    if not -(1 << 31) <= value < 1 << 31:
        raise OverflowError(f"{value} does not fit into 32 bits")
    return value


def bits(count: int) -> int:
    """Return a shift's number of bits if all processors agree on it, else raise ValueError."""
    if not 0 <= count < 32:
        raise ValueError(f"a shift by {count} bits is not the same on all processors")
    return count


def turn(turns: int) -> int:
    """Count a turn of the loops in a call of a kernel.

    Raises RuntimeError if there are too many.
    """
    if turns >= _TURNS:
        raise RuntimeError(f"the loop does not end: {_TURNS:,} turns in one call")
    return turns + 1


class Checked:
    """A pointer that refuses errors which viper would ignore: negative indices, wide stores.

    The buffer itself refuses values outside its typecode; an i32 has to fit the 30 bits that
    MicroPython can read back without allocation.
    """

    __slots__ = ("_memory", "_wide")

    def __init__(self, memory: Memory, wide: bool) -> None:
        self._memory = memory
        self._wide = wide

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            raise IndexError(f"negative index {index}")
        return self._memory[index]

    def __setitem__(self, index: int, value: int) -> None:
        if index < 0:
            raise IndexError(f"negative index {index}")
        if self._wide and not -_SMALL <= value < _SMALL:
            raise OverflowError(f"{value} does not fit into 30 bits and a sign")
        self._memory[index] = value


def checked(cast: Callable[[Any], Any]) -> Callable[[Any], Checked]:
    """Return a pointer type that checks every access."""
    return lambda buffer: Checked(cast(buffer), cast is ptr32)
