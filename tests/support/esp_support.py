"""An ESP32 or a relative at a serial port: its ROM loader, the stub that the PC sends, its flash.

Written from Espressif's description of the protocol, not from a chip:
https://docs.espressif.com/projects/esptool/en/latest/esp32/advanced-topics/serial-protocol.html

The stub is machine code, which does not run here. The chip checks that the stub arrives byte for
byte; esp_loaders.py then acts in its place.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from esp_loaders import DEFL_DATA, FLASH_DATA, Rom
from tests_support import ROOT

_STUBS = ROOT / "tools/web/node_modules/esptool-js/lib/targets/stub_flasher"
_MAGIC_REGISTER = 0x40001000


@dataclass(frozen=True)
class ChipModel:
    """A chip model, with addresses and values of its registers."""

    name: str
    number: int
    offset: int  # of an image in the flash
    magic: int
    spi: int  # base address of the flash's SPI registers
    usr2: int
    w0: int
    security: int | None  # bytes of the answer to GET_SECURITY_INFO; None: an unknown command

    @property
    def stub(self) -> dict[str, Any]:
        """The stub that esptool-js sends."""
        name = self.name.lower().replace("-", "")
        result: dict[str, Any] = json.loads((_STUBS / f"{name}.json").read_text())
        return result


CHIP_MODELS = {
    model.name: model
    for model in (
        ChipModel("ESP32", 0, 0x1000, 0x00F01D83, 0x3FF42000, 0x24, 0x80, None),
        ChipModel("ESP32-S2", 2, 0x1000, 0x000007C6, 0x3F402000, 0x20, 0x58, 12),
        ChipModel("ESP32-C3", 5, 0, 0x6921506F, 0x60002000, 0x20, 0x58, 20),
        ChipModel("ESP32-S3", 9, 0, 0x00000009, 0x60002000, 0x20, 0x58, 20),
        ChipModel("ESP32-C6", 13, 0, 0x2CE0806F, 0x60003000, 0x20, 0x58, 20),
    )
}


def image_for(model: ChipModel, size: int, *, whole: bool = True) -> bytes:
    """Return a firmware as on micropython.org: header, partition table if `whole`, and body."""
    body = bytearray(
        hashlib.shake_256(model.name.encode()).digest(size // 2) + bytes(size - size // 2)
    )
    head = (0xE9, 3, 2, 0x20, 0x40080000, 0xEE, b"", model.number, 0, 0, 399, b"", 1)
    body[:24] = struct.pack("<BBBBIB3sHBHH4sB", *head)
    table = 0x8000 - model.offset
    body[table : table + 2] = b"\xaa\x50" if whole else b"\0\0"
    return bytes(body)


class EspChip:
    """The chip calls `send` with its output, and `run` when it starts the program in its flash.

    At first the flash is full of an old program. `damaged` is the number, from 0 on, of a packet
    for the flash in which a bit is flipped on the way.
    """

    def __init__(
        self,
        model: ChipModel,
        send: Callable[[bytes], None],
        run: Callable[[], None],
        *,
        flash_id: int = 0x16,  # 4 MB
        jtag: bool = False,
        damaged: int = -1,
    ) -> None:
        self.model = model
        self.flash = bytearray(b"\x5a" * (1 << flash_id))
        self.erased = 0
        self.jtag = jtag
        self.damaged = damaged
        self.registers = {_MAGIC_REGISTER: model.magic}
        self.flash_id = flash_id
        self._send, self._run = send, run
        self._lines = (False, False)
        self._is_low = False  # the reset line
        self._download = False  # download mode, requested on USB-Serial/JTAG
        self._loader: Rom | None = None
        self._rest = b""
        self.rate = 0  # of the PC's port
        self._packets = 0

    # Lines

    def signals(self, dtr: bool, rts: bool) -> None:
        """Set the port's lines: two transistors, or the same effect in USB-Serial/JTAG."""
        if self._lines == (dtr, rts):
            return
        self._lines = (dtr, rts)
        if self.jtag:
            if dtr and not rts:
                self._download = True
            elif rts and not dtr:
                self._start(self._download)
            elif not dtr and not rts:
                self._download = False
            return
        is_low = rts and not dtr
        if self._is_low and not is_low:
            self._start(dtr and not rts)
        self._is_low = is_low

    def _start(self, download: bool) -> None:
        self._rest = b""
        self._loader = Rom(self) if download else None
        if download:
            self._send(b"ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET),boot:0x3 ")
            self._send(b"(DOWNLOAD_BOOT(UART0/UART1/SDIO_REI_REO_V2))\r\nwaiting for download\r\n")
        elif self.flash[self.model.offset] == 0xE9:
            self._run()
        else:
            self._send(b"invalid header: 0xffffffff\r\n")

    def take(self, data: bytes) -> None:
        """Receive bytes from the PC. Bytes at another rate are noise."""
        if self._loader is None or (self._loader.rate and self._loader.rate != self.rate):
            return
        *packets, self._rest = (self._rest + data).split(b"\xc0")
        for packet in packets:
            if packet:
                self._packet(packet.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb"))

    def _packet(self, packet: bytes) -> None:
        assert self._loader
        direction, command, size, checksum = struct.unpack_from("<BBHI", packet)
        assert direction == 0
        data = packet[8:]
        if command in (FLASH_DATA, DEFL_DATA):
            if self._packets == self.damaged:
                data = data[:40] + bytes([data[40] ^ 4]) + data[41:]
            self._packets += 1
        if size != len(data):
            self._loader.answer(command, error=self._loader.invalid)
        else:
            self._loader.obey(command, data, checksum)

    def say(self, packet: bytes) -> None:
        """Send a SLIP packet."""
        inside = packet.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc")
        self._send(b"\xc0" + inside + b"\xc0")

    def replace_loader(self, stub: Rom) -> None:
        """Continue with another loader."""
        self._loader = stub
