"""When a program sleeps: what words such as `--sleep every=60 pin=15` ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.settings import settings
from microshrub_host.boards.board_files import Board

from .program_sensors import ProgramSensor
from .program_sensors import pin as sensor_pin

_USUAL = {"every": 60, "window": 2, "hold": 60, "pin": ""}
_DAY = 86_400


def sleep_of(words: Sequence[str], board: Board, read: ProgramSensor) -> dict[str, Any]:
    """What config.json says of it. Raises UserError."""
    if read.kind == "serial":
        raise UserError(
            "--sleep is for a board that reads its own --sensor: one that waits for samples from "
            "its line would not hear them"
        )
    return sleep_settings(words, board)


def sleep_settings(words: Sequence[str], board: Board) -> dict[str, Any]:
    """The same, whatever the board reads."""
    if board.currents and board.currents.sleep_ma is None:
        raise UserError(f"{board.name} cannot sleep: its MicroPython has no machine.lightsleep")
    found = settings("--sleep", words, _USUAL)
    for name, least in (("every", 1), ("window", 0), ("hold", 1)):
        value = found[name]
        if type(value) is not int or not least <= value <= _DAY:
            raise UserError(f"--sleep {name} has to be {least}..{_DAY:,} seconds, not {value!r}")
    if found["window"] >= found["every"]:
        raise UserError(
            f"--sleep window={found['window']} every={found['every']} would never sleep: the "
            "window has to be shorter"
        )
    pin = found.pop("pin")
    return found | ({"pin": sensor_pin(str(pin), board)} if pin != "" else {})
