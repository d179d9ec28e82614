"""What fits a board on which not even the smallest model of a learner does.

Other learners, as they are without options; the same one with the library in the firmware, or
perhaps with its kernels in a native module, which takes a C compiler to find out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from ..beside.companion import Beside
from ..library.learners import DEFAULT, MODELS, REGRESSORS, defaults, kind_of
from .board_files import Board
from .ram_budget import Budget, Parameters
from .usual_budget import usual_budget

_NATIVE = "native"  # the module of that
_NAMED = 2  # other learners that are named
_GIVEN = ("features", "classes", "late")


def other_ways(
    smallest: Parameters, board: Board, kind: str, whole: Budget, beside: Beside, frozen: bool
) -> str:
    """A sentence that begins with a space, or nothing if nothing else fits either.

    smallest are the parameters of the smallest model that there is, and whole is what its program
    takes, more perhaps than that of `build` without options. frozen: a firmware with the
    library in it is named elsewhere.
    """
    more = whole.ram_bytes - usual_budget(smallest, board, kind, beside).ram_bytes
    less = replace(board, heap_free_bytes=board.heap_free_bytes - max(more, 0))
    ways = smaller_learners(smallest, less, kind, beside)
    if not frozen and usual_budget(smallest, less, kind, beside, freeze=True).fits:
        ways.append("`build --freeze`, whose library is in the firmware")
    said = f" What fits: {', or '.join(ways)}." if ways else ""
    native = any(part.name == _NATIVE for part in whole.code)
    return said if native else f"{said} --native takes less RAM: try that, too."


def smaller_learners(parameters: Parameters, board: Board, kind: str, beside: Beside) -> list[str]:
    """Options for other learners that fit as they are, machine code and all: the first two."""
    found = islice(_models(parameters, board, kind, beside), _NAMED)
    return [f"--model {model}" for model in found]


def _models(smallest: Parameters, board: Board, kind: str, beside: Beside) -> Iterator[str]:
    """The other learners that fit as they are."""
    given = {name: smallest[name] for name in _GIVEN if name in smallest}
    for model in REGRESSORS if "classes" not in smallest else MODELS:
        if model == DEFAULT or kind_of(model) == kind:
            continue
        try:
            found = usual_budget({**given, **defaults(model)}, board, kind_of(model), beside)
            if found.fits and found.code_fits:
                yield model
        except (TypeError, ValueError):  # it cannot be of that shape
            pass
