"""The unit of the numbers that a regressor learns: raw values to 16-bit codes, and back.

The codes are those of a quantizer's feature (see quantizer.py): equal steps over the range of the
first targets and 64 times its width on either side, since a mean of codes is a mean of targets
only where steps are equal; beyond that, coarser and coarser steps as far as raw values go. So
there is a code for every target, and learners work in one known unit, codes.

A prediction comes back as the raw value nearest to its code, plus the rounding error of the last
target: so a target that does not change is predicted exactly. It stays within the targets seen so
far, so it cannot diverge.

The range does not reach to a first target that came once and is more than eight times as far from
all others as these are from each other: with a wrong reading in the range, too few codes would be
left to tell the others apart.

Buffer "target.range", 'i': the integers below.
"""

import micropython
from micropython import const

from .buffers import Buffers, table_bytes
from .initial_ranges import without_wrong
from .learner import whole
from .quantizer import RAW_MAX, code_of, scaling

_LOW = const(0)  # as in the quantizer
_SPAN = const(1)  # the high end, until the range is fixed
_SHIFT = const(2)  # until the range is fixed, the value next to the low end
_SCALE = const(3)  # likewise next to the high end
_LEAST_SEEN = const(4)  # of the targets seen
_GREATEST_SEEN = const(5)
_FROZEN = const(6)
_ROUNDED = const(7)  # the last target minus the raw value that its code stands for
_WORDS = const(8)

_MARGINS = const(64)  # widths of an observed range, on either side
_RAW_MAX = const(536870911)  # 2**29 - 1


@micropython.viper
def encode(unit: ptr32, v: int) -> int:
    """The code of a target, within +-(2**29 - 1)."""
    return int(code_of(v - unit[_LOW], unit[_SPAN], unit[_SHIFT], unit[_SCALE]))  # +-2**30


@micropython.viper
def decode(unit: ptr32, code: int) -> int:
    """The raw value whose code is nearest, within the targets seen; by halving."""
    low = unit[_LOW]
    span = unit[_SPAN]
    shift = unit[_SHIFT]
    scale = unit[_SCALE]
    least = unit[_LEAST_SEEN]
    greatest = unit[_GREATEST_SEEN]
    if least > greatest:  # none was seen: the middle of the range
        return low + (span >> 1)
    while least < greatest:  # the first value with at least that code, or the last of all
        middle = (least + greatest) >> 1
        if int(code_of(middle - low, span, shift, scale)) < code:
            least = middle + 1
        else:
            greatest = middle
    if least > unit[_LEAST_SEEN]:
        above = int(code_of(least - low, span, shift, scale)) - code
        below = code - int(code_of(least - 1 - low, span, shift, scale))
        if below < above:
            least -= 1
    return least


