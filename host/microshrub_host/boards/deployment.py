"""A learner to run on a board, and the choices that determine its program."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..simulation.companion import Companions
from .board_files import Board
from .ram_budget import Parameters

Names = tuple[Sequence[str], Sequence[str]]  # names of features, names of classes


@dataclass(frozen=True)
class Deployment:
    """A learner on a board, with its companions.

    learner is the name of the learner's class, parameters are all arguments of its constructor.
    network has some of "mqtt", "tcp", "share", and perhaps "udp" or "espnow", which carry shared
    samples in place of "mqtt". emit is the form of the kernels, one of EMITS, or empty for the
    best form; with freeze, the library is in the firmware. With fixed_ranges, the features' ranges
    do not grow. names are the names of features and classes, if known.
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
