"""AnomalyScore: how far a sample is from the recent samples, and an alarm that counts episodes.

anomaly_distance.py has the score, 0..255, and anomaly_threshold.py the threshold. An alarm begins
where the score passes the threshold; if it does so again within a pause, of 48 samples or an
eighth of the period, that is the same episode. While the window fills for the first time, there is
no alarm.

A lasting fault becomes usual: it is far from the window only until it fills the window. With
`normal`, the first so many samples show normal operation: the window keeps a reservoir of them
(Vitter, Random Sampling with a Reservoir, 1985), and takes in no more. So a lasting fault keeps a
high score, and an alarm ends only where the score is 24 below the threshold. this_is_normal()
freezes a window that follows the samples; a frozen window takes in as many samples again.
Meanwhile there is no alarm; the threshold comes from the second half of their scores.

Buffers:

    anomaly.words   'i'  the integers below
    anomaly.codes   'B'  [window * features] the upper 8 bits of the codes of each sample
    anomaly.sample  'B'  [features] those of the sample that is compared
    anomaly.last    'H'  [features] the codes of the sample before it
    anomaly.run     'B'  [features] n
    anomaly.usual   'H'  [features] u in 1/256
    anomaly.rng     'i'  [2] of the random numbers
    anomaly.mean, anomaly.away, anomaly.jump   'i'  [features] of spike(), in 1/1024
"""

import micropython
from micropython import const

from .anomaly_distance import height_of, keep, spike, stuck
from .anomaly_threshold import judge
from .buffers import Buffers, address_table, table_bytes
from .fixed import RNG_WORDS, below, seed_generator
from .learner import check_row, whole

# From elsewhere, written by `make constants`:
# places of buffers
_ANOMALY_WORDS = const(0)
_ANOMALY_RUN = const(4)
_ANOMALY_USUAL = const(5)
_ANOMALY_RNG = const(6)
_ANOMALY_MEAN = const(7)
# anomaly_distance.py
_LOWEST_MEAN = const(-502136832)
_A_LONGEST = const(127)
_HIGHEST_MEAN = const(552468480)
# anomaly_threshold.py
_CREDIT = const(4)
_MOST_OVER = const(64)
_RISE = const(8388608)
_HIGHEST = const(285212672)
_MOST = const(536870912)
# (end)

_MOST_WINDOW = const(512)  # samples and
_MOST_BYTES = const(8192)  # bytes of a window whose length nobody has chosen

_SCORE = const(0)  # of the last sample, 0..255
_ANOMALOUS = const(1)  # 1: it was above the threshold
_ALARMS = const(2)  # so far
_LIMIT = const(3)  # the threshold, a height with 10 more bits
_DEBT = const(4)  # how much the threshold has still to fall, in 1 / period of its least step
_A_HELD = const(5)  # samples in the window
_A_HEAD = const(6)  # where the next sample goes
_PERIOD = const(7)
_A_FALL = const(8)  # _RISE // period
_A_PART = const(9)  # _RISE % period
_A_WINDOW = const(10)
_A_FEATURES = const(11)
_A_NEAR = const(12)  # r
_A_NORMAL = const(13)  # samples of normal operation at a time; 0: as many as the window has
_A_PAUSE = const(14)  # samples below the threshold, after which an episode is over
_TAKEN = const(15)  # samples of normal operation so far,
_UNTIL = const(16)  # and how many there are to be; 0: the window follows the samples
_A_SEEN = const(17)  # samples so far, up to 1024
_QUIET = const(18)  # samples since the last one above the threshold, up to _A_PAUSE
_OVER = const(19)  # alarms beyond one in a period
_AGE = const(20)  # samples of this period so far
_USUAL_HEIGHT = const(21)  # the mean of the heights from which the threshold begins, in its unit,
_COUNTED = const(22)  # and how many heights these are; 0 once the threshold has begun
_WORDS = const(23)

_FARTHEST = const(262143)  # the height of the score 255; a score is height >> 10
_LONGEST_PAUSE = const(48)
_MANY = const(32768)  # samples with one chance to stay; later samples have that of the last one


