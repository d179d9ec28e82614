"""AnomalyScore: how unlike the samples of the last window a sample is, and an alarm that counts.

The score is the logarithm of a Parzen estimate of the density (Parzen, On Estimation of a
Probability Density Function and Mode, Annals of Mathematical Statistics 1962) with a kernel of
long tails. With d the sum of |code - code| over the features, in codes of 8 bits, between the
sample and one of the window, and r = reach * features, it is

    -16 log2(mean over the window of (r / (r + d))**2)      32 more is twice as far

A stuck sensor is near what it was, and would never be unlike. So if a feature repeats its code for
longer than it usually does, the score has 16 more for each doubling: 16 log2(n / (u + 2)), where n
is how many times in a row the code came again, up to 127, and u the longest such run lately: it
is 127 at first, and becomes 1/256 less with each sample that is no repetition. The sum is 0..255.

An alarm begins where the score passes the threshold. Then the threshold rises by 8; with every
sample it falls by 8 / period. So there are never more alarms than one in `period` samples and 33
beyond these, whatever the stream does: the update of Gibbs, Candes, Adaptive Conformal Inference
Under Distribution Shift, NeurIPS 2021. While the window fills for the first time there is no
alarm, and the threshold becomes the highest score so far.

Buffers:

    anomaly.words   'i'  the integers below
    anomaly.codes   'B'  [window * features] the upper 8 bits of the codes of each sample
    anomaly.sample  'B'  [features] those of the one that is compared
    anomaly.last    'H'  [features] the codes of the sample before it
    anomaly.run     'B'  [features] n
    anomaly.usual   'H'  [features] u in 1/256
"""

import micropython
from micropython import const

from .buffers import Buffers, address_table, table_bytes
from .fixed import log2
from .learner import check_row, whole

# From elsewhere, written by `make constants`:
# places of buffers
_ANOMALY_WORDS = const(0)
_ANOMALY_CODES = const(1)
_ANOMALY_SAMPLE = const(2)
_ANOMALY_LAST = const(3)
_ANOMALY_RUN = const(4)
_ANOMALY_USUAL = const(5)
# (end)

_MOST_WINDOW = const(512)  # unless a longer one is asked for
_MOST_BYTES = const(8192)  # likewise

_SCORE = const(0)  # of the last sample, 0..255
_UNLIKE = const(1)  # 1: it was above the threshold
_ALARMS = const(2)  # so far
_LIMIT = const(3)  # the threshold, a height with 10 more bits
_DEBT = const(4)  # what the threshold has not fallen by yet, in 1 / period of its least step
_HELD = const(5)  # samples in the window
_HEAD = const(6)  # where the next one goes
_PERIOD = const(7)
_FALL = const(8)  # _RISE // period
_PART = const(9)  # _RISE % period
_WINDOW = const(10)
_FEATURES = const(11)
_NEAR = const(12)  # r
_WORDS = const(13)

_LONGEST = const(127)  # repetitions of a code that are told apart
_FARTHEST = const(262143)  # the height of the score 255; a score is height >> 10
_RISE = const(8388608)  # 8 of the score: 8 * 2**20
_HIGHEST = const(276824064)  # 256 * 2**20 + _RISE: above any limit
_MOST = const(536870912)  # 2**29: alarms stop there; and the longest period


@micropython.viper
def alike(away: int, gap: int, i: int, t) -> int:
    """The sum over the window of (r / (r + d))**2 in Q20, for the codes in anomaly.sample.

    It grows by two features at a time, after the first one if their number is odd. The hot
    variables come as arguments, 0 each: viper keeps the first three in registers.
    """
    address = ptr32(t)
    words = ptr32(address[_ANOMALY_WORDS])
    codes = ptr8(address[_ANOMALY_CODES])
    sample = ptr8(address[_ANOMALY_SAMPLE])
    features = words[_FEATURES]
    near = words[_NEAR]
    unit = near << 14  # <= 32 * 256 * 2**14 = 2**27
    first = 0
    total = 0  # <= 1000 * 2**20 < 2**30
    for _ in range(words[_HELD]):
        away = 0  # <= 256 * 255 < 2**16
        i = features & 1
        if i:
            gap = codes[first] - sample[0]
            away = gap if gap > 0 else 0 - gap
        while i < features:
            gap = codes[first + i] - sample[i]
            if gap < 0:
                away -= gap
            else:
                away += gap
            i += 1
            gap = codes[first + i] - sample[i]
            if gap < 0:
                away -= gap
            else:
                away += gap
            i += 1
        gap = unit // (near + away)  # r / (r + d) in Q14
        total += (gap * gap + 128) >> 8
        first += features
    return total


