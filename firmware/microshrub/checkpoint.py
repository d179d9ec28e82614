"""Checkpoints that survive a power cut: two slots, of which the newest valid one is never written.

A slot is a file, little-endian:

    magic b"mshc" | version u8 | sequence number u32 | length of the file u32
    | hash of the configurations u32 | saves that are left u16
    | the states, as Buffers.write() writes them | CRC32 of all before, u32

A save goes to the other slot and is read back, so wherever it is cut, a valid slot is left. A
slot is checked in a first pass over its file; then the buffers are read, straight into place.
A save can be done in steps, between which a board goes on, as flash takes 45 ms for each sector.

When to save: 2 seconds after the last change or, where changes go on, 45 seconds after the first
one. So a change is in flash within 5 seconds of a pause, and within 60 without a pause. Each save
takes one from an allowance of 1,000 saves, and one comes back every `seconds`, an interval so long
that flash which is written that often lasts ten years. A person who teaches does not use up the
allowance. An endless stream of labels does, and is then saved every `seconds`; it leaves 100 saves
for changes that only a person makes, such as giving a name. The allowance is stored in the
checkpoint, so a restart does not fill it, except that labels always have 20 saves.
"""

import os
import struct
from binascii import crc32

from micropython import const

from .buffers import Buffers
from .learner import ParameterError, whole

_MAGIC = b"mshc"
_VERSION = const(2)
_HEAD = "<4sBIIIH"
_HEAD_BYTES = const(19)
_LEFT_AT = const(17)  # the place in it of the saves that are left
_CHUNK_BYTES = const(128)  # in which a slot is checked
_STEP_BYTES = const(4096)  # of a slot, at most, that a step writes: a sector of flash
_TICKS = const(1073741823)  # 2**30 - 1: counts and times may wrap around there
_MISSING = const(2)  # ENOENT
_PAUSE = const(2000)  # milliseconds without another change before a save,
_LONGEST = const(45000)  # or since the first change that is not saved
_ALLOWANCE = const(1000)  # saves, at most
_RESERVE = const(100)  # saves that labels leave
_AT_START = const(120)  # saves at the start, at least
_MOST = const(536870911)  # milliseconds that are counted, at most


class _Summed:
    """A stream that computes the CRC32 of the bytes written to it."""

    def __init__(self, stream):
        self._stream = stream
        self.crc = 0
        self.written = 0

    def write(self, data):
        self.crc = crc32(data, self.crc)
        self.written += self._stream.write(data)

    def is_full(self):
        """Whether a step's bytes were written since this was true."""
        full = self.written >= _STEP_BYTES
        if full:
            self.written = 0
        return full


