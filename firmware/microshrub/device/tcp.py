"""The link over TCP: another line to the same application, for a host that has the key.

config.json's `tcp` has the port; secrets.json has the key. A client, a connection that has not
proved the key yet, is sent a random number, has three seconds, or half a second if others wait,
and cannot disturb the host. One host is served. Another host that proves the key takes its place,
as it may be the same one after its connection was cut.
"""

import select
import socket
import sys

from micropython import const

from .authenticated_channel import Greeting, Records
from .link import Link
from .networking import close
from .sha256 import Sha256

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
