"""Which kernels a program has as machine code where there is too little room for that of all.

On the ESP32s, machine code goes to executable RAM, which has room for less than half of a
thicket's, or for most of it. But sixty of its 153 kernels do 95 % of the work. So those stay
bytecode that have least to do for each byte of their machine code. The bits are the same, see
plain_kernels.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..programs import mpy
from ..programs.merged_files import MergedFiles
from .import_heap import blocks, files_heap
from .ram_budget import Kernels

# Counted on an emulated RV32, of a thicket of 12 KB: its kernels take an eighth longer with tables
# that bytecode reads, too; and where bytecode does 4.4 % of the work, 2.8 times as long.
_TABLES, _BYTECODE = 1.12, 39.0
_SPARE = 1024  # bytes of the room: it may be in two pieces, whose ends fit no kernel


@dataclass(frozen=True)
class Shares:
    """The kernels that stay bytecode, of how many, and what part of a learner's work they do."""

    plain: tuple[str, ...] = ()
    of: int = 0
    work: float = 0.0

    @property
    def kernels(self) -> Kernels:
        """That as a budget tells it."""
        slower = _TABLES + self.work * _BYTECODE if self.plain else 1.0
        return Kernels(len(self.plain), self.of, round(slower, 2))


def shares(files: MergedFiles, room: int, work: Mapping[str, int]) -> Shares:
    """Those of a program, in whose files all kernels are machine code, for so many bytes of it.

    work is what each kernel has to do; of what is not there, nothing is known, and it stays
    machine code. If that alone is too much, there is more machine code than room.
    """
    sizes = _sizes(files)
    known = [name for name in sizes if name in work]
    whole = sum(module.native for module in files_heap(files.imported).modules)
    if whole <= room:
        return Shares()
    left = room - _SPARE - whole + sum(sizes[name] for name in known)
    plain = []
    for name in sorted(known, key=lambda name: (-work[name] / sizes[name], name)):
        if sizes[name] <= left:
            left -= sizes[name]
        else:
            plain.append(name)
    done = sum(work[name] for name in plain) / max(1, sum(work[name] for name in known))
    return Shares(tuple(sorted(plain)), len(sizes), done)


def _sizes(files: MergedFiles) -> dict[str, int]:
    """Bytes of each kernel's machine code, as allocated."""
    names = files.kernels.read_text(encoding="utf-8").split("\n")
    codes = mpy.functions(mpy.read(files.imported[0]).code)
    return {
        name: blocks(len(code.data))
        for name, code in zip(names, codes, strict=True)
        if name and code.native
    }
