"""Makes samples of windows of a sensor's readings: filters, statistics, and a choice of features.

The simulator runs this file, too, so it makes the same samples of a recording, bit for bit, as the
board would have made.

The filters are second-order Butterworth low-pass and high-pass filters in integers. Each is a
trapezoidal state-variable filter (Zavalishin 2012, "The Art of VA Filter Design", 3.10): unlike a
biquad, it stays precise where the cut-off is a small fraction of the rate, as nothing in it
depends on a small difference of large coefficients. With g = tan(pi * cut-off / rate), k = 2**0.5
and d = 1 + g * (g + k), its coefficients are

    1 - 1 / d,  g / d,  g * g / d

Each is in 0..1 and is kept as a mantissa, at most 32767, and a shift: m / 2**(15 + shift).
`build` computes them, so that all boards and the simulator have the same integers.

A filter has two words of state a channel: the sums of the two integrators in 1/2048 of a reading's
unit. They stay below 2**28 for any readings of 16 bits.
"""

from array import array

import micropython
from micropython import const

from ..learner import choice, whole
from .features import (
    ENERGY,
    FORM,
    MOST_ROWS,
    STATISTICS,
    TURN_WORDS,
    centre,
    energy,
    outline,
    summarize,
    turn,
)

FORMS = ("low", "high")
FILTER_WORDS = 2  # words of a filter's state per channel
_DOWN = const(11)  # bits behind the point
_ROUNDING = const(1024)
_LIMIT = const(32767)
_BITS = const(13)  # a product is made of the upper bits of a factor and these
_PART = const(8191)
_ROOT = const(13573)  # 2**0.5 - 1 in Q15

MOST_CHANNELS = 64
TONES = 3  # features of a channel: the loudest frequency, its share, and that of its double
_ABSENT = const(-536870912)  # -2**29: a missing reading


@micropython.viper
def run_filter(signal, state, at: int, words, channels: int, fresh: int):
    """Filter the values of all channels, array('i') of signed 16-bit values, in place.

    The filter's state begins at state[at]. fresh: start as if these values had been constant for
    a long time.
    """
    values = ptr32(signal)
    states = ptr32(state)
    f = ptr32(words)
    high = f[0]
    for channel in range(channels):
        x = values[channel] << _DOWN  # 2**26
        one = states[at]
        two = states[at + 1]
        if fresh:
            one = 0
            two = x
        d = x - two  # < 2**29: its upper part is below 2**16, each product below 2**31
        # band = one - one * f1 + d * f2
        band = one - (
            ((one >> _BITS) * f[1] + ((one & _PART) * f[1] >> _BITS) + ((1 << f[2]) >> 1)) >> f[2]
        )
        band += ((d >> _BITS) * f[3] + ((d & _PART) * f[3] >> _BITS) + ((1 << f[4]) >> 1)) >> f[4]
        # low = two + one * f2 + d * f3
        low = two + (
            ((one >> _BITS) * f[3] + ((one & _PART) * f[3] >> _BITS) + ((1 << f[4]) >> 1)) >> f[4]
        )
        low += ((d >> _BITS) * f[5] + ((d & _PART) * f[5] >> _BITS) + ((1 << f[6]) >> 1)) >> f[6]
        states[at] = band + band - one
        states[at + 1] = low + low - two
        at += 2
        if high:  # x - low - 2**0.5 * band
            low = x - low - band
            low -= ((band >> _BITS) * _ROOT + ((band & _PART) * _ROOT >> _BITS)) >> 2
        low = (low + _ROUNDING) >> _DOWN
        if low > _LIMIT:
            low = _LIMIT
        elif low < 0 - _LIMIT - 1:
            low = 0 - _LIMIT - 1
        values[channel] = low


def filter_words(form, coefficients):
    """A filter for run_filter(): array('i') of the form and of each coefficient's two numbers.

    form is one of FORMS; coefficients are three pairs, mantissa and shift. Raises ValueError.
    """
    words = array("i", [FORMS.index(choice("a filter's form", form, FORMS))])
    if len(coefficients) != 3:
        raise ValueError("a filter has three coefficients, not %d" % len(coefficients))
    for mantissa, shift in coefficients:
        words.append(whole("a filter's mantissa", mantissa, 0, _LIMIT))
        words.append(2 + whole("a filter's shift", shift, 0, 14))
    return words


@micropython.viper
def take_readings(readings, last, zero, signal, channels: int):
    """Write readings - zero to signal, within 16 bits; all are array('i')."""
    source = ptr32(readings)
    before = ptr32(last)
    middle = ptr32(zero)
    target = ptr32(signal)
    for channel in range(channels):
        v = source[channel]
        if v == _ABSENT:
            v = before[channel]
        before[channel] = v
        v -= middle[channel]  # each is within 30 bits
        if v > _LIMIT:
            v = _LIMIT
        elif v < 0 - _LIMIT - 1:
            v = 0 - _LIMIT - 1
        target[channel] = v


