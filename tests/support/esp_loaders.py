"""The two loaders of an ESP32 or a relative: the ROM's own, and the stub that the PC sends.

Written from Espressif's description of the protocol; see esp_support.py.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from esp_support import EspChip

(FLASH_BEGIN, FLASH_DATA, FLASH_END, MEM_BEGIN, MEM_END, MEM_DATA, SYNC, WRITE_REG) = range(2, 10)
READ_REG, SPI_SET_PARAMS, SPI_ATTACH, CHANGE_BAUDRATE = 0x0A, 0x0B, 0x0D, 0x0F
DEFL_BEGIN, DEFL_DATA, DEFL_END, FLASH_MD5, SECURITY_INFO = range(0x10, 0x15)
ERASE_FLASH = 0xD0
_INVALID, _FAILED, _BAD_CRC = 0x05, 0x06, 0x07  # errors of a ROM
_STUB_INVALID, _STUB_BAD_SUM, _STUB_FAILED = 0xC0, 0xC1, 0xC6  # errors of a stub
_SYNC = b"\x07\x07\x12\x20" + 32 * b"\x55"
_SEED = 0xEF  # of the checksum
_USER = 1 << 18  # in SPI_CMD: run the command of SPI_USR2
_READ_ID = 0x9F
_SECTOR = 4096


class Rom:
    """The loader in the ROM, with the commands that are needed to send it a stub."""

    rate = 0  # 0: any; the ROM detects it with SYNC
    status = 4  # bytes at the end of an answer
    invalid, failed, bad_sum = _INVALID, _FAILED, _BAD_CRC

    def __init__(self, chip: EspChip) -> None:
        self.chip = chip
        self.memory: dict[int, bytes] = {}
        self._begun = (0, 0, 0, 0)  # bytes, packets, bytes per packet, address
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
        elif command == SECURITY_INFO and self.chip.model.security:
            security_info = struct.pack("<IB7sII", 0, 0, b"", self.chip.model.number, 0)
            self.answer(command, data=security_info[: self.chip.model.security])
        else:
            for _ in range(8):  # as esptool-js describes a ROM that does not know a command
                self.answer(0, error=self.invalid)

    def _store(self, data: bytes, checksum: int) -> int:
        """Store a packet in RAM; return the error code."""
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
        stub = self.chip.model.stub
        sent = {stub[f"{part}_start"]: base64.b64decode(stub[part]) for part in ("text", "data")}
        assert (entry, self.memory) == (stub["entry"], sent)
        self.chip.replace_loader(Stub(self.chip))
        self.chip.say(b"OHAI")

    def _write_register(self, address: int, value: int, mask: int) -> None:
        chip, spi = self.chip, self.chip.model.spi
        chip.registers[address] = value & mask
        if address == spi and value & _USER:
            chip.registers[address] = 0
            if chip.registers[spi + chip.model.usr2] & 0xFF == _READ_ID:
                chip.registers[spi + chip.model.w0] = chip.flash_id << 16 | 0x40EF


class Stub(Rom):
    """The stub, with the behaviour that the protocol's description gives."""

    status = 2
    invalid, failed, bad_sum = _STUB_INVALID, _STUB_FAILED, _STUB_BAD_SUM

    def __init__(self, chip: EspChip) -> None:
        super().__init__(chip)
        self.rate = chip.rate
        self._attached = self._sized = False
        self._left = 0  # bytes that are still to come for the flash
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
        """Unpack a packet into the flash; return the error code."""
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
    """Return the content of a data packet, or "sum" or "form" for the kind of error in it."""
    size, number, zero, null = struct.unpack_from("<4I", data)
    block = data[16:]
    if (size, number, zero, null) != (len(block), expected, 0, 0):
        return "form"
    total = _SEED
    for byte in block:
        total ^= byte
    return block if total == checksum else "sum"
