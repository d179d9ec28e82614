"""Samples of windows of a sensor's readings: what is filtered, counted and told to a learner.

The simulator runs this file, too, so a recording of readings gives the samples that the board
would have made of them, bit by bit.
"""

from array import array

import micropython
from micropython import const

from ..learner import whole
from .features import MOST_ROWS, PER_AXIS, summarize

MOST_CHANNELS = 64
_ABSENT = const(-536870912)  # -2**29: a reading that is not there
_LIMIT = const(32767)


@micropython.viper
def take_readings(readings, last, zero, signal, channels: int):
    """signal = readings - zero, within 16 bits; all array('i'). What is absent stays as it was."""
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

    window      readings that a sample is of: 1..1024; with bands 32, 64, 128, 256 or 512
    hop         readings between two samples, 1..1024
    zero        of each channel, what is subtracted from its readings
    filters     [form, coefficients] each, see filters.py; they come one after the other
    statistics  those of the six of features.py that are wanted, by their places there
    bands       [low, high] each: frequencies in rate / window, both included, see spectrum.py
    plain       the channels whose last reading is a feature as it is
    relative    energies in the bands are parts of the energy of all frequencies

    A sample holds, for each channel, its statistics and then log2 of its energies in the bands, in
    1/256; of a window of 1 it is the filtered reading itself. A reading less its zero is kept
    within 16 bits with a sign. Raises ValueError for what cannot be.
    """

    def __init__(
        self, channels, window, hop, zero, filters, statistics, bands, plain, relative=False
    ):
        self.channels = whole("channels", channels, 1, MOST_CHANNELS)
        self._window = whole("window", window, 1, MOST_ROWS)
        self._hop = whole("hop", hop, 1, MOST_ROWS)
        if len(zero) != channels:
            raise ValueError("zero has to be a list of %d numbers" % channels)
        self._zero = array("i", [whole("zero", z, 1 - (1 << 29), (1 << 29) - 1) for z in zero])
        self._plain = tuple([whole("plain", channel, 0, channels - 1) for channel in plain])
        self._statistics = tuple(
            [whole("statistics", place, 0, PER_AXIS - 1) for place in statistics]
        )
        self._bands = tuple([_band(band, window) for band in bands])
        self._relative = relative
        if window == 1 and statistics:
            raise ValueError("a window of one reading has no statistics")
        each = 1 if window == 1 else len(self._statistics) + len(self._bands)
        self.features = each * (channels - len(self._plain)) + len(self._plain)
        self._last = array("i", self._zero)
        self._signal = array("i", [0] * channels)
        self._ring = self._six = self._spectrum = None
        if window > 1:
            self._ring = array("H", bytes(2 * channels * window))
        if self._statistics:
            self._six = array("i", [0] * PER_AXIS)
        if self._bands:
            from .spectrum import Spectrum

            self._spectrum = Spectrum(window)
        self._filters = ()  # type: tuple
        if filters:
            self._set_up_filters(filters)
        self.restart()

    def _set_up_filters(self, filters):
        from .filters import WORDS, filter_words, run_filter

        self._run_filter = run_filter
        self._filters = tuple([filter_words(form, numbers) for form, numbers in filters])
        self._step = WORDS * self.channels
        self._state = array("i", [0] * (self._step * len(filters)))

    def restart(self):
        """Begin anew, as behind a gap in the readings: the next sample has none from before it."""
        self._row = 0  # of the ring that is written next
        self._wait = self._window  # readings until the next sample
        self._fresh = 1  # filters have seen nothing

    def take(self, readings, values):
        """Take a reading of all channels; whether values has a sample now. Both array('i').

        Allocates nothing.
        """
        channels = self.channels
        signal = self._signal
        take_readings(readings, self._last, self._zero, signal, channels)
        at = 0
        for words in self._filters:
            self._run_filter(signal, self._state, at, words, channels, self._fresh)
            at += self._step
        self._fresh = 0
        if self._ring is not None:
            put_signal(signal, self._ring, self._row, channels)
            self._row = (self._row + 1) % self._window
        self._wait -= 1
        if self._wait:
            return False
        self._wait = self._hop
        self._write(values)
        return True

    def _write(self, values):
        """Write the features of the window."""
        to = 0
        for channel in range(self.channels):
            if channel in self._plain:
                values[to] = self._last[channel]
                to += 1
            elif self._ring is None:
                values[to] = self._signal[channel]
                to += 1
            else:
                to = self._describe(channel, values, to)

    def _describe(self, channel, values, to):
        """Write a channel's features from values[to] on; returns the place behind them."""
        six = self._six
        if six is not None:
            summarize(self._ring, self._window, self._row, self.channels, channel, six, 0)
            for place in self._statistics:
                values[to] = six[place]
                to += 1
        spectrum = self._spectrum
        if spectrum is not None:
            spectrum.take(self._ring, self._row, self.channels, channel)
            total = spectrum.energy(1, self._window >> 1) if self._relative else 0
            for low, high in self._bands:
                values[to] = spectrum.energy(low, high) - total
                to += 1
        return to


def _band(band, window):
    if len(band) != 2:
        raise ValueError("a band is two frequencies, not %r" % (band,))
    low = whole("a band's first frequency", band[0], 0, window // 2)
    return (low, whole("a band's last frequency", band[1], low, window // 2))


class ExtractingSensor:
    """A sensor whose samples are made of windows of another one's readings."""

    def __init__(self, sensor, options):
        self._sensor = sensor
        self._extractor = FeatureExtractor(sensor.features, **options)
        self.features = self._extractor.features
        self.pace = sensor.pace
        self._readings = array("i", [0] * sensor.features)

    def read(self, values):
        """Take a reading if there is one; whether values has a sample now."""
        return self._sensor.read(self._readings) and self._extractor.take(self._readings, values)


class ExtractingFifo(ExtractingSensor):
    """The same for a sensor of which several readings may wait in a FIFO, see motion_fifo.py.

    fifo is that sensor, or the one of several that sets the pace.
    """

    def __init__(self, sensor, options, fifo):
        ExtractingSensor.__init__(self, sensor, options)
        self._fifo = fifo

    def read(self, values):
        """Take readings up to the next sample, if they are there; whether values has one now."""
        fifo = self._fifo
        while self._sensor.read(self._readings):
            if fifo.gap:
                fifo.gap = False
                self._extractor.restart()
            if self._extractor.take(self._readings, values):
                return True
        return False
