"""The metrics on the device compared with River's, and the baselines with slow obvious loops."""

from __future__ import annotations

import sys
from collections import Counter
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_host.library import loader

library = loader.load("checked")
metrics_module = sys.modules[library.__name__ + ".metrics"]
FULL = 2**29  # all counts are halved there
MATRIX_CLASSES = 32  # with more classes, there is no confusion matrix

Pairs = list[tuple[int, int]]
RATIOS = ("accuracy", "accuracy_nochange", "accuracy_majority", "kappa", "kappa_temporal")


@st.composite
def streams(draw: st.DrawFn, least: int = 0) -> tuple[int, Pairs]:
    """Draw a number of classes, and pairs of a label and a prediction that is often right."""
    classes = draw(st.one_of(st.integers(2, 5), st.sampled_from((31, 32, 33, 256))))
    used = draw(st.lists(st.integers(0, classes - 1), min_size=1, max_size=4))
    labels = draw(st.lists(st.sampled_from(used), min_size=least, max_size=60))
    predictions = [draw(st.sampled_from([label, *used])) for label in labels]
    return classes, list(zip(labels, predictions, strict=True))


def counted(classes: int, pairs: Pairs) -> Any:
    metrics = library.Metrics(classes)
    for label, prediction in pairs:
        metrics.update(label, prediction)
    return metrics


def ratios(metrics: Any) -> list[int]:
    return [getattr(metrics, name) for name in RATIOS]


def hits_of_nochange(labels: list[int]) -> int:
    """Return how often the previous label is right; the first label has none before it."""
    return sum(labels[i] == labels[i - 1] for i in range(1, len(labels)))


def hits_of_majority(labels: list[int]) -> int:
    """Return how often the most frequent label so far, the smallest of equals, is right."""
    hits = 0
    for i in range(1, len(labels)):
        so_far = Counter(labels[:i])
        most = max(so_far.values())
        hits += labels[i] == min(label for label, count in so_far.items() if count == most)
    return hits


def above(right: Fraction, baseline: Fraction) -> Fraction:
    """Return kappa or kappa temporal by definition; 0 where the baseline is always right."""
    return (right - baseline) / (1 - baseline) if baseline < 1 else Fraction(0)


def reference(pairs: Pairs) -> list[int]:
    """Return all ratios in millionths, rounded down."""
    n = len(pairs)
    if not n:
        return [0] * 5
    labels = [label for label, _ in pairs]
    came, predicted = Counter(labels), Counter(prediction for _, prediction in pairs)
    right = Fraction(sum(label == prediction for label, prediction in pairs), n)
    nochange = Fraction(hits_of_nochange(labels), n)
    majority = Fraction(hits_of_majority(labels), n)
    chance = Fraction(sum(came[c] * predicted[c] for c in came), n * n)
    exact = (right, nochange, majority, above(right, chance), above(right, nochange))
    return [floor(ratio * 1000000) for ratio in exact]


@given(streams())
def test_ratios_match_their_definitions(stream: tuple[int, Pairs]) -> None:
    classes, pairs = stream
    metrics = counted(classes, pairs)
    assert metrics.samples == len(pairs)
    assert ratios(metrics) == reference(pairs)


@given(streams(least=1))
def test_accuracy_and_kappa_match_river(stream: tuple[int, Pairs]) -> None:
    from river import metrics as river

    classes, pairs = stream
    metrics = counted(classes, pairs)
    accuracy, kappa = river.Accuracy(), river.CohenKappa()
    for label, prediction in pairs:
        accuracy.update(label, prediction)
        kappa.update(label, prediction)
    assert metrics.accuracy == pytest.approx(accuracy.get() * 1000000, abs=1.001)
    if (
        len({c for pair in pairs for c in pair}) > 1
    ):  # else chance agreement is 1, apart from rounding
        assert metrics.kappa == pytest.approx(kappa.get() * 1000000, abs=1.001)


@given(streams())
def test_the_confusion_matrix_matches_river(stream: tuple[int, Pairs]) -> None:
    from river import metrics as river

    classes, pairs = stream
    metrics = counted(classes, pairs)
    if classes > MATRIX_CLASSES:
        with pytest.raises(ValueError, match=r"confusion matrix .* 32 classes"):
            metrics.confusion(0, 0)
        return
    matrix = river.ConfusionMatrix()
    for label, prediction in pairs:
        matrix.update(label, prediction)
    for label in range(classes):
        for prediction in range(classes):
            assert metrics.confusion(label, prediction) == matrix[label][prediction]


@pytest.mark.parametrize("engine", ["checked", "python", "llvm"])
@given(stream=streams(), cut=st.integers(0, 60))
def test_rows_are_counted_as_single_samples(
    engine: str, stream: tuple[int, Pairs], cut: int
) -> None:
    classes, pairs = stream
    rows = loader.load(engine).Metrics(classes)
    for part in (pairs[:cut], pairs[cut:]):
        rows.update_rows(bytearray(y for y, _ in part), bytearray(p for _, p in part))
    assert rows.state_crc32() == counted(classes, pairs).state_crc32()


def test_metrics_without_samples() -> None:
    metrics = library.Metrics(3)
    assert metrics.samples == 0
    assert ratios(metrics) == [0] * 5


