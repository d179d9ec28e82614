"""Deep sleep of a program: from which time between two samples on it takes less energy, and which
programs can use it.

"deep" in the sleep of config.json is the seconds that a deep sleep has to last to take less than
light sleep. The seconds follow from the board's currents and from the size of the checkpoint.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.boards import energy, ram_budget
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.energy import DeepSleepTrade
from microshrub_host.boards.program import Program

from .flash_memory import seconds_of
from .program_options import rate_of

_LIT = ("queries", "spare_classes", "checkpoint")  # options that may have a light
UNSETTLED = 1  # second: a program that is to sleep deeply, if that pays


def state_bytes(program: Program, board: Board) -> int:
    """Return about how many bytes a checkpoint has."""
    result = ram_budget.budget(program.parameters, board, program.learner, [])
    return sum(part.bytes for part in result.buffers)


def trade(program: Program, board: Board) -> DeepSleepTrade | None:
    """Compare deep and light sleep for a program; None if the board's currents are not known."""
    if board.currents is None:
        return None
    sleep = program.config["sleep"]
    checkpoint_s = seconds_of(state_bytes(program, board))
    return energy.trade(board.currents, checkpoint_s, sleep["window"], sleep["every"])


def settled(program: Program, board: Board) -> Program:
    """Return the program; a program that is to sleep deeply gets the seconds from which that pays.

    Raises UserError if the board's currents are not known, if deep sleep would break the program,
    or if its samples are so frequent that light sleep takes less.
    """
    config = program.config
    if (config.get("sleep") or {}).get("deep") != UNSETTLED:
        return program
    result = trade(program, board)
    if result is None:
        raise UserError(
            f"--sleep deep=yes: nothing is known of what {board.name} draws in deep sleep, as its "
            "file has no deep_ma in [energy]"
        )
    _check(config)
    period = 1 / (rate_of(config) or 1.0)
    if period <= result.seconds:
        raise UserError(
            f"--sleep deep=yes takes more than light sleep at one sample in {period:,.3g} "
            f"seconds: {result}"
        )
    sleep = config["sleep"] | {"deep": math.ceil(result.seconds)}
    return dataclasses.replace(program, config=config | {"sleep": sleep})


def _check(config: dict[str, Any]) -> None:
    """Raise UserError if the program needs RAM or pins, which deep sleep does not keep."""
    lights = any((config.get(name) or {}).get("led") is not None for name in _LIT)
    for there, what in (
        (not config["checkpoint"], "--checkpoint-seconds 0 leaves nothing to start from"),
        (config.get("extraction"), "the readings that --features collects are lost"),
        (config.get("switches"), "the pins of --switch are off"),
        (lights, "the light of --led-pin or --checkpoint-led is off"),
    ):
        if there:
            raise UserError(f"--sleep deep=yes keeps no RAM and no pins: {what}. Leave one out")
