"""What fits a board on which not even the smallest model of a learner does.

Other learners, as they are without options; the same one with the library in the firmware, or
perhaps with its kernels in a native module, which takes a C compiler to find out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from ..base.errors import UserError
from ..beside.companion import Beside
from ..library.learners import DEFAULT, MODELS, REGRESSORS, defaults, kind_of
from .board_files import Board
from .ram_budget import Budget, Parameters
from .usual_budget import usual_budget

_NATIVE = "native"  # the module of that,
_PARCELS = "parcels"  # and the part of a program that only a thicket can have
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
    less = _without_the_rest(board, whole, usual_budget(smallest, board, kind, beside))
    shares = any(part.name == _PARCELS for part in whole.of_program)
    models = [] if shares else islice(_models(smallest, less, kind, beside), _NAMED)
    ways = [f"--model {model}" for model in models]
    if not frozen and usual_budget(smallest, less, kind, beside, freeze=True).fits:
        ways.append("`build --freeze`, whose library is in the firmware")
    said = f" What fits: {', or '.join(ways)}." if ways else ""
    native = any(part.name == _NATIVE for part in whole.code)
    return said if native else f"{said} --native takes less RAM: try that, too."


def _without_the_rest(board: Board, whole: Budget, usual: Budget) -> Board:
    """The board without what a program has beside a usual one: in the heap, and in executable RAM
    where machine code is there.
    """
    more = max(whole.ram_bytes - usual.ram_bytes, 0)
    code = max(whole.machine_code_bytes - usual.machine_code_bytes, 0)
    executable = None if board.executable_bytes is None else board.executable_bytes - code
    return replace(
        board, heap_free_bytes=board.heap_free_bytes - more, executable_bytes=executable
    )


def _models(smallest: Parameters, board: Board, kind: str, beside: Beside) -> Iterator[str]:
    """The other learners that fit as they are, machine code and all."""
    given = {name: smallest[name] for name in _GIVEN if name in smallest}
    for model in REGRESSORS if "classes" not in smallest else MODELS:
        if model == DEFAULT or kind_of(model) == kind:
            continue
        try:
            found = usual_budget({**given, **defaults(model)}, board, kind_of(model), beside)
            if found.fits and found.code_fits:
                yield model
        except (TypeError, ValueError, UserError):  # it cannot be of that shape
            pass
