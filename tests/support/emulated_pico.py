"""A Raspberry Pi Pico with an emulated chip, on the USB of a PC; it runs the stock MicroPython.

Run as a program, it keeps a pseudo-terminal at a path for as long as the PC has the board's serial
port, as Linux has /dev/ttyACM0, and writes each report of a keyboard to standard output. The chip
is rp2040py's; this module implements the USB host after USB 2.0 and HID 1.11.
"""

from __future__ import annotations

import argparse
import gc
import os
import pty
import select
import sys
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_SIE_CTRL, _PULL_UP = 0x4C, 1 << 16  # a connected device pulls D+ up
_CPU_BATCH = 64  # instructions between two polls of the peripherals
_STATUS = 100_000  # nanoseconds from the end of a transfer to the next one
_IN, _CLASS, _INTERFACE = 0x80, 0x20, 1
_CDC_DATA, _HID = 10, 3  # classes of interfaces
_PIECE = 4096
_FLASH, _FILES, _BLOCK = 0x1000_0000, 0xA0000, 4096  # the file system's start and block size
_BLOCKS = 352


class Host:
    """The PC's end of the cable: enumerates the device, and passes its data on."""

    def __init__(self, chip: Any, set_present: Callable[[bool], None]) -> None:
        self.output = bytearray()  # from the serial port
        self.reports: list[bytes] = []
        self.description = b""  # of the HID reports
        self._usb = chip.usb_ctrl
        self._set_present = set_present
        self._to_board = bytearray()
        self._pulled = False
        self._soon = chip.clock.create_alarm(self._go_on)
        self._forget()
        self._usb.on_reset_received = self._begin
        self._usb.on_endpoint_write = self._came
        self._usb.on_endpoint_read = self._is_ready_for
        write = self._usb.write_uint32

        def watched(offset: int, value: int) -> None:
            write(offset, value)
            if offset == _SIE_CTRL:
                self._look()

        self._usb.write_uint32 = watched

    def send(self, data: bytes) -> None:
        """Send to the serial port."""
        self._to_board += data
        self._pump()

    def _look(self) -> None:
        """Check whether the device was plugged in or unplugged."""
        pulled = bool(self._usb.read_uint32(_SIE_CTRL) & _PULL_UP)
        if pulled != self._pulled:
            self._pulled = pulled
            self._forget()
            self._set_present(False)
            if pulled:
                self._usb.reset_device()

    def _forget(self) -> None:
        self._serial = self._keys = (-1, -1)  # endpoints in and out
        self._waits: tuple[int, int] | None = None  # an endpoint and its free bytes
        self._to_board.clear()
        self._steps: Iterator[None] = iter(())
        self._wanted, self._got = 0, b""

    def _begin(self) -> None:
        self._steps = self._enumerate()
        self._go_on()

    def _go_on(self) -> None:
        next(self._steps, None)

    def _ask(self, kind: int, what: int, value: int, index: int, length: int = 0) -> None:
        """Begin a control transfer."""
        self._wanted, self._got = length if kind & _IN else 0, b""
        words = (value, index, length)
        data = b"".join(word.to_bytes(2, "little") for word in words)
        self._usb.send_setup_packet(bytes((kind, what)) + data)

    def _enumerate(self) -> Iterator[None]:
        """Enumerate the device as a PC does after plugging in, with a yield for each transfer."""
        self._ask(0, 5, 7, 0)
        yield
        self._ask(_IN, 6, 0x200, 0, 9)
        yield
        self._ask(_IN, 6, 0x200, 0, int.from_bytes(self._got[2:4], "little"))
        yield
        serial, keys, number, size = _parsed(self._got)
        self._ask(0, 9, 1, 0)
        self._serial, self._keys = serial, keys
        yield
        if number >= 0:
            self._ask(_CLASS | _INTERFACE, 10, 0, number)  # report only changes
            yield
            self._ask(_IN | _INTERFACE, 6, 0x2200, number, size)
            yield
            self.description = self._got
            self._ask(_IN | _CLASS | _INTERFACE, 1, 0x100, number, 8)
            yield
            self.reports.append(self._got)
        self._ask(_CLASS | _INTERFACE, 34, 3, 0)  # DTR and RTS
        yield
        self._pump()
        self._set_present(True)

    def _came(self, endpoint: int, data: bytes) -> None:
        if endpoint == 0:
            self._got += data
            if not self._wanted:
                self._soon.schedule(_STATUS)
        elif endpoint == self._serial[0]:
            self.output += data
        elif endpoint == self._keys[0]:
            self.reports.append(bytes(data))

    def _is_ready_for(self, endpoint: int, room: int) -> None:
        if endpoint == 0:
            self._usb.endpoint_read_done(0, b"")
            self._soon.schedule(_STATUS)
        elif endpoint == self._serial[1]:
            self._waits = endpoint, room
            self._pump()

    def _pump(self) -> None:
        if self._waits and self._to_board:
            endpoint, room = self._waits
            self._waits = None
            self._usb.endpoint_read_done(endpoint, bytes(self._to_board[:room]))
            del self._to_board[:room]


