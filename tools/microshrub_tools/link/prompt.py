"""Detects MicroPython's prompt, with a hello that no prompt executes.

What comes to a board while it starts, or after its program was stopped, is typed at the prompt.
"""

from __future__ import annotations

import random

from . import messages
from .frames import Frame, pack

_SESSIONS = 1 << 16
_REBOOT = b"soft reboot"  # a board writes it when Ctrl-D has its program start again
_PROMPTS = (b">>> ", b"raw REPL; CTRL-B to exit", b"paste mode; Ctrl-C to cancel")
_TYPED = b"\x02\x03\x04"  # what a hello must not hold: a REPL, or a program that starts, obeys it
RESTART = b"\r\x03\x02\x04"  # Ctrl-C clears, Ctrl-B leaves the raw REPL, Ctrl-D starts main.py


def shows_prompt(text: bytes) -> bool:
    """Whether a board that wrote this shows a prompt of MicroPython."""
    since = text.rpartition(_REBOOT)[2]
    return any(word in since for word in _PROMPTS)


def starts_again(text: bytes) -> bool:
    """Whether a board that wrote this has heeded RESTART."""
    return _REBOOT in text


def hello_line(session: int) -> bytes:
    """The line that begins a session."""
    return pack(Frame(messages.HELLO, session, 0, b""))


def drawn_session() -> int:
    """A session at random whose hello harms no board that starts or shows a prompt."""
    while True:
        session = random.randrange(1, _SESSIONS)
        if not set(hello_line(session)) & set(_TYPED):
            return session
