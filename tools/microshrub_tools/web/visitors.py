"""The open connections of a server; at the limit, a new one replaces the longest silent one."""

from __future__ import annotations

import contextlib
import socket
import threading

_GOING = 2.0  # seconds until a closed connection is gone


class Visitors:
    """The open connections. At the limit, the one that has been silent longest is closed.

    So a complete request is answered, however many incomplete ones there are before it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._here = 0
        self._silent: dict[socket.socket, None] = {}  # may be closed, longest silent first
        self._changed = threading.Condition()

    def enter(self, line: socket.socket) -> bool:
        """Count a new connection; return False if no other was closed in time."""
        with self._changed:
            if self._here >= self._most:
                self._end_one()
                if not self._changed.wait_for(lambda: self._here < self._most, _GOING):
                    return False
            self._here += 1
            self._silent[line] = None
            return True

    def _end_one(self) -> None:
        """Close the longest silent connection; the thread that serves it then calls leave()."""
        line = next(iter(self._silent), None)
        if line is not None:
            del self._silent[line]
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def heard(self, line: socket.socket) -> None:
        """Note a complete request."""
        with self._changed:
            if line in self._silent:
                del self._silent[line]
                self._silent[line] = None

    def keep(self, line: socket.socket) -> None:
        """Never close this connection from now on."""
        with self._changed:
            self._silent.pop(line, None)

    def leave(self, line: socket.socket) -> None:
        """Forget a closed connection."""
        with self._changed:
            self._silent.pop(line, None)
            self._here -= 1
            self._changed.notify_all()