@micropython.viper
def compare(t, rows, at: int) -> int:
    """The score of the sample at rows[at], which the window may then take in."""
    height = int(height_of(t, rows, at))
    sudden = int(spike(t, rows, at))
    if sudden > height:
        height = sudden
    height += int(stuck(t, rows, at))
    judge(t, height if height < _FARTHEST else _FARTHEST)
    words = ptr32(ptr32(t)[_ANOMALY_WORDS])
    held = words[_A_HELD]
    window = words[_A_WINDOW]
    taken = words[_TAKEN] + 1
    if not words[_UNTIL]:
        keep(t, words[_A_HEAD])
        words[_A_HEAD] = (words[_A_HEAD] + 1) % window
    elif taken <= words[_UNTIL]:
        words[_TAKEN] = taken
        if held == window:
            held = int(below(t, _ANOMALY_RNG, taken if taken < _MANY else _MANY))
        if held < window:
            keep(t, held)
    return words[_SCORE]


@micropython.viper
def compare_rows(t, rows, scores, anomalous, count: int, features: int):
    """Compare rows one by one; note each score, and whether it was above the threshold."""
    out = ptr8(scores)
    marks = ptr8(anomalous)
    words = ptr32(ptr32(t)[_ANOMALY_WORDS])
    for i in range(count):
        out[i] = int(compare(t, rows, i * features))
        marks[i] = words[_ANOMALOUS]