def _parsed(data: bytes) -> tuple[tuple[int, int], tuple[int, int], int, int]:
    """Parse a configuration; return the endpoints of the serial port and of the keyboard, the
    keyboard's interface, and the size of its description; -1 for a missing one.
    """
    endpoints = {_CDC_DATA: [-1, -1], _HID: [-1, -1]}
    of, number, size = -1, -1, 0
    while data:
        piece, data = data[: data[0]], data[data[0] :]
        if piece[1] == 4:
            of = piece[5]
            number = piece[2] if of == _HID else number
        elif piece[1] == 0x21 and of == _HID:
            size = int.from_bytes(piece[7:9], "little")
        elif piece[1] == 5 and of in endpoints:
            endpoints[of][not piece[2] & _IN] = piece[2] & 15
    serial, keys = endpoints[_CDC_DATA], endpoints[_HID]
    return (serial[0], serial[1]), (keys[0], keys[1]), number, size


class Port:
    """The board's serial port: a pseudo-terminal behind a link, while the board is connected."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mine = -1

    def show(self, is_there: bool) -> None:
        if self._mine >= 0:
            self._path.unlink()
            os.close(self._mine)
            self._mine = -1
        if is_there:
            self._mine, theirs = pty.openpty()
            tty.setraw(theirs)
            self._path.symlink_to(os.ttyname(theirs))
            os.close(theirs)

    def exchange(self, host: Host, seconds: float) -> None:
        """Pass data on in both directions; wait up to `seconds` for the PC's."""
        if self._mine < 0:
            return
        ready = select.poll()
        ready.register(self._mine, select.POLLIN)
        for _, event in ready.poll(1000 * seconds):
            if event & select.POLLHUP:  # no program has it open
                time.sleep(seconds)
                return
            host.send(os.read(self._mine, _PIECE))
        if host.output:
            os.write(self._mine, host.output)
            host.output.clear()


def image_of(folder: Path) -> bytes:
    """Return the file system of a Pico with a folder's files."""
    from littlefs import LittleFS

    files = LittleFS(
        block_size=_BLOCK, block_count=_BLOCKS, prog_size=256, disk_version=0x0002_0000
    )
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            files.makedirs(name, exist_ok=True)
        else:
            with files.open(name, "wb") as file:
                file.write(path.read_bytes())
    files.unmount()
    return bytes(files.context.buffer)


def main() -> None:
    """Run until the process is killed."""
    from rp2040py.device.bootrom import BOOTROM_B1
    from rp2040py.device.load_flash import load_uf2
    from rp2040py.execute_batch import execute_batch
    from rp2040py.rp2040 import RP2040
    from rp2040py.simulator import Simulator
    from rp2040py.utils.logging import ConsoleLogger, LogLevel

    parser = argparse.ArgumentParser()
    for name in ("firmware", "folder", "port"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    chip = RP2040()
    board = Simulator(rp2040=chip)
    chip.load_bootrom(BOOTROM_B1)
    chip.logger = ConsoleLogger(LogLevel.ERROR)
    load_uf2(given.firmware, chip)
    image = image_of(given.folder)
    chip.flash[_FILES : _FILES + len(image)] = image
    port = Port(given.port)
    host = Host(chip, port.show)
    chip.core.pc = _FLASH
    chip.pio = []  # no program uses PIO, and each instruction would poll its machines
    board.stopped = False
    gc.disable()  # the loop makes no cycles to collect
    printed = 0
    began = time.monotonic()
    while True:
        execute_batch(board, _CPU_BATCH)
        for report in host.reports[printed:]:
            print(report.hex(), flush=True)
        printed = len(host.reports)
        ahead = chip.clock.nanos / 1e9 - (time.monotonic() - began)  # positive while it only waits
        if ahead < 0:  # the chip was busy, and need not catch up
            began -= ahead
        port.exchange(host, min(max(ahead, 0), 0.01))


if __name__ == "__main__":
    sys.exit(main())
