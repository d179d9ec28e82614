"""A learner that is to run on a board, and the choices that determine its program."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..simulation.companion import Companions
from .board_files import Board
from .ram_budget import Parameters

Names = tuple[Sequence[str], Sequence[str]]  # of features, of classes


@dataclass(frozen=True)
class Deployment:
    """A learner on a board, with its companions.

    learner is the name of its class, parameters are all those of its constructor. network has some
    of "mqtt", "tcp", "share", and perhaps "udp" or "espnow", which carry what is shared in place
    of "mqtt". emit is what the kernels become, one of EMITS, or empty for the best that there is;
    with freeze, the library is in the firmware. With fixed_ranges, those of the features do not
    grow. names are those of the features and of the classes, where these are known.
    """

    parameters: Parameters
    board: Board
    learner: str
    companions: Companions = ()
    network: Collection[str] = ()
    emit: str = ""
    freeze: bool = False
    fixed_ranges: bool = False
    names: Names = ((), ())
