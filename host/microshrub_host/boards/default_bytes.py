"""The default size of a learner whose size is an option."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..base.errors import UserError
from ..library import loader
from ..library.learners import defaults, model_name
from ..simulation.companion import Companions, with_companions
from ..simulation.feature_options import FeatureOptions
from ..simulation.pipeline import pipeline
from .board_files import Board
from .deployment import Deployment
from .fit_advice import options_to_lower
from .program import usual_program
from .ram_budget import START_BYTES, Budget, Parameters, budget, in_program
from .scarce_machine_code import ANY, USUAL
from .usual_budget import usual_budget

SIZE = "bytes"  # the option
RESERVED = 20 * 1024  # bytes of RAM for the user's own code, after the start
_MARGIN = 512  # bytes for differences between programs: names, a button, the heap's blocks
_STATISTICS = "statistics=mean,deviation,min,max,crossings,energy"
_FEATURES = ("window=32", _STATISTICS, "bands=1-9", "low-pass=9")  # the features of a sensor
_CHANNELS, _RATE = ("x", "y"), 50
_STEP = 1024
_NO_DEFAULT = "No default size fits beside the rest of the program."
# The factor by which a sample may be slower to make room for this fraction of the default.
# Thickets' mean accuracy in the results is 87 % with a quarter of the default, 85 % with an
# eighth, and 77 % with a sixteenth. So a sample may take one and a half times as long for a
# quarter, and as long as it must for an eighth, but no longer: each kernel kept as machine code
# saves time.
_SLOWER = ((USUAL, 4), (12, 8), (ANY, 8))
_LEAST = 16  # the least fraction for a slower sample: with half as much, the mean is 67 %


class NoRoom(UserError):  # noqa: N818, a state of affairs, like StopIteration
    """A board has no room for a learner of any size.

    The message, which takes long to make, advises what would fit.
    """

    def __init__(self, tell: Callable[[], str]) -> None:
        super().__init__()
        self._tell = tell

    def __str__(self) -> str:
        return self._tell()


def bytes_for(deployment: Deployment, sensor: Companions = ()) -> int:
    """Return the learner's default bytes, or fewer if the program of `build` leaves less room.

    The learner's companions, and the program's network, take RAM from the reserve for the user's
    own code. Raises NoRoom, with advice, if not even the smallest learner fits.

    `sensor` has the features of a sensor that the program certainly reads; without them, a board
    with little room gets a size that fits without a sensor.

    If machine code is on the heap, and leaves less than a quarter of the default, some kernels
    become bytecode: see _SLOWER.
    """
    learner, parameters, board = deployment.learner, deployment.parameters, deployment.board
    alone, as_wide, sensed = size_plans(deployment)
    sizes = Sizes(parameters, board, learner)

    def within(slowest: float) -> int | None:
        plain = usual_budget(alone, slowest)
        if not plain.kernels.plain and slowest > 1:
            return None  # all kernels are machine code, as with slowest=1
        nbytes = bytes_within(plain, sensor_bytes, sizes, more, known_bytes)
        return nbytes if slowest == 1 or (nbytes or 0) >= _most(learner) // _LEAST else None

    sensor_bytes = usual_budget(sensed, 1).ram_bytes - usual_budget(as_wide, 1).ram_bytes
    known_bytes = 0
    if sensor:
        known, plain = (usual_budget(replace(alone, companions=each), 1) for each in (sensor, ()))
        # the sensor's machine code may also take memory by which the heap would grow
        known_bytes = known.ram_bytes - plain.ram_bytes + plain.free_bytes - known.free_bytes
    everything = _largest(replace(deployment, names=((), ())))
    more = 0
    if deployment.companions or deployment.network:
        more = usual_budget(everything, 1).ram_bytes - usual_budget(alone, 1).ram_bytes
        more = max(more, 0)
    nbytes = within(1) or 0
    for slowest, part in _SLOWER:
        enough = _most(learner) // part
        if nbytes < enough:
            room = within(slowest) or 0
            nbytes = max(nbytes, room if slowest < ANY else min(room, enough))
    if not nbytes:
        whole = replace(everything, companions=(*everything.companions, *sensor))
        taken = usual_budget(whole)
        raise NoRoom(lambda: options_to_lower(whole, taken, reason=_NO_DEFAULT))
    return nbytes


def size_plans(deployment: Deployment) -> tuple[Deployment, Deployment, Deployment]:
    """Return the three programs that determine the default size, each with the largest learner.

    They are one without a sensor, the same with the features of a sensor, and one with that
    sensor.
    """
    alone = replace(deployment, companions=(), network=(), names=((), ()))
    sensor = pipeline(FeatureOptions.of(_FEATURES).extraction(_CHANNELS, _RATE))
    sensed = replace(alone, companions=sensor)
    features = usual_program(sensed).parameters["features"]
    return _largest(alone), _largest(alone, features=features), _largest(sensed)


def _largest(deployment: Deployment, **shape: int) -> Deployment:
    size = {SIZE: _most(deployment.learner), **shape}
    parameters = with_companions({**deployment.parameters, **size}, deployment.companions)
    return replace(deployment, parameters=parameters)


class Sizes:
    """The budgets of a learner in all sizes on a board, each computed at its first use."""

    def __init__(self, parameters: Parameters, board: Board, learner: str) -> None:
        self._parameters, self._board, self._learner = parameters, board, learner
        self._alone: dict[int, Budget | None] = {}
        self.most = _most(learner)

    def exists(self, size: int) -> bool:
        """Return whether the learner can be that small with these features and classes."""
        return self._of(size) is not None

    def fits(self, size: int, plain: Budget, taken: int) -> bool:
        """Return whether a size fits in place of the learner in `plain`, beside `taken` bytes."""
        alone = self._of(size)
        if alone is None:
            return True
        whole = in_program(alone, self._board, plain)
        return replace(whole, free_bytes=whole.free_bytes - taken).fits

    def _of(self, size: int) -> Budget | None:
        if size not in self._alone:
            try:
                wanted: dict[str, Any] = {**self._parameters, SIZE: size}
                self._alone[size] = budget(wanted, self._board, self._learner, [])
            except ValueError:
                self._alone[size] = None
        return self._alone[size]


def bytes_within(
    plain: Budget, sensor_bytes: int, sizes: Sizes, more: int = 0, known_bytes: int = 0
) -> int | None:
    """Return the learner's default bytes, or fewer if the rest of the program leaves less room.

    `plain` is that program; a sensor takes sensor_bytes more. RESERVED bytes stay free, of which
    the learner's companions take `more`. If that leaves less than a quarter of the default, no
    bytes stay free; if less than a sixteenth, there is room only for a sensor that is known, which
    takes known_bytes. None if no size fits.
    """
    most = sizes.most
    needed = max(sensor_bytes, known_bytes) + more + _MARGIN
    for free, least in (
        (max(sensor_bytes + RESERVED - START_BYTES, needed), most // 4),
        (needed, most // 16),
        (known_bytes + more + _MARGIN, 0),
    ):

        def too_large(steps: int, free: int = free) -> bool:
            return not sizes.fits(steps * _STEP, plain, free)

        size = _STEP * bisect.bisect(range(1, most // _STEP + 1), False, key=too_large)
        if size >= max(least, _STEP) and sizes.exists(size):
            return size
    return None


def bytes_beside(program: Budget, parameters: Parameters, board: Board, learner: str) -> int:
    """Return the largest size of the learner that fits with the rest of a program; 0 if none does.

    `program` is the budget of the program with the learner in another size.
    """
    sizes = Sizes(parameters, board, learner)

    def too_large(steps: int) -> bool:
        return not sizes.fits(steps * _STEP, program, 0)

    size = _STEP * bisect.bisect(range(1, sizes.most // _STEP + 1), False, key=too_large)
    return size if size and sizes.exists(size) else 0


def _most(learner: str) -> int:
    return int(defaults(model_name(learner))[SIZE])


def exists(parameters: Parameters, learner: str) -> bool:
    """Return whether the learner can be that small with these features and classes."""
    try:
        getattr(loader.load("python"), learner).nbytes(**parameters)
    except ValueError:
        return False
    return True
