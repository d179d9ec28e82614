"""Novel samples match a model in floats; false alarms are few; wrong arguments are refused."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from float_novelty import FloatNovelty
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.library import loader

library = loader.load("python")
checked = loader.load("checked")
BORDER = 0.4  # a range of scores in which integers may decide otherwise than floats


def row(codes: Any) -> array[int]:
    return array("H", [int(code) for code in codes])


def kinds_of(seed: int, samples: int, features: int, kinds: int) -> tuple[Any, Any]:
    """Draw samples of some clusters, which come in runs, and the cluster of each."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(8000, 57000, (kinds, features))
    kind = np.repeat(rng.integers(kinds, size=samples), 7)[:samples]
    values = centres[kind] + rng.normal(0, 1200, (samples, features))
    return np.clip(values, 0, 65535).astype(np.uint16), kind


def held(detector: Any) -> list[tuple[int, list[int]]]:
    """Return the memory: labels and upper bytes."""
    words, codes, _, labels, *_ = (buffer for _, _, buffer in detector.buffers())
    n, f = words[2], detector.features
    return [(labels[k], list(codes[k * f : k * f + f])) for k in range(n)]


@settings(max_examples=examples(8))
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from((1, 3, 8)),
    st.integers(16, 30),
    st.integers(2, 40),
    st.sampled_from((1, 4, 32)),
    st.integers(1, 3),
)
def test_everything_matches_the_floats(
    seed: int, features: int, window: int, period: int, reach: int, collect: int
) -> None:
    stream, kinds = kinds_of(seed, 160, features, 4)
    detector = checked.NoveltyDetector(features, 3, period, window, reach, collect)
    floats = FloatNovelty(features, 3, window, period, reach, collect)
    words = detector._flat[0]
    rng = np.random.default_rng(seed)
    for codes, kind in zip(stream.tolist(), kinds.tolist(), strict=True):
        label = -1 if kind == 3 or rng.random() < 0.2 else kind
        votes = int(rng.integers(1 << 23, 1 << 24))
        uncertainty = 1 - votes / (1 << 24)
        expected, could, limit = (
            floats.novelty(codes, uncertainty),
            floats.can_tell(),
            floats.limit,
        )
        far = words[18] / 2**20
        new = detector.meet(row(codes), label, True, votes)
        floats.since += 1
        odd = words[1] > 0
        border = BORDER + 0.05 * abs(expected) + 0.2 / reach
        if abs(expected - limit) > border:
            assert odd == (could and expected > limit)
        was_far = expected > far if abs(expected - far) > border else detector.place >= 0
        score = floats.collect_candidate(codes, was_far) if odd else 0
        assert detector.score == score
        assert new == (odd and score >= floats.few)
        if label >= 0:
            floats.learn(codes, label, uncertainty, odd, new)
            assert words[12] / 256 == pytest.approx(floats.limit, abs=0.02)
            assert words[11] / 2**16 == pytest.approx(floats.close, abs=0.01)
            assert words[14] / 2**15 == pytest.approx(floats.height.mean, abs=0.05)
        floats.limit, floats.close = words[12] / 256, (words[11] >> 8) / 256
        assert detector.waiting == len(floats.group())
        assert detector.is_ready == (len(floats.group()) >= collect)
    assert held(detector) == [
        (label, [code >> 8 for code in codes])
        for label, codes in zip(floats.labels, floats.codes, strict=True)
    ]
    detector.give(1)
    given_back = []
    while detector.take() == 1:
        given_back.append(list(detector.x))
    assert given_back == [odd.codes for odd in floats.group()]


@pytest.mark.parametrize("period", [20, 100])
def test_the_rate_of_false_novelty_is_as_requested(period: int) -> None:
    rng = np.random.default_rng(3)
    detector = loader.load("c").NoveltyDetector(4, 3, period, window=64)
    alarms = []
    for _ in range(9000):
        kind = int(rng.integers(3))
        codes = np.clip(rng.normal(20000 + 9000 * kind, 4000, 4), 0, 65535)
        alarms.append(detector.meet(row(codes), kind))
    assert 0.5 / period < np.mean(alarms[1000:]) < 1.4 / period


def known(features: int = 6, window: int = 64) -> Any:
    """Return a detector with two known classes, whose samples alternate."""
    detector = loader.load("c").NoveltyDetector(features, 6, window=window)
    rng = np.random.default_rng(5)
    for k in range(300):
        detector.meet(row(rng.normal((10000, 30000)[k % 2], 900, features)), k % 2)
    return detector


def place_of(rng: Any, kind: int) -> array[int]:
    """Draw a sample of one of three unknown clusters, or of a fourth, spread everywhere."""
    corners = ((60000, 9000), (9000, 60000), (60000, 60000))
    if kind < 3:
        return row(rng.normal(np.tile(corners[kind], 3), 900))
    return row(rng.integers(0, 65536, 6))


