"""A line of which every byte comes from who has the key. What stands in it can be seen.

docs/reference/link.md has the messages. Each end proves the key, with a number that it never uses
again. From both numbers come two keys, one for each direction, which sign the records. A record
that was altered, left out, repeated or moved, or that is of another line or of the other
direction, has a wrong code, and a wrong code ends the line: as an OSError, as a cut of it does.
"""

from os import urandom

from micropython import const

from .outbox import put_u16, read_u16
from .sha256 import Hmac
from .sockets import copy, send

MOST = const(256)  # bytes in a record to the board
KEY = const(32)  # bytes
_CODE = const(16)  # of a code, the first of 32
_NONCE = const(16)  # of the number that is used once
_LABEL = b"microshrub 1 "  # begins all that is signed with the key itself; then comes what it is:
_WHICH = const(13)
_HELLO = const(104)  # h, the host's,
_BOARD = const(98)  # b, the board's answer,
_PROOF = const(112)  # p, the host's proof,
_FLASH = const(102)  # f, that of a host that brings a new program, see renewing.py
_UP = const(117)  # u and d, the two keys
_DOWN = const(100)
_HOSTS = const(14)  # then the host's number, and the board's
_BOARDS = const(30)
_SAID = const(46)
_TRAILER = const(6)  # bytes that are signed behind those of a record: its size and its number
_LAST = const(1073741823)  # number of a record
_PIECE = const(64)
_PIECES = const(16)  # that are read at once


class Reader:
    """Collects the bytes that a socket gives."""

    def __init__(self, room):
        self.body = bytearray(room)
        self._piece = bytearray(_PIECE)
        self.at = 0

    def read(self, socket, end):
        """Read on, up to `end`; returns how many bytes. Raises OSError if the line has ended."""
        n = socket.readinto(self._piece, min(end - self.at, _PIECE))
        if n is None:
            return 0
        if not n:
            raise OSError("the line has ended")
        copy(self.body, self.at, self._piece, 0, n)
        self.at += n
        return n


class Greeting:
    """The board's part of the first three messages."""

    def __init__(self, sha, key):
        self._hmac = Hmac(sha)
        self._key = key
        self._said = bytearray(_SAID)
        copy(self._said, 0, _LABEL, 0, _WHICH)
        self._reader = Reader(_NONCE + _CODE)
        self._answered = False

    def begin(self):
        """Wait for a hello."""
        self._hmac.take(self._key)
        self._reader.at = 0
        self._answered = False
        for i in range(_BOARDS, _SAID):
            self._said[i] = 0

    def read(self, socket):
        """Take what has come, and answer it if that is due.

        Returns 0 until the key is proved, then 1, or 2 by who brings a new program. Raises
        OSError if it is not.
        """
        reader = self._reader
        end = _CODE if self._answered else _NONCE + _CODE
        if not reader.read(socket, end) or reader.at < end:
            return 0
        reader.at = 0
        if self._answered:
            if self._is_right(_FLASH, 0):
                return 2
            self._check(_PROOF, 0)
            return 1
        copy(self._said, _HOSTS, reader.body, 0, _NONCE)
        self._check(_HELLO, _NONCE)
        copy(self._said, _BOARDS, urandom(_NONCE), 0, _NONCE)
        copy(reader.body, 0, self._said, _BOARDS, _NONCE)
        self._said[_WHICH] = _BOARD
        self._hmac.sign(self._said, 0, _SAID)
        self._hmac.give(reader.body, _NONCE, _CODE)
        if send(socket, reader.body, 0, _NONCE + _CODE) < _NONCE + _CODE:
            raise OSError("the line takes nothing")
        self._answered = True
        return 0

    def _check(self, which, at):
        if not self._is_right(which, at):
            raise OSError("somebody does not have the key")

    def _is_right(self, which, at):
        self._said[_WHICH] = which
        self._hmac.sign(self._said, 0, _SAID)
        return self._hmac.is_right(self._reader.body, at, _CODE)

    def give(self, which, hmac):
        """Have an Hmac sign with the key of a direction."""
        self._said[_WHICH] = which
        found = self._reader.body
        self._hmac.sign(self._said, 0, _SAID)
        self._hmac.give(found, 0, KEY)
        hmac.take(found)


class Records:
    """What follows: records, each of up to MOST bytes to the board, and up to `room` from it."""

    def __init__(self, sha, room):
        self._up = Hmac(sha)
        self._down = Hmac(sha)
        self._reader = Reader(MOST + _CODE)
        self.body = self._reader.body
        self._code = bytearray(_CODE)
        self._out = bytearray(2 + room + _CODE)
        self.size = self._end = self._read = self._written = 0
        self._at = self._to = 0  # what of _out is to be sent

    def begin(self, greeting):
        """With the keys of that greeting."""
        greeting.give(_UP, self._up)
        greeting.give(_DOWN, self._down)
        self._reader.at = self._end = self._read = self._written = 0
        self._at = self._to = 0

    @property
    def waits(self):
        """Whether there is something to send."""
        return self._at < self._to

    def read(self, socket):
        """How many bytes a record has that has come, in `body`; -1 if none has.

        Raises OSError for one that the key has not signed.
        """
        reader = self._reader
        for _ in range(_PIECES):
            end = self._end or 2
            if not reader.read(socket, end):
                return -1
            if reader.at < end:
                continue
            reader.at = 0
            if self._end:
                self._end = 0
                self._check()
                return self.size
            self.size = read_u16(self.body, 0)
            if self.size > MOST:
                raise OSError("a record is too long")
            self._end = self.size + _CODE
        return -1

    def _check(self):
        n = self.size
        copy(self._code, 0, self.body, n, _CODE)
        _trail(self.body, n, n, self._read)
        self._up.sign(self.body, 0, n + _TRAILER)
        right = self._up.is_right(self._code, 0, _CODE)
        if not right or self._read == _LAST:
            raise OSError("a record is not of who has the key")
        self._read += 1

    def put(self, data, n):
        """Sign n bytes as the next record, to be sent; False if the last one waits yet."""
        if self.waits or self._written == _LAST:
            return False
        out = self._out
        put_u16(out, 0, n)
        copy(out, 2, data, 0, n)
        _trail(out, 2 + n, n, self._written)
        self._down.sign(out, 2, n + _TRAILER)
        self._down.give(out, 2 + n, _CODE)
        self._written += 1
        self._at = 0
        self._to = 2 + n + _CODE
        return True

    def write(self, socket):
        """Send what the line takes."""
        self._at = send(socket, self._out, self._at, self._to)


def _trail(body, at, n, number):
    put_u16(body, at, n)
    put_u16(body, at + 2, number & 65535)
    put_u16(body, at + 4, number >> 16)
