"""An ESP32 or a relative at a serial port: its ROM's loader, the one that is sent, its flash.

Written from Espressif's description of the protocol, and no chip:
https://docs.espressif.com/projects/esptool/en/latest/esp32/advanced-topics/serial-protocol.html

The loader that is sent (the stub) is machine code, which does not run here. That it arrives byte
for byte is checked; what it would do then is done by `_Stub`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests_support import ROOT

_STUBS = ROOT / "tools/web/node_modules/esptool-js/lib/targets/stub_flasher"
(FLASH_BEGIN, FLASH_DATA, FLASH_END, MEM_BEGIN, MEM_END, MEM_DATA, SYNC, WRITE_REG) = range(2, 10)
READ_REG, SPI_SET_PARAMS, SPI_ATTACH, CHANGE_BAUDRATE = 0x0A, 0x0B, 0x0D, 0x0F
DEFL_BEGIN, DEFL_DATA, DEFL_END, FLASH_MD5, SECURITY_INFO = range(0x10, 0x15)
ERASE_FLASH = 0xD0
_INVALID, _FAILED, _BAD_CRC = 0x05, 0x06, 0x07  # errors of a ROM
_STUB_INVALID, _STUB_BAD_SUM, _STUB_FAILED = 0xC0, 0xC1, 0xC6  # and of a stub
_SYNC = b"\x07\x07\x12\x20" + 32 * b"\x55"
_SEED = 0xEF  # of the checksum
_MAGIC_REGISTER = 0x40001000
_USER = 1 << 18  # in SPI_CMD: run the command of SPI_USR2
_READ_ID = 0x9F
_SECTOR = 4096


@dataclass(frozen=True)
class Kind:
    """A kind of chip; `security_id` is what GET_SECURITY_INFO tells, None: the ROM has it not."""

    name: str
    number: int
    offset: int  # of an image in the flash
    magic: int
    spi: int  # where the registers of the flash's SPI begin
    usr2: int
    w0: int
    security: int | None  # bytes of the answer to GET_SECURITY_INFO

    @property
    def stub(self) -> dict[str, Any]:
        """The loader that esptool-js sends."""
        name = self.name.lower().replace("-", "")
        found: dict[str, Any] = json.loads((_STUBS / f"{name}.json").read_text())
        return found


KINDS = {
    kind.name: kind
    for kind in (
        Kind("ESP32", 0, 0x1000, 0x00F01D83, 0x3FF42000, 0x24, 0x80, None),
        Kind("ESP32-S2", 2, 0x1000, 0x000007C6, 0x3F402000, 0x20, 0x58, 12),
        Kind("ESP32-C3", 5, 0, 0x6921506F, 0x60002000, 0x20, 0x58, 20),
        Kind("ESP32-S3", 9, 0, 0x00000009, 0x60002000, 0x20, 0x58, 20),
        Kind("ESP32-C6", 13, 0, 0x2CE0806F, 0x60003000, 0x20, 0x58, 20),
    )
}


def image_for(kind: Kind, size: int, *, whole: bool = True) -> bytes:
    """A file like those of micropython.org: a header, a partition table if `whole`, and a body."""
    body = bytearray(
        hashlib.shake_256(kind.name.encode()).digest(size // 2) + bytes(size - size // 2)
    )
    body[:24] = struct.pack(
        "<BBBBIB3sHBHH4sB", 0xE9, 3, 2, 0x20, 0x40080000, 0xEE, b"", kind.number, 0, 0, 399, b"", 1
    )
    table = 0x8000 - kind.offset
    body[table : table + 2] = b"\xaa\x50" if whole else b"\0\0"
    return bytes(body)


class EspChip:
    """`send` is called with what the chip says, `run` when it starts what its flash holds.

    At first the flash is full of an old program. `damaged` numbers a packet with data for the
    flash, from 0 on, of which a bit is flipped on the way.
    """

    def __init__(
        self,
        kind: Kind,
        send: Callable[[bytes], None],
        run: Callable[[], None],
        *,
        flash_id: int = 0x16,  # 4 MB
        jtag: bool = False,
        damaged: int = -1,
    ) -> None:
        self.kind = kind
        self.flash = bytearray(b"\x5a" * (1 << flash_id))
        self.erased = 0
        self.jtag = jtag
        self.damaged = damaged
        self.registers = {_MAGIC_REGISTER: kind.magic}
        self.flash_id = flash_id
        self._send, self._run = send, run
        self._lines = (False, False)
        self._is_low = False  # its reset line
        self._download = False  # asked for on USB-Serial/JTAG
        self._loader: _Rom | None = None
        self._rest = b""
        self.rate = 0  # of the PC's port
        self._packets = 0

    # The lines

    def signals(self, dtr: bool, rts: bool) -> None:
        """What the port's lines do: two transistors, or in USB-Serial/JTAG the same in effect."""
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
        self._loader = _Rom(self) if download else None
        if download:
            self._send(b"ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET),boot:0x3 ")
            self._send(b"(DOWNLOAD_BOOT(UART0/UART1/SDIO_REI_REO_V2))\r\nwaiting for download\r\n")
        elif self.flash[self.kind.offset] == 0xE9:
            self._run()
        else:
            self._send(b"invalid header: 0xffffffff\r\n")

    def take(self, data: bytes) -> None:
        """Bytes from the PC. Those of another rate are noise."""
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
        """Send a packet of SLIP."""
        inside = packet.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc")
        self._send(b"\xc0" + inside + b"\xc0")

    def replace_loader(self, stub: _Stub) -> None:
        """Another loader goes on."""
        self._loader = stub


