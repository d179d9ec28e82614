"""The energy of a signal in frequency bands: a real FFT in integers.

The last readings, without their mean, are weighted with a Hann window, so that one tone does not
show in all bands. `points` complex numbers hold twice as many readings, the even ones in the real
parts, which halves the work (Press et al. 2007, 12.3). Before each stage all numbers are shifted
down by as few bits as they need to fit (block floating point), so a faint signal is as precise as
a loud one. A band's energy is the sum of the squares of its part of the spectrum; the feature is
its logarithm to the base 2, in 1/256.
"""

from array import array

import micropython
from micropython import const

from ..fixed import log2

MOST_ROWS = 512
_LIMIT = const(32767)
_ONE = const(32768)  # 1.0 of sines and weights, in Q15
_HALF = const(16384)  # 0.5 of them; also the least that is too large before a stage
_LOW = const(1023)
_FAINT = const(-2560)  # a thousandth of the energy, or less: log2 in 1/256

# cos and sin of a 512th of a turn, in Q40
_COS = 1099428836573
_SIN = 13492699036


def sine_table(rows):
    """sin(2 * pi * k / rows) in Q15, rounded, for k = 0..rows / 4: array('H').

    rows is a power of two of 32..512. A vector is turned, step by step, in integers of 40 bits
    behind the point, which all boards have: floats are not the same on all of them.
    """
    table = array("H", [0] * (rows // 4 + 1))
    stride = MOST_ROWS // rows
    x, y = 1 << 40, 0
    for k in range(MOST_ROWS // 4 + 1):
        if k % stride == 0:
            table[k // stride] = (y + (1 << 24)) >> 25
        x, y = (x * _COS - y * _SIN) >> 40, (x * _SIN + y * _COS) >> 40
    return table


@micropython.viper
def load(ring, rows: int, first: int, channels: int, channel: int, table, work) -> int:
    """Write a channel's weighted readings to work, array('i') of rows, in bit-reversed pairs.

    ring is array('H') of rows * channels values with a sign, the oldest row is `first`. Returns by
    how many bits the values were shifted up, -2..14, so that all are below 2**14.
    """
    source = ptr16(ring)
    sine = ptr16(table)
    target = ptr32(work)
    total = 0
    for row in range(rows):
        v = source[row * channels + channel]
        if v > _LIMIT:
            v -= 65536
        total += v  # |total| <= 2**25
    mean = (total + (rows >> 1)) // rows
    peak = 0
    for row in range(rows):
        v = source[row * channels + channel]
        if v > _LIMIT:
            v -= 65536
        v -= mean
        if v < 0:
            v = 0 - v
        if v > peak:
            peak = v  # <= 65535
    down = 15
    while peak >= _HALF:
        peak = peak >> 1
        down += 1
    while peak < 8192 and down > 1:
        peak = peak << 1
        down -= 1
    rounding = 1 << (down - 1)
    quarter = rows >> 2
    row = first
    reverse = 0
    for n in range(rows):
        v = source[row * channels + channel]
        if v > _LIMIT:
            v -= 65536
        k = n if n + n <= rows else rows - n
        weight = _ONE - sine[quarter - k] if k <= quarter else _ONE + sine[k - quarter]
        # weight >> 1 is at most 2**15: the product stays below 2**31, with the rounding, too
        v = ((v - mean) * (weight >> 1) + rounding) >> down
        target[reverse + (n & 1)] = v
        if n & 1:
            bit = rows >> 1
            while bit > 1 and reverse & bit:
                reverse = reverse ^ bit
                bit = bit >> 1
            reverse = reverse | bit
        row += 1
        if row == rows:
            row = 0
    return 15 - down


@micropython.viper
def transform(work, table, points: int) -> int:
    """The FFT of `points` complex numbers in bit-reversed order, in place.

    All are below 2**14 before. Returns by how many bits they were shifted down on the way; after
    it they are at most 39555.
    """
    z = ptr32(work)
    sine = ptr16(table)
    quarter = points >> 1
    most = 0
    shifted = 0
    size = 1
    while size < points:
        down = 0
        while most >> down >= _HALF:
            down += 1
        shifted += down
        rounding = (1 << down) >> 1
        most = 0
        turn = 0  # the angle, of 2 * points to a turn
        for j in range(size):
            c = sine[quarter - turn] if turn <= quarter else 0 - sine[turn - quarter]
            s = sine[turn] if turn <= quarter else sine[points - turn]
            k = j + j
            while k < points + points:
                m = k + size + size
                # a part is at most 2**14 here, so each sum of products stays below 2**30
                re = (z[m] + rounding) >> down
                im = (z[m + 1] + rounding) >> down
                x = (re * c + im * s + _HALF) >> 15
                y = (im * c - re * s + _HALF) >> 15
                re = (z[k] + rounding) >> down
                im = (z[k + 1] + rounding) >> down
                v = re - x  # a part is at most 2**14 * (1 + 2**0.5) = 39555 now
                most = most | (v ^ (v >> 31))
                z[m] = v
                v = im - y
                most = most | (v ^ (v >> 31))
                z[m + 1] = v
                v = re + x
                most = most | (v ^ (v >> 31))
                z[k] = v
                v = im + y
                most = most | (v ^ (v >> 31))
                z[k + 1] = v
                k = m + size + size
            turn += points // size
        size += size
    return shifted


@micropython.viper
def band_energy(work, table, points: int, low: int, high: int, down: int, loudest) -> int:
    """log2 of the energy of the frequencies low..high of a transformed signal, in 1/256.

    The loudest of them is written to loudest, array('H'): the lowest, if several are; 0 for none.

    They count from 0 to `points`, half the rate; down is by how many bits the signal was shifted
    down. The energy is the sum of abs(rfft(x))**2, x being the weighted readings; 0 for one that
    is below 1.
    """
    z = ptr32(work)
    sine = ptr16(table)
    quarter = points >> 1
    above = 0  # the sum in two words, the upper one of units of 2**10
    below = 0
    most = 0
    at = 0
    for k in range(low, high + 1):
        c = sine[quarter - k] if k <= quarter else 0 - sine[k - quarter]
        s = sine[k] if k <= quarter else sine[points - k]
        a = (k & (points - 1)) << 1
        b = ((points - k) & (points - 1)) << 1
        x = (z[a] - z[b]) >> 1  # at most 39555, so the sums of products stay below 2**31
        y = (z[a + 1] + z[b + 1]) >> 1
        re = ((z[a] + z[b]) >> 1) + ((c * y - s * x + _HALF) >> 15)
        im = ((z[a + 1] - z[b + 1]) >> 1) - ((c * x + s * y + _HALF) >> 15)
        re = re >> 1  # re**2 + im**2 <= 39556**2 * 1.0001 < 2**31, by the parallelogram's law
        im = im >> 1
        x = re * re + im * im
        if x > most:
            most = x
            at = k
        above += x >> 10  # <= 257 * 2**20.6 < 2**30
        below += x & _LOW
    ptr16(loudest)[0] = at
    above += below >> 10
    up = 2  # re and im were halved
    if above < 524288:  # 2**19
        above = (above << 10) + (below & _LOW)
    else:
        up = 12
    if not above:
        return 0
    level = (int(log2(above)) >> 6) + ((up + down + down) << 8)
    return level if level > 0 else 0


class Spectrum:
    """Computes energies in frequency bands, for windows of `rows` readings of some channels.

    ring has the readings, see load(). No method has more than eleven words of state, see link.py.
    """

    def __init__(self, rows, ring, channels):
        if rows not in (32, 64, 128, 256, 512):
            raise ValueError("with bands, the window has to be 32, 64, 128, 256 or 512 readings")
        self._rows = rows
        self._ring = ring
        self._channels = channels
        self._table = sine_table(rows)
        self._work = array("i", [0] * rows)
        self._down = 0
        self._loudest = array("H", [0])

    def take(self, first, channel):
        """Transform a channel; `first` is the oldest row."""
        self._down = load(
            self._ring, self._rows, first, self._channels, channel, self._table, self._work
        )  # up
        self._down = transform(self._work, self._table, self._rows >> 1) - self._down

    def energy(self, low, high):
        """Return log2 of the energy from frequency low to high, 0..rows / 2, in 1/256."""
        return band_energy(
            self._work, self._table, self._rows >> 1, low, high, self._down, self._loudest
        )

    def loudest(self):
        """Return the loudest frequency in the band of the last energy(); 0 without energy."""
        return self._loudest[0]

    def tell_tones(self, values, to, total):
        """Write three features; `total` is the result of energy(1, rows / 2), called just before.

        log2 of the loudest frequency in 1/256, and the shares of the energy at it and at its
        double.
        """
        loudest = self.loudest()
        values[to] = log2(loudest) >> 6 if loudest else 0
        values[to + 1] = self._near(loudest, total)
        values[to + 2] = self._near(2 * loudest, total)

    def _near(self, frequency, total):
        """Return the share of the energy at a frequency and next to it."""
        if not 0 < 2 * frequency <= self._rows:
            return _FAINT
        last = frequency + 1 if 2 * frequency < self._rows else frequency
        part = self.energy(frequency - 1 or 1, last) - total
        return part if part > _FAINT else _FAINT
