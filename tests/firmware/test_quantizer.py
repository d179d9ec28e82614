"""The quantizer compared with a reference in big integers, written from its docstring."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from microshrub_host.library import loader

library = loader.load("checked")
RAW_MAX: int = library.RAW_MAX
MISSING: int = library.MISSING
MIDDLE = 32767  # the code of a constant feature, and of a value missing from the start
LOW_ZONE, HIGH_ZONE = 8192, 65536 - 8192  # codes of the range: from the first to below the second
MOST = 2**30 - 1  # limit of the counters

Range = tuple[int, int]


def clip(value: int) -> int:
    return max(-RAW_MAX, min(RAW_MAX, value))


@st.composite
def raw_ranges(draw: st.DrawFn, least_span: int = 0) -> Range:
    """Draw ranges of every size, powers of two and their neighbours among them."""
    bits = draw(st.integers(0, 30))
    span = draw(st.one_of(st.integers(0, 2**bits), st.integers(2**bits - 2, 2**bits + 2)))
    span = max(least_span, min(span, 2 * RAW_MAX))
    low = draw(st.one_of(st.integers(-RAW_MAX, RAW_MAX - span), st.just(-RAW_MAX)))
    return low, low + span


@st.composite
def raw_values(draw: st.DrawFn, limits: Range) -> int:
    """Draw any value, half of the time near the range or a power of two away from it."""
    near = draw(st.sampled_from(limits)) + draw(st.integers(-3, 3))
    away = draw(st.sampled_from((0, 0, 1, -1))) << draw(st.integers(0, 30))
    inside = draw(st.integers(*limits))
    anywhere = draw(st.integers(-RAW_MAX, RAW_MAX))
    return clip(draw(st.sampled_from((near + away, inside, anywhere))))


def encode(quantizer: Any, raw: Sequence[int]) -> list[int]:
    codes = array("H", bytes(2 * len(raw)))
    quantizer.encode(array("i", raw), codes)
    return list(codes)


def ranged(*limits: Range) -> Any:
    return library.Quantizer(len(limits), list(limits))


def observing(features: int, raw: Sequence[int]) -> Any:
    """Return a quantizer that has observed these rows and is not frozen."""
    quantizer = library.Quantizer(features)
    quantizer.observe(array("i", raw))
    return quantizer


def octave_length(limits: Range) -> int:
    """Return s of the docstring: the power of two that is a 64th to a 128th of the range."""
    s = 1
    while 128 * s <= limits[1] - limits[0]:
        s *= 2
    return s


def steps_outside(distance: int, s: int, per_octave: int) -> int:
    """Return codes from the end of the range: octave k is s(2**k - 1) to s(2**(k+1) - 1)."""
    k = 0
    while s * (2 ** (k + 1) - 1) <= distance:
        k += 1
    return per_octave * k + (distance - s * (2**k - 1)) * per_octave // (s * 2**k)


def reference_code(value: int, limits: Range) -> int:
    low, high = limits
    span = high - low
    first, last, per_octave = LOW_ZONE, HIGH_ZONE, 256
    if span == 0:
        first, last, per_octave = MIDDLE, 65536 - MIDDLE, 1024
    if value < low:
        return first - 1 - steps_outside(low - value, octave_length(limits), per_octave)
    if value > high:
        return last + steps_outside(value - high, octave_length(limits), per_octave)
    if span == 0:
        return MIDDLE
    bits = span.bit_length()
    scale = (49151 << 14) // ((span << 16) >> bits)  # for the range scaled to 16 bits
    return LOW_ZONE + (((((value - low) << 16) >> bits) * scale) >> 14)


# The codes


@given(st.data(), raw_ranges())
@example(data=None, limits=(-RAW_MAX, RAW_MAX))
@example(data=None, limits=(RAW_MAX, RAW_MAX))
@example(data=None, limits=(0, 65535))
@example(data=None, limits=(0, 65536))
@example(data=None, limits=(-1, 0))
def test_codes_match_the_reference(data: st.DataObject | None, limits: Range) -> None:
    ends = [clip(end + k) for end in limits for k in (-2, -1, 0, 1, 2)]
    values = [*ends, -RAW_MAX, RAW_MAX, 0]
    if data:
        values += data.draw(st.lists(raw_values(limits), max_size=40))
    expected = [reference_code(value, limits) for value in values]
    assert encode(ranged(limits), values) == expected


@given(st.data(), raw_ranges())
def test_codes_are_monotone(data: st.DataObject, limits: Range) -> None:
    values = sorted(data.draw(st.lists(raw_values(limits), min_size=2, max_size=60)))
    codes = encode(ranged(limits), values)
    assert codes == sorted(codes)


def test_codes_are_monotone_over_all_values_of_small_ranges() -> None:
    for span in (0, 1, 2, 63, 64, 65, 127, 128, 255, 256, 257, 1000):
        codes = encode(ranged((5, 5 + span)), range(-2000, 4000))
        assert codes == sorted(codes)


@given(st.data(), raw_ranges(least_span=1))
def test_three_zones(data: st.DataObject, limits: Range) -> None:
    values = data.draw(st.lists(raw_values(limits), max_size=40))
    for value, code in zip(values, encode(ranged(limits), values), strict=True):
        assert 0 <= code <= 65535
        assert (code < LOW_ZONE) == (value < limits[0])
        assert (code >= HIGH_ZONE) == (value > limits[1])
    ends = encode(ranged(limits), limits)
    assert ends[0] == LOW_ZONE
    assert HIGH_ZONE - 5 <= ends[1] < HIGH_ZONE  # the scale is rounded down: up to 4 codes less


@given(st.integers(-RAW_MAX, RAW_MAX), st.integers(1, RAW_MAX))
def test_a_constant_feature_has_its_code_in_the_middle(constant: int, away: int) -> None:
    quantizer = observing(1, [constant] * 5)
    quantizer.freeze()
    assert encode(quantizer, [constant]) == [MIDDLE]
    if constant - away >= -RAW_MAX:
        assert encode(quantizer, [constant - away])[0] < MIDDLE
    if constant + away <= RAW_MAX:
        assert encode(quantizer, [constant + away])[0] > MIDDLE


@given(st.data(), raw_ranges(least_span=1))
def test_resolution_inside_of_the_range(data: st.DataObject, limits: Range) -> None:
    # Scaled to 16 bits, the range is u = 32768..65535 long and a code covers u / 49151: 1 of that
    # up to u = 49151, else 2. So two values 1/24576 of the range apart have different codes.
    low, high = limits
    apart = -(-(high - low) // 24576)
    value = data.draw(st.integers(low, high - apart))
    one, other = encode(ranged(limits), [value, value + apart])
    assert one < other


@given(st.data(), raw_ranges())
def test_resolution_outside_of_the_range(data: st.DataObject, limits: Range) -> None:
    # With d + s in 2**k s .. 2**(k+1) s a code covers 2**k s / 256: at most a 256th of d + s.
    low, high = limits
    s = octave_length(limits)
    codes_per_octave = 256 if high > low else 1024
    distance = data.draw(st.integers(1, 2 * RAW_MAX))
    apart = -(-(distance + s) // codes_per_octave)
    for end, sign in ((low, -1), (high, 1)):
        near, far = end + sign * distance, end + sign * (distance + apart)
        if abs(far) <= RAW_MAX:
            one, other = encode(ranged(limits), [near, far])
            assert sign * one < sign * other


@given(raw_ranges())
def test_the_tails_do_not_saturate(limits: Range) -> None:
    assume(limits[0] > -RAW_MAX and limits[1] < RAW_MAX)
    least, greatest = encode(ranged(limits), [-RAW_MAX, RAW_MAX])
    assert least > 0  # the docstring's octaves would extend beyond every raw value
    assert greatest < 65535


def test_equal_steps_over_the_range() -> None:
    for span in (49152, 65535, 65536, 10**6, 2 * RAW_MAX):
        codes = encode(
            ranged((-RAW_MAX, span - RAW_MAX)), [span * k // 12 - RAW_MAX for k in range(13)]
        )
        for before, after in pairwise(codes):
            assert abs(after - before - 49152 / 12) <= 3


# Ranges


def without_wrong_readings(values: list[int]) -> Range:
    """Return the limits of a range without an outlier, which is a value more than eight times as
    far from all others as they are from each other; the farther end is tested first.
    """
    known = sorted({v for v in values if v != MISSING})
    low, high = known[0], known[-1]
    if len(known) > 1:
        gaps = {-1: known[1] - low, 1: high - known[-2]}
        for side, gap in sorted(gaps.items(), key=lambda item: (-item[1], item[0])):
            if 0 < high - low - gap < gap // 8:
                low, high = (low + gap, high) if side < 0 else (low, high - gap)
    return low, high


@given(st.data(), raw_ranges())
def test_observed_ranges_have_a_margin_of_an_eighth(data: st.DataObject, limits: Range) -> None:
    low, high = limits
    seen = [low, high, *data.draw(st.lists(st.integers(low, high), max_size=5))]
    low, high = without_wrong_readings(seen)
    margin = (high - low) // 8
    seen += [MISSING] * data.draw(st.integers(0, 3))
    observed = observing(1, data.draw(st.permutations(seen)))
    observed.freeze()
    grown = ranged((clip(low - margin), clip(high + margin)))
    values = data.draw(st.lists(raw_values(limits), max_size=30))
    assert encode(observed, values) == encode(grown, values)
    assert observed.clamped == grown.clamped
    assert observed.buffers() == grown.buffers()


@pytest.mark.parametrize("wrong", [65535, -4000, RAW_MAX, -RAW_MAX])
@pytest.mark.parametrize("times", [1, 50])
@pytest.mark.parametrize("at", [0, 3, 200])
def test_outliers_among_the_first_samples_do_not_coarsen_the_range(
    wrong: int, times: int, at: int
) -> None:
    """An example is an unplugged sensor, which gives one value again and again."""
    values = np.random.default_rng(1).integers(200, 300, 256).tolist()
    observed, right = (
        observing(1, [*values[:at], *[wrong] * times, *values[at:]]),
        ranged((min(values), max(values))),
    )
    observed.freeze()
    codes = encode(observed, [200, 250, 299])
    assert codes[2] - codes[0] > 0.7 * np.ptp(encode(right, [200, 299]))
    assert encode(observed, [wrong])[0] in (*range(8192), *range(65536 - 8192, 65536))


@pytest.mark.parametrize(
    ("buffer", "value"),
    [("shift", 4), ("shift", 10), ("last", 65535), ("last", 0), ("scale", 65535), ("low", 8)],
)
def test_a_forged_state_of_first_samples_is_refused(buffer: str, value: int) -> None:
    observed = observing(1, [5, 9, 7])
    forged = observing(1, [5, 9, 7])
    {name: kept for name, _, kept in forged.buffers()}[f"quantizer.{buffer}"][0] = value
    with pytest.raises(ValueError, match="damaged"):
        observed.load(forged.save())
    assert observed.state_crc32() == library.Quantizer(1).state_crc32()


def test_heavy_tails_of_the_first_samples_stay_in_their_range() -> None:
    values = (1000 * np.random.default_rng(2).lognormal(0, 1.5, 256)).astype(int).tolist()
    observed = observing(1, values)
    observed.freeze()
    encode(observed, values)
    assert observed.clamped == 0


@given(st.lists(raw_ranges(), min_size=1, max_size=5), st.data())
def test_features_are_encoded_by_their_own_ranges(
    ranges: list[Range], data: st.DataObject
) -> None:
    row = [data.draw(raw_values(limits)) for limits in ranges]
    alone = [encode(ranged(limits), [v])[0] for limits, v in zip(ranges, row, strict=True)]
    assert encode(ranged(*ranges), row) == alone


def test_a_feature_that_was_always_missing_is_treated_as_0() -> None:
    quantizer = observing(2, [MISSING, 3, MISSING, 9])
    quantizer.freeze()
    values = [-RAW_MAX, -1, 0, 1, RAW_MAX]
    rows = [x for value in values for x in (value, 5)]
    assert encode(quantizer, rows)[::2] == [reference_code(value, (0, 0)) for value in values]


def test_without_observations_all_values_are_missing() -> None:
    quantizer = library.Quantizer(3)
    quantizer.freeze()
    assert encode(quantizer, [0, 0, 0]) == [MIDDLE] * 3


def test_freezing_again_changes_nothing() -> None:
    for quantizer in (observing(1, [0, 800]), ranged((0, 800))):
        quantizer.freeze()
        before = quantizer.state_crc32()
        quantizer.freeze()
        assert quantizer.state_crc32() == before
        assert quantizer.frozen


def test_observing_in_blocks_equals_observing_at_once() -> None:
    rows = [5, 50, -7, MISSING, 3, 51]
    pieces = library.Quantizer(2)
    for k in range(0, 6, 2):
        pieces.observe(array("i", rows[k : k + 2]))
    assert pieces.state_crc32() == observing(2, rows).state_crc32()


def test_later_changes_of_the_given_ranges_have_no_effect() -> None:
    ranges = [(0, 100)]
    quantizer = library.Quantizer(1, ranges)
    before = quantizer.state_crc32()
    ranges[0] = (5, 6)
    quantizer.reset()
    assert quantizer.state_crc32() == before


# Missing and clamped values


@given(st.lists(raw_ranges(), min_size=1, max_size=3), st.data())
def test_missing_and_clamped_values(ranges: list[Range], data: st.DataObject) -> None:
    quantizer = ranged(*ranges)
    last = [MIDDLE] * len(ranges)
    missing = clamped = 0
    for _ in range(data.draw(st.integers(1, 8))):
        row = [data.draw(st.one_of(st.just(MISSING), raw_values(limits))) for limits in ranges]
        for f, (value, (low, high)) in enumerate(zip(row, ranges, strict=True)):
            if value == MISSING:
                missing += 1
            else:
                last[f] = reference_code(value, (low, high))
                clamped += not low <= value <= high
        assert encode(quantizer, row) == last
        assert (quantizer.missing, quantizer.clamped) == (missing, clamped)


@given(st.lists(raw_ranges(), min_size=1, max_size=4), st.integers(0, 9), st.data())
def test_a_block_is_encoded_like_its_rows(
    ranges: list[Range], rows: int, data: st.DataObject
) -> None:
    features = len(ranges)
    raw = [
        data.draw(st.one_of(st.just(MISSING), raw_values(limits)))
        for _ in range(rows)
        for limits in ranges
    ]
    block, single = ranged(*ranges), ranged(*ranges)
    one_by_one = [
        code
        for k in range(rows)
        for code in encode(single, raw[k * features : (k + 1) * features])
    ]
    assert encode(block, raw) == one_by_one
    assert block.state_crc32() == single.state_crc32()


def test_the_counters_stop_before_they_overflow() -> None:
    quantizer = ranged((0, 10))
    buffers = {name: buffer for name, _, buffer in quantizer.buffers()}
    encode(quantizer, [11, MISSING])
    counters = [k for k, count in enumerate(buffers["quantizer.counts"]) if count][:2]
    for k in counters:
        buffers["quantizer.counts"][k] = MOST - 1
    encode(quantizer, [11, MISSING] * 3)
    assert (quantizer.clamped, quantizer.missing) == (MOST, MOST)


# Wrong arguments

FROZEN = "library.Quantizer(2, [(0, 100), (0, 100)])"
FRESH = "library.Quantizer(2)"
RANGE_END = "has to be a whole number of"

WRONG = [
    # object, call, words of the message
    ("library", "Quantizer(0)", "features has to be a whole number of 1..256, not 0"),
    ("library", "Quantizer(257)", "features has to be a whole number of 1..256, not 257"),
    ("library", "Quantizer(-1)", "features"),
    ("library", "Quantizer(2.0)", "features"),
    ("library", "Quantizer(None)", "features"),
    ("library", "Quantizer(True)", "features"),
    ("library", "Quantizer('2')", "features"),
    ("library", "Quantizer(2, [])", "a pair for each of the 2 features"),
    ("library", "Quantizer(2, [(0, 1)])", "a pair for each of the 2 features"),
    ("library", "Quantizer(2, 7)", "a pair for each of the 2 features"),
    ("library", "Quantizer(1, [5])", "a pair (low, high), not 5"),
    ("library", "Quantizer(1, [None])", "a pair (low, high), not None"),
    ("library", "Quantizer(1, [(1,)])", "a pair (low, high), not (1,)"),
    ("library", "Quantizer(1, [(1, 2, 3)])", "a pair (low, high), not (1, 2, 3)"),
    ("library", "Quantizer(1, [(2, 1)])", RANGE_END + " 2..536870911, not 1"),
    ("library", "Quantizer(1, [(0, 536870912)])", RANGE_END + " 0..536870911, not 536870912"),
    ("library", "Quantizer(1, [(-536870912, 0)])", "the low end of a range"),
    ("library", "Quantizer(1, [(0.5, 1)])", "the low end of a range"),
    ("library", "Quantizer(1, [(0, 1.5)])", "the high end of a range"),
    ("library", "Quantizer(1, [(0, None)])", "the high end of a range"),
    (FROZEN, "observe(array('i', [1, 2]))", "frozen already"),
    (FRESH, "encode(array('i', [1, 2]), array('H', [0, 0]))", "call freeze() first"),
    (FRESH, "observe(array('i', [1]))", "array('i') of rows of 2 values"),
    (FRESH, "observe(array('i', [1, 2, 3]))", "array('i') of rows of 2 values"),
    (FRESH, "observe([1, 2])", "array('i') of rows of 2 values"),
    (FRESH, "observe(bytearray(8))", "array('i') of rows of 2 values"),
    (FRESH, "observe(array('H', [1, 2]))", "array('i') of rows of 2 values"),
    (FRESH, "observe(array('b', [1, 2]))", "array('i') of rows of 2 values"),
    (FRESH, "observe(array('f', [1, 2]))", "array('i') of rows of 2 values"),
    (FROZEN, "encode(array('i', [1]), array('H', [0]))", "array('i') of rows of 2 values"),
    (FROZEN, "encode(array('H', [1, 2]), array('H', [0, 0]))", "array('i') of rows"),
    (FROZEN, "encode((1, 2), array('H', [0, 0]))", "array('i') of rows of 2 values"),
    (FROZEN, "encode(array('i', [1, 2]), array('H', [0]))", "array('H') of 2 codes"),
    (FROZEN, "encode(array('i', [1, 2]), array('H', [0, 0, 0]))", "array('H') of 2 codes"),
    (FROZEN, "encode(array('i', [1, 2]), array('i', [0, 0]))", "array('H') of 2 codes"),
    (FROZEN, "encode(array('i', [1, 2]), array('B', [0, 0]))", "array('H') of 2 codes"),
    (FROZEN, "encode(array('i', [1, 2]), bytearray(2))", "array('H') of 2 codes"),
    (FROZEN, "encode(array('i', [1, 2]), [0, 0])", "array('H') of 2 codes"),
]

# Prints for each case whether the state stayed, the error's name and its message.
TRY_ALL = """
from array import array
for who, what, _ in WRONG:
    owner = eval(who)
    before = 0 if owner is library else owner.state_crc32()
    try:
        eval("owner." + what)
        outcome = "no error"
    except Exception as error:
        outcome = "%s: %s" % (type(error).__name__, error)
    say(before == (0 if owner is library else owner.state_crc32()), outcome)
