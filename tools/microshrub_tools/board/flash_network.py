"""Flashes a board on the network, over TCP, with the board's key.

The board stops its program, which saves its checkpoint, and takes commands as over a cable.
The new program is copied and compared there; then the board restarts, runs the self-test of the
new program's library, and starts the program if the bits are the simulator's. The new program
stays once the PC has connected to it over the network; otherwise, and after every cut, the
previous program starts: see board_code.py.
"""

from __future__ import annotations

import ast
import contextlib
from typing import Any

from microshrub_host.base.child_process import patience
from microshrub_host.base.errors import UserError

from ..link.serial_line import PortError
from ..link.tcp_line import FLASH, line_within
from . import flash, simulated_board
from .board_repl import DeviceError, RaisedError
from .flash import Files, SelfTest, Update

_SECONDS = 30.0  # seconds for an answer
_BACK = 420.0  # seconds until the board is back, tested; longer than a program's trial
_RESTART = b"import machine; machine.reset()"


class NetworkDevice:
    """A board on the network that takes a new program. Raises PortError if none answers.

    seconds is how long a starting board may take.
    """

    def __init__(self, port: str, key: bytes, seconds: float = 0.0) -> None:
        self.port = port
        self._line = line_within(port, key, seconds, FLASH)

    def run(self, code: str, seconds: float = _SECONDS) -> str:
        """Run the code and return its output.

        Raises RaisedError, or DeviceError if the line is gone.
        """
        try:
            answer = self._line.ask(code.encode(), patience(seconds))
        except OSError as broken:
            raise DeviceError(f"The line to {self.port} is gone ({broken}).") from None
        text = answer[1:].decode(errors="replace")
        if answer[:1] != b"\1":
            raise RaisedError(text)
        return text

    def value(self, expression: str, seconds: float = _SECONDS) -> Any:
        """Return the value of an expression on the board: numbers, texts, lists and the like."""
        return ast.literal_eval(self.run(f"print(repr({expression}))", seconds))

    def reset(self) -> None:
        """Restart the board, which closes the line."""
        with contextlib.suppress(OSError):
            self._line.ask(_RESTART, 1.0)
        self.close()

    def close(self) -> None:
        """Close the line, after which the board restarts."""
        self._line.close()


def flash_network(port: str, key: bytes, files: Files, update: Update) -> SelfTest:
    """Put a build on a board, and have the board try it out. Raises UserError.

    After each step the board starts its previous program or, after the last ones, the new one.
    """
    device = NetworkDevice(port, key)
    try:
        before = _send(device, files, update)
    finally:
        device.reset()
    device = _back(port, key)
    try:
        now = device.value("here")
        if now == before:
            flash.prepare(device)
            raise UserError(
                "The new program did not pass its self-test on the board, or did not come up "
                "there: the board has gone back to its previous program."
            )
        crc, took, free_before, free_after = device.value(f"eval(open('{now}/selftest').read())")
        device.run(f"import os; os.remove('{now}/tried')")
        flash.prepare(device)
    finally:
        device.reset()
    return SelfTest(crc, round(took / flash.SAMPLES), free_before, free_after)


def _send(device: NetworkDevice, files: Files, update: Update) -> str:
    """Copy the program and make it the next to start; return the folder of the current program."""
    before: str = device.value("here")
    if device.value(simulated_board.MARK):
        files = simulated_board.for_this_pc(files)
    if not before.startswith("microshrub."):
        raise UserError(
            "The board's program was not put there by `microshrub flash`, so there would be none "
            "to go back to. Flash it over the cable once."
        )
    flash.prepare(device)
    flash.check_fit(device, files)
    flash.copy(device, files, update)
    flash.put_on_trial(device, files)
    flash.verify(device, files)
    flash.take_checkpoint_along(device)
    flash.switch(device, keep=True)
    return before


def _back(port: str, key: bytes) -> NetworkDevice:
    """Wait for the board and return it. Raises UserError if the board is not back in time."""
    try:
        return NetworkDevice(port, key, _BACK)
    except PortError as error:
        raise UserError(
            f"The board has not come back to the network: {error}. It starts its previous "
            "program when it starts anew."
        ) from None
