"""Frames of the serial link on the PC, with the layout in firmware/microshrub/device/frames.py."""

from __future__ import annotations

import struct
from binascii import crc32
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from microshrub_host.library import loader

_library: Any = loader.load("python")
_device = _library.device.frames
_HEADER = struct.Struct("<BBHHB")
_CRC = struct.Struct("<I")
VERSION: int = _device.VERSION
LONGEST = 4096  # bytes kept of text without a zero


@dataclass(frozen=True)
class Frame:
    """One frame. `credits` is how many pending requests the sender of the frame allows."""

    kind: int
    session: int
    sequence: int
    payload: bytes
    credits: int = 0
    version: int = VERSION


def pack(frame: Frame) -> bytes:
    """Return the bytes of a frame on the line, with the zeros around it."""
    head = (frame.version, frame.kind, frame.session, frame.sequence, frame.credits)
    body = bytearray(_HEADER.pack(*head) + frame.payload)
    body += _CRC.pack(crc32(body))
    line = bytearray(_device.stuffed(len(body)) + 2)
    return bytes(line[: _device.stuff(body, 0, len(body), line)])


def unpack(stuffed: bytes) -> Frame | None:
    """Return the frame in the bytes between two zeros; None if there is none or it is damaged."""
    body = bytearray(stuffed)
    size = _device.unstuff(body, len(body))
    end = size - _CRC.size
    if end < _HEADER.size or crc32(body[:end]) != _CRC.unpack_from(body, end)[0]:
        return None
    version, kind, session, sequence, credit = _HEADER.unpack_from(body)
    return Frame(kind, session, sequence, bytes(body[_HEADER.size : end]), credit, version)


class Splitter:
    """Cuts a stream of bytes at its zeros, into frames and other bytes."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def rest(self) -> bytes:
        """The bytes after the last zero."""
        return self._rest

    def feed(self, data: bytes) -> Iterator[Frame | bytes]:
        """Yield frames, and text or damage as bytes, in the order of their arrival."""
        *whole, self._rest = (self._rest + data).split(b"\0")
        for part in whole:
            if part:
                yield unpack(part) or part
        if len(self._rest) > LONGEST:
            yield self._rest
            self._rest = b""
