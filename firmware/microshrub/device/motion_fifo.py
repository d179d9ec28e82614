"""An MPU6050 whose readings wait in its FIFO of 1024 bytes while a model learns.

The chip itself takes a reading every 1/rate seconds, so none is late. Registers and bits are named
as in its register map, revision 4.2. It writes the bytes of a reading one after another, high
bytes first; reading the register FIFO_R_W takes the oldest bytes out. When the FIFO is full, the
chip overwrites the oldest bytes: then it is unknown where a reading begins, and the FIFO is
emptied.
"""

from micropython import const

from ..learner import whole
from .sensors import Motion, Pace, unpack

_DIVIDER = const(0x19)  # SMPLRT_DIV: 1000 Hz / (1 + it) is the rate
_CONFIG = const(0x1A)  # the low-pass filter in the chip, DLPF_CFG
_SOURCES = const(0x23)  # FIFO_EN: which values go into the FIFO
_ACCELERATION = const(0x08)
_ALL = const(0x78)
_INT_ENABLE = const(0x38)
_STATUS = const(0x3A)  # INT_STATUS, cleared when it is read
_OVERRUN = const(0x10)  # FIFO_OFLOW_INT, and the bit that enables it
_CONTROL = const(0x6A)  # USER_CTRL
_OFF_AND_EMPTY = const(0x04)  # FIFO_RESET, which needs FIFO_EN to be 0
_ON = const(0x40)  # FIFO_EN
_POWER = const(0x6B)
_BY_GYRO = b"\1"  # awake, with the clock of a gyroscope, the steadiest one
_COUNT = const(0x72)  # FIFO_COUNT_H and _L
_FIFO = const(0x74)  # FIFO_R_W
_WHO = const(0x75)  # WHO_AM_I
_HALVES = (0x70, 0x71, 0x73)  # MPU6500, 9250, 9255, whose FIFO has 512 bytes
_POLLS = const(100)  # times a second that the FIFO is looked at, at most
_BANDWIDTHS = (184, 94, 44, 21, 10)  # hertz, for DLPF_CFG 1, 2, ...; the next one has 5


class MotionFifo(Motion):
    """The readings of Motion, each taken by the chip at its time.

    The options are Motion's; rate has to divide 1000. `overruns` counts how often readings were
    lost because nobody took them out in time, at most 2**29; say(text) reports the first, the
    second, the fourth and so on. `gap`: readings are missing before the last one; whoever reads
    it sets it to False.
    """

    def __init__(self, options, board, say):
        rate = whole("rate", options["rate"], 1, 1000)
        if 1000 % rate or rate < 4:
            raise ValueError("with a FIFO, rate has to divide 1000 and be above 3, not %d" % rate)
        Motion.__init__(self, options, board)
        self.overruns = 0
        self.gap = False
        self._say = say
        block = max(rate // _POLLS, 1)
        self.pace = self._pace = FifoPace(rate // block, board.microseconds)
        self._period = 1000000 // rate  # microseconds
        self._size = 2 * self.features  # bytes of a reading
        self._block = bytearray(block * self._size)
        self._at = len(self._block)  # the byte where the next reading begins
        self._byte = bytearray(1)
        self._count = bytearray(2)
        self._lost = False  # the FIFO has to begin anew
        self._bus.readfrom_mem_into(self._address, _WHO, self._byte)
        self._room = 512 if self._byte[0] in _HALVES else 1024
        bandwidth = 1
        while bandwidth <= 5 and 2 * _BANDWIDTHS[bandwidth - 1] > rate:
            bandwidth += 1
        self.set(_POWER, _BY_GYRO)
        self.set(_CONFIG, bytes((bandwidth,)))
        self.set(_DIVIDER, bytes((1000 // rate - 1,)))
        self.set(_INT_ENABLE, bytes((_OVERRUN,)))
        self._begin()

    def _begin(self):
        """Empty the FIFO and let the chip fill it from the next reading on. Raises OSError."""
        self._put(_SOURCES, 0)
        self._put(_CONTROL, _OFF_AND_EMPTY)
        self._put(_CONTROL, _ON)
        self._put(_SOURCES, _ALL if self.features > 3 else _ACCELERATION)
        self._bus.readfrom_mem_into(self._address, _STATUS, self._byte)  # clears it
        self._lost = False

    def _put(self, register, value):
        self._byte[0] = value
        self._bus.writeto_mem(self._address, register, self._byte)

    def read(self, values):
        """Take the oldest reading; returns False if the FIFO holds too few to fetch a block."""
        if self._at == len(self._block) and not self._fetch():
            self._pace.more = False
            return False
        unpack(self._block, self._at, values, self.features, 0)
        self._at += self._size
        self._pace.more = True
        return True

    def _fetch(self):
        """Take a block of readings out; returns whether there was one. Allocates nothing."""
        try:
            if self._lost:
                self.gap = True
                self._begin()
            self._bus.readfrom_mem_into(self._address, _STATUS, self._byte)
            self._bus.readfrom_mem_into(self._address, _COUNT, self._count)
            there = self._count[0] << 8 | self._count[1]
            # a reading may come in between: then the FIFO would overrun before it is read
            if self._byte[0] & _OVERRUN or there > self._room - 3 * self._size:
                self._overran()
                return False
            if there < len(self._block):
                return False
            self._bus.readfrom_mem_into(self._address, _FIFO, self._block)
        except OSError:
            self.failures = min(self.failures + 1, 1 << 29)
            self._lost = True  # a part of a reading may have been taken out
            return False
        self._at = 0
        return True

    def _overran(self):
        self._lost = True
        n = self.overruns = min(self.overruns + 1, 1 << 29)
        if not n & (n - 1):
            holds = self._room // self._size * self._period // 1000
            self._say(
                "the sensor's FIFO overran%s: readings were lost, as a sample takes longer than "
                "the %d ms that it holds" % (" %d times" % n if n > 1 else "", holds)
            )


class FifoPace(Pace):
    """The times at which to read a FIFO: `rate` a second, and at once while there is more."""

    def __init__(self, rate, clock):
        Pace.__init__(self, rate, clock)
        self.more = False

    def wait(self):
        """Return the microseconds until the FIFO has to be read; 0 or less: now."""
        return 0 if self.more else Pace.wait(self)

    def due(self):
        """Return whether it has to be read now."""
        return self.more or Pace.due(self)
