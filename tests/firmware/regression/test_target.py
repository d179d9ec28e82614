"""The unit of the targets: a code for each raw value, and back, within the targets' range."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_host.library import loader

Target = loader.load("python").Target
RAW = st.integers(-(2**29) + 1, 2**29 - 1)


def observed(*values: int) -> object:
    target = Target()
    for value in values:
        target.observe(value)
    target.freeze()
    return target


@given(st.lists(RAW, min_size=1, max_size=5), st.lists(RAW, min_size=1, max_size=20))
def test_codes_keep_the_order_and_decode_within_the_seen_range(
    first: list[int], later: list[int]
) -> None:
    target = observed(*first)
    codes = [target.learn(value) for value in sorted(later)]
    assert codes == sorted(codes)
    assert 0 <= codes[0] <= codes[-1] <= 65535
    for code in (0, codes[0], 32767, codes[-1], 65535):
        assert min(later) <= target.value(code) <= max(later)


@given(RAW, st.integers(1, 2**20), st.data())
def test_within_the_range_a_value_decodes_within_two_steps(
    low: int, width: int, data: st.DataObject
) -> None:
    low = min(low, 2**29 - 1 - width)
    target = observed(low, low + width)
    inside = data.draw(st.lists(st.integers(low, low + width), min_size=1, max_size=9))
    for value in inside:
        target.learn(value)
    for value in inside:
        assert abs(target.value(target.code(value)) - value) <= width / 190 + 1


def test_a_code_decodes_to_the_value_with_the_nearest_code() -> None:
    target = observed(0, 100)
    for value in range(101):
        target.learn(value)
    for code in range(0, 65536, 97):
        best = min(range(101), key=lambda value: abs(target.code(value) - code))
        assert abs(target.code(target.value(code)) - code) == abs(target.code(best) - code)


@given(st.lists(RAW, min_size=1, max_size=5), st.lists(RAW, min_size=1, max_size=20))
def test_a_constant_target_is_predicted_exactly(first: list[int], later: list[int]) -> None:
    target = observed(*first)
    for i, value in enumerate(later):
        code = target.learn(value)
        assert target.predicted(code) == value
        for other in (0, 32767, 65535):
            assert min(later[: i + 1]) <= target.predicted(other) <= max(later[: i + 1])


@given(
    st.permutations([-100, -60, -20, 15, 40, 90]),
    st.integers(2_000, 2**29 - 1),
    st.booleans(),
    st.integers(0, 6),
)
def test_an_outlier_among_the_first_targets_leaves_codes_for_the_others(
    values: list[int], wrong: int, below: bool, place: int
) -> None:
    far = -wrong if below else wrong
    target = observed(*values[:place], far, *values[place:])
    assert target.ends == observed(*values).ends
    assert target.learn(far) in (target.code(far), 0, 65535)  # it still has a code


def test_a_far_target_that_occurs_twice_is_in_the_range() -> None:
    """An example is a lamp that is off, then on, and off again."""
    low, high = observed(0, 4000, 4010, 4005, 0).ends
    assert low < 0 < 4010 < high


def test_a_range_may_be_given() -> None:
    target = Target((-50, 50))
    assert target.frozen
    assert target.ends == (-50, 50)
    assert target.value(0) == 0  # no target yet: the middle
    assert target.code(-50) == 8192


def test_the_learned_state_survives_saving() -> None:
    target = observed(3, 900)
    target.learn(77)
    other = Target()
    other.load(target.save())
    assert other.value(65535) == 77
    assert other.code(500) == target.code(500)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Target((3, 1)), "the high end of the targets has to be"),
        (lambda: Target((1, 2, 3)), r"a pair \(low, high\)"),
        (lambda: Target((0, 9)).learn(2**29), "a target has to be"),
        (lambda: Target((0, 9)).learn(1.5), "a target has to be"),
        (lambda: Target().learn(3), "the range is not frozen yet"),
        (lambda: Target((0, 9)).observe(3), "the range is frozen already"),
    ],
)
def test_errors_are_reported(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
