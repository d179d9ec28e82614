"""The default size of a learner that has its size as an option."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable, Collection
from typing import Any

from ..base.errors import UserError
from ..beside.between import between
from ..beside.companion import Beside, around
from ..features.feature_options import FeatureOptions
from ..library.learners import defaults, learner, model_of
from .board_files import Board
from .program import usual_program
from .ram_budget import START_BYTES, Budget, Parameters, budget
from .scarce_machine_code import ANY, USUAL
from .usual_budget import usual_budget
from .what_to_lower import which_to_lower

SIZE = "bytes"  # the option
RESERVED = 20 * 1024  # bytes of RAM that are left to the user's own code, after the start
_MARGIN = 512  # what two programs may differ by: names, a button, the blocks of the heap
_STATISTICS = "statistics=mean,deviation,min,max,crossings,energy"
_FEATURES = ("window=32", _STATISTICS, "bands=1-9", "low-pass=9")  # of a sensor
_CHANNELS, _RATE = ("x", "y"), 50
_STEP = 1024
_NO_DEFAULT = "No default size fits beside the rest of the program."
# How many times as long a sample may take so that there is room for this part of the default. The
# mean accuracy of a thicket's page is 87 % with a quarter of it, 85 with an eighth, and 77 with a
# sixteenth. So one and a half times are paid for a quarter, and whatever it takes for an eighth,
# but no more than that: each kernel that stays machine code makes a sample faster.
_SLOWER = ((USUAL, 4), (12, 8), (ANY, 8))
_LEAST = 16  # nothing is paid for less than this part: with half of it, the mean is 67 %


class NoRoom(UserError):  # noqa: N818, a state of affairs, like StopIteration
    """A board has no room for a learner of any size.

    The text, which takes long to make, says what fits instead.
    """

    def __init__(self, tell: Callable[[], str]) -> None:
        super().__init__()
        self._tell = tell

    def __str__(self) -> str:
        return self._tell()


def bytes_for(
    parameters: Parameters,
    board: Board,
    kind: str,
    native: bool = False,
    frozen: bool = False,
    freeze: bool = False,
    beside: Beside = (),
    network: Collection[str] = (),
) -> int:
    """The learner's default bytes, or fewer if the board has less beside the program of `build`.

    With `native`, that is the program of `build --native`, which is smaller; with `frozen`, one
    whose ranges do not grow; with `freeze`, one whose library is in the firmware. What is known to
    stand beside the learner, and what the program has in a `network`, come out of what is left to
    the user's own code. Raises NoRoom, which says what fits instead, if not even the smallest
    does.

    Where machine code is on the heap, and all of it leaves less than a quarter of the default,
    some kernels are bytecode: see _SLOWER.
    """

    def whole(
        slowest: float, beside: Beside = (), network: Collection[str] = (), **shape: int
    ) -> Budget:
        wanted = around({**parameters, SIZE: _most(kind), **shape}, beside)
        return usual_budget(
            wanted, board, kind, beside, native, network, frozen, freeze=freeze, slowest=slowest
        )

    def within(slowest: float) -> int | None:
        plain = whole(slowest)
        if not plain.kernels.plain and slowest > 1:
            return None  # it is all machine code, as before
        found = bytes_within(plain, sensor_bytes, parameters, board, kind, more)
        return found if slowest == 1 or (found or 0) >= _most(kind) // _LEAST else None

    sensor = between(FeatureOptions.of(_FEATURES).extraction(_CHANNELS, _RATE))
    sensed = usual_program(kind, parameters, sensor, frozen=frozen)
    same = whole(1, features=sensed.parameters["features"])
    sensor_bytes = whole(1, sensor).ram_bytes - same.ram_bytes
    more = 0
    if beside or network:
        more = max(whole(1, beside, network).ram_bytes - whole(1).ram_bytes, 0)
    found = within(1) or 0
    for slowest, part in _SLOWER:
        enough = _most(kind) // part
        if found < enough:
            room = within(slowest) or 0
            found = max(found, room if slowest < ANY else min(room, enough))
    if not found:
        wanted = around({**parameters, SIZE: _most(kind)}, beside)
        everything = whole(ANY, beside, network)
        raise NoRoom(
            lambda: which_to_lower(wanted, board, kind, everything, beside, reason=_NO_DEFAULT)
        )
    return found


def bytes_within(
    plain: Budget,
    sensor_bytes: int,
    parameters: Parameters,
    board: Board,
    kind: str,
    more: int = 0,
) -> int | None:
    """The learner's default bytes, or fewer if the board has less beside the rest of a program.

    A sensor takes sensor_bytes more than that program, which is `plain`, and RESERVED bytes stay
    free, of which what is to stand beside the learner takes `more`. If the board is too small for
    that and a quarter of the default, none stay free, and beside less than a sixteenth, the
    sensor has no room. None if no size has any.
    """
    most = _most(kind)
    for free, least in (
        (sensor_bytes + max(RESERVED - START_BYTES, more + _MARGIN), most // 4),
        (sensor_bytes + more + _MARGIN, most // 16),
        (more + _MARGIN, 0),
    ):
        rest = dataclasses.replace(board, heap_free_bytes=board.heap_free_bytes - free)

        def too_large(steps: int, rest: Board = rest) -> bool:
            wanted: dict[str, Any] = {**parameters, SIZE: steps * _STEP}
            if not exists(wanted, kind):
                return False
            return not budget(wanted, rest, kind, plain.code, plain.of_program).fits

        size = _STEP * bisect.bisect(range(1, most // _STEP + 1), False, key=too_large)
        if size >= max(least, _STEP) and exists({**parameters, SIZE: size}, kind):
            return size
    return None


def _most(kind: str) -> int:
    return int(defaults(model_of(kind))[SIZE])


def exists(parameters: Parameters, kind: str) -> bool:
    """Whether the learner can be that small with so many features and classes."""
    try:
        learner(model_of(kind)).nbytes(**parameters)
    except ValueError:
        return False
    return True