class Target(Buffers):
    """The range of the targets, learned from the first targets or given, then frozen.

    ends  None, or a pair (low, high) of ints within +-(2**29 - 1)

    Without a range, show it the first targets with observe() and then call freeze().
    """

    def __init__(self, ends=None):
        if ends is not None:
            if not isinstance(ends, (tuple, list)) or len(ends) != 2:
                raise ValueError("the range of the targets has to be a pair (low, high)")
            whole("the low end of the targets", ends[0], -RAW_MAX, RAW_MAX)
            whole("the high end of the targets", ends[1], ends[0], RAW_MAX)
        self._ends = ends
        self._allocate()

    @classmethod
    def nbytes(cls):
        """Bytes of the buffer."""
        return table_bytes(_TABLE)

    def configuration(self):
        """A text without parameters: the range is part of the state."""
        return "Target"

    def _table(self):
        return _TABLE

    def _start(self):
        unit = self._flat[0]
        unit[_LOW], unit[_SPAN] = self._ends or (RAW_MAX, -RAW_MAX)
        unit[_SHIFT], unit[_SCALE] = unit[_LOW], unit[_SPAN]
        unit[_LEAST_SEEN], unit[_GREATEST_SEEN] = RAW_MAX, -RAW_MAX
        if self._ends:
            self._freeze(0)

    def observe(self, value):
        """Widen the range to hold one more target."""
        self._check(value)
        unit = self._flat[0]
        if unit[_FROZEN]:
            raise ValueError("the range is frozen already")
        if value <= unit[_LOW]:
            unit[_LOW], unit[_SHIFT] = value, unit[_LOW]
        elif value < unit[_SHIFT]:
            unit[_SHIFT] = value
        if value >= unit[_SPAN]:
            unit[_SPAN], unit[_SCALE] = value, unit[_SPAN]
        elif value > unit[_SCALE]:
            unit[_SCALE] = value

    def freeze(self):
        """Fix the range, which grows by 64 times its width on either side; now there are codes."""
        if not self.frozen:
            self._freeze(_MARGINS)

    def _freeze(self, margins):
        unit = self._flat[0]
        if unit[_LOW] > unit[_SPAN]:  # no target so far
            unit[_LOW] = unit[_SPAN] = 0
        elif margins:
            ends = without_wrong(unit[_LOW], unit[_SPAN], unit[_SHIFT], unit[_SCALE])
            unit[_LOW], unit[_SPAN] = ends
        margin = min(unit[_SPAN] - unit[_LOW], RAW_MAX >> 1) * margins
        unit[_LOW] = max(unit[_LOW] - margin, -RAW_MAX)
        unit[_SPAN] = min(unit[_SPAN] + margin, RAW_MAX) - unit[_LOW]
        unit[_SHIFT], unit[_SCALE] = scaling(unit[_SPAN])
        unit[_FROZEN] = 1

    def _is_sound(self):
        unit = self._flat[0]
        frozen = unit[_FROZEN]
        ends = (unit[_LOW], unit[_LEAST_SEEN], unit[_GREATEST_SEEN])
        high = unit[_LOW] + unit[_SPAN] if frozen else unit[_SPAN]
        if frozen not in (0, 1) or (frozen and unit[_SPAN] < 0):
            return False
        if abs(unit[_ROUNDED]) > RAW_MAX:
            return False
        if min(ends) < -RAW_MAX or max(ends) > RAW_MAX or not -RAW_MAX <= high <= RAW_MAX:
            return False
        if not frozen:
            return max(abs(unit[_SHIFT]), abs(unit[_SCALE])) <= RAW_MAX
        return (unit[_SHIFT], unit[_SCALE]) == scaling(unit[_SPAN])

    def learn(self, value):
        """Note a target, and return its code. Allocates nothing."""
        self._check(value)
        self._check_frozen()
        unit = self._flat[0]
        if value < unit[_LEAST_SEEN]:
            unit[_LEAST_SEEN] = value
        if value > unit[_GREATEST_SEEN]:
            unit[_GREATEST_SEEN] = value
        code = encode(unit, value)
        unit[_ROUNDED] = value - decode(unit, code)
        return code

    def code(self, value):
        """The code of a target, 0..65535. Allocates nothing."""
        self._check(value)
        self._check_frozen()
        return encode(self._flat[0], value)

    def value(self, code):
        """The raw value nearest to a code, within the targets seen. Allocates nothing."""
        self._check_frozen()
        return decode(self._flat[0], code)

    def predicted(self, code):
        """The raw value that a predicted code stands for, see above. Allocates nothing."""
        self._check_frozen()
        unit = self._flat[0]
        return self.within(decode(unit, code) + unit[_ROUNDED])  # within 2**30

    def within(self, value):
        """Return the raw value limited to the range of the targets seen, if there are any."""
        unit = self._flat[0]
        if unit[_LEAST_SEEN] > unit[_GREATEST_SEEN]:
            return value
        return max(unit[_LEAST_SEEN], min(value, unit[_GREATEST_SEEN]))

    @property
    def span(self):
        """The width of the range, raw, with the margins."""
        return self._flat[0][_SPAN]

    def _check(self, value):
        if type(value) is not int or not -_RAW_MAX <= value <= _RAW_MAX:
            whole("a target", value, -_RAW_MAX, _RAW_MAX)

    def _check_frozen(self):
        if not self._flat[0][_FROZEN]:
            raise ValueError("the range is not frozen yet: call freeze() first")

    @property
    def frozen(self):
        """Whether the range is fixed."""
        return bool(self._flat[0][_FROZEN])

    @property
    def ends(self):
        """The range, (low, high), with the margins if it was observed."""
        unit = self._flat[0]
        return unit[_LOW], unit[_LOW] + unit[_SPAN] if unit[_FROZEN] else unit[_SPAN]


_TABLE = [("target.range", "i", _WORDS)]