"""


def outcomes(engine: str) -> list[str]:
    lines: list[str] = []
    names = {
        "library": loader.load(engine),
        "WRONG": WRONG,
        "say": lambda stayed, message: lines.append(f"{stayed} {message}"),
    }
    exec(TRY_ALL, names)
    return lines


@pytest.mark.parametrize("engine", ["checked", "python", "llvm"])
def test_wrong_arguments_are_refused_with_clear_messages(engine: str) -> None:
    for (who, what, words), outcome in zip(WRONG, outcomes(engine), strict=True):
        assert outcome.startswith(("True ValueError: ", "True ParameterError: ")), (who, what)
        assert words in outcome, (who, what)


def test_micropython_refuses_the_same_with_the_same_messages(
    run_micropython: Callable[[str], str],
) -> None:
    head = f"import microshrub as library\nsay = print\nWRONG = {WRONG!r}\n"
    assert run_micropython(head + TRY_ALL).splitlines() == outcomes("checked")


def test_every_engine_gives_the_same_codes(run_micropython: Callable[[str], str]) -> None:
    rng = random.Random(8)
    ranges = []
    for bits in range(31):
        span = min(rng.randrange(1 << bits >> 1, (1 << bits) + 1), 2 * RAW_MAX)
        low = rng.randint(-RAW_MAX, RAW_MAX - span)
        ranges.append((low, low + span))
    rows = [
        clip(rng.choice(limits) + rng.randrange(-4, 5) * (1 << rng.randrange(30)) // 3)
        for _ in range(60)
        for limits in ranges
    ]
    expected = [
        encode(loader.load(name).Quantizer(31, ranges), rows) for name in ("python", "llvm")
    ]
    script = f"""
from array import array
from microshrub import Quantizer
raw = array("i", {rows})
codes = array("H", raw)
Quantizer(31, {ranges}).encode(raw, codes)
print(list(codes))
"""
    expected.append(eval(run_micropython(script)))
    reference = [reference_code(v, ranges[k % 31]) for k, v in enumerate(rows)]
    assert expected == [reference] * 3
