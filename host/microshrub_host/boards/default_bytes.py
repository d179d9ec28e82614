"""The default size of a learner that has its size as an option."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..library.learners import defaults, learner, model_of
from .board_files import Board
from .ram_budget import Parameters, budget

SIZE = "bytes"  # the option
RESERVED = 20 * 1024  # bytes of RAM that are left to the user's own code
# Bytes of RAM that the program of `build` takes beside what `budget` counts of the learner, which
# has a file for each module and kernels for all learners: with a sensor and features, and without
PROGRAM = 30_000
_PLAIN = 12_000
_STEPS = 16


def bytes_for(parameters: Parameters, board: Board, kind: str, native: bool = False) -> int:
    """The learner's default bytes, or fewer if the board has less beside the program of `build`.

    With `native`, that is the program of `build --native`, which is smaller. RESERVED bytes stay
    free; if the board is too small for that and a quarter of the default, only the program has to
    fit, and at last one without a sensor.
    """
    most = int(defaults(model_of(kind))[SIZE])
    choices = [most * k // _STEPS for k in range(_STEPS, 0, -1)] + [most // 2 // _STEPS]
    for beside, least in ((PROGRAM + RESERVED, most // 4), (PROGRAM, 0), (_PLAIN, 0)):
        rest = dataclasses.replace(board, heap_free_bytes=board.heap_free_bytes - beside)
        for size in [size for size in choices if size >= least]:
            wanted: dict[str, Any] = {**parameters, SIZE: size}
            if _exists(wanted, kind) and budget(wanted, rest, kind, native=native).fits:
                return size
    return most


def _exists(parameters: Parameters, kind: str) -> bool:
    """Whether the learner can be that small with so many features and classes."""
    try:
        learner(model_of(kind)).nbytes(**parameters)
    except ValueError:
        return False
    return True
