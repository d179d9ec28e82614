"""The distance of a sample from those of a window, and whether a feature jumps or is stuck.

The score is the logarithm of a Parzen estimate of the density (Parzen, On Estimation of a
Probability Density Function and Mode, Annals of Mathematical Statistics 1962) with a kernel of
long tails. With d the sum of |code - code| over the features, in codes of 8 bits, between the
sample and a sample of the window, and r = reach * (features + 1), it is

    -16 log2(mean over the window of (r / (r + d))**2)      32 more is twice as far

A sample with a spike in one feature may be near other samples in all other features. So the score
is at least

    192 log2(min(|x - mean| / mean deviation, 5/4 |x - x before| / mean jump) / 2.5)

of the feature where that is most; all three means are of about the last 1,024 samples. Where
samples do not depend on each other, a mean jump is longer than a mean deviation. x is where the
value lies, in 1/49152 of the range of the first samples, also outside of that range; more than 4
ranges outside, its steps grow with the distance, so that a clock's values stay apart. With a
window that no longer follows the samples, 4 takes the place of 2.5, so that noise does not hide a
lasting fault.

A stuck sensor is near its recent values, and would never be an anomaly. So if a feature repeats
its code for longer than usual, the score rises by 16 for each doubling: 16 log2(n / (u + 2)).
Here n is how many times in a row the code was repeated, up to 127, and u the longest such run
lately: it is 127 at first, and decays by 1/256 with each sample that is no repetition. The sum is
0..255.

The buffers are those of anomaly.py. Heights are Q14 of an octave: a score is height >> 10.
"""

import micropython
from micropython import const

from .fixed import log2

# From elsewhere, written by `make constants`:
# places of buffers
_ANOMALY_WORDS = const(0)
_ANOMALY_CODES = const(1)
_ANOMALY_SAMPLE = const(2)
_ANOMALY_LAST = const(3)
_ANOMALY_RUN = const(4)
_ANOMALY_USUAL = const(5)
_ANOMALY_MEAN = const(7)
_ANOMALY_AWAY = const(8)
_ANOMALY_JUMP = const(9)
# anomaly.py
_A_HELD = const(5)
_A_FEATURES = const(11)
_A_NEAR = const(12)
_UNTIL = const(16)
_A_SEEN = const(17)
# (end)

_A_LONGEST = const(127)  # repetitions of a code that are told apart
_MEMORY = const(1024)  # samples
_FOLLOWS = const(640)  # 2.5 in Q8: less is no spike where the window follows the samples,
_STAYS = const(1024)  # and 4 where it does not
_FARTHEST_OFF = const(268435456)  # 2**28, as log2() takes 2**30 at most
_LOWEST_MEAN = const(-502136832)  # -490368 * 1024, see place_of(),
_HIGHEST_MEAN = const(552468480)  # and (49152 + 490368) * 1024
_FIRST = const(64)  # samples that it takes to know what a spike is


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
    features = words[_A_FEATURES]
    near = words[_A_NEAR]
    unit = near << 14  # <= 32 * 257 * 2**14 < 2**28
    first = 0
    total = 0  # <= 1000 * 2**20 < 2**30
    for _ in range(words[_A_HELD]):
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
    """The distance of the sample at rows[at] from the window, a height; 0 if that is empty."""
    address = ptr32(t)
    words = ptr32(address[_ANOMALY_WORDS])
    sample = ptr8(address[_ANOMALY_SAMPLE])
    x = ptr16(rows)
    held = words[_A_HELD]
    for f in range(words[_A_FEATURES]):
        sample[f] = x[at + f] >> 8
    if not held:
        return 0
    # each adds 16 at least: r / (r + d) >= 1 / 256, in Q14 64
    height = int(log2(held)) + 327680 - int(log2(int(alike(0, 0, 0, t))))  # 20 << 14
    return height if height > 0 else 0  # log2 is off by up to 6 / 16384


@micropython.viper
def place_of(code: int) -> int:
    """Where in its range the value of a code lies, in 1/49152; coarser 4 ranges outside."""
    away = 8191 - code if code < 8192 else code - 57344
    if away < 0:
        return code - 8192
    octave = away >> 8  # see quantizer.py
    farther = 0
    if octave > 7:
        farther = 48 * (away - 2047)  # up to 6144 codes
        octave = 7
        away = 255
    away = (3 * (256 + (away & 255)) << octave) - 768 + farther  # <= 490368
    return 0 - away if code < 8192 else 49152 + away


@micropython.viper
def spike(t, rows, at: int) -> int:
    """How far a feature of the sample has jumped, a height. The means are Q10."""
    address = ptr32(t)
    words = ptr32(address[_ANOMALY_WORDS])
    last = ptr16(address[_ANOMALY_LAST])
    mean = ptr32(address[_ANOMALY_MEAN])
    usual = ptr32(address[_ANOMALY_AWAY])
    jumps = ptr32(address[_ANOMALY_JUMP])
    x = ptr16(rows)
    seen = words[_A_SEEN]
    if seen < _MEMORY:
        seen += 1
        words[_A_SEEN] = seen
    least = _STAYS if words[_UNTIL] else _FOLLOWS
    most = least  # of all features
    for f in range(words[_A_FEATURES]):
        place = int(place_of(x[at + f]))
        jump = place - int(place_of(last[f]))
        place = place << 10  # two are less than 2**30 apart
        if seen == 1:
            mean[f] = place
            jump = 0
        away = place - mean[f]
        mean[f] = mean[f] + away // seen
        away = away if away > 0 else 0 - away
        jump = (jump if jump > 0 else 0 - jump) << 10
        far = away // ((usual[f] >> 8) + 1)
        leap = jump // (jumps[f] // 320 + 1)  # 4/5 of the mean
        if leap < far:
            far = leap
        if far > most and seen > _FIRST:
            most = far
        usual[f] = usual[f] + (away - usual[f]) // seen
        jumps[f] = jumps[f] + (jump - jumps[f]) // seen
    if most > _FARTHEST_OFF:
        most = _FARTHEST_OFF
    return 12 * (int(log2(most)) - int(log2(least)))  # < 12 * 20 * 2**14 < 2**22


@micropython.viper
def stuck(t, rows, at: int) -> int:
    """How much longer than usual a feature of the sample repeats its code, a height."""
    address = ptr32(t)
    last = ptr16(address[_ANOMALY_LAST])
    run = ptr8(address[_ANOMALY_RUN])
    usual = ptr16(address[_ANOMALY_USUAL])
    x = ptr16(rows)
    most = 256  # n / (u + 2) in Q8, at least 1
    for f in range(ptr32(address[_ANOMALY_WORDS])[_A_FEATURES]):
        code = x[at + f]
        longest = usual[f]
        n = run[f]
        if code == last[f]:
            n += 1
            if n >= _A_LONGEST:
                n = _A_LONGEST
                longest = _A_LONGEST << 8
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
def keep(t, slot: int):
    """Put anomaly.sample into the window at that place, at most the first free one."""
    address = ptr32(t)
    words = ptr32(address[_ANOMALY_WORDS])
    codes = ptr8(address[_ANOMALY_CODES])
    sample = ptr8(address[_ANOMALY_SAMPLE])
    features = words[_A_FEATURES]
    first = slot * features  # < 1000 * 256
    for f in range(features):
        codes[first + f] = sample[f]
    if slot >= words[_A_HELD]:
        words[_A_HELD] = slot + 1
