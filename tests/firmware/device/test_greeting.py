"""The board's part of a greeting over TCP: bytes of a proof are checked as they arrive."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from microshrub_host.library import loader
from microshrub_tools.link.tcp_line import CODE, FLASH, LINK, NONCE, signed

KEY = bytes(range(7, 39))
OURS = bytes(range(NONCE))
PROOF = NONCE + 1 + CODE


class Line:
    """A socket with MicroPython's methods."""

    def __init__(self, line: socket.socket) -> None:
        line.setblocking(False)
        self._line = line

    def readinto(self, data: bytearray, n: int) -> int | None:
        try:
            return self._line.recv_into(data, n)
        except BlockingIOError:
            return None

    def write(self, data: bytearray, at: int, n: int) -> int:
        return self._line.send(memoryview(data)[at : at + n])


@pytest.fixture
def ends() -> Iterator[tuple[Any, Line, socket.socket, bytes]]:
    """A greeting in progress, its line, the host's end of the line, and the board's number."""
    library: Any = loader.load(loader.fastest())
    channel = library.device.tcp
    greeting = channel.Greeting(library.device.sha256.Sha256(), bytearray(KEY))
    board, host = socket.socketpair()
    with board, host:
        line = Line(board)
        greeting.begin(line)
        yield greeting, line, host, host.recv(NONCE)


def proof(theirs: bytes, what: bytes = LINK) -> bytes:
    return OURS + what + signed(KEY, what, OURS + theirs)[:CODE]


@pytest.mark.parametrize(("what", "proved"), [(LINK, 1), (FLASH, 2)])
@pytest.mark.parametrize("piece", [1, 5, NONCE, PROOF])
def test_a_proof_may_arrive_in_pieces(what: bytes, proved: int, piece: int, ends: Any) -> None:
    greeting, line, host, theirs = ends
    code = proof(theirs, what)
    for at in range(0, PROOF, piece):
        assert greeting.read(line) == 0
        host.sendall(code[at : at + piece])
        content = greeting.read(line)
        assert content == (proved if at + piece >= PROOF else 0)
    assert host.recv(100) == signed(KEY, b"b", OURS + theirs)[:CODE]


@pytest.mark.parametrize("byte", range(NONCE, PROOF))
def test_the_first_wrong_byte_ends_it(byte: int, ends: Any) -> None:
    greeting, line, host, theirs = ends
    code = proof(theirs)
    host.sendall(code[:byte])
    assert greeting.read(line) == 0
    host.sendall(bytes([code[byte] ^ 1]))
    with pytest.raises(OSError, match="key"):
        greeting.read(line)


def test_a_proof_for_another_number_is_refused(ends: Any) -> None:
    greeting, line, host, theirs = ends
    host.sendall(proof(theirs))
    assert greeting.read(line) == 1
    host.recv(CODE)
    greeting.begin(line)
    assert host.recv(NONCE) != theirs
    host.sendall(proof(theirs))
    with pytest.raises(OSError, match="key"):
        greeting.read(line)