class _Rom:
    """The loader in the ROM: obeys what is needed to send it another one."""

    rate = 0  # any: it finds out with SYNC
    status = 4  # bytes at the end of an answer
    invalid, failed, bad_sum = _INVALID, _FAILED, _BAD_CRC

    def __init__(self, chip: EspChip) -> None:
        self.chip = chip
        self.memory: dict[int, bytes] = {}
        self._begun = (0, 0, 0, 0)  # bytes, packets, bytes of a packet, address
        self._next = 0

    def answer(self, command: int, *, value: int = 0, data: bytes = b"", error: int = 0) -> None:
        ending = bytes([1 if error else 0, error]).ljust(self.status, b"\0")
        head = struct.pack("<BBHI", 1, command, len(data) + len(ending), value)
        self.chip.say(head + data + ending)

    def obey(self, command: int, data: bytes, checksum: int) -> None:
        words = struct.unpack(f"<{len(data) // 4}I", data[: len(data) & ~3])
        if command == SYNC and data == _SYNC:
            self.synchronize()
        elif command == READ_REG and len(words) == 1:
            self.answer(command, value=self.chip.registers.get(words[0], 0))
        elif command == WRITE_REG and len(words) == 4:
            self._write_register(*words[:3])
            self.answer(command)
        else:
            self.obey_more(command, data, words, checksum)

    def synchronize(self) -> None:
        for _ in range(8):
            self.answer(SYNC, value=0x20120707)

    def obey_more(self, command: int, data: bytes, words: tuple[int, ...], checksum: int) -> None:
        if command == MEM_BEGIN and len(words) == 4:
            self._begun, self._next = (words[0], words[1], words[2], words[3]), 0
            self.memory[words[3]] = b""
            self.answer(command)
        elif command == MEM_DATA:
            self.answer(command, error=self._store(data, checksum))
        elif command == MEM_END and len(words) == 2:
            self.answer(command)
            self._jump(words[1])
        elif command == SECURITY_INFO and self.chip.kind.security:
            told = struct.pack("<IB7sII", 0, 0, b"", self.chip.kind.number, 0)
            self.answer(command, data=told[: self.chip.kind.security])
        else:
            for _ in range(8):  # as esptool-js says of a ROM that does not know a command
                self.answer(0, error=self.invalid)

    def _store(self, data: bytes, checksum: int) -> int:
        """Take a packet for RAM; gives the error."""
        total, _, size, address = self._begun
        block = block_of(data, self._next, checksum)
        if isinstance(block, str):
            return self.bad_sum if block == "sum" else self.invalid
        place = self._next * size
        if len(block) > size or place + len(block) > total:
            return self.invalid
        self.memory[address] += block
        self._next += 1
        return 0

    def _jump(self, entry: int) -> None:
        stub = self.chip.kind.stub
        sent = {stub[f"{part}_start"]: base64.b64decode(stub[part]) for part in ("text", "data")}
        assert (entry, self.memory) == (stub["entry"], sent)
        self.chip.replace_loader(_Stub(self.chip))
        self.chip.say(b"OHAI")

    def _write_register(self, address: int, value: int, mask: int) -> None:
        chip, spi = self.chip, self.chip.kind.spi
        chip.registers[address] = value & mask
        if address == spi and value & _USER:
            chip.registers[address] = 0
            if chip.registers[spi + chip.kind.usr2] & 0xFF == _READ_ID:
                chip.registers[spi + chip.kind.w0] = chip.flash_id << 16 | 0x40EF


