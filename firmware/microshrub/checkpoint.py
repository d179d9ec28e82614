"""Checkpoints that survive a power cut: two slots, of which the newest valid one is never touched.

A slot is a file, little-endian:

    magic b"mshc" | version u8 | sequence number u32 | length of the file u32
    | hash of the configurations u32 | the states, as Buffers.write() writes them
    | CRC32 of all before, u32

A save goes to the other slot and is read back, so wherever it is cut, a valid slot is left. A
slot is checked in a first pass over its file; then the buffers are read, straight into place.
A save can be done in steps, between which a board goes on, as flash takes 45 ms for each sector.
"""

import struct
from binascii import crc32

from micropython import const

from .buffers import Buffers
from .learner import ParameterError, whole

_MAGIC = b"mshc"
_VERSION = const(1)
_HEAD = "<4sBIII"
_HEAD_BYTES = const(17)
_CHUNK_BYTES = const(128)  # what a slot is checked by
_STEP_BYTES = const(4096)  # of a slot, at most, that are written in a step: a sector of flash
_TICKS = const(1073741823)  # 2**30 - 1: counts and times may wrap around there
_MISSING = const(2)  # ENOENT


class _Summed:
    """A stream that computes the CRC32 of what is written to it."""

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
    """Saves and restores learners, quantizers, metrics: any Buffers, and all of them or none.

    parts    a tuple of them, always in the same order
    path     of the two files, which end in .0 and .1
    samples  0..2**29 and
    seconds  0..1,000,000: due() spares the flash until so many have passed

    `message` tells people how the last restore() or save() went. `moving` are those of the parts
    that go on while the others are saved in steps, see steps().
    """

    def __init__(self, parts, path="checkpoint", samples=1000, seconds=60):
        if not isinstance(parts, (tuple, list)) or not parts:
            raise ParameterError("parts", "a tuple of what is to be saved", parts)
        for part in parts:
            if not isinstance(part, Buffers):
                raise ParameterError("parts", "a tuple of learners and the like", part)
        if not isinstance(path, str) or not path:
            raise ParameterError("path", "the start of a file's name", path)
        self.samples = whole("samples", samples, 0, 1 << 29)
        self.seconds = whole("seconds", seconds, 0, 1000000)
        self.message = "no checkpoint was looked for yet"
        self.moving = ()  # type: tuple
        self._parts = tuple(parts)
        self._paths = (path + ".0", path + ".1")
        self._hash = crc32("\n".join([part.configuration() for part in parts]).encode())
        self._length = _HEAD_BYTES + sum([part.saved_bytes() for part in parts]) + 4
        self._chunk = bytearray(_CHUNK_BYTES)
        self._numbers = [-1, -1]  # sequence numbers of the slots, -1: not valid
        self._states = ["", ""]  # of the slots, for a person; empty: not looked at yet
        self._started = False  # due() was asked
        self._sample = 0  # what it was told at the last save
        self._time = 0  # what it was told last
        self._waited = 0  # milliseconds since the last save, as far as they matter

    # When

    def due(self, samples, milliseconds):
        """Is it time to save? At the first call it is not. Allocates nothing.

        samples and milliseconds are running counts, of 0..2**30 - 1, where they may wrap around,
        as metrics.samples and time.ticks_ms() do. A yes starts the next interval, whether or not
        save() then succeeds, so that a full disk is not written to with every sample. Call this
        at least once in 12 days.
        """
        passed = (milliseconds - self._time) & _TICKS
        self._time = milliseconds
        if not self._started:
            self._started = True
            self._sample = samples
            return False
        wait = self.seconds * 1000  # < 2**30
        if passed < wait - self._waited:
            self._waited += passed
            return False
        self._waited = wait
        if (samples - self._sample) & _TICKS < self.samples:
            return False
        self._sample = samples
        self._waited = 0
        return True

    # Restore

    def restore(self):
        """Take over the newest valid checkpoint; returns whether there was one.

        If there was none, the parts are as they were. Slots that are missing, damaged or of
        another configuration are not valid. If reading breaks off (a failing disk), the parts are
        reset and the other slot is tried.
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
        return True

    @property
    def number(self):
        """Sequence number of the newest checkpoint that is known, 0 if there is none."""
        newest = self._newest()
        return self._numbers[newest] if newest >= 0 else 0

    def _look(self):
        """Check both slots."""
        for slot in range(2):
            for _ in self._check(slot):
                pass

    def _newest(self):
        """The valid slot with the highest sequence number, which wraps around; -1: none."""
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
        _, version, number, length, configuration = struct.unpack(_HEAD, head)
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
                file.read(_HEAD_BYTES)
                for part in self._parts:
                    part.read(file)
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

        If it is not (a full disk, no memory for an open file), the checkpoint before it still is,
        and the next save tries the same slot again.
        """
        for _ in self.steps():
            pass
        return self.saved

    def steps(self):
        """Save in steps, as an iterator; at the end, `saved` says whether the checkpoint is safe.

        In a step, at most about _STEP_BYTES are written, or read back, but a part that is one of
        `moving` is written as a whole. The others must not change meanwhile.
        """
        self.saved = False
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
            said = self._states[slot]
        except (OSError, MemoryError) as error:
            said = "%s %s" % (type(error).__name__, error)
        if self._numbers[slot] < 0:
            self.message = "checkpoint %d was not saved to %s: %s" % (
                number, self._paths[slot], said,
            )  # fmt: skip
            return
        self.message = "checkpoint %d saved to %s" % (number, self._paths[slot])
        self.saved = True

    def _write(self, file, number):
        stream = _Summed(file)
        stream.write(struct.pack(_HEAD, _MAGIC, _VERSION, number, self._length, self._hash))
        for part in self._parts:
            if part in self.moving:
                part.write(stream)
            else:
                for _ in part.write_pieces(stream):
                    if stream.is_full():
                        yield
        file.write(struct.pack("<I", stream.crc))