@micropython.viper
def height_of(t, rows, at: int) -> int:
    """How unlike the window the sample at rows[at] is, a height; 0 if the window is empty."""
    address = ptr32(t)
    words = ptr32(address[_ANOMALY_WORDS])
    sample = ptr8(address[_ANOMALY_SAMPLE])
    x = ptr16(rows)
    held = words[_HELD]
    for f in range(words[_FEATURES]):
        sample[f] = x[at + f] >> 8
    if not held:
        return 0
    # each adds 16 at least: r / (r + d) >= 1 / 256, in Q14 64
    height = int(log2(held)) + 327680 - int(log2(int(alike(0, 0, 0, t))))  # 20 << 14
    return height if height > 0 else 0  # log2 is off by up to 6 / 16384


@micropython.viper
def stuck(t, rows, at: int) -> int:
    """How much longer than usual a feature of the sample repeats its code, a height."""
    address = ptr32(t)
    last = ptr16(address[_ANOMALY_LAST])
    run = ptr8(address[_ANOMALY_RUN])
    usual = ptr16(address[_ANOMALY_USUAL])
    x = ptr16(rows)
    most = 256  # n / (u + 2) in Q8, at least 1
    for f in range(ptr32(address[_ANOMALY_WORDS])[_FEATURES]):
        code = x[at + f]
        longest = usual[f]
        n = run[f]
        if code == last[f]:
            n += 1
            if n >= _LONGEST:
                n = _LONGEST
                longest = _LONGEST << 8
                usual[f] = longest
            run[f] = n
            if n << 8 > longest + 512:
                n = (n << 16) // (longest + 512)  # < 2**23
                if n > most:
                    most = n
        else:
            n = n << 8
            usual[f] = n if n > longest else longest - (longest >> 8)
            run[f] = 0
            last[f] = code
    return int(log2(most)) - 131072  # 8 << 14


@micropython.viper
def judge(t, height: int):
    """Note whether a height is above the threshold, count the alarm if one begins.

    Within the first window there is no alarm.
    """
    words = ptr32(ptr32(t)[_ANOMALY_WORDS])
    words[_SCORE] = height >> 10
    height = height << 10  # < 2**28
    limit = words[_LIMIT]
    if words[_HELD] < words[_WINDOW]:
        words[_LIMIT] = height if height > limit else limit
        return
    above = int(height > limit)
    if above > words[_UNLIKE]:
        limit += _RISE
        if words[_ALARMS] < _MOST:
            words[_ALARMS] = words[_ALARMS] + 1
    words[_UNLIKE] = above
    limit -= words[_FALL]
    debt = words[_DEBT] + words[_PART]  # < 2 * period <= 2**30
    if debt >= words[_PERIOD]:
        debt -= words[_PERIOD]
        limit -= 1
    words[_DEBT] = debt
    words[_LIMIT] = limit if limit > 0 else 0


@micropython.viper
def keep(t):
    """Take anomaly.sample into the window; a full one drops its oldest sample."""
    address = ptr32(t)
    words = ptr32(address[_ANOMALY_WORDS])
    codes = ptr8(address[_ANOMALY_CODES])
    sample = ptr8(address[_ANOMALY_SAMPLE])
    features = words[_FEATURES]
    head = words[_HEAD]
    first = head * features  # < 1000 * 256
    for f in range(features):
        codes[first + f] = sample[f]
    head += 1
    if head > words[_HELD]:
        words[_HELD] = head
    words[_HEAD] = head if head < words[_WINDOW] else 0


@micropython.viper
def compare(t, rows, at: int) -> int:
    """The score of the sample at rows[at], which the window then takes in."""
    height = int(height_of(t, rows, at)) + int(stuck(t, rows, at))
    judge(t, height if height < _FARTHEST else _FARTHEST)
    keep(t)
    return ptr32(ptr32(t)[_ANOMALY_WORDS])[_SCORE]


@micropython.viper
def compare_rows(t, rows, scores, unlike, count: int, features: int):
    """Compare rows one by one; note each score, and whether it was above the threshold."""
    out = ptr8(scores)
    marks = ptr8(unlike)
    words = ptr32(ptr32(t)[_ANOMALY_WORDS])
    for i in range(count):
        out[i] = int(compare(t, rows, i * features))
        marks[i] = words[_UNLIKE]