def test_with_a_perfect_baseline_kappa_is_zero() -> None:
    metrics = counted(2, [(1, 1)] * 50)
    assert metrics.kappa == 0  # chance alone is always right
    assert metrics.accuracy == 1000000
    assert metrics.kappa_temporal == 1000000  # all but the first sample, which NoChange misses


# Halving


def grown(classes: int, pairs: Pairs, times: int) -> Any:
    """Return metrics as after counting the pairs `times` times."""
    metrics = counted(classes, pairs)
    (_, _, counts), *others = metrics.buffers()
    for word in range(metrics_module._SEEN, metrics_module._LAST):
        counts[word] *= times
    for _, _, buffer in others:
        for k in range(len(buffer)):
            buffer[k] *= times
    return metrics


@given(streams(least=32))
def test_halving_keeps_the_ratios(stream: tuple[int, Pairs]) -> None:
    classes, pairs = stream
    pairs = pairs[:32]
    metrics = grown(classes, pairs, FULL // 32)
    before = ratios(metrics)
    assert metrics.samples == FULL
    metrics.update(*pairs[0])
    assert metrics.samples == FULL + 1, "of all, not of those that the counts still hold"
    assert metrics.right == pytest.approx(metrics.accuracy / 1000000 * FULL, abs=1000)
    # One more sample changes a ratio by less than 1 / 2**28, rounding down by a millionth.
    # Kappa divides by 1 - chance, which is 0 and stays so, or is at least 1/32.
    after = ratios(metrics)
    assert all(abs(a - b) <= 1 for a, b in zip(before, after, strict=True))


@given(streams(least=1), streams(least=1))
def test_ratios_continue_after_halving(stream: tuple[int, Pairs], more: tuple[int, Pairs]) -> None:
    classes, pairs = stream
    late = [(y % classes, p % classes) for y, p in more[1]]
    times = FULL // len(pairs)
    metrics = grown(classes, pairs, times)
    seen, right = len(pairs) * times, sum(y == p for y, p in pairs) * times
    for label, prediction in late * 40:
        metrics.update(label, prediction)
        seen += 1
        right += label == prediction
        assert metrics.samples == seen
        assert metrics.buffers()[0][2][metrics_module._SEEN] <= FULL
    assert metrics.accuracy / 1000000 == pytest.approx(right / seen, abs=2e-5)


def test_halving_also_happens_within_a_block() -> None:
    for engine in ("checked", "llvm"):
        block = loader.load(engine).Metrics(3)
        single = grown(3, [(0, 0), (1, 2), (1, 1), (2, 1)], FULL // 4)
        block.load(single.save())
        labels, predictions = bytearray([0, 1, 2, 2]), bytearray([0, 2, 2, 1])
        block.update_rows(labels, predictions)
        for label, prediction in zip(labels, predictions, strict=True):
            single.update(label, prediction)
        assert block.state_crc32() == single.state_crc32()
        assert block.samples == FULL + 4
        assert block.confusion(1, 2) == FULL // 8 + 1


def test_samples_are_counted_through_many_halvings() -> None:
    metrics = counted(3, [(2, 2)] * 32)
    counts = metrics.buffers()[0][2]
    for _ in range(300):
        counts[metrics_module._SEEN] = FULL
        before = metrics.samples
        metrics.update(2, 2)
        assert metrics.samples == before + 1
        assert counts[metrics_module._LAST] % 256 == 2
    copy = library.Metrics(3)
    copy.load(metrics.save())
    assert copy.samples == metrics.samples > 1 << 36


# Wrong arguments


@pytest.mark.parametrize("classes", [1, 0, -1, 257, 2.0, None, "2", True])
def test_wrong_numbers_of_classes(classes: object) -> None:
    with pytest.raises(ValueError, match=r"^classes .* 2\.\.256, not"):
        library.Metrics(classes)


@pytest.mark.parametrize("wrong", [3, -1, 255, 256, 2**31, 1.5, None, "1", True])
def test_a_wrong_class_changes_nothing(wrong: object) -> None:
    metrics = counted(3, [(0, 1), (2, 2)])
    before = metrics.state_crc32()
    for pair in ((wrong, 0), (0, wrong)):
        with pytest.raises(ValueError, match=r"class .* 0\.\.2, not"):
            metrics.update(*pair)
        with pytest.raises(ValueError, match=r"class .* 0\.\.2, not"):
            metrics.confusion(*pair)
    assert metrics.state_crc32() == before


@pytest.mark.parametrize(
    ("labels", "predictions"),
    [([0, 1], [0]), ([], [0]), ([0, 3, 0], [0, 0, 0]), ([0, 0, 0], [0, 0, 255])],
)
def test_wrong_rows_change_nothing(labels: list[int], predictions: list[int]) -> None:
    for engine in ("checked", "llvm"):
        metrics = loader.load(engine).Metrics(3)
        before = metrics.state_crc32()
        with pytest.raises(ValueError, match=r"one length|bytearray of classes"):
            metrics.update_rows(bytearray(labels), bytearray(predictions))
        assert metrics.state_crc32() == before


@pytest.mark.parametrize("classes", [2, 3, 32, 33, 255, 256])
def test_the_last_class_is_a_class(classes: int) -> None:
    last = classes - 1
    metrics = counted(classes, [(last, 0), (0, last), (last, last)])
    assert metrics.samples == 3
    assert metrics.accuracy == 333333
