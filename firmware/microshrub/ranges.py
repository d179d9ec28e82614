"""Codes of ranges that double or halve: a power of two of raw values, see growing_ranges.py.

The codes of a range of 2**bits raw values, from 0 to 65535, are

    4096 below the range | 57344 in equal steps over the range | 4096 above the range

Outside the range, the steps grow with the distance as in quantizer.py, 128 codes an octave.
"""

import micropython
from micropython import const

_CORE_CODES = const(57344)  # 7 * 2**13
_BELOW = const(4096)  # codes of a tail
_OCTAVE = const(7)  # log2 of the codes of an octave of a tail
_STEP_BITS = const(13)  # log2 of the steps of a range, which have 7 codes each
_FARTHEST = const(1073741823)  # 2**30 - 1, above all raw values' distances


@micropython.viper
def coded(v: int, bits: int) -> int:
    """Code of a value v above the low end of a range of 2**bits; v may be negative or too high."""
    last = (1 << bits) - 1
    if 0 <= v <= last:
        if bits <= _STEP_BITS:
            return _BELOW + (7 * v << (_STEP_BITS - bits))
        shift = bits - _STEP_BITS
        step = v >> shift
        # of what is left, < 2**17, seven times as much is < 2**20
        return _BELOW + 7 * step + (7 * (v - (step << shift)) >> shift)
    unit = bits - 7 if bits > 7 else 0  # log2 of the first octave
    d = (0 - v if v < 0 else v - last) + (1 << unit)  # |v| < 2**30 + 2**30, unit <= 23
    top = unit
    while d >> top > 1:
        top += 1
    d -= 1 << top
    d = d >> (top - _OCTAVE) if top > _OCTAVE else d << (_OCTAVE - top)
    d += (top - unit) << _OCTAVE  # < 31 * 128
    return _BELOW - 1 - d if v < 0 else _BELOW + _CORE_CODES + d


@micropython.viper
def moved_code(code: int, bits: int, doublings: int, steps: int) -> int:
    """The new code for a code whose range of 2**bits doubles and begins so many steps lower.

    A step is a raw value, or 1/2**13 of the new range if that is more. With doublings < 0, the
    range halves so often, at most 13 times; steps < 0 where it begins higher, so that it lies in
    the one before.
    """
    u = code - _BELOW
    after = bits + doublings
    size = after - _STEP_BITS if after > _STEP_BITS else 0  # log2 of a step
    if 0 <= u < _CORE_CODES:
        k = u >> doublings if doublings >= 0 else u << (0 - doublings)  # < 2**16 * 2**13
        k += 7 * steps << (_STEP_BITS + size - after)  # within +-7 * 2**26 where ranges halve
        if 0 <= k < _CORE_CODES:
            return _BELOW + k
        v = u // 7 << (bits - _STEP_BITS) if bits > _STEP_BITS else u // 7 >> (_STEP_BITS - bits)
        if doublings < 0 and bits > _STEP_BITS:  # 7 codes of a step come to lie apart
            v += (u % 7 << (bits - _STEP_BITS)) // 7
    else:
        e = 0 - 1 - u if u < 0 else u - _CORE_CODES
        unit = bits - 7 if bits > 7 else 0
        top = unit + (e >> _OCTAVE)  # <= 30
        if top > 30:  # no value is so far
            top = 30
            e = (1 << _OCTAVE) - 1
        v = (1 << _OCTAVE) + (e & ((1 << _OCTAVE) - 1))
        v = v << (top - _OCTAVE) if top > _OCTAVE else v >> (_OCTAVE - top)  # < 2**31
        v -= 1 << unit
        if v > _FARTHEST:
            v = _FARTHEST
        v = (1 << bits) - 1 + v if u > 0 else 0 - v  # < 2**31
        if v > _FARTHEST:
            v = _FARTHEST
    v += steps << size  # within +-2**30 + 2**30, and no raw value is farther than 2**30
    if v > _FARTHEST:
        v = _FARTHEST
    if v < 0 - _FARTHEST:
        v = 0 - _FARTHEST
    return int(coded(v, after))
