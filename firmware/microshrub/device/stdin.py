"""The standard input of the program: bytes for the link, and Ctrl-C."""

import sys

_PAUSE = 50  # milliseconds of silence, behind which Ctrl-C may stand
_CTRL_C = 3
_STOPS = b"\x03\r"
_PIECE = 64  # bytes that the link is fed at most at once


class Input:
    """The standard input, without waiting and without allocation.

    One byte is read at a time, as some ports wait until all that were asked for have come. A frame
    may hold Ctrl-C. It stops the program as the first byte behind a pause, and if a host has said
    hello, with a second one, or a carriage return before it: mpremote sends that. No frame
    begins so. A port that cannot tell when it is silent takes a zero byte for a pause.
    """

    def __init__(self, clock):
        self._clock = clock  # milliseconds
        self._poll = _poll()
        self._byte = bytearray(1)
        self._piece = bytearray(_PIECE)
        self._silent = True
        self._since = clock()  # when it became silent
        self._run = 0  # bytes that may be Ctrl-C behind a pause; -1: not behind one

    def take(self, link, milliseconds):
        """Feed the link with what has come; wait at most so long for the first byte.

        Raises KeyboardInterrupt, and EOFError where the input ends.
        """
        n = 0
        wait = milliseconds
        while self._ready(wait):
            wait = 0
            if not sys.stdin.buffer.readinto(self._byte):
                raise EOFError("the input has ended")
            byte = self._byte[0]
            self._look(byte, link)
            self._piece[n] = byte
            n += 1
            if n == _PIECE or not byte:
                break
        if n:
            link.feed(self._piece, n)
        return n

    def _ready(self, wait):
        if not self._poll:  # one byte at a time, and the rest of the program has to wait
            return wait != 0
        if self._came(0):
            return True
        if not self._silent:
            self._silent = True
            self._since = self._clock()
        return wait != 0 and self._came(wait)

    def _came(self, wait):
        """Has a byte come, or does one within so many milliseconds?"""
        came = False
        for _ in self._poll.ipoll(wait):
            came = True
        return came

    def _look(self, byte, link):
        """Is this Ctrl-C?"""
        if self._silent:
            self._silent = False
            if self._run < 0 and (self._clock() - self._since) & 0x3FFFFFFF >= _PAUSE:
                self._run = 0
        if self._run >= 0:
            self._run = self._run + 1 if byte in _STOPS else -1
            if byte == _CTRL_C and self._run > int(link.is_open or not self._poll):
                raise KeyboardInterrupt
        elif not byte and not self._poll:
            self._run = 0


def _poll():
    """What tells whether a byte has come; None where the port cannot tell, as on QEMU."""
    try:
        import select
    except ImportError:
        return None
    poll = select.poll()
    poll.register(sys.stdin, select.POLLIN)
    for _ in poll.ipoll(0):  # the first time allocates
        pass
    return poll