class AnomalyScore(Buffers):
    """Tells how unlike the last samples a sample is, and when that is worth an alarm.

    features  1..256 codes a sample, of which the upper 8 bits are looked at
    period    1..2**29 samples: there is one alarm in so many, in the long run
    window    samples that are compared with, up to 1000; 0: 512, or as many as fit 8 KB
    reach     1..32, about as many steps of 1/256 a feature are no distance yet. 1 tells single
              anomalies best; the wider, the more anomalies that resemble each other may come

    Raises ParameterError for other values.

        score = anomaly.update(x)  # 0..255
        if anomaly.is_unlike:      # the score is above anomaly.threshold
    """

    def __init__(self, features, period=1000, window=0, reach=4):
        self.features = whole("features", features, 1, 256)
        self.period = whole("period", period, 1, _MOST)
        self.window = whole("window", window, 0, 1000) or _fitting_window(features)
        self.reach = whole("reach", reach, 1, 32)
        self._allocate()

    @classmethod
    def nbytes(cls, features, window=0):
        """Bytes of the buffers."""
        return table_bytes(_table(features, window or _fitting_window(features)))

    def configuration(self):
        """All parameters as one line of text."""
        return "AnomalyScore features=%d period=%d window=%d reach=%d" % (
            self.features, self.period, self.window, self.reach,
        )  # fmt: skip

    def _table(self):
        return _table(self.features, self.window)

    def _start(self):
        words = self._flat[_ANOMALY_WORDS]
        words[_PERIOD] = self.period
        words[_FALL] = _RISE // self.period
        words[_PART] = _RISE % self.period
        words[_WINDOW] = self.window
        words[_FEATURES] = self.features
        words[_NEAR] = self.reach * self.features
        usual = self._flat[_ANOMALY_USUAL]
        for f in range(self.features):
            usual[f] = _LONGEST << 8
        self._addresses = address_table(self._flat)
        self._row = ()  # that was checked last

    _FIXED = (("anomaly.words", range(_PERIOD, _WORDS)),)

    def _is_sound(self):
        words = self._flat[_ANOMALY_WORDS]
        held = words[_HELD]
        longest = max(max(self._flat[_ANOMALY_RUN]), max(self._flat[_ANOMALY_USUAL]) >> 8)
        return (
            0 <= words[_SCORE] <= 255
            and 0 <= words[_UNLIKE] <= 1
            and 0 <= words[_ALARMS] <= _MOST
            and 0 <= words[_LIMIT] <= _HIGHEST
            and 0 <= words[_DEBT] < self.period
            and 0 <= words[_HEAD] < self.window
            and longest <= _LONGEST
            and held in (words[_HEAD], self.window)
        )

    def update(self, x):
        """The score of the codes x, array('H') of `features`, 0..255; then x is one of the window.

        Allocates nothing. Raises ValueError for another x.
        """
        if x is not self._row or len(x) != self.features:
            check_row(x, self.features)
            self._row = x
        return compare(self._addresses, x, 0)

    def run(self, rows, scores, unlike):
        """update() with one row after the other.

        rows is array('H') of len(scores) * features codes; scores and unlike, bytearrays of one
        length, take each row's score, and 1 if it is above the threshold. Allocates nothing.
        """
        count = len(scores)
        check_row(rows, count * self.features)
        both = isinstance(scores, bytearray) and isinstance(unlike, bytearray)
        if not both or len(unlike) != count:
            raise ValueError("scores and unlike have to be bytearrays of one length")
        compare_rows(self._addresses, rows, scores, unlike, count, self.features)

    @property
    def score(self):
        """Of the last sample, 0..255."""
        return self._flat[_ANOMALY_WORDS][_SCORE]

    @property
    def is_unlike(self):
        """Whether the last sample was above the threshold."""
        return self._flat[_ANOMALY_WORDS][_UNLIKE] == 1

    @property
    def threshold(self):
        """What a score has to pass, 0..255, rounded down."""
        return min(self._flat[_ANOMALY_WORDS][_LIMIT] >> 20, 255)

    @property
    def alarms(self):
        """Alarms so far, at most 2**29."""
        return self._flat[_ANOMALY_WORDS][_ALARMS]


def _fitting_window(features):
    """The longest window, up to 512, with which the buffers fit 8 KB."""
    return min(_MOST_WINDOW, (_MOST_BYTES - table_bytes(_table(features, 0))) // features)


def _table(features, window):
    return [
        ("anomaly.words", "i", _WORDS),
        ("anomaly.codes", "B", window * features),
        ("anomaly.sample", "B", features),
        ("anomaly.last", "H", features),
        ("anomaly.run", "B", features),
        ("anomaly.usual", "H", features),
    ]
