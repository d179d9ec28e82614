"""Deep sleep of a program: from which distance between two samples on it takes less, and which
programs can do it.

config.json's sleep then has "deep": the seconds that a deep sleep has to last to take less than
light sleep. They follow from the board's currents and from the size of the checkpoint.
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

from .flash_wear import seconds_of
from .program_options import rate_of

UNSETTLED = 1  # second: a program that is to sleep deeply, where that pays


def state_bytes(program: Program, board: Board) -> int:
    """What a checkpoint holds, about."""
    found = ram_budget.budget(program.parameters, board, program.learner, [])
    return sum(part.bytes for part in found.buffers)


def trade(program: Program, board: Board) -> DeepSleepTrade | None:
    """Of a program that sleeps; None where the board's currents are not known."""
    if board.currents is None:
        return None
    sleep = program.around["sleep"]
    checkpoint_s = seconds_of(state_bytes(program, board))
    return energy.trade(board.currents, checkpoint_s, sleep["window"], sleep["every"])


def settled(program: Program, board: Board) -> Program:
    """The program; if it is to sleep deeply, with the seconds that this has to last.

    Raises UserError where that is not known, where the program would lose something by it, and
    where its samples come so often that light sleep takes less.
    """
    around = program.around
    if (around.get("sleep") or {}).get("deep") != UNSETTLED:
        return program
    found = trade(program, board)
    if found is None:
        raise UserError(
            f"--sleep deep=yes: nothing is known of what {board.name} draws in deep sleep, as its "
            "file has no deep_ma in [energy]"
        )
    _check(around)
    period = 1 / (rate_of(around) or 1.0)
    if period <= found.seconds:
        raise UserError(
            f"--sleep deep=yes takes more than light sleep at one sample in {period:,.3g} "
            f"seconds: {found}"
        )
    sleep = around["sleep"] | {"deep": math.ceil(found.seconds)}
    return dataclasses.replace(program, around=around | {"sleep": sleep})


def _check(around: dict[str, Any]) -> None:
    """Raise UserError if the program needs what deep sleep does not keep."""
    lights = any((around.get(name) or {}).get("led") is not None for name in ("asking", "spare"))
    for there, what in (
        (not around["checkpoint"], "--checkpoint-samples 0 leaves nothing to start from"),
        (around.get("extraction"), "the readings that --features collects are lost"),
        (around.get("switches"), "the pins of --switch are off"),
        (lights, "the light of --led-pin is off"),
    ):
        if there:
            raise UserError(f"--sleep deep=yes keeps no RAM and no pins: {what}. Leave one out")
