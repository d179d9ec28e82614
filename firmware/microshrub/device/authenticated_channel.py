"""A connection on which every byte comes from somebody who has the key. It is not encrypted.

docs/reference/link.md has the messages. Each end proves the key by signing a number that the other
end has drawn for this connection, so messages recorded on another connection are useless. From
both numbers come two keys, one for each direction, which sign the records. A record that was
altered, left out, repeated or moved, or that is from another connection or the other direction,
has a wrong code. A wrong code ends the connection with an OSError, as a lost connection does.
"""

from os import urandom

from micropython import const

from .frames import put_u16, read_u16
from .networking import copy, send
from .sha256 import Hmac, same

MOST = const(256)  # bytes in a record to the board
KEY = const(32)  # bytes
_CODE = const(16)  # bytes of a code, the first of the 32 of the HMAC
_NONCE = const(16)  # bytes of the number that is used once
_LABEL = b"microshrub 1 "  # begins every text signed with the key itself; then comes its type:
_WHICH = const(13)
_BOARD = const(98)  # b, the board's proof,
_PROOF = const(112)  # p, the host's proof,
_FLASH = const(102)  # f, the proof of a host that brings a new program, see network_update.py
_UP = const(117)  # u and d, the two keys
_DOWN = const(100)
_HOSTS = const(14)  # where the host's number stands in the text, and the board's
_BOARDS = const(30)
_SIGNED = const(46)
_PROVED = const(33)  # bytes of a host's proof: its number, the type, the code
_TRAILER = const(6)  # bytes signed after those of a record: its size and its number
_LAST = const(1073741823)  # the highest number of a record
_PIECE = const(64)
_PIECES = const(16)  # the most pieces that are read in one call


class Reader:
    """Collects the bytes that a socket delivers."""

    def __init__(self, room):
        self.body = bytearray(room)
        self._piece = bytearray(_PIECE)
        self.at = 0

    def read(self, socket, end):
        """Read on, up to `end`; returns the bytes read. Raises OSError if the line has ended."""
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
        self._signed = bytearray(_SIGNED)
        copy(self._signed, 0, _LABEL, 0, _WHICH)
        self._reader = Reader(_PROVED)
        self._right = bytearray(_CODE)  # the code that a host has to send

    def begin(self, socket):
        """Send a client a number to sign. Raises OSError if the client is gone."""
        self._hmac.take(self._key)
        self._reader.at = 0
        copy(self._signed, _BOARDS, urandom(_NONCE), 0, _NONCE)
        self._put(socket, self._signed, _BOARDS, _NONCE)

    def read(self, socket):
        """Take the bytes that have arrived. Raises OSError at the first wrong byte.

        Returns 0 until the key is proved, then 1, or 2 for a host that brings a new program.
        """
        reader = self._reader
        before = reader.at
        if not reader.read(socket, _PROVED):
            return 0
        body = reader.body
        if before <= _NONCE < reader.at:  # everything to be signed has arrived
            copy(self._signed, _HOSTS, body, 0, _NONCE)
            self._sign(body[_NONCE])
        if reader.at > _NONCE:
            which = body[_NONCE]
            if which not in (_PROOF, _FLASH) or not same(
                body, _NONCE + 1, self._right, reader.at - _NONCE - 1
            ):
                raise OSError("somebody does not have the key")
        if reader.at < _PROVED:
            return 0
        self._sign(_BOARD)
        self._put(socket, self._right, 0, _CODE)
        return 2 if body[_NONCE] == _FLASH else 1

    def _sign(self, which):
        self._signed[_WHICH] = which
        self._hmac.sign(self._signed, 0, _SIGNED)
        self._hmac.give(self._right, 0, _CODE)

    def _put(self, socket, data, at, n):
        if send(socket, data, at, at + n) < at + n:
            raise OSError("the line takes nothing")

    def give(self, which, hmac):
        """Have an Hmac sign with the key of a direction."""
        self._sign(which)
        key = self._reader.body
        self._hmac.give(key, 0, KEY)
        hmac.take(key)


class Records:
    """The records that follow: each has up to MOST bytes to the board, or up to `room` from it."""

    def __init__(self, sha, room):
        self._up = Hmac(sha)
        self._down = Hmac(sha)
        self._reader = Reader(MOST + _CODE)
        self.body = self._reader.body
        self._code = bytearray(_CODE)
        self._out = bytearray(2 + room + _CODE)
        self.size = self._end = self._read = self._written = 0
        self._at = self._to = 0  # the part of _out that is still to be sent

    def begin(self, greeting):
        """Start with the keys that a greeting has agreed on."""
        greeting.give(_UP, self._up)
        greeting.give(_DOWN, self._down)
        self._reader.at = self._end = self._read = self._written = 0
        self._at = self._to = 0

    @property
    def waits(self):
        """Whether there is something to send."""
        return self._at < self._to

    def read(self, socket):
        """Read the next record into `body`; returns its size, or -1 if none has arrived.

        Raises OSError for a record that was not signed with the key.
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
            raise OSError("a record was not signed with the key")
        self._read += 1

    def put(self, data, n):
        """Sign n bytes as the next record to send; False if the last one is not sent yet."""
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
        """Send as much as the socket accepts."""
        self._at = send(socket, self._out, self._at, self._to)


def _trail(body, at, n, number):
    put_u16(body, at, n)
    put_u16(body, at + 2, number & 65535)
    put_u16(body, at + 4, number >> 16)
