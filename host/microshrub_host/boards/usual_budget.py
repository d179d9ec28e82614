"""The RAM of the program that `build` makes with a learner, planned once and then cached.

Planning takes as long as learning some thousand samples, and each run prints the result.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from ..base.cache import remembered
from ..library import loader
from ..programs import native_files
from .deployment import Deployment
from .emits import NATIVE, chosen
from .planner import planner
from .ram_budget import Budget, Kernels, Part
from .scarce_machine_code import ANY

_KEPT = 256  # budgets, some 4 KB each
_OURS = f"{__name__.partition('.')[0]}."


def usual_budget(deployment: Deployment, slowest: float = ANY, exact: bool = False) -> Budget:
    """Return the RAM of the program that `build` makes with a learner, see program.py.

    With `exact`, the count is exact to the byte, which takes seconds for each size of a learner;
    without, it is within 1 %. If viper's machine code is on the heap and the program would not
    fit, kernels become bytecode, as long as a sample takes at most `slowest` times as long. Raises
    ValueError for parameters that the learner refuses.
    """
    board = deployment.board
    emit = chosen(board, deployment.emit, deployment.freeze)
    asked = replace(deployment, emit=emit)

    def planned() -> bytes:
        from .program_budget import planned_budget

        return json.dumps(asdict(planned_budget(asked, slowest, exact))).encode()

    if not all(type(each).__module__.startswith(_OURS) for each in asked.companions):
        return _read(planned())  # a user's companion may change between runs
    code = native_files.made_of(board.arch) if emit == NATIVE else b""
    key = repr((planner(), loader.digest(), code, asked, slowest, exact)).encode()
    return _read(remembered("budget", key, planned, _KEPT))


def _read(data: bytes) -> Budget:
    fields = json.loads(data)
    kernels = Kernels.of_row(fields.pop("kernels"))
    parts: dict[str, Any] = {
        name: [Part(**part) for part in value] if isinstance(value, list) else value
        for name, value in fields.items()
    }
    return Budget(**parts, kernels=kernels)
