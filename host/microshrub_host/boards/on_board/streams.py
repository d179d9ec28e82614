"""Replacements for sys.stdin.buffer and sys.stdout.buffer. This file runs on the (emulated) board.

MicroPython's qemu port only has text streams, which convert carriage returns to newlines and back.
The port reads the serial line's registers only on a request for input, and has no interrupts, so
another reader of these registers gets every byte. After `add(CHIP)`, `import sys` returns a module
with both streams.
"""

import sys

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from typing import Any


class Cmsdk:
    """The serial line of the mps2-an385: one stream for both directions."""

    def __init__(self, words: "Any") -> None:
        self.words = words

    def readinto(self, buffer: bytearray) -> int:
        """Wait until the buffer is full."""
        words = self.words
        for i in range(len(buffer)):
            while not words[0x40004004] & 2:
                pass
            buffer[i] = words[0x40004000]
        return len(buffer)

    def write(self, buffer: bytes, size: int = -1) -> int:
        """Send the first bytes of the buffer, or all of them."""
        words = self.words
        size = len(buffer) if size < 0 else size
        for i in range(size):
            while words[0x40004004] & 1:
                pass
            words[0x40004000] = buffer[i]
        return size


class Nrf51:
    """The serial line of the microbit."""

    def __init__(self, words: "Any") -> None:
        self.words = words

    def readinto(self, buffer: bytearray) -> int:
        """Wait until the buffer is full."""
        words = self.words
        for i in range(len(buffer)):
            while not words[0x40002108]:
                pass
            words[0x40002108] = 0
            buffer[i] = words[0x40002518]
        return len(buffer)

    def write(self, buffer: bytes, size: int = -1) -> int:
        """Send the first bytes of the buffer, or all of them."""
        words = self.words
        size = len(buffer) if size < 0 else size
        for i in range(size):
            words[0x4000211C] = 0
            words[0x4000251C] = buffer[i]
            while not words[0x4000211C]:
                pass
        return size


class Ns16550:
    """The serial line of QEMU's virt; its registers are bytes."""

    def __init__(self, words: "Any") -> None:
        from machine import mem8

        self.bytes = mem8

    def readinto(self, buffer: bytearray) -> int:
        """Wait until the buffer is full."""
        registers = self.bytes
        for i in range(len(buffer)):
            while not registers[0x10000005] & 1:
                pass
            buffer[i] = registers[0x10000000]
        return len(buffer)

    def write(self, buffer: bytes, size: int = -1) -> int:
        """Send the first bytes of the buffer, or all of them."""
        registers = self.bytes
        size = len(buffer) if size < 0 else size
        for i in range(size):
            while not registers[0x10000005] & 0x20:
                pass
            registers[0x10000000] = buffer[i]
        return size


class TextStream:
    """A text stream that also has a `buffer` of bytes."""

    def __init__(self, text: "Any", buffer: "Cmsdk | Nrf51 | Ns16550") -> None:
        self.text = text
        self.buffer = buffer

    def __getattr__(self, name: str) -> "Any":
        return getattr(self.text, name)


class System:
    """The module sys, with streams that have `buffer`."""

    def __init__(self, module: "Any", buffer: "Cmsdk | Nrf51 | Ns16550") -> None:
        self.module = module
        self.stdin = TextStream(module.stdin, buffer)
        self.stdout = TextStream(module.stdout, buffer)

    def __getattr__(self, name: str) -> "Any":
        return getattr(self.module, name)


def add(chip: "type[Cmsdk] | type[Nrf51] | type[Ns16550]") -> None:
    """Make `import sys` return the module with both streams, until the next reset."""
    from machine import mem32

    sys.modules["sys"] = System(sys, chip(mem32))  # type: ignore[assignment]
