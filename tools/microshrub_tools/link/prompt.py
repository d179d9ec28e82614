"""Detects MicroPython's prompt, with a hello that no prompt executes.

Bytes that reach a starting board, or a board whose program was stopped, are input at the prompt.
"""

from __future__ import annotations

import random

from . import messages
from .frames import Frame, pack

_SESSIONS = 1 << 16
_REBOOT = b"soft reboot"  # a board writes this when Ctrl-D restarts its program
_PROMPTS = (b">>> ", b"raw REPL; CTRL-B to exit", b"paste mode; Ctrl-C to cancel")
_TYPED = b"\x02\x03\x04"  # bytes that no hello may have: a REPL or a starting program obeys them
RESTART = b"\r\x03\x02\x04"  # Ctrl-C clears, Ctrl-B leaves the raw REPL, Ctrl-D starts main.py


def shows_prompt(text: bytes) -> bool:
    """Return whether a board that wrote this text shows a prompt of MicroPython."""
    since = text.rpartition(_REBOOT)[2]
    return any(word in since for word in _PROMPTS)


def starts_again(text: bytes) -> bool:
    """Return whether a board that wrote this text has obeyed RESTART."""
    return _REBOOT in text


def hello_line(session: int) -> bytes:
    """Return the bytes that begin a session."""
    return pack(Frame(messages.HELLO, session, 0, b""))


def drawn_session() -> int:
    """Draw a session whose hello harms no board that is starting or shows a prompt."""
    while True:
        session = random.randrange(1, _SESSIONS)
        if not set(hello_line(session)) & set(_TYPED):
            return session
