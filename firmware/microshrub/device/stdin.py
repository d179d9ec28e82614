"""The standard input of the program: bytes for the link, and Ctrl-C."""

import sys
from array import array

import micropython
from micropython import const

_PAUSE = const(50)  # milliseconds of silence, before and after Ctrl-C
_PIECE = const(64)  # bytes, at most, that the link is fed at once
_TICKS = const(1073741823)
_CTRL_C = const(3)
_RETURN = const(13)

_RUN = const(0)  # words of the state: bytes after a pause that may be Ctrl-C; -1: not after one
_PRESSED = const(1)  # 1: one of them is Ctrl-C
_ENOUGH = const(2)  # so many of them stop the program at once
_BLIND = const(3)  # 1: the port cannot tell whether a byte has come
_ENDED = const(4)  # 1: the input has ended
_WORDS = const(5)


@micropython.viper
def gather(came, read, byte, piece, state) -> int:
    """Read the bytes that are there, up to _PIECE of them; returns how many.

    came(0) gives an iterator of one item or none, and read(byte) fills a bytearray of 1. Bytes are
    read one at a time, as most ports wait until all requested bytes have come, and cannot tell how
    many have (issue 8772 of MicroPython). After a Ctrl-C that stops the program, nothing more is
    read: the rest is for the REPL.
    """
    s = ptr32(state)
    out = ptr8(piece)
    one = ptr8(byte)
    n = 0
    while n < _PIECE:
        there = 0
        for _ in came(0):
            there = 1
            break
        if not there:
            return n
        if not int(read(byte)):
            s[_ENDED] = 1
            return n
        c = one[0]
        out[n] = c
        n += 1
        if s[_RUN] >= 0:
            if int(c == _CTRL_C) | int(c == _RETURN):
                s[_RUN] = s[_RUN] + 1
                s[_PRESSED] = s[_PRESSED] | int(c == _CTRL_C)
                if s[_PRESSED] and s[_RUN] >= s[_ENOUGH]:
                    return n
            else:
                s[_RUN] = -1
                s[_PRESSED] = 0
        if s[_BLIND] and not c:
            s[_RUN] = 0
            return n
    return n


class Input:
    """The standard input, without waiting and without allocation.

    A frame may contain Ctrl-C, and a cable that is plugged in delivers any part of a frame. So
    Ctrl-C stops the program only between two pauses, alone or with more Ctrl-C and carriage
    returns, as mpremote sends them; once a host has said hello, it takes two such bytes. Three of
    them need no pause after them. For a port that cannot tell when the line is silent, a zero byte
    is a pause. Bytes that came before the program first reads count as after a pause.
    """

    def __init__(self, clock):
        self._clock = clock  # milliseconds
        poll = _poll()
        self._came = poll.ipoll if poll else _always
        self._read = sys.stdin.buffer.readinto
        self._byte = bytearray(1)
        self._piece = bytearray(_PIECE)
        self._state = array("i", [0] * _WORDS)
        self._state[_ENOUGH] = 3 if poll else 2
        self._state[_BLIND] = int(not poll)
        self._last = clock()  # when the last byte came

    def take(self, link, milliseconds):
        """Feed the link with the bytes that have come; wait at most so long for the first one.

        Raises KeyboardInterrupt, and EOFError where the input ends.
        """
        n = self._receive(milliseconds, 1 + int(link.is_open))
        if n:
            link.feed(self._piece, n)
        elif self._state[_ENDED]:
            raise EOFError("the input has ended")
        return n

    def skip(self):
        """Skip all bytes that have come so far. Raises KeyboardInterrupt if they are Ctrl-C."""
        while not self._state[_BLIND] and self._receive(0, 1):
            pass
        if self._state[_PRESSED]:
            raise KeyboardInterrupt

    def _receive(self, milliseconds, least):
        """Read into the piece; returns how many bytes. Ctrl-C takes `least` bytes, and a pause."""
        state = self._state
        came = not state[_BLIND] and self._wait(milliseconds)
        pause = (self._clock() - self._last) & _TICKS >= _PAUSE
        if not came and not (state[_BLIND] and milliseconds):
            if pause and state[_PRESSED] and state[_RUN] >= least:
                raise KeyboardInterrupt
            return 0
        if pause and state[_RUN] < 0:
            state[_RUN] = 0
        n = self._look()
        self._last = self._clock()
        if state[_PRESSED] and state[_RUN] >= state[_ENOUGH]:
            raise KeyboardInterrupt
        return n

    def _look(self):
        return gather(self._came, self._read, self._byte, self._piece, self._state)

    def _wait(self, milliseconds):
        """Whether a byte has come, or comes within so many milliseconds."""
        came = False
        for _ in self._came(milliseconds):
            came = True
        return came


def _always(_):
    """For a port that cannot tell whether a byte has come: one has."""
    return _ONE


_ONE = (1,)


def _poll():
    """A poll of the input; None where the port cannot tell whether a byte has come, as on QEMU."""
    try:
        import select
    except ImportError:
        return None
    poll = select.poll()
    poll.register(sys.stdin, select.POLLIN)
    for _ in poll.ipoll(0):  # the first time allocates
        pass
    return poll