@micropython.viper
def put_signal(signal, ring, row: int, channels: int):
    """Copy the values of all channels to a row of the ring, array('H')."""
    source = ptr32(signal)
    target = ptr16(ring)
    row = row * channels
    for channel in range(channels):
        target[row + channel] = source[channel] & 65535


class FeatureExtractor:
    """Takes readings of some channels one by one, and makes a sample of a window of them.

    window      readings that make a sample: 1..1024; with bands 32, 64, 128, 256 or 512
    hop         readings between two samples, 1..1024
    zero        for each channel, the value that is subtracted from its readings
    filters     [form, coefficients] each, see above; they are applied one after the other
    statistics  the statistics of features.py to compute, by their places there
    bands       [low, high] each: frequencies in rate / window, both included, see spectrum.py
    plain       the channels whose last reading is itself a feature
    relative    whether energies in the bands are shares of the energy of all frequencies
    tones       whether to add log2 of the loudest frequency in 1/256 of rate / window, and the
                shares of the energy near it and near its double
    turns       [channel, channel] each: pairs of channels whose turns are features
    lags        the lags of each pair's turns, in readings

    A sample has, for each channel, its statistics, tones, and then log2 of its energies in the
    bands, in 1/256; and after those of all channels, the turns. With a window of 1, it is the
    filtered reading itself. A reading minus its zero is kept within 16 signed bits. Raises
    ValueError for invalid values.
    """

    def __init__(
        self, channels, window, hop, zero, filters, statistics, bands, plain, relative=False,
        tones=False, turns=(), lags=(1,),
    ):  # fmt: skip
        self.channels = whole("channels", channels, 1, MOST_CHANNELS)
        self._window = whole("window", window, 1, MOST_ROWS)
        self._hop = whole("hop", hop, 1, MOST_ROWS)
        if len(zero) != channels:
            raise ValueError("zero has to be a list of %d numbers" % channels)
        self._zero = array("i", [whole("zero", z, 1 - (1 << 29), (1 << 29) - 1) for z in zero])
        self._plain = tuple([whole("plain", channel, 0, channels - 1) for channel in plain])
        self._statistics = tuple(
            [whole("statistics", place, 0, STATISTICS - 1) for place in statistics]
        )
        self._outline = None
        self._bands = tuple([_band(band, window) for band in bands])
        self._relative = relative or tones
        self._tones = tones
        if window == 1 and (statistics or turns):
            raise ValueError("a window of one reading has no statistics")
        if tones and not bands:
            raise ValueError("tones need bands")
        described = len(self._statistics) + len(self._bands) + (TONES if tones else 0)
        each = 1 if window == 1 else described
        self.features = each * (channels - len(self._plain)) + len(self._plain)
        self.features += len(turns) * len(lags)
        self._last = array("i", self._zero)
        self._signal = array("i", [0] * channels)
        self._ring = self._stats = self._spectrum = None
        if window > 1:
            self._ring = array("H", bytes(2 * channels * window))
        if self._statistics:
            self._stats = array("i", [0] * STATISTICS)
            if max(self._statistics) >= FORM:
                self._set_up_outline()
        if self._bands:
            from .spectrum import Spectrum

            self._spectrum = Spectrum(window, self._ring, channels)
        self._turns = ()  # type: tuple
        if turns:
            self._set_up_turns(turns, lags)
        self._filters = ()  # type: tuple
        if filters:
            self._set_up_filters(filters)
        self.restart()

    def _set_up_outline(self):
        self._outline = outline

    def _set_up_turns(self, turns, lags):
        for pair in turns:
            for channel in pair:
                whole("turns", channel, 0, self.channels - 1)
        for lag in lags:
            whole("lags", lag, 1, self._window)
        # the pair, the lag, and whether the axes have yet to be measured: once for all lags
        self._turns = tuple([
            (one, other, lag, lag == lags[0]) for one, other in turns for lag in lags
        ])  # fmt: skip
        self._centres = array("i", [0] * TURN_WORDS)

    def _set_up_filters(self, filters):
        self._run_filter = run_filter
        self._filters = tuple([filter_words(form, numbers) for form, numbers in filters])
        self._step = FILTER_WORDS * self.channels
        self._state = array("i", [0] * (self._step * len(filters)))

    def restart(self):
        """Start again after a gap: the next sample uses no readings from before it."""
        self._row = 0  # the row of the ring that is written next
        self._values = self._signal  # the values of the sample,
        self._to = 0  # the place in the sample that is written next
        self._total = 0  # energy of all frequencies, if bands are relative to it
        self._wait = self._window  # readings until the next sample
        self._fresh = 1  # filters have seen nothing

    def take(self, readings, values):
        """Take a reading of all channels; returns whether values has a sample now.

        Both are array('i'). Allocates nothing: no function that it calls has more than eleven
        words of state, see link.py.
        """
        take_readings(readings, self._last, self._zero, self._signal, self.channels)
        k = 0
        while k < len(self._filters):
            self._filter(k)
            k += 1
        self._fresh = 0
        if self._ring is not None:
            put_signal(self._signal, self._ring, self._row, self.channels)
            self._row = (self._row + 1) % self._window
        self._wait -= 1
        if self._wait:
            return False
        self._wait = self._hop
        self._values = values
        self._write()
        return True

    def _filter(self, k):
        at = k * self._step
        run_filter = self._run_filter
        run_filter(self._signal, self._state, at, self._filters[k], self.channels, self._fresh)

    def _write(self):
        """Write the features of the window."""
        values = self._values
        self._to = 0
        channel = 0
        while channel < self.channels:
            if channel in self._plain:
                values[self._to] = self._last[channel]
                self._to += 1
            elif self._ring is None:
                values[self._to] = self._signal[channel]
                self._to += 1
            else:
                self._describe(channel)
            channel += 1
        if self._turns:
            self._tell_turns()

    def _tell_turns(self):
        """Write in which direction each pair of channels turns, at each lag."""
        k = 0
        while k < len(self._turns):
            self._values[self._to] = self._turn_of(self._turns[k])
            self._to += 1
            k += 1

    def _turn_of(self, pair):
        """Return the turn of one of self._turns."""
        centres = self._centres
        if pair[3]:
            centre(self._ring, self._window, self.channels, pair[0], centres, 0)
            centre(self._ring, self._window, self.channels, pair[1], centres, TURN_WORDS // 2)
        return turn(self._ring, self._window, self._row, self.channels, pair[2], centres)

    def _describe(self, channel):
        """Write a channel's features."""
        if self._stats is not None:
            self._summarize(channel, self._stats)
            self._pick(self._stats)
        if self._spectrum is not None:
            self._measure(channel, self._spectrum)

    def _summarize(self, channel, statistics):
        summarize(self._ring, self._window, self._row, self.channels, channel, statistics)
        if ENERGY in self._statistics:
            statistics[ENERGY] = energy(self._ring, self._window, self.channels, channel)
        if self._outline is not None:
            self._outline(self._ring, self._window, self._row, self.channels, channel, statistics)

    def _pick(self, statistics):
        to = self._to
        for place in self._statistics:
            self._values[to] = statistics[place]
            to += 1
        self._to = to

    def _measure(self, channel, spectrum):
        spectrum.take(self._row, channel)
        self._total = spectrum.energy(1, self._window >> 1) if self._relative else 0
        if self._tones:
            spectrum.tell_tones(self._values, self._to, self._total)
            self._to += TONES
        k = 0
        while k < len(self._bands):
            low, high = self._bands[k]
            self._values[self._to] = spectrum.energy(low, high) - self._total
            self._to += 1
            k += 1


def _band(band, window):
    if len(band) != 2:
        raise ValueError("a band is two frequencies, not %r" % (band,))
    low = whole("a band's first frequency", band[0], 0, window // 2)
    return (low, whole("a band's last frequency", band[1], low, window // 2))


class ExtractingSensor:
    """A sensor whose samples are made of windows of another sensor's readings."""

    def __init__(self, sensor, options):
        self._sensor = sensor
        self._extractor = FeatureExtractor(sensor.features, **options)
        self.features = self._extractor.features
        self.pace = sensor.pace
        self._readings = array("i", [0] * sensor.features)

    def read(self, values):
        """Take a reading if there is one; returns whether values has a sample now."""
        return self._sensor.read(self._readings) and self._extractor.take(self._readings, values)


class ExtractingFifo(ExtractingSensor):
    """An ExtractingSensor for readings that wait in a FIFO, see motion_fifo.py.

    fifo is the sensor with the FIFO: of several sensors, the one that sets the pace.
    """

    def __init__(self, sensor, options, fifo):
        ExtractingSensor.__init__(self, sensor, options)
        self._fifo = fifo

    def read(self, values):
        """Take waiting readings up to the next sample; returns whether values has a sample now."""
        fifo = self._fifo
        while self._sensor.read(self._readings):
            if fifo.gap:
                fifo.gap = False
                self._extractor.restart()
            if self._extractor.take(self._readings, values):
                return True
        return False
