"""Counts typical programs for each board, and writes the table that the package brings.

They are those from which `build` and `simulate --board` find the default size of a learner.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from ..base.errors import UserError
from ..library.learners import MODELS, defaults
from . import board_files, program_codes
from .default_bytes import SIZE, size_plans
from .deployment import Deployment
from .program_budget import planned_budget

_SHAPES = ((8, 4), (8, 2), (2, 2))  # features, classes: beyond, a program has other code


def write_table(
    boards: Iterable[str],
    file: Path = program_codes.PACKAGED,
    say: Callable[[str], object] = print,
) -> None:
    """Write what the code of typical programs takes on these boards."""
    for name in boards:
        say(f"what typical programs take on {name}")
        board = board_files.load(name)
        for model in [model for model in MODELS if SIZE in defaults(model)]:
            for features, classes in _SHAPES:
                parameters = defaults(model) | {"features": features, "classes": classes}
                for each in size_plans(Deployment(parameters, board, MODELS[model])):
                    with contextlib.suppress(UserError):  # which has no room there
                        planned_budget(each, 1)
    file.write_bytes(program_codes.counted())
