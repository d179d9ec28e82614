"""What is set aside as new against the same in floats; how much of what is known is; bad input."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from float_newcomers import FloatNewcomers
from hypothesis import given, settings
from hypothesis import strategies as st

from microshrub_host.library import loader

library = loader.load("python")
checked = loader.load("checked")
BORDER = 0.4  # of the score: there, integers may tell what is new in another way than floats


def row(codes: Any) -> array[int]:
    return array("H", [int(code) for code in codes])


def kinds_of(seed: int, samples: int, features: int, kinds: int) -> tuple[Any, Any]:
    """Samples of some kinds, which come in runs, and the kind of each."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(8000, 57000, (kinds, features))
    kind = np.repeat(rng.integers(kinds, size=samples), 7)[:samples]
    found = centres[kind] + rng.normal(0, 1200, (samples, features))
    return np.clip(found, 0, 65535).astype(np.uint16), kind


def held(newcomers: Any) -> list[tuple[int, list[int]]]:
    """The memory: labels and upper bytes."""
    words, codes, _, labels, _, _, _ = (buffer for _, _, buffer in newcomers.buffers())
    n, f = words[3], newcomers.features
    return [(labels[k], list(codes[k * f : k * f + f])) for k in range(n)]


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from((1, 3, 8)),
    st.integers(16, 30),
    st.integers(2, 40),
    st.sampled_from((1, 4, 32)),
    st.integers(1, 3),
)
def test_all_is_as_in_the_floats(
    seed: int, features: int, window: int, period: int, reach: int, collect: int
) -> None:
    stream, kinds = kinds_of(seed, 120, features, 4)
    newcomers = checked.Newcomers(features, 3, period, window, reach, collect)
    floats = FloatNewcomers(features, 3, window, period, reach, collect)
    rng = np.random.default_rng(seed)
    for codes, kind in zip(stream.tolist(), kinds.tolist(), strict=True):
        label = -1 if kind == 3 or rng.random() < 0.2 else kind
        expected, could = floats.score(codes), floats.can_tell()
        threshold = floats.threshold
        new = newcomers.meet(row(codes), label)
        assert abs(newcomers.score + 0.5 - expected) <= 0.6 + 1.5 / reach
        if abs(expected - threshold) > BORDER + 1.5 / reach:
            assert new == (could and expected > threshold)
        # a step of the threshold is larger than what the floats may be off by
        floats.meet(codes, label, newcomers._flat[0][0] + 0.5, new)
        floats.threshold = newcomers._flat[0][2] / 2**20
        assert newcomers.waiting == len(floats.aside)
        assert newcomers.is_asking == (len(floats.aside) >= collect)
    assert held(newcomers) == [
        (label, [code >> 8 for code in codes])
        for label, codes in zip(floats.labels, floats.codes, strict=True)
    ]
    newcomers.give(1)
    given_back = []
    while newcomers.take() == 1:
        given_back.append(list(newcomers.x))
    assert given_back == floats.aside


@pytest.mark.parametrize("period", [20, 100])
def test_of_what_is_known_as_much_is_taken_for_new_as_was_said(period: int) -> None:
    stream, kinds = kinds_of(3, 6000, 3, 3)
    newcomers = loader.load("c").Newcomers(3, 3, period, window=64)
    told = [
        newcomers.meet(row(codes), int(kind)) for codes, kind in zip(stream, kinds, strict=True)
    ]
    assert 0.7 / period < np.mean(told[500:]) < 1.4 / period


def test_a_new_kind_is_noticed_and_single_samples_are_not() -> None:
    stream, kinds = kinds_of(5, 900, 6, 2)
    newcomers = library.Newcomers(6, 3, window=64)
    for k, (codes, kind) in enumerate(zip(stream, kinds, strict=True)):
        newcomers.meet(row(codes), int(kind))
        if k > 300 and k % 20 == 0:
            newcomers.meet(row([65535 - code for code in codes]))
        assert newcomers.waiting < 4
    for k in range(8):
        assert not newcomers.is_asking
        assert newcomers.meet(row([60000 + 100 * k, 0, 60000, 0, 60000, 0]))
    assert newcomers.is_asking


