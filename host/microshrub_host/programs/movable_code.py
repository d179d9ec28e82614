"""Makes machine code for a Cortex-M0 run from any even address.

A Cortex-M0 has no instruction for a long constant or a far jump. mpy-cross stores the number in
the code, after the instruction that reads it, and the instruction finds it only if the code starts
at a multiple of four. Code on the heap does, but frozen code does not: MicroPython's mpy-tool
aligns it to two bytes. An instruction that reads a wrong number computes nonsense, or hangs.

So the number is replaced by instructions that compute it, and a far jump by `bl`. (`bl` also
writes the link register, which these functions save at their start.) A replacement has exactly the
original's length, so nothing else moves.
"""

from __future__ import annotations

import struct

from ..base.errors import UserError

_MASK = 0xFFFFFFFF
_LENGTH = 8  # bytes of an instruction that reads a number, one that skips it, and the number
_NOP = 0x46C0
_SKIP = 0xE001  # b, over the next four bytes
_FIRST_OF_TWO = 0xF000  # the first half of an instruction of four bytes
_READ_NUMBER = 0x4800  # ldr register, [pc, ...]
_ADDRESS = 0xA000  # add register, pc, ...
_FAMILY = 0xF800


class ImmovableCodeError(UserError):
    """The code cannot be made to run from any address; the message is for users."""


def movable(code: bytes) -> bytes:
    """Return the machine code of a viper function for armv6m, able to run from any even address.

    Raises ImmovableCodeError for a number that four instructions cannot compute, and for code that
    uses its address in another way.
    """
    made = bytearray(code)
    at = 0
    while at < len(code) - 1:
        (instruction,) = struct.unpack_from("<H", code, at)
        family = instruction & _FAMILY
        if family == _READ_NUMBER:
            made[at : at + _LENGTH] = _replacement(code, at)
            at += _LENGTH
        elif family == _ADDRESS:
            raise ImmovableCodeError("it takes an address from the program counter")
        else:
            at += 4 if family == _FIRST_OF_TWO else 2
    return bytes(made)


def _replacement(code: bytes, at: int) -> bytes:
    """Return code to replace a number, the instruction that reads it, and the one after that."""
    if len(code) < at + _LENGTH:
        raise ImmovableCodeError("it reads a number from beyond its end")
    read, then, number = struct.unpack_from("<HHI", code, at)
    register = read >> 8 & 7
    if read & 0xFF == 0 and then == _SKIP:
        return _computed(register, number)
    if read & 0xFF == 0 and then == _add_to_pc(register):
        return _jump(number + 2)  # the number counts from the second instruction
    raise ImmovableCodeError("it reads a number from elsewhere in the code")


def _add_to_pc(register: int) -> int:
    return 0x4487 | register << 3


def _jump(distance: int) -> bytes:
    """Return `bl` to a place at that distance from the program counter, then two no-ops."""
    halves = 0xF000 | distance >> 12 & 0x7FF, 0xF800 | distance >> 1 & 0x7FF
    return struct.pack("<4H", *halves, _NOP, _NOP)


def _computed(register: int, number: int) -> bytes:
    """Return four instructions that load the number into a register: a << shift, plus or minus b.

    A number with many ones is computed as the complement of another number.
    """
    both = register << 3 | register
    last = {number: _NOP, ~number & _MASK: 0x43C0 | both}  # mvns
    for wanted, end in last.items():
        for shift in range(32):
            for sign, add in ((1, 0x3000), (-1, 0x3800)):  # adds, subs
                b = sign * wanted & ((1 << shift) - 1)
                a = (wanted - sign * b & _MASK) >> shift
                if a < 256 and b < 256:
                    move, push = 0x2000 | register << 8 | a, shift << 6 | both
                    return struct.pack("<4H", move, push, add | register << 8 | b, end)
    raise ImmovableCodeError(f"it holds the number {number:#x}")
