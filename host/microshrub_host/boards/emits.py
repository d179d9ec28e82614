"""The forms of kernels on a board: native code, viper's machine code, or bytecode.

Native code comes with the package, made by C compilers. Viper's code is made by mpy-cross, is
three times as long and takes twice as many instructions. Bytecode runs on any processor, but
slowly.
"""

from __future__ import annotations

from ..base.errors import UserError
from ..programs import native_files
from .board_files import Board

NATIVE, VIPER, BYTECODE = EMITS = ("native", "viper", "bytecode")


def chosen(board: Board, asked: str = "", freeze: bool = False) -> str:
    """Return one of EMITS: the requested one, or else the best one for the board.

    With `freeze`, the library is in the firmware, and MicroPython's tools cannot freeze native
    code. Raises UserError for a form that is not possible.
    """
    if asked not in ("", *EMITS):
        raise UserError(f"--emit has to be one of {', '.join(EMITS)}, not {asked!r}")
    if freeze and asked == NATIVE:
        raise UserError("MicroPython cannot freeze native code: --freeze without --emit native")
    if asked in (VIPER, BYTECODE):
        return asked
    return NATIVE if not freeze and native_files.can_be_made(board.arch) else VIPER