def test_what_was_named_is_known_and_what_was_forgotten_is_new_again() -> None:
    rng = np.random.default_rng(2)

    def sample(kind: int) -> array[int]:
        return row(rng.normal((10000, 30000, 50000)[kind], 300, 2))

    newcomers = library.Newcomers(2, 3, window=32, collect=6)
    for k in range(200):
        newcomers.meet(sample(k % 2), k % 2)
    while not newcomers.is_asking:
        newcomers.meet(sample(2))
    newcomers.give(2)
    assert newcomers.waiting == 0
    assert [newcomers.take() for _ in range(7)] == [2] * 6 + [-1]
    assert not any(newcomers.meet(sample(2)) for _ in range(20))
    newcomers.move(2, -1)
    assert all(newcomers.meet(sample(2)) for _ in range(20))
    assert {label for label, _ in held(newcomers)} == {0, 1}
    newcomers.move(1, 0)
    assert {label for label, _ in held(newcomers)} == {0}
    newcomers.give(2)
    newcomers.move(2, 1)
    assert newcomers.take() == 1
    newcomers.move(1, -1)
    assert newcomers.take() == -1
    newcomers.meet(sample(2))
    newcomers.dismiss()
    assert newcomers.waiting == 0


def test_the_first_eight_samples_of_a_class_leave_the_threshold_as_it_is() -> None:
    newcomers = library.Newcomers(1, 2, window=64)
    for k in range(30):
        newcomers.meet(row([9000 + 256 * (k % 3)]), 0)
    for k in range(9):
        threshold = newcomers.threshold
        assert newcomers.meet(row([60000 - 4000 * k]), 1)
        assert (newcomers.threshold > threshold) == (k == 8)
    few = library.Newcomers(1, 4, window=16)  # a quarter of the memory is for each: two suffice
    for k in range(8):
        few.meet(row([9000 + 256 * (k % 3)]), 0)
    rises = []
    for k in range(4):
        threshold = few.threshold
        few.meet(row([60000 - 9000 * k]), 1)
        rises.append(few.threshold > threshold)
    assert rises[:3] == [False, False, True]


def test_a_rare_class_keeps_its_samples() -> None:
    newcomers = library.Newcomers(1, 4, window=16)
    for k in range(5):
        newcomers.meet(row([9000 + k]), 3)
    for k in range(300):
        newcomers.meet(row([20000 + k]), k % 2)
    labels = [label for label, _ in held(newcomers)]
    assert [labels.count(c) for c in range(4)] in ([6, 5, 0, 5], [5, 6, 0, 5])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": 0}, "features has to be a whole number of 1..256, not 0"),
        ({"classes": 1}, "classes has to be a whole number of 2..256, not 1"),
        ({"period": 1}, "period has to be a whole number of 2..1048576, not 1"),
        ({"window": 15}, "window has to be a whole number of 16..1000, not 15"),
        ({"reach": 33}, "reach has to be a whole number of 1..32, not 33"),
        ({"collect": 65}, "collect has to be a whole number of 1..64, not 65"),
    ],
)
def test_refuses_parameters(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        library.Newcomers(**{"features": 2, "classes": 2, **options})


def test_refuses_samples_and_labels() -> None:
    newcomers = library.Newcomers(2, 2, window=16)
    before = newcomers.state_crc32()
    for x in (array("H", [1]), array("i", [1, 2]), [1, 2]):
        with pytest.raises(ValueError, match="x has to be array"):
            newcomers.meet(x)
    with pytest.raises(ValueError, match=r"label has to be a whole number of 0\.\.1, not 2"):
        newcomers.give(2)
    assert newcomers.state_crc32() == before


def test_loaded_it_has_the_same_future() -> None:
    stream, kinds = kinds_of(7, 300, 3, 4)
    whole, first, second = (library.Newcomers(3, 4, 9, 20, collect=2) for _ in range(3))
    for k in range(300):
        label = int(kinds[k]) - 1
        whole.meet(row(stream[k]), label)
        (first if k < 200 else second).meet(row(stream[k]), label)
        if k == 199:
            second.load(first.save())
    assert second.state_crc32() == whole.state_crc32()