def test_a_novel_class_is_detected_and_single_samples_are_not() -> None:
    detector, rng = known(), np.random.default_rng(1)
    for k in range(400):
        detector.meet(row(rng.normal((10000, 30000)[k % 2], 900, 6)), k % 2)
        if k % 20 == 0:
            detector.meet(place_of(rng, 3))
        assert not detector.is_ready
    for k in range(40):
        detector.meet(row(rng.normal((10000, 30000)[k % 2], 900, 6)), k % 2)
        detector.meet(place_of(rng, 0))
        if detector.is_ready:
            break
    assert 4 <= k <= 20


def test_a_lasting_far_state_is_detected_with_its_fifth_sample() -> None:
    detector = known()
    notices = []
    for k in range(5):
        detector.meet(row([60000 - 20 * k, 9000 + 20 * k] * 3))
        notices.append(detector.is_ready)
    assert notices == [False] * 4 + [True]


def test_three_novel_classes_at_once_get_three_names() -> None:
    detector, rng = known(window=128), np.random.default_rng(4)
    aside: dict[int, int] = {}
    named: dict[int, int] = {}
    for k in range(300):
        kind = int(rng.integers(3))
        if kind in named:
            detector.meet(place_of(rng, kind), named[kind])
            continue
        detector.meet(row(rng.normal((10000, 30000)[k % 2], 900, 6)), k % 2)
        detector.meet(place_of(rng, kind))
        if detector.place >= 0:
            aside[detector.place] = kind
        if detector.is_ready:
            group = [aside[p] for p in range(detector.places) if detector.is_asked(p)]
            assert set(group) == {kind}
            named[kind] = 2 + len(named)
            detector.give(named[kind])
            while detector.take() >= 0:
                pass
    assert len(named) == 3


def test_a_named_class_is_known_and_a_forgotten_one_is_novel_again() -> None:
    detector, rng = known(), np.random.default_rng(2)

    def come(samples: int, label: int = -1) -> int:
        return sum(detector.meet(place_of(rng, 0), label) for _ in range(samples))

    while not detector.is_ready:
        come(1)
    waiting = detector.waiting
    detector.give(2)
    assert detector.waiting == 0
    assert [detector.take() for _ in range(waiting + 1)] == [2] * waiting + [-1]
    come(20, 2)
    assert come(20) == 0
    detector.move(2, -1)
    assert come(40) >= 10
    assert {label for label, _ in held(detector)} == {0, 1}
    detector.move(1, 0)
    assert {label for label, _ in held(detector)} == {0}
    assert detector.is_ready
    detector.give(2)
    detector.move(2, 1)
    assert detector.take() == 1
    detector.move(1, -1)
    assert detector.take() == -1
    detector.dismiss()
    assert detector.waiting == 0


@pytest.mark.parametrize(("classes", "first"), [(2, 8), (4, 2)])
def test_the_first_samples_of_a_class_do_not_count_as_normal(classes: int, first: int) -> None:
    """The first eight do not count, or fewer if the memory has fewer for each class."""
    detector = library.NoveltyDetector(1, classes, window=16 if first < 8 else 64)
    for k in range(30):
        detector.meet(row([9000 + 256 * (k % 3)]), 0)
    learned = detector._flat[0][12:18]
    for k in range(first + 1):
        assert detector._flat[0][12:18] == learned
        detector.meet(row([60000 - 4000 * k]), 1)
    assert detector._flat[0][12:18] != learned


def test_a_rare_class_keeps_its_samples() -> None:
    detector = library.NoveltyDetector(1, 4, window=16)
    for k in range(5):
        detector.meet(row([9000 + k]), 3)
    for k in range(300):
        detector.meet(row([20000 + k]), k % 2)
    labels = [label for label, _ in held(detector)]
    assert [labels.count(c) for c in range(4)] in ([6, 5, 0, 5], [5, 6, 0, 5])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": 0}, "features .* 1..256, not 0"),
        ({"classes": 1}, "classes .* 2..256, not 1"),
        ({"period": 1}, "period .* 2..1048576, not 1"),
        ({"window": 15}, "window .* 16..1000, not 15"),
        ({"reach": 33}, "reach .* 1..32, not 33"),
        ({"collect": 65}, "collect .* 1..64, not 65"),
    ],
)
def test_refuses_parameters(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        library.NoveltyDetector(**{"features": 2, "classes": 2, **options})


def test_refuses_samples_and_labels() -> None:
    detector = library.NoveltyDetector(2, 2, window=16)
    before = detector.state_crc32()
    for x in (array("H", [1]), array("i", [1, 2]), [1, 2]):
        with pytest.raises(ValueError, match="x has to be array"):
            detector.meet(x)
    with pytest.raises(ValueError, match=r"^label .* 0\.\.1, not 2"):
        detector.give(2)
    assert detector.state_crc32() == before


def test_a_loaded_detector_has_the_same_future() -> None:
    stream, kinds = kinds_of(7, 300, 3, 4)
    whole, first, second = (library.NoveltyDetector(3, 4, 9, 20, collect=2) for _ in range(3))
    for k in range(300):
        label = int(kinds[k]) - 1
        whole.meet(row(stream[k]), label)
        (first if k < 200 else second).meet(row(stream[k]), label)
        if k == 199:
            second.load(first.save())
    assert second.state_crc32() == whole.state_crc32()
