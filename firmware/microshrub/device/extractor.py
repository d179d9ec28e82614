"""Samples of windows of a sensor's readings: what is filtered, counted and told to a learner.

The simulator runs this file, too, so a recording of readings gives the samples that the board
would have made of them, bit by bit.
"""

from array import array

import micropython
from micropython import const

from ..learner import whole
from .features import ENERGY, FORM, MOST_ROWS, STATISTICS, energy, summarize

MOST_CHANNELS = 64
TONES = 3  # features of a channel: the loudest frequency, its part, and that of twice it
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
    statistics  those of features.py that are wanted, by their places there
    bands       [low, high] each: frequencies in rate / window, both included, see spectrum.py
    plain       the channels whose last reading is a feature as it is
    relative    energies in the bands are parts of the energy of all frequencies
    tones       besides: log2 of the loudest frequency in 1/256 of rate / window, and the parts of
                the energy that are next to it, and next to twice it

    A sample holds, for each channel, its statistics, tones, and then log2 of its energies in the
    bands, in 1/256; of a window of 1 it is the filtered reading itself. A reading less its zero is
    kept within 16 bits with a sign. Raises ValueError for what cannot be.
    """

    def __init__(
        self, channels, window, hop, zero, filters, statistics, bands, plain, relative=False,
        tones=False,
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
        if window == 1 and statistics:
            raise ValueError("a window of one reading has no statistics")
        if tones and not bands:
            raise ValueError("tones need bands")
        described = len(self._statistics) + len(self._bands) + (TONES if tones else 0)
        each = 1 if window == 1 else described
        self.features = each * (channels - len(self._plain)) + len(self._plain)
        self._last = array("i", self._zero)
        self._signal = array("i", [0] * channels)
        self._ring = self._found = self._spectrum = None
        if window > 1:
            self._ring = array("H", bytes(2 * channels * window))
        if self._statistics:
            self._found = array("i", [0] * STATISTICS)
            if max(self._statistics) >= FORM:
                from .outline import outline

                self._outline = outline
        if self._bands:
            from .spectrum import Spectrum

            self._spectrum = Spectrum(window, self._ring, channels)
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
        self._values = self._signal  # of the sample
        self._to = 0  # of these that is written next
        self._total = 0  # energy of all frequencies, if bands are relative to it
        self._wait = self._window  # readings until the next sample
        self._fresh = 1  # filters have seen nothing

    def take(self, readings, values):
        """Take a reading of all channels; whether values has a sample now. Both array('i').

        Allocates nothing: no function on this way has more than eleven words of state, see
        answers.py.
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

    def _describe(self, channel):
        """Write a channel's features."""
        if self._found is not None:
            self._summarize(channel, self._found)
            self._pick(self._found)
        if self._spectrum is not None:
            self._measure(channel, self._spectrum)

    def _summarize(self, channel, found):
        summarize(self._ring, self._window, self._row, self.channels, channel, found)
        if ENERGY in self._statistics:
            found[ENERGY] = energy(self._ring, self._window, self.channels, channel)
        if self._outline is not None:
            self._outline(self._ring, self._window, self._row, self.channels, channel, found)

    def _pick(self, found):
        to = self._to
        for place in self._statistics:
            self._values[to] = found[place]
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
