"""A new program that comes over TCP: the PC runs lines of Python here, as at a cable's REPL.

It is imported for who has proved the key, and said with the proof what for. The program has
stopped, and has saved its checkpoint. Whatever happens, the board starts anew: into the program
that it has, or into a new one on trial, see board_code.py of the PC.

Either end sends four bytes, how many follow, little-endian, and these, in as many records as that
takes; records without a byte are nothing. The board answers a line of Python with 1 and what it
printed, or with 0 and what it raised.
"""

import gc
import os
import select
from struct import pack, unpack

from micropython import const

_LOOK = const(500)  # milliseconds between two looks
_PATIENCE = const(120)  # looks without a record, after which the PC is taken for gone
_LONGEST = const(8192)
_OVERHEAD = const(18)  # bytes of a record that are not its own


def renew(feed, line, records):
    """Do what a PC says until the line ends; then the board starts anew. feed: a watchdog's."""
    gc.collect()
    said = []  # type: list
    here = os.getcwd().rsplit("/", 1)[-1]
    if here.startswith("microshrub."):
        os.chdir("..")
    space = {"__name__": "renewing", "print": said.append, "here": here}
    poll = select.poll()
    poll.register(line, select.POLLIN)
    try:
        while True:
            code = _hear(feed, poll, line, records)
            try:
                exec(code, space)
                answer = b"\1" + "\n".join(said).encode()
            except Exception as error:
                answer = b"\0" + ("%s: %s" % (type(error).__name__, error)).encode()
            said.clear()
            code = None
            gc.collect()
            _tell(line, records, pack("<I", len(answer)) + answer)
    except OSError:  # it is gone
        pass
    finally:
        import machine

        machine.reset()


def _hear(feed, poll, line, records):
    """What the PC has to say next. Raises OSError if it is gone."""
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


def _tell(line, records, answer):
    room = len(records._out) - _OVERHEAD
    for at in range(0, len(answer), room):
        piece = answer[at : at + room]
        while not records.put(piece, len(piece)):
            records.write(line)
    while records.waits:
        records.write(line)
