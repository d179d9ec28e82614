"""The library in the ROM file system of a board, if the firmware has one.

From there, bytecode, names and texts are used in place, in flash; from any other file, MicroPython
copies them into RAM. mpremote writes the file system, whole. The library is in the program's
folder, too, and the folder's rom.py lets main.py choose:

    /rom/microshrub.lib      the library of the last program that was flashed over a cable
    microshrub.0007/rom.py   names /rom/microshrub.lib, if all of /rom has the expected CRC32
    microshrub.0007/lib      imported otherwise

So a board starts its program even if the power is cut during a write to /rom, or if other data is
written there later. A ROM file system that holds anything else stays as it is.
"""

from __future__ import annotations

import argparse
import binascii
import contextlib
import io
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mpremote import commands
from mpremote.romfs import VfsRomWriter
from mpremote.transport import TransportError, TransportExecError

from microshrub_host.base.errors import UserError

from .board_code import ROM_HELPERS, ROM_PATH, ROM_PROGRAM
from .board_repl import RaisedError

FOLDER = ROM_PATH.rpartition("/")[2]  # a folder of the ROM file system
PROGRAM = "rom.py"  # a file of the program's folder
NO_FIRMWARE = "its firmware has no ROM file system"
_LIB = "lib/"
_SECONDS = 60.0  # seconds to erase the whole ROM file system


class _Board(Protocol):
    """A board that runs code: see flash.Runs."""

    def run(self, code: str, seconds: float = ...) -> str:
        """Run the code and return its output."""

    def value(self, expression: str, seconds: float = ...) -> Any:
        """Return the value of the expression."""


@dataclass(frozen=True)
class RomLibrary:
    """The bytes that the library takes in a ROM file system, and its rom.py; or why it is not
    there.

    Without a library in the build, all fields are empty.
    """

    size: int = 0
    program: bytes = b""
    why_not: str = ""


def put(device: _Board, files: Mapping[str, bytes]) -> RomLibrary:
    """Put the library of a build into the ROM file system, if possible. Raises UserError.

    The board has helpers of board_code.py already.
    """
    image = image_of(files)
    if not image:
        return RomLibrary()
    device.run(ROM_HELPERS)
    why_not = _why_not(device, len(image))
    if why_not:
        return RomLibrary(why_not=why_not)
    crc = binascii.crc32(image)
    if not _is_there(device, len(image), crc):
        _deploy(device, image)
        if not _is_there(device, len(image), crc):
            raise UserError(
                "The library did not arrive in the board's ROM file system as it was sent. Flash "
                "again; if this persists, the board's flash or the cable is damaged. The board "
                "still has its previous program."
            )
    return RomLibrary(len(image), (ROM_PROGRAM % (len(image), crc)).encode())


def image_of(files: Mapping[str, bytes]) -> bytes:
    """Return the ROM file system with the library of a build; empty if the build has none."""
    library = {name[len(_LIB) :]: data for name, data in files.items() if name.startswith(_LIB)}
    if not library:
        return b""
    writer = VfsRomWriter()
    _add_folder(writer, FOLDER, library)
    return bytes(writer.finalise())


def _add_folder(writer: Any, name: str, files: Mapping[str, bytes]) -> None:
    """Add a folder with these files, by their paths in the folder."""
    writer.opendir(name)
    folders: dict[str, dict[str, bytes]] = {}
    for path, data in sorted(files.items()):
        folder, _, rest = path.partition("/")
        if rest:
            folders.setdefault(folder, {})[rest] = data
        else:
            writer.mkfile(path, data)
    for folder, inside in folders.items():
        _add_folder(writer, folder, inside)
    writer.closedir()


def _why_not(device: _Board, size: int) -> str:
    """Return why the ROM file system cannot take an image of that size; empty if it can."""
    room = device.value("0 if rom is None else len(rom)")
    if not room:
        return NO_FIRMWARE
    if size > room:
        return f"it takes {size:,} bytes, and the ROM file system has {room:,}"
    if device.value("rom_is_blank()"):
        return ""
    names = device.value("rom_names()")
    if names is None:
        return "something is in the ROM partition that is not a ROM file system"
    others = [name for name in names if name != FOLDER]
    return f"the ROM file system holds {', '.join(others)}" if others else ""


def _is_there(device: _Board, size: int, crc: int) -> bool:
    return bool(device.value(f"binascii.crc32(rom[:{size}]) == {crc}", _SECONDS))


def _deploy(device: _Board, image: bytes) -> None:
    """Write the image as `mpremote romfs deploy` does."""
    with tempfile.TemporaryDirectory(prefix="microshrub-") as folder:
        path = Path(folder) / "library.romfs"
        path.write_bytes(image)
        arguments = argparse.Namespace(command=["deploy"], path=str(path), partition=0, mpy=False)
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                commands.do_romfs(_Mpremote(device), arguments)
        except (TransportError, commands.CommandError, SystemExit) as error:
            reason = printed.getvalue().strip().rpartition("\n")[2] or str(error)
            raise UserError(
                f"The board's ROM file system cannot be written: {reason}. The board still has "
                "its previous program."
            ) from error


class _Mpremote:
    """A stand-in for mpremote's state and line, which uses the line that is already open."""

    def __init__(self, device: _Board) -> None:
        self._device = device
        self.transport = self

    def ensure_raw_repl(self) -> None:
        """Do nothing: the board is in the raw REPL."""

    def did_action(self) -> None:
        """Do nothing: no caller needs this."""

    def exec(self, code: str) -> None:
        """Run code, and feed the watchdog of the program that was stopped."""
        try:
            self._device.run(f"feed()\n{code}", _SECONDS)
        except RaisedError as error:
            raise TransportExecError(1, error.text) from error

    def eval(self, expression: str) -> Any:
        """Return the value of the expression."""
        return self._device.value(expression, _SECONDS)
