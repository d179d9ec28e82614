"""A new program that comes over TCP: the PC runs lines of Python here, as at a cable's REPL.

This module is imported when a host has proved the key and asked for an update. The program has
stopped, and has saved its checkpoint. Whatever happens, the board restarts: with its present
program, or with a new one on trial, see board_code.py of the PC.

Each message has its size in four bytes, little-endian, and then its bytes, in as many records as
that takes; empty records are ignored. The board answers a line of Python with 1 and the output, or
with 0 and the error.
"""

import gc
import os
import select
import time
from struct import pack, unpack

from micropython import const

_LOOK = const(500)  # milliseconds between two looks
_PATIENCE = const(120)  # looks without a record, after which the PC is considered gone
_STEP = const(50)  # milliseconds to wait while the socket is full,
_STEPS = const(1200)  # how many times to wait for one answer
_LONGEST = const(8192)  # bytes of a message
_OVERHEAD = const(18)  # bytes that a record has in addition


def renew(feed, line, records):
    """Run lines of Python for a PC until it is gone, then restart; feed() feeds the watchdog."""
    gc.collect()
    output = []  # type: list
    here = os.getcwd().rsplit("/", 1)[-1]
    if here.startswith("microshrub."):
        os.chdir("..")
    space = {"__name__": "renewing", "print": output.append, "here": here}
    poll = select.poll()
    poll.register(line, select.POLLIN)
    try:
        while True:
            code = _hear(feed, poll, line, records)
            try:
                exec(code, space)
                answer = b"\1" + "\n".join(output).encode()
            except Exception as error:
                answer = b"\0" + ("%s: %s" % (type(error).__name__, error)).encode()
            output.clear()
            code = None
            gc.collect()
            _tell(feed, line, records, pack("<I", len(answer)) + answer)
    except OSError:  # it is gone
        pass
    finally:
        import machine

        machine.reset()


def _hear(feed, poll, line, records):
    """Return the next line of Python from the PC. Raises OSError if the PC is gone."""
    came = bytearray()
    looks = 0
    while len(came) < 4 or len(came) < 4 + unpack("<I", came)[0]:
        n = records.read(line)
        if n > 0:
            came += memoryview(records.body)[:n]
        if n >= 0:
            looks = 0
            continue
        if feed:
            feed()
        for _ in poll.ipoll(_LOOK):
            break
        else:
            looks += 1
        if looks > _PATIENCE or len(came) > _LONGEST:
            raise OSError("the PC is gone")
    return str(memoryview(came)[4:], "utf-8")


def _tell(feed, line, records, answer):
    """Send an answer, for which the PC has a minute. Raises OSError if the PC is gone."""
    room = len(records._out) - _OVERHEAD
    at = steps = 0
    while at < len(answer) or records.waits:
        piece = answer[at : at + room]
        if piece and records.put(piece, len(piece)):
            at += len(piece)
        records.write(line)
        if records.waits:  # the line is full
            if feed:
                feed()
            steps += 1
            if steps > _STEPS:
                raise OSError("the PC reads nothing")
            time.sleep_ms(_STEP)
