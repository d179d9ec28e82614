"""The anomaly score compared with floats; the rate of alarms; wrong arguments; engines."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from float_anomaly import FloatAnomaly, begins
from hypothesis import given, settings
from hypothesis import strategies as st
from locked_support import printed_on, printed_on_micropython
from numpy.typing import NDArray
from property_support import examples

from microshrub_host.library import loader

library = loader.load(loader.fastest())
checked = loader.load("checked")
Codes = NDArray[np.uint16]
BEYOND = 17  # alarms that a stream can force beyond one in a period


def row(codes: Any) -> array[int]:
    return array("H", [int(code) for code in codes])


def scored(anomaly: Any, stream: Codes) -> tuple[bytearray, bytearray]:
    scores, anomalous = bytearray(len(stream)), bytearray(len(stream))
    anomaly.run(array("H", stream.astype(np.uint16).tobytes()), scores, anomalous)
    return scores, anomalous


def blobs(seed: int, samples: int, features: int) -> Codes:
    """Draw two clusters of samples, some outliers, and a sensor that is stuck at times."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(10000, 55000, (2, features))
    values = centres[rng.integers(2, size=samples)] + rng.normal(0, 1500, (samples, features))
    rare = rng.random(samples) < 0.02
    values[rare] = rng.integers(0, 65536, (int(rare.sum()), features))
    for start in range(0, samples, 150):
        held = slice(start, start + rng.integers(1, 60))
        values[held, 0] = values[start, 0]
    return np.clip(values, 0, 65535).astype(np.uint16)


STREAMS = st.tuples(
    st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from((1, 2, 3, 8, 15))
)


@settings(max_examples=examples(40))
@given(STREAMS, st.integers(1, 50), st.integers(1, 20), st.integers(1, 32))
def test_the_score_matches_the_floats(
    stream: tuple[int, int, int], period: int, window: int, reach: int
) -> None:
    """The score is rounded down; r / (r + d), in Q14, is truncated, most for a small r."""
    rows = blobs(*stream)
    features = rows.shape[1]
    anomaly = checked.AnomalyScore(features, period, window, reach)
    floats = FloatAnomaly(features, period, window, reach)
    for codes in rows:
        expected = floats.update([int(code) for code in codes])
        assert abs(anomaly.update(row(codes)) + 0.5 - expected) <= 0.6 + 1.5 / reach
        assert 0 <= anomaly.score <= 255


@settings(max_examples=examples(40))
@given(
    st.integers(1, 400),
    st.integers(1, 12),
    st.lists(st.integers(0, 65535), min_size=1, max_size=300),
)
def test_alarms_never_exceed_the_allowed_number(
    period: int, window: int, stream: list[int]
) -> None:
    """Any stream has at most one alarm per period, and 17 more."""
    anomaly = library.AnomalyScore(1, period, window)
    for code in stream:
        anomaly.update(row([code]))
    assert anomaly.alarms <= len(stream) / period + BEYOND


