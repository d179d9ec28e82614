"""The link over TCP: another line to the same application, for a host that has the key.

config.json's `tcp` has the port; secrets.json has the key. A client, a connection that has not
proved the key yet, is sent a random number, has three seconds, or half a second if others wait,
and cannot disturb the host. One host is served. Another host that proves the key takes its place,
as it may be the same one after its connection was cut.

Every byte comes from somebody who has the key; none is encrypted. docs/reference/link.md has the
messages. Each end proves the key by signing a number that the other end has drawn for this
connection, so messages recorded on another connection are useless. From both numbers come two
keys, one for each direction, which sign the records. A record that was altered, left out, repeated
or moved, or that is from another connection or the other direction, has a wrong code. A wrong code
ends the connection with an OSError, as a lost connection does.
"""

import select
import socket
import sys
from os import urandom

from micropython import const

from .frames import put_u16, read_u16
from .link import Link
from .networking import close, copy, send
from .sha256 import Hmac, Sha256, same

_CLIENT = const(3000)  # milliseconds in which a client has to prove the key,
_SHARED = const(500)  # milliseconds after which another client may take its place
_SILENT = const(15000)  # milliseconds without a record, after which a host is considered gone
_PAUSE = const(100)  # milliseconds between two clients
_LOOK = const(1000)  # milliseconds between two looks at the network
_SOON = const(5)  # milliseconds to wait at most while something is to be sent
_RECORDS = const(8)  # records that are taken in a turn
# Clients that wait for their turn. A Pico W has five connections: MQTT needs one, a client one
_BACKLOG = 3 if sys.platform == "rp2" else 8
_TICKS = const(1073741823)

_listeners = []  # type: list  # the one that is open; a program that begins anew closes it

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


