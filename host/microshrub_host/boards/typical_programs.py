"""The table of typical programs for each board, which the package brings.

The programs are the ones from which `build` and `simulate --board` compute a learner's default
size.
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

_SHAPES = ((8, 4), (8, 2), (2, 2))  # features and classes that lead to different code


def write_table(
    boards: Iterable[str],
    file: Path = program_codes.PACKAGED,
    say: Callable[[str], object] = print,
) -> None:
    """Write the RAM of the code of typical programs on these boards."""
    for name in boards:
        say(f"what typical programs take on {name}")
        board = board_files.load(name)
        for model in [model for model in MODELS if SIZE in defaults(model)]:
            for features, classes in _SHAPES:
                parameters = defaults(model) | {"features": features, "classes": classes}
                for each in size_plans(Deployment(parameters, board, MODELS[model])):
                    with contextlib.suppress(UserError):  # no room on this board
                        planned_budget(each, 1)
    file.write_bytes(program_codes.counted())
