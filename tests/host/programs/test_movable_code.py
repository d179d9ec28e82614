"""A Cortex-M0's machine code, made to run from any even address."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from microshrub_host.library import library_files
from microshrub_host.programs import frozen_files, mpy
from microshrub_host.programs.movable_code import ImmovableCodeError, movable

NOP = 0x46C0


def read_number(register: int, number: int) -> bytes:
    """Return mpy-cross's instructions that load a number into a register."""
    return struct.pack("<HHI", 0x4800 | register << 8, 0xE001, number)


def run(code: bytes) -> dict[int, int]:
    """Return the registers after movs, lsls, adds, subs and mvns."""
    registers: dict[int, int] = {}
    for (word,) in struct.iter_unpack("<H", code):
        register, value = word >> 8 & 7, word & 0xFF
        if word == NOP:
            continue
        if word >> 11 == 4:
            registers[register] = value
        elif word >> 11 == 6:
            registers[register] += value
        elif word >> 11 == 7:
            registers[register] -= value
        elif word >> 11 == 0:
            registers[word & 7] = registers[word >> 3 & 7] << (word >> 6 & 31)
        else:
            assert word >> 6 == 0x10F
            registers[word & 7] = ~registers[word >> 3 & 7]
        registers = {name: number & 0xFFFFFFFF for name, number in registers.items()}
    return registers


def numbers() -> Iterator[int]:
    """Yield numbers that occur in kernels, and similar ones."""
    yield from (0x60006, 0x120012, 0x1FFFF, 0x3FFFFFFF, 0x1FFFFFFF, 0xE0000001, 0x7FFFFFFF)
    yield from (0x80000000, 0xFFFFFF00, 0xFFFF0000)
    draw = random.Random(1)
    for _ in range(500):
        number = draw.randrange(256) << draw.randrange(32)
        number += draw.choice((1, -1)) * draw.randrange(256)
        yield (~number if draw.randrange(2) else number) & 0xFFFFFFFF


@pytest.mark.parametrize("register", [0, 5])
def test_a_number_is_computed(register: int) -> None:
    for number in numbers():
        before = b"\xc0\x46\xc0\x46"
        made = movable(before + read_number(register, number))
        assert made.startswith(before)
        assert run(made) == {register: number}


@pytest.mark.parametrize("rel", [0xAA0, 0xFFFFF542])
def test_a_far_jump_keeps_its_target(rel: int) -> None:
    code = struct.pack("<HHI", 0x4900, 0x448F, rel)  # ldr r1, [pc]; add pc, r1
    target = 2 + 4 + (rel - (rel >> 31 << 32))
    first, second, *rest = struct.unpack("<4H", movable(code))
    assert rest == [NOP, NOP]
    assert first >> 11 == 0x1E
    assert second >> 11 == 0x1F
    distance = (first & 0x7FF) << 12 | (second & 0x7FF) << 1
    assert 4 + distance - (distance >> 22 << 23) == target


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (read_number(0, 0x12345678), "the number 0x12345678"),
        (struct.pack("<HHI", 0x4801, 0xE001, 0), "elsewhere in the code"),
        (struct.pack("<H", 0x4800), "beyond its end"),
        (struct.pack("<H", 0xA001), "an address from the program counter"),
    ],
)
def test_code_that_cannot_be_moved_is_refused(code: bytes, why: str) -> None:
    with pytest.raises(ImmovableCodeError, match=why):
        movable(code)


def functions(code: mpy.Code) -> Iterator[mpy.Code]:
    yield code
    for child in code.children:
        yield from functions(child)


def test_the_whole_library_can_be_frozen(tmp_path: Path) -> None:
    names = [library_files.module_name(path) for path in library_files.sources()]
    plain = {mpy.in_library(path): path for path in mpy.compiled("armv6m")}
    changed = 0
    for place, data in frozen_files.files("armv6m", names).items():
        if place.endswith(".mpy"):
            file = tmp_path / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            pairs = zip(
                functions(mpy.read(file).code), functions(mpy.read(plain[place]).code), strict=True
            )
            for made, before in pairs:
                assert made.kind == before.kind
                assert len(made.data) == len(before.data)
                changed += made.data != before.data
                if made.native:
                    assert movable(made.data) == made.data
                else:
                    assert made.data == before.data
    assert changed > 100  # functions with more than three arguments, among others