class Tcp:
    """Serves the application of a link at a port, once wifi has joined a network.

    It replaces the program's link, `line`, and its input, and has a second link for the network.
    clock() returns milliseconds, key is a bytearray of 32, say(text) prints a line for people.
    """

    def __init__(self, line, inputs, clock, wifi, port, key, say):
        self.line = line
        self._input = inputs
        self._link = Link(line.app, self._send)
        sha = Sha256()
        self._greeting = Greeting(sha, key)
        self._records = Records(sha, len(line.out._line))
        self._clock = clock
        self._wifi = wifi
        self._port = port
        self._say = say
        self._listener = self._client = self._host = self._poll = None
        self._is_open = False  # whether the port accepts another client
        self.trial = 0  # seconds in which a PC has to connect to a new program
        self._came = self._heard = self._looked = (clock() - _LOOK) & _TICKS

    # In place of the program's link

    def is_open(self):
        """Return whether a host has sent hello."""
        return self.line.is_open() or self._link.is_open()

    @property
    def foreign(self):
        """The version of the last frame of another version of the link."""
        return self.line.foreign or self._link.foreign

    def observe(self, prediction, label):
        """Send the hosts a sample of the board's own sensor."""
        self.line.observe(prediction, label)
        self._link.observe(prediction, label)

    # And of its input

    def take(self, _, milliseconds):
        """Feed both links with the bytes that have arrived; wait up to `milliseconds` for one.

        Returns how many bytes. Raises the same errors as the input's take().
        """
        if self._poll:
            self._wait(milliseconds)
            milliseconds = 0
        came = self._input.take(self.line, milliseconds) + self._serve()
        if self.line.app.restart:
            self.close()
        return came

    def _wait(self, milliseconds):
        """Wait `milliseconds` for a byte on any line or for a client, who is let in."""
        if self._records.waits:
            milliseconds = min(milliseconds, _SOON)
        knocks = self._knocks(milliseconds)
        now = self._clock()
        if knocks and self._is_open:
            if self._client:
                self._receive(now)  # the board may have been busy: perhaps the proof has come
            self._let_in(now)
        is_open = (now - self._came) & _TICKS >= (_SHARED if self._client else _PAUSE)
        if is_open != self._is_open:
            self._is_open = is_open
            self._poll.modify(self._listener, select.POLLIN if is_open else 0)  # type: ignore[union-attr]

    def _knocks(self, milliseconds):
        """Return whether a client connects, waiting for one or for a byte on a line."""
        waits = False
        for thing, _ in self._poll.ipoll(milliseconds):  # type: ignore[union-attr]
            waits = waits or thing is self._listener
        return waits

    def _serve(self):
        """Receive from the client and the host; returns how many records came from the host."""
        now = self._clock()
        if (now - self._looked) & _TICKS >= _LOOK:
            self._looked = now
            if self.trial:
                self.trial -= 1
                if not self.trial:
                    raise EOFError("no PC connected to the new program; the old one continues")
            if self._wifi.joined() and not self._listener:
                self._listen()
        if self._client:
            self._receive(now)
        return self._answer(now) if self._host else 0

    def close(self):
        """Close the port, and the connections of the client and the host."""
        for thing in (self._client, self._host, self._listener):
            close(thing)
        self._client = self._host = self._listener = self._poll = None

    def _listen(self):
        while _listeners:
            close(_listeners.pop())
        try:
            address = socket.getaddrinfo("0.0.0.0", self._port, 0, socket.SOCK_STREAM)[0]
            self._listener = socket.socket()
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._listener.bind(address[-1])
            self._listener.listen(_BACKLOG)
            self._listener.setblocking(False)
            _listeners.append(self._listener)
        except OSError as error:
            self._say("the port %d cannot be used: %s" % (self._port, error))
            self.close()
            return
        self._poll = select.poll()
        self._poll.register(sys.stdin, select.POLLIN)
        self._poll.register(self._listener, select.POLLIN)
        self._is_open = True
        self._say("the link listens at %s:%d" % (self._wifi.own_address(), self._port))

    def _let_in(self, now):
        if self._client:
            self._leave(self._client)
            self._client = None
        self._came = now
        client = None
        try:
            client = self._listener.accept()[0]  # type: ignore[union-attr]
            client.setblocking(False)
            self._greeting.begin(client)
            self._poll.register(client, select.POLLIN)  # type: ignore[union-attr]
        except (OSError, MemoryError):  # it is gone, or there is no room
            close(client)
            return
        self._client = client

    def _receive(self, now):
        """Receive from the client, who becomes the host by proving the key."""
        try:
            proved = self._greeting.read(self._client)
        except OSError:
            self._leave(self._client)
            self._client = None
            return
        if proved == 2:
            self._records.begin(self._greeting)
            client, self._client = self._client, None
            self.close()
            raise EOFError("a PC brings a new program", client, self._records)
        if proved:
            if self._host:
                self._leave(self._host)
            self._host, self._client = self._client, None
            self._records.begin(self._greeting)
            self._heard = now
            self._say("a PC has connected over the network")
        elif (now - self._came) & _TICKS > _CLIENT:
            self._leave(self._client)
            self._client = None

    def _answer(self, now):
        """Carry out the requests in the host's records; returns how many records came."""
        try:
            return self._read(now)
        except OSError:
            self._lose()
        return 0

    def _read(self, now):
        records = self._records
        records.write(self._host)
        came = 0
        while self._host and came < _RECORDS and records.read(self._host) >= 0:
            came += 1
            self._heard = now
            self._take()
        if (now - self._heard) & _TICKS > _SILENT:
            raise OSError("the PC sends nothing")
        return came

    def _take(self):
        """Take a record: bytes for the link, or none: the PC checks that the board is there."""
        records = self._records
        if records.size:
            self._link.feed(records.body, records.size)
        elif records.put(b"", 0):
            records.write(self._host)

    def _send(self, line, n):
        """Write for the link: bytes that the socket does not accept are lost, as on any line."""
        if not self._host:
            return
        if self._records.waits:
            self._hand_over()
        if self._host and self._records.put(line, n):
            self._hand_over()

    def _hand_over(self):
        try:
            self._records.write(self._host)
        except OSError:
            self._lose()

    def _lose(self):
        if self._host:
            self._leave(self._host)
            self._host = None
            self._say("the PC in the network is gone")

    def _leave(self, thing):
        if self._poll:
            self._poll.unregister(thing)
        close(thing)


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