@pytest.mark.parametrize("period", [50, 400])
def test_alarms_are_as_frequent_as_requested(period: int) -> None:
    rng = np.random.default_rng(7)
    stream = np.clip(rng.normal(32768, 6000, (20000, 3)), 0, 65535).astype(np.uint16)
    anomaly = library.AnomalyScore(3, period, window=100)
    _, anomalous = scored(anomaly, stream)
    above = np.flatnonzero(np.frombuffer(anomalous, dtype=np.uint8))
    pause = min(48, period // 8)
    assert np.sum(np.diff(above, prepend=-99) > pause) == anomaly.alarms
    assert 0.8 <= anomaly.alarms * period / 20000 <= 1.2


def test_a_flickering_score_is_one_alarm() -> None:
    """In a fault of 30 samples far away, every third sample is normal."""
    rng = np.random.default_rng(3)
    stream = np.clip(rng.normal(32768, 300, (2000, 3)), 0, 65535).astype(np.uint16)
    for k in range(1000, 1030):
        if k % 3:
            stream[k] += np.uint16(300 * (k - 990))
    anomaly = library.AnomalyScore(3, 10**6, window=200)
    _, anomalous = scored(anomaly, stream)
    marks = np.frombuffer(anomalous, dtype=np.uint8)
    assert np.sum(np.diff(marks.astype(int)) == 1) > 3
    assert anomaly.alarms == 1


def test_a_longer_period_never_lowers_the_threshold_faster() -> None:
    stream = blobs(3, 3000, 2)
    alarms = []
    for period in (20, 200, 2000, 2**29):
        anomaly = library.AnomalyScore(2, period, window=64)
        scored(anomaly, stream)
        alarms.append(anomaly.alarms)
    assert alarms == sorted(alarms, reverse=True)
    assert alarms[0] > alarms[-1]


def test_an_anomaly_gets_a_higher_score() -> None:
    rng = np.random.default_rng(1)
    anomaly = library.AnomalyScore(4)
    scored(anomaly, rng.normal(20000, 500, (600, 4)).astype(np.uint16))
    ladder = [anomaly.update(row([20000 + step] * 4)) for step in (0, 2000, 5000, 12000, 40000)]
    assert ladder == sorted(ladder)
    assert ladder[0] < 60 < 150 < ladder[-1]


def test_doubling_the_distance_adds_32() -> None:
    """This holds far from all samples, where the reach no longer matters."""
    scores = []
    for distance in (64, 128):
        anomaly = library.AnomalyScore(8, window=4, reach=1)
        for _ in range(4):
            anomaly.update(row([0] * 8))
        scores.append(anomaly.update(row([distance << 8] * 8)))
    assert scores[1] - scores[0] in (31, 32)


def test_scores_are_at_most_255_and_a_repeated_sample_has_0() -> None:
    for features in (1, 256):
        for reach in (1, 32):
            anomaly = checked.AnomalyScore(features, window=3, reach=reach)
            for _ in range(4):
                assert anomaly.update(row([0] * features)) == 0
            assert 150 * (reach == 1) < anomaly.update(row([65535] * features)) <= 255


def test_a_stuck_sensor_is_an_anomaly_with_normal_values() -> None:
    rng = np.random.default_rng(2)
    stream = rng.normal(30000, 3000, (3000, 4)).astype(np.uint16)
    held = stream.copy()
    held[2600:2640, 2] = held[2599, 2]
    usual, stuck = (scored(library.AnomalyScore(4), rows)[0] for rows in (stream, held))
    assert usual[:2600] == stuck[:2600]
    assert max(usual[2600:2640]) + 30 < max(stuck[2610:2640])
    assert abs(sum(usual[2700:]) - sum(stuck[2700:])) < 300


def test_a_feature_that_often_repeats_is_not_stuck() -> None:
    """Examples are a day number and a switch."""
    rng = np.random.default_rng(2)
    stream = rng.normal(30000, 3000, (3000, 2)).astype(np.uint16)
    days = np.column_stack([stream, np.arange(3000) // 100 % 2 * 20000])
    with_days, constant = (
        scored(library.AnomalyScore(3), rows)[0]
        for rows in (days, np.column_stack([stream, np.full(3000, 9)]))
    )
    for scores in (with_days, constant):
        assert max(scores[600:]) <= max(scored(library.AnomalyScore(2), stream)[0][600:]) + 8


def test_no_alarm_before_the_window_is_full() -> None:
    anomaly = library.AnomalyScore(1, period=1, window=20)
    for code in range(20):
        anomaly.update(row([code * 3000]))
        assert not anomaly.is_anomaly
    assert anomaly.alarms == 0
    assert anomaly.threshold > 0


def test_counters_of_a_long_life_stay_within_bounds() -> None:
    anomaly = checked.AnomalyScore(1, 2**29, window=1)
    words = anomaly.buffers()[0][2]
    module = sys.modules[checked.__name__ + ".anomaly"]
    anomaly.update(row([0]))
    words[module._OVER], words[module._AGE] = -4, 2**29 - 1
    words[module._ALARMS], words[module._DEBT] = 2**29, 2**29 - 1
    for k in range(9):
        anomaly.update(row([65535 * (k % 2)]))
        assert anomaly.alarms == 2**29
        assert anomaly._is_sound()


@pytest.mark.parametrize("features", [1, 2, 5, 14, 36, 256])
def test_the_anomaly_score_fits_8_kb(features: int) -> None:
    anomaly = library.AnomalyScore(features)
    assert library.AnomalyScore.nbytes(features) <= 8192
    sizes = [memoryview(buffer).nbytes for _, _, buffer in anomaly.buffers()]
    assert sum(sizes) == library.AnomalyScore.nbytes(features)
    assert anomaly.window == 512 or library.AnomalyScore.nbytes(features) > 8192 - features


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": 0}, "features .* 1..256, not 0"),
        ({"period": 0}, "period .* 1..536870912, not 0"),
        ({"period": 1.5}, "period .* 1..536870912, not 1.5"),
        ({"window": 1001}, "window .* 0..1000, not 1001"),
        ({"reach": 33}, "reach .* 1..32, not 33"),
        ({"reach": True}, "reach .* 1..32, not True"),
    ],
)
def test_refuses_parameters(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        library.AnomalyScore(**{"features": 2, **options})


@pytest.mark.parametrize("x", [array("H", [1]), array("i", [1, 2]), [1, 2], array("H", [1, 2, 3])])
def test_refuses_samples_and_changes_nothing(x: Any) -> None:
    anomaly = library.AnomalyScore(2)
    anomaly.update(row([4, 5]))
    before = anomaly.state_crc32()
    with pytest.raises(ValueError, match="x has to be array"):
        anomaly.update(x)
    with pytest.raises(ValueError, match="bytearrays of one length"):
        anomaly.run(row([1, 2]), bytearray(1), bytearray(2))
    assert anomaly.state_crc32() == before


def test_a_loaded_score_has_the_same_future() -> None:
    stream = blobs(5, 900, 3)
    whole, first, second = (library.AnomalyScore(3, 40, 100) for _ in range(3))
    scored(whole, stream)
    scored(first, stream[:700])
    second.load(first.save())
    scored(second, stream[700:])
    assert second.state_crc32() == whole.state_crc32()
    first.reset()
    assert first.state_crc32() == library.AnomalyScore(3, 40, 100).state_crc32()
    with pytest.raises(ValueError, match="state is of AnomalyScore"):
        library.AnomalyScore(3, 41, 100).load(whole.save())


def test_single_samples_and_blocks_give_the_same_scores() -> None:
    stream = blobs(8, 300, 4)
    one, block = (library.AnomalyScore(4, 30, 50) for _ in range(2))
    scores, anomalous = scored(block, stream)
    for codes, score, above in zip(stream, scores, anomalous, strict=True):
        assert one.update(row(codes)) == score == one.score
        assert one.is_anomaly == bool(above)
    assert one.state_crc32() == block.state_crc32()


LOCKED = """
x = array("H", [0] * FEATURES)
anomaly = AnomalyScore(FEATURES, 25, 60, 2)
total = 0
for k in range(0, len(ROWS), FEATURES):
    for i in range(FEATURES):
        x[i] = ROWS[k + i]
    lock()
    try:
        total += anomaly.update(x)
    finally:
        unlock()
say(total, anomaly.alarms, anomaly.threshold, anomaly.state_crc32() & 0xFFFFFFFF)
"""


@pytest.mark.parametrize("features", [1, 2, 7])
def test_nothing_is_allocated_and_all_engines_agree(
    features: int, run_micropython: Callable[[str], str]
) -> None:
    rows = blobs(6, 500, features).ravel().tolist()
    names, given = ("AnomalyScore",), {"FEATURES": features, "ROWS": array("H", rows)}
    expected = printed_on_micropython(run_micropython, LOCKED, names, **given)
    for engine in ("python", "llvm", "c"):
        assert printed_on(engine, LOCKED, names, **given) == expected


def test_a_lasting_fault_stays_an_anomaly() -> None:
    """A window of the last samples gets used to a fault; a window of the first 300 does not."""
    rng = np.random.default_rng(3)
    stream = rng.normal(30000, 1500, (2000, 3))
    stream[1000:, 1] += 9000
    codes = stream.astype(np.uint16)
    usual = library.AnomalyScore(3, period=500, window=200)
    held = library.AnomalyScore(3, period=500, window=200, normal=300)
    follows, stays = (np.frombuffer(scored(each, codes)[0], np.uint8) for each in (usual, held))
    assert not held.left
    assert follows[1500:].mean() < follows[800:1000].mean() + 10
    assert stays[1500:].mean() > stays[800:1000].mean() + 25
    anomalous = np.frombuffer(scored(held, codes[1000:])[1], np.uint8)
    assert anomalous.mean() > 0.5  # the alarm lasts as long as the fault


@settings(max_examples=examples(20))
@given(STREAMS, st.integers(1, 50), st.integers(1, 90))
def test_after_the_normal_samples_the_window_is_fixed(
    stream: tuple[int, int, int], window: int, normal: int
) -> None:
    rows = blobs(*stream)
    anomaly = library.AnomalyScore(rows.shape[1], window=window, normal=normal)
    scored(anomaly, rows[:normal])
    assert anomaly.left == max(normal - len(rows), 0)
    codes = next(bytes(b) for name, _, b in anomaly.buffers() if name == "anomaly.codes")
    if not anomaly.left:
        scored(anomaly, rows)
        after = next(bytes(b) for name, _, b in anomaly.buffers() if name == "anomaly.codes")
        assert after == codes
    other = library.AnomalyScore(rows.shape[1], window=window, normal=normal)
    other.load(anomaly.save())
    assert other.update(row(rows[0])) == anomaly.update(row(rows[0]))


def test_an_alarm_raises_the_threshold_by_eight() -> None:
    anomaly = library.AnomalyScore(1, 1000, 16)
    for k in range(40):
        anomaly.update(array("H", [20000 + 256 * (k % 3)]))
    before, alarms = anomaly.threshold, anomaly.alarms
    anomaly.update(array("H", [60000]))
    assert anomaly.alarms == alarms + 1
    assert anomaly.threshold - before in (7, 8)  # it falls by 8 / 1000 with each sample


def test_an_alarm_adds_sixteen_while_alarms_are_too_frequent() -> None:
    """An alarm adds eight again once enough periods have passed."""
    anomaly = library.AnomalyScore(1, 1000, 16)
    rises = []
    for pause in (40, 60, 60, 3900):
        for k in range(pause):
            anomaly.update(array("H", [20000 + 256 * (k % 3)]))
        before, alarms = anomaly.threshold, anomaly.alarms
        anomaly.update(array("H", [60000]))
        assert anomaly.alarms == alarms + 1
        rises.append(anomaly.threshold - before)
    assert [round(rise / 8) for rise in rises] == [1, 2, 2, 1]


@settings(max_examples=examples(40))
@given(STREAMS, st.integers(8, 2**29), st.integers(2, 60), st.booleans())
def test_the_threshold_starts_at_the_expected_rate(
    stream: tuple[int, int, int], period: int, normal: int, follows: bool
) -> None:
    """It counts all samples of a filling window, or the second half of the normal ones."""
    seed, _, features = stream
    rows = blobs(seed, normal + 1, features)
    given = {"window": normal} if follows else {"normal": normal}
    anomaly = checked.AnomalyScore(features, period, **given)
    scores, _ = scored(anomaly, rows[:normal])
    usual = [score + 0.5 for score in scores[0 if follows else normal - normal // 2 :]]
    anomaly.update(row(rows[normal]))
    rise = 16 if anomaly.alarms else 0
    assert -3 <= anomaly.threshold - min(begins(usual, period), 255) <= 2 + rise


def test_a_jump_of_a_clock_is_an_anomaly_long_after_its_first_range() -> None:
    """An example is a date 125 ranges after the first samples, which cover a few days."""
    rng = np.random.default_rng(5)
    raw = np.column_stack([np.arange(9000) * 100, rng.normal(0, 1000, (9000, 2))]).astype(int)
    raw[8000, 0] = 200_000  # instead of 800,000: both are far outside
    quantizer = library.Quantizer(3)
    quantizer.observe(array("i", raw[:64].ravel().tolist()))
    quantizer.freeze()
    codes = array("H", bytes(2 * raw.size))
    quantizer.encode(array("i", raw.ravel().tolist()), codes)
    stream = np.frombuffer(codes, np.uint16).reshape(raw.shape)
    scores = np.frombuffer(scored(library.AnomalyScore(3), stream)[0], np.uint8)
    assert scores[8000] == 255
    assert scores[7000:8000].max() < 200


def cluster(seed: int, centre: int, samples: int) -> Codes:
    rng = np.random.default_rng(seed)
    return rng.normal(centre, 700, (samples, 2)).astype(np.uint16)


def test_this_is_normal_adds_normal_samples() -> None:
    """The first samples and the new ones are normal; others are not."""
    anomaly = library.AnomalyScore(2, period=500, window=200, normal=200)
    scored(anomaly, cluster(1, 20000, 400))
    before = np.frombuffer(scored(anomaly, cluster(2, 40000, 100))[1], np.uint8)
    assert before.all()
    anomaly.this_is_normal()
    assert (anomaly.left, anomaly.is_anomaly) == (200, False)
    shown = scored(anomaly, cluster(3, 40000, 200))[1]
    assert (sum(shown), anomaly.left) == (0, 0)
    for centre, is_usual in ((20000, True), (40000, True), (55000, False)):
        anomalous = np.frombuffer(scored(anomaly, cluster(4, centre, 300))[1], np.uint8)
        assert (anomalous.mean() < 0.02) if is_usual else anomalous.all()


def test_the_threshold_restarts_with_more_normal_samples() -> None:
    """The first of the new samples, far from all known ones, do not count."""
    anomaly = library.AnomalyScore(2, period=10**6, window=100, normal=100)
    scored(anomaly, cluster(1, 20000, 100))
    anomaly.this_is_normal()
    first = max(scored(anomaly, cluster(2, 60000, 50))[0])
    late = max(scored(anomaly, cluster(3, 60000, 50))[0])
    assert late < anomaly.threshold + 2 < first - 30


def test_this_is_normal_fixes_a_following_window() -> None:
    """The window is fixed at once if it is full, else later; its threshold does not change."""
    following, early = (library.AnomalyScore(2, period=500, window=100) for _ in range(2))
    scored(following, cluster(1, 20000, 300))
    scored(early, cluster(1, 20000, 40))
    threshold = following.threshold
    for each in (following, early):
        each.this_is_normal()
    assert (following.left, early.left, following.threshold) == (0, 60, threshold)
    scored(early, cluster(2, 20000, 60))
    assert early.left == 0
    for each in (following, early):
        anomalous = np.frombuffer(scored(each, cluster(3, 45000, 2000))[1], np.uint8)
        assert anomalous[-100:].all(), "it never becomes usual"
        each.this_is_normal()
        assert each.left == 100


def test_each_normal_sample_is_kept_with_the_same_probability() -> None:
    """A ring would keep the last samples only."""
    anomaly = library.AnomalyScore(1, window=200, normal=400)
    rows = (np.arange(800) // 200).astype(np.uint16)[:, None] << 8
    scored(anomaly, rows[:400])
    anomaly.this_is_normal()
    scored(anomaly, rows[400:])
    codes = next(b for name, _, b in anomaly.buffers() if name == "anomaly.codes")
    quarters = np.bincount(np.frombuffer(codes, np.uint8), minlength=4)
    assert quarters.sum() == 200
    assert quarters.min() > 25


def test_the_normal_window_is_saved_and_all_engines_agree(
    run_micropython: Callable[[str], str],
) -> None:
    program = """
anomaly = AnomalyScore(2, 25, 60, 2, 80)
scores, anomalous = bytearray(100), bytearray(100)
for k in range(4):
    anomaly.run(ROWS[200 * k : 200 * k + 200], scores, anomalous)
    if k in (0, 2):
        anomaly.this_is_normal()
other = AnomalyScore(2, 25, 60, 2, 80)
other.load(anomaly.save())
say(other.left, other.alarms, other.threshold, other.state_crc32() & 0xFFFFFFFF)
"""
    rows = array("H", np.concatenate([cluster(k, 9000 * k + 9000, 100) for k in range(4)]).ravel())
    expected = printed_on_micropython(run_micropython, program, ("AnomalyScore",), ROWS=rows)
    for engine in ("python", "llvm", "c"):
        assert printed_on(engine, program, ("AnomalyScore",), ROWS=rows) == expected


def test_a_spike_in_a_narrow_feature_is_detected_among_wide_ones() -> None:
    """The score of the spike is far above all others, although another feature is heavy-tailed."""
    rng = np.random.default_rng(4)
    stream = np.stack([rng.normal(30000, 150, 900), rng.lognormal(10, 0.4, 900)], axis=1)
    stream = np.clip(stream, 0, 65535)
    stream[800, 0] += 3000
    scores = np.frombuffer(scored(library.AnomalyScore(2), stream)[0], np.uint8)
    assert scores[800] > 150
    assert scores[800] >= scores[100:].max()
    assert scores[801] < 150, "what is as it was is no spike"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("anomaly.away", -256),
        ("anomaly.jump", -256),
        ("anomaly.mean", -(2**29)),
        ("anomaly.rng", 0),
    ],
)
def test_a_state_that_would_divide_by_zero_is_refused(name: str, value: int) -> None:
    anomaly, other = (library.AnomalyScore(2, window=10) for _ in range(2))
    scored(anomaly, cluster(1, 20000, 100))
    next(buffer for known, _, buffer in anomaly.buffers() if known == name)[0] = value
    with pytest.raises(ValueError, match="damaged"):
        other.load(anomaly.save())