class Checkpoint:
    """Saves and restores learners, quantizers, metrics, any Buffers: all of them, or none.

    parts    a tuple of these, always in the same order
    path     of the two files, which end in .0 and .1
    seconds  1..1,000,000: due() spares the flash so that, in the long run, so many pass between
             two saves

    `message` tells people how the last restore() or save() went. `moving` are the parts that may
    change while the others are saved in steps, see steps(). `urgent` is set for a change that only
    a person makes. `ago` is the milliseconds since the last save or restore(), -1 before both.
    """

    def __init__(self, parts, path="checkpoint", seconds=60):
        if not isinstance(parts, (tuple, list)) or not parts:
            raise ParameterError("parts", "a tuple of what is to be saved", parts)
        for part in parts:
            if not isinstance(part, Buffers):
                raise ParameterError("parts", "a tuple of learners and the like", part)
        if not isinstance(path, str) or not path:
            raise ParameterError("path", "the start of a file's name", path)
        self.seconds = whole("seconds", seconds, 1, 1000000)
        self.message = "no checkpoint was looked for yet"
        self.moving = ()  # type: tuple
        self._parts = tuple(parts)
        self._paths = (path + ".0", path + ".1")
        self._hash = crc32("\n".join([part.configuration() for part in parts]).encode())
        self._length = _HEAD_BYTES + sum([part.saved_bytes() for part in parts]) + 4
        self._chunk = bytearray(_CHUNK_BYTES)
        self._numbers = [-1, -1]  # sequence numbers of the slots, -1: not valid
        self._states = ["", ""]  # of the slots, for a person; empty: not looked at yet
        self.urgent = False
        self.ago = -1
        self._changes = -1  # of the last note(); -1: there was none
        self._begun = self._kept = 0  # the same when a save began, and as it is in flash
        self._time = -1  # of the last due()
        self._quiet = self._age = 0  # milliseconds since the last change, and the first unsaved
        self._left = _ALLOWANCE  # saves
        self._earned = 0  # milliseconds of the next one

    # When

    def due(self, changes, milliseconds):
        """Whether it is time to save; never at the first call. Allocates nothing.

        changes and milliseconds are running counts of 0..2**30 - 1, and may wrap around, as
        metrics.samples and time.ticks_ms() do. A yes takes one save from the allowance. If save()
        fails and nothing changes, the next yes comes 45 seconds later: a full disk is not written
        to again and again. Call this at least once in 12 days.
        """
        if self._time >= 0:
            self._pass((milliseconds - self._time) & _TICKS)
        self._time = milliseconds
        if changes != self._changes:
            self.note(changes)
        if changes == self._kept or self._left <= (0 if self.urgent else _RESERVE):
            return False
        pause = self._quiet >= _PAUSE and changes != self._begun
        if not pause and self._age < _LONGEST:
            return False
        self._left -= 1
        self._age = 0
        self._begun = changes
        return True

    def _pass(self, passed):
        """Let time pass: 0..2**30 - 1 milliseconds."""
        some = min(passed, _MOST)
        self._quiet = min(self._quiet + some, _MOST)
        self._age = min(self._age + some, _MOST)
        if self.ago >= 0:
            self.ago = min(self.ago + some, _MOST)
        wait = self.seconds * 1000  # < 2**30
        if passed < wait - self._earned:
            self._earned += passed
            return
        passed -= wait - self._earned
        self._left = min(self._left + 1 + passed // wait, _ALLOWANCE)
        self._earned = passed % wait

    def note(self, changes):
        """Note the count of changes, as due() does. That of the first call counts as saved."""
        if self._changes < 0:
            self._begun = self._kept = self._changes = changes
        if changes != self._changes:
            if self._changes == self._begun:
                self._age = 0
            self._changes = changes
            self._quiet = 0

    def unsaved(self):
        """Return how many of the changes that were noted are not in flash."""
        return (self._changes - self._kept) & _TICKS

    # Restore

    def restore(self):
        """Load the newest valid checkpoint; returns whether there was one.

        If there was none, the parts are as they were. Slots that are missing, damaged or of
        another configuration are not valid. If reading fails halfway (a failing disk), the parts
        are reset and the other slot is tried.
        """
        self._look()
        newest = self._newest()
        while newest >= 0 and not self._take(newest):
            self._numbers[newest] = -1
            newest = self._newest()
        slots = "%s is %s, %s is %s" % (
            self._paths[0], self._states[0], self._paths[1], self._states[1],
        )  # fmt: skip
        if newest < 0:
            self.message = "starting fresh: " + slots
            return False
        self.message = "checkpoint %d restored: %s" % (self._numbers[newest], slots)
        self.ago = 0
        return True

    def number(self):
        """Return the sequence number of the newest known checkpoint, 0 if there is none."""
        newest = self._newest()
        return self._numbers[newest] if newest >= 0 else 0

    def _look(self):
        """Check both slots."""
        for slot in range(2):
            for _ in self._check(slot):
                pass

    def _newest(self):
        """Return the valid slot with the highest sequence number, which wraps around; -1: none."""
        first, second = self._numbers
        if first < 0 or second < 0:
            return 0 if first >= 0 else 1 if second >= 0 else -1
        return (first - second) >> 31 & 1

    def _check(self, slot):
        """The first pass, in steps: notes the sequence number of a valid slot, else -1."""
        self._numbers[slot] = -1
        try:
            with open(self._paths[slot], "rb") as file:
                for number in self._scan(file):  # noqa: B007  (the last one counts)
                    yield
            self._numbers[slot] = number
            self._states[slot] = "valid"
        except ValueError as error:
            self._states[slot] = str(error)
        except OSError as error:
            missing = error.errno == _MISSING
            self._states[slot] = "missing" if missing else "not readable (%s)" % error

    def _scan(self, file):
        """The sequence number, after each step. Raises ValueError if it is not a valid slot."""
        head = file.read(_HEAD_BYTES)
        if len(head) < _HEAD_BYTES or head[:4] != _MAGIC:
            raise ValueError("damaged")
        _, version, number, length, configuration, _ = struct.unpack(_HEAD, head)
        crc = crc32(head)
        left = length - _HEAD_BYTES - 4
        while left >= _CHUNK_BYTES and file.readinto(self._chunk) == _CHUNK_BYTES:
            crc = crc32(self._chunk, crc)
            left -= _CHUNK_BYTES
            if left % _STEP_BYTES < _CHUNK_BYTES:
                yield number
        if not 0 <= left < _CHUNK_BYTES:
            raise ValueError("damaged")
        crc = crc32(file.read(left), crc)
        if file.read(5) != struct.pack("<I", crc):  # 5: nothing may follow
            raise ValueError("damaged")
        if version != _VERSION:
            raise ValueError("of version %d" % version)
        if configuration != self._hash or length != self._length:
            raise ValueError("of another configuration")
        yield number

    def _take(self, slot):
        """The second pass: read the buffers; returns whether that went well."""
        taken = False
        try:
            with open(self._paths[slot], "rb") as file:
                head = file.read(_HEAD_BYTES)
                for part in self._parts:
                    part.read(file)
            left = head[_LEFT_AT] | head[_LEFT_AT + 1] << 8
            self._left = min(max(left, _AT_START), _ALLOWANCE)
            taken = True
        except (OSError, ValueError) as error:
            self._states[slot] = "not readable (%s)" % error
        finally:  # after Ctrl-C, too
            if not taken:
                for part in self._parts:
                    part.reset()
        return taken

    # Save

    def save(self):
        """Write a checkpoint and read it back; returns whether it is safe.

        If it is not (a full disk, no memory for an open file), the previous checkpoint still is,
        and the next save tries the same slot again.
        """
        for _ in self.steps():
            pass
        return self.saved

    def steps(self):
        """Save in steps, as an iterator; at the end, `saved` says whether the checkpoint is safe.

        A step writes or reads back at most about _STEP_BYTES, but writes a part in `moving` as a
        whole. The other parts must not change meanwhile.
        """
        self.saved = self.urgent = False
        self._begun = begun = self._changes
        if not self._states[0]:
            self._look()
        newest = self._newest()
        slot = int(newest == 0)
        number = (self._numbers[newest] + 1) & 0xFFFFFFFF if newest >= 0 else 1
        self._numbers[slot] = -1
        try:
            with open(self._paths[slot], "wb") as file:
                for _ in self._write(file, number):
                    yield
            yield
            for _ in self._check(slot):
                yield
            state = self._states[slot]
        except (OSError, MemoryError) as error:
            state = "%s %s" % (type(error).__name__, error)
        if self._numbers[slot] < 0:
            self.message = "checkpoint %d was not saved to %s: %s" % (
                number, self._paths[slot], state,
            )  # fmt: skip
            return
        self.message = "checkpoint %d saved to %s" % (number, self._paths[slot])
        self.saved = True
        self.ago = 0
        self._kept = begun

    def forget(self):
        """Remove both slots: the next start is a fresh one. Raises OSError."""
        for slot in range(2):
            self._numbers[slot] = -1
            try:
                os.remove(self._paths[slot])
            except OSError as error:
                if error.errno != _MISSING:
                    raise
        self._kept = self._changes

    def _write(self, file, number):
        stream = _Summed(file)
        stream.write(struct.pack(
            _HEAD, _MAGIC, _VERSION, number, self._length, self._hash, self._left
        ))  # fmt: skip
        for part in self._parts:
            if part in self.moving:
                part.write(stream)
            else:
                for _ in part.write_pieces(stream):
                    if stream.is_full():
                        yield
        file.write(struct.pack("<I", stream.crc))