class AnomalyScore(Buffers):
    """Scores how far a sample is from recent samples, and raises alarms at a chosen rate.

    features  1..256 codes a sample, of which the upper 8 bits are looked at
    period    1..2**29 samples: in the long run, there is one alarm in so many samples
    window    samples to compare with, up to 1000; 0: 512, or as many as fit 8 KB
    reach     1..32: differences of up to about so many 1/256 a feature are no distance. 1 detects
              single anomalies best; a wider reach allows for more anomalies like each other
    normal    0..2**29 samples of normal operation, with which later samples are compared; 0: each
              sample is compared with those just before it, until this_is_normal()

    Raises ParameterError for other values.

        score = anomaly.update(x)  # 0..255
        if anomaly.is_anomaly:      # the score is above anomaly.threshold
    """

    def __init__(self, features, period=1000, window=0, reach=4, normal=0):
        self.features = whole("features", features, 1, 256)
        self.period = whole("period", period, 1, _MOST)
        self.normal = whole("normal", normal, 0, _MOST)
        fitting = whole("window", window, 0, 1000) or _fitting_window(features)
        self.window = min(fitting, normal) if normal else fitting
        self.reach = whole("reach", reach, 1, 32)
        self._allocate()

    @classmethod
    def nbytes(cls, features, window=0):
        """Bytes of the buffers."""
        return table_bytes(_table(features, window or _fitting_window(features)))

    def configuration(self):
        """All parameters as one line of text."""
        return "AnomalyScore features=%d period=%d window=%d reach=%d normal=%d" % (
            self.features, self.period, self.window, self.reach, self.normal,
        )  # fmt: skip

    def _table(self):
        return _table(self.features, self.window)

    def _start(self):
        words = self._flat[_ANOMALY_WORDS]
        words[_PERIOD] = self.period
        words[_A_FALL] = _RISE // self.period
        words[_A_PART] = _RISE % self.period
        words[_A_WINDOW] = self.window
        words[_A_FEATURES] = self.features
        words[_A_NEAR] = self.reach * (self.features + 1)
        words[_A_NORMAL] = words[_UNTIL] = self.normal
        words[_A_PAUSE] = words[_QUIET] = pause_of(self.period)
        seed_generator(self._flat[_ANOMALY_RNG], 0)
        usual = self._flat[_ANOMALY_USUAL]
        for f in range(self.features):
            usual[f] = _A_LONGEST << 8
        self._addresses = address_table(self._flat)
        self._row = ()  # that was checked last

    _FIXED = (("anomaly.words", range(_PERIOD, _TAKEN)),)

    def _is_sound(self):
        words = self._flat[_ANOMALY_WORDS]
        held = words[_A_HELD]
        longest = max(max(self._flat[_ANOMALY_RUN]), max(self._flat[_ANOMALY_USUAL]) >> 8)
        return (
            0 <= words[_SCORE] <= 255
            and 0 <= words[_ANOMALOUS] <= 1
            and 0 <= words[_ALARMS] <= _MOST
            and 0 <= words[_LIMIT] <= _HIGHEST
            and 0 <= words[_DEBT] < self.period
            and -_CREDIT <= words[_OVER] <= _MOST_OVER
            and 0 <= words[_AGE] < self.period
            and 0 <= words[_USUAL_HEIGHT] < _HIGHEST
            and 0 <= words[_COUNTED] <= _MOST
            and 0 <= words[_TAKEN] <= words[_UNTIL] <= _MOST + _MANY
            and 0 <= words[_A_HEAD] < self.window
            and longest <= _A_LONGEST
            and 0 <= held <= self.window
            and 0 <= words[_A_SEEN] <= 1024
            and 0 <= words[_QUIET] <= words[_A_PAUSE]
            and min(self._flat[_ANOMALY_MEAN]) >= _LOWEST_MEAN
            and max(self._flat[_ANOMALY_MEAN]) <= _HIGHEST_MEAN
            and min([min(part) for part in self._flat[_ANOMALY_MEAN + 1 :]]) >= 0
            and max([max(part) for part in self._flat[_ANOMALY_MEAN + 1 :]]) >> 30 == 0
            and min(self._flat[_ANOMALY_RNG]) > 0
        )

    def update(self, x):
        """The score of the codes x, array('H') of `features`, 0..255; then x joins the window.

        Allocates nothing. Raises ValueError for another x.
        """
        if x is not self._row or len(x) != self.features:
            check_row(x, self.features)
            self._row = x
        return compare(self._addresses, x, 0)

    def run(self, rows, scores, anomalous):
        """Call update() for row after row.

        rows is array('H') of len(scores) * features codes; scores and anomalous, bytearrays of one
        length, take each row's score, and 1 if it is above the threshold. Allocates nothing.
        """
        count = len(scores)
        check_row(rows, count * self.features)
        if not type(scores) is type(anomalous) is bytearray or len(anomalous) != count:
            raise ValueError("scores and anomalous have to be bytearrays of one length")
        compare_rows(self._addresses, rows, scores, anomalous, count, self.features)

    def this_is_normal(self):
        """Keep a window that follows the samples as it is, once it is full.

        A window that is kept takes in as many samples again, `normal`, or as many as it has room
        for; all samples of normal operation so far have the same chance to be in it. The threshold
        begins anew with these samples. Allocates nothing.
        """
        words = self._flat[_ANOMALY_WORDS]
        if words[_UNTIL]:
            words[_TAKEN] = min(words[_TAKEN], _MANY)
            words[_UNTIL] = words[_TAKEN] + (self.normal or self.window)
        else:
            words[_TAKEN] = words[_A_HELD]
            words[_UNTIL] = self.window
        words[_ANOMALOUS] = 0
        words[_QUIET] = words[_A_PAUSE]
        if self.left:
            words[_LIMIT] = words[_DEBT] = words[_OVER] = words[_AGE] = 0
            words[_USUAL_HEIGHT] = words[_COUNTED] = 0

    @property
    def score(self):
        """The score of the last sample, 0..255."""
        return self._flat[_ANOMALY_WORDS][_SCORE]

    @property
    def left(self):
        """Samples of normal operation still to come."""
        words = self._flat[_ANOMALY_WORDS]
        return words[_UNTIL] - words[_TAKEN]

    @property
    def is_anomaly(self):
        """Whether the last sample was above the threshold."""
        return self._flat[_ANOMALY_WORDS][_ANOMALOUS] == 1

    @property
    def threshold(self):
        """The threshold of the score, 0..255, rounded down."""
        return min(self._flat[_ANOMALY_WORDS][_LIMIT] >> 20, 255)

    @property
    def alarms(self):
        """Alarms so far, at most 2**29."""
        return self._flat[_ANOMALY_WORDS][_ALARMS]


def pause_of(period):
    """Samples below the threshold, 1..48, after which an episode of an alarm is over."""
    return min(max(period >> 3, 1), _LONGEST_PAUSE)


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
        ("anomaly.rng", "i", RNG_WORDS),
        ("anomaly.mean", "i", features),
        ("anomaly.away", "i", features),
        ("anomaly.jump", "i", features),
    ]