class _Stub(_Rom):
    """What the loader that was sent does, as the protocol's description says."""

    status = 2
    invalid, failed, bad_sum = _STUB_INVALID, _STUB_FAILED, _STUB_BAD_SUM

    def __init__(self, chip: EspChip) -> None:
        super().__init__(chip)
        self.rate = chip.rate
        self._attached = self._sized = False
        self._left = 0  # bytes for the flash
        self._place = 0
        self._unpack: Any = None

    def synchronize(self) -> None:
        self.answer(SYNC)

    def obey_more(self, command: int, data: bytes, words: tuple[int, ...], checksum: int) -> None:
        if command == CHANGE_BAUDRATE and len(words) == 2 and words[1] == self.rate:
            self.answer(command)
            self.rate = words[0]
        elif command == SPI_ATTACH and len(data) == 4:
            self._attached = True
            self.answer(command)
        elif command == SPI_SET_PARAMS and len(words) == 6 and self._attached:
            self._sized = words[1] == len(self.chip.flash)
            self.answer(command, error=0 if self._sized else self.invalid)
        elif self._sized:
            self._obey_flash(command, data, words, checksum)
        else:
            self.answer(command, error=self.failed)  # the flash is not attached

    def _obey_flash(
        self, command: int, data: bytes, words: tuple[int, ...], checksum: int
    ) -> None:
        flash = self.chip.flash
        if command == ERASE_FLASH:
            flash[:] = b"\xff" * len(flash)
            self.chip.erased += 1
            self.answer(command)
        elif command == DEFL_BEGIN and len(words) == 4:
            self._begun, self._next = (words[0], words[1], words[2], words[3]), 0
            self._left, self._place = words[0], words[3]
            self._unpack = zlib.decompressobj()
            self.answer(command)
        elif command == DEFL_DATA:
            self.answer(command, error=self._write(data, checksum))
        elif command == DEFL_END and len(words) == 1:
            self.answer(command, error=self.failed if self._left else 0)
        elif command == FLASH_MD5 and len(words) == 4:
            part = flash[words[0] : words[0] + words[1]]
            self.answer(command, data=hashlib.md5(part, usedforsecurity=False).digest())
        else:
            self.answer(command, error=0xFF)  # not implemented

    def _write(self, data: bytes, checksum: int) -> int:
        """Unpack a packet into the flash; gives the error."""
        block = block_of(data, self._next, checksum)
        if isinstance(block, str):
            return self.bad_sum if block == "sum" else self.invalid
        if len(block) > self._begun[2] or self._next >= self._begun[1]:
            return self.invalid
        self._next += 1
        plain = self._unpack.decompress(block)
        if len(plain) > self._left:
            return self.failed
        flash = self.chip.flash
        for at, byte in enumerate(plain, self._place):
            if at % _SECTOR == 0:
                flash[at : at + _SECTOR] = b"\xff" * _SECTOR
            flash[at] &= byte
        self._place += len(plain)
        self._left -= len(plain)
        return 0


def block_of(data: bytes, expected: int, checksum: int) -> bytes | str:
    """What a packet of data carries; "sum" or "form" says what is wrong with it."""
    size, number, zero, null = struct.unpack_from("<4I", data)
    block = data[16:]
    if (size, number, zero, null) != (len(block), expected, 0, 0):
        return "form"
    total = _SEED
    for byte in block:
        total ^= byte
    return block if total == checksum else "sum"
