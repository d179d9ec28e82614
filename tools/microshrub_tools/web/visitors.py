"""The connections of a server that are open at a time: so many at most, and a new one gets in."""

from __future__ import annotations

import contextlib
import socket
import threading

_GOING = 2.0  # seconds for a connection that was ended to be gone


class Visitors:
    """Where there are as many as may be, the one that has been silent longest makes way.

    So a whole request is answered, however many half ones there are before it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._here = 0
        self._silent: dict[socket.socket, None] = {}  # may make way; the longest silent first
        self._changed = threading.Condition()

    def enter(self, line: socket.socket) -> bool:
        """Count a new connection; False if nobody made way for it."""
        with self._changed:
            if self._here >= self._most:
                self._end_one()
                if not self._changed.wait_for(lambda: self._here < self._most, _GOING):
                    return False
            self._here += 1
            self._silent[line] = None
            return True

    def _end_one(self) -> None:
        """The thread that serves it finds the connection ended, and calls leave()."""
        line = next(iter(self._silent), None)
        if line is not None:
            del self._silent[line]
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def heard(self, line: socket.socket) -> None:
        """A whole request came."""
        with self._changed:
            if line in self._silent:
                del self._silent[line]
                self._silent[line] = None

    def keep(self, line: socket.socket) -> None:
        """From here on it does not make way."""
        with self._changed:
            self._silent.pop(line, None)

    def leave(self, line: socket.socket) -> None:
        """The connection is closed."""
        with self._changed:
            self._silent.pop(line, None)
            self._here -= 1
            self._changed.notify_all()
