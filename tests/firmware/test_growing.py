"""Ranges that grow and shrink: exact, in bounded time, without loss of learned state."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.library import loader
from microshrub_host.simulation import engines

LIBRARY = loader.load(loader.fastest())
RAW = 2**29 - 1
MISSING = -(2**29)


@settings(max_examples=examples(500))
@given(
    st.integers(0, 30),
    st.integers(0, 13),
    st.integers(-(2**13), 2**13),
    st.data(),
)
def test_a_moved_code_equals_the_code_in_the_new_range(
    bits: int, doublings: int, steps: int, data: Any
) -> None:
    """This is exact for every value that is inside both ranges."""
    after = bits + doublings
    if after > 30:
        return
    lower = steps << max(after - 13, 0)
    v = data.draw(st.integers(0, (1 << bits) - 1))
    if not 0 <= v + lower < 1 << after:
        return
    ranges = LIBRARY.ranges
    assert ranges.moved_code(ranges.coded(v, bits), bits, doublings, steps) == ranges.coded(
        v + lower, after
    )


@settings(max_examples=examples(500))
@given(st.integers(0, 30), st.integers(1, 13), st.data())
def test_a_code_of_a_shrinking_range_is_shifted(bits: int, halvings: int, data: Any) -> None:
    """A moved code is its value's code, or lower by the resolution of the wider range."""
    after = bits - halvings
    if after < 0:
        return
    size = max(after - 13, 0)
    higher = data.draw(st.integers(0, ((1 << bits) - (1 << after)) >> size))
    v = data.draw(st.integers(0, (1 << after) - 1)) + (higher << size)
    ranges = LIBRARY.ranges
    moved = ranges.moved_code(ranges.coded(v, bits), bits, -halvings, -higher)
    v -= higher << size
    exact = ranges.coded(v, after)
    if bits <= 13:
        assert moved == exact
    elif moved >= ranges.coded(0, after):
        assert exact - (1 << halvings) < moved <= exact
    else:  # it is now before the range, by less than a step of the wider one
        assert ranges.coded(v - (1 << (bits - 13)), after) <= moved < exact


@settings(max_examples=examples(300))
@given(st.integers(0, 29), st.integers(-13, 13), st.integers(-(2**13), 2**13), st.data())
def test_moved_codes_are_in_the_same_order(
    bits: int, doublings: int, steps: int, data: Any
) -> None:
    if not 0 <= bits + doublings <= 30:
        return
    if doublings < 0:  # the new range lies in the old one
        size = max(bits + doublings - 13, 0)
        steps = -data.draw(st.integers(0, ((1 << bits) - (1 << (bits + doublings))) >> size))
    values = sorted(data.draw(st.lists(st.integers(-(2**30), 2**30), min_size=2, max_size=20)))
    codes = [LIBRARY.ranges.coded(v, bits) for v in values]
    after = [LIBRARY.ranges.moved_code(code, bits, doublings, steps) for code in codes]
    assert after == sorted(after)
    assert 0 <= after[0] <= after[-1] <= 65535


@settings(max_examples=examples(300))
@given(st.integers(0, 30), st.lists(st.integers(-RAW, RAW), min_size=2, max_size=20))
def test_codes_grow_with_the_values(bits: int, values: list[int]) -> None:
    codes = [LIBRARY.ranges.coded(v, bits) for v in sorted(values)]
    assert codes == sorted(codes)
    assert 0 <= codes[0] <= codes[-1] <= 65535


class Keeper:
    """A learner that stores the codes of all samples, and moves them."""

    def __init__(self) -> None:
        self.codes: list[list[int]] = []
        self.moved: list[int] = []  # features, with the number of samples before
        self.run = 1  # length of the last label's run

    def label_run(self) -> int:
        return self.run

    def move_codes(self, feature: int, bits: int, doublings: int, steps: int) -> None:
        self.moved.append(len(self.codes))
        for codes in self.codes:
            codes[feature] = LIBRARY.ranges.moved_code(codes[feature], bits, doublings, steps)


def learned(rows: Any) -> tuple[Any, Keeper]:
    keeper = Keeper()
    quantizer = LIBRARY.GrowingQuantizer(rows.shape[1], follow=(keeper,))
    codes = array("H", bytes(2 * rows.shape[1]))
    for row in rows:
        quantizer.encode(array("i", row.tolist()), codes)
        keeper.codes.append(list(codes))
    return quantizer, keeper


@settings(max_examples=examples(60))
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(0, 28), st.floats(0, 1))
def test_earlier_codes_equal_the_codes_in_the_present_range(
    seed: int, features: int, log_scale: int, drift: float
) -> None:
    """Codes are exact if the value was in range; others stand for the least value of the code.

    A code may also be inexact if the range grew with its sample, but only to include a nearer
    value.
    """
    rng = np.random.default_rng(seed)
    rows = rng.normal(0, 1, (200, features)) + drift * np.arange(200)[:, None] / 20
    rows = (rows * 2**log_scale).clip(-RAW, RAW).astype(np.int64)
    quantizer, keeper = learned(rows)
    buffers = {name: buffer for name, _, buffer in quantizer.buffers()}
    off = 0
    for f in range(features):
        low, bits = buffers["growing.low"][f], buffers["growing.bits"][f]
        now = [LIBRARY.ranges.coded(int(v) - low, bits) for v in rows[:, f]]
        gaps = np.abs(np.array([codes[f] for codes in keeper.codes]) - now)
        assert gaps.max() <= 600  # a 128th of an octave, of half of the range
        off += int(np.sum(gaps > 0))
    assert off <= quantizer.clamped + len(keeper.moved)


def test_one_outlier_widens_nothing() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(-1000, 1000, (400, 2))
    rows[200] = RAW
    _, keeper = learned(rows)
    spread = np.ptp([codes[0] for k, codes in enumerate(keeper.codes) if k != 200])
    assert spread > 57344 // 3


@settings(max_examples=examples(200))
@given(
    st.integers(0, 15),
    st.sampled_from([-1, 1]),
    st.integers(9, 18),
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
)
def test_one_outlier_among_the_first_samples_widens_nothing(
    place: int, side: int, log_far: int, seed: int, features: int
) -> None:
    """At any place and distance of the outlier, the others are separated as without it."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(0, 1000, (400, features)).round().astype(int)
    rows[:4] = rng.permuted(np.repeat([[-700], [-200], [400], [900]], features, axis=1), axis=0)
    rows[place] = side * (2000 << log_far)
    quantizer, keeper = learned(rows)
    alone, _ = learned(np.delete(rows, place, axis=0))
    assert quantizer.bits <= alone.bits + features  # a range may begin elsewhere
    late = np.array(keeper.codes)[16:]
    assert np.ptp(late, axis=0).min() > 57344 // 5


@pytest.mark.parametrize("features", [1, 3])
def test_samples_coded_with_an_outlier_share_one_code(features: int) -> None:
    """If the first reading is wrong, the next two have nearly the same code; it lies inside."""
    rows = np.array([[10**6], [20], [27], [24], [21], [29]]).repeat(features, axis=1)
    quantizer, keeper = learned(rows)
    codes = np.array(keeper.codes)
    assert np.ptp(codes[:3]) <= 600  # out of 65536
    assert 4096 < codes[:3].min() <= codes[:3].max() < 61440
    assert np.ptp(codes[3:, 0]) > 57344 // 3
    low, bits = quantizer.range_of(0)
    assert low <= 20 < 29 < low + (1 << bits) <= 64


def test_a_value_that_occurs_twice_is_no_outlier() -> None:
    """A lamp is off, then on: the first samples keep their places."""
    for first in ([0, 0, 4000, 4003], [0, 4000, 0, 4003], [0, 4000, 4003, 0]):
        rows = np.array([*first, 4001, 0, 4002, 0])[:, None]
        _, keeper = learned(rows)
        codes = np.array(keeper.codes)[:, 0]
        off = rows[:, 0] == 0
        assert codes[off].max() < codes[~off].min()


def test_a_second_class_widens_an_early_range() -> None:
    """The class is far away, but its values differ."""
    quantizer, keeper = learned(np.array([3, 5, 4, 6, 5, 4, 30_000, 30_200, 30_100])[:, None])
    low, bits = quantizer.range_of(0)
    assert low + (1 << bits) > 30_000
    assert keeper.codes[6][0] > 57344 // 2 > keeper.codes[5][0]


@pytest.mark.parametrize("stuck", [32767, -RAW, 65535, RAW])
@pytest.mark.parametrize("seen", [20, 100, 400, 3000])
def test_a_sensor_that_is_unplugged_for_a_while_widens_nothing(stuck: int, seen: int) -> None:
    """The sensor gives one value again and again; the other values are separated as before."""
    rows = np.random.default_rng(0).integers(-300, 300, (seen, 1))
    rows = np.concatenate([rows, np.full((200, 1), stuck), rows])
    quantizer, keeper = learned(rows)
    codes = np.array(keeper.codes)[:, 0]
    np.testing.assert_array_equal(codes[:seen], codes[-seen:])
    assert np.ptp(codes[:seen]) > 57344 // 3
    assert quantizer.clamped >= 200


def test_a_class_that_is_far_away_widens_a_range() -> None:
    """The values of the class are not all equal."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.integers(0, 100, 400), rng.integers(30_000, 31_000, 20)])
    quantizer, _ = learned(rows[:, None])
    low, bits = quantizer.range_of(0)
    assert low + (1 << bits) > 30_000


def test_heavy_tails_do_not_squeeze_the_others() -> None:
    rng = np.random.default_rng(1)
    rows = (rng.standard_cauchy((3000, 1)) * 1000).clip(-RAW, RAW).astype(int)
    _, keeper = learned(rows)
    middle = np.quantile(keeper.codes, [0.25, 0.75])
    assert np.diff(middle)[0] > 65536 // 50


def test_after_the_first_samples_at_most_one_range_grows_per_sample() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(0, 1000, (500, 40)) * np.exp(np.arange(500) / 100)[:, None]
    _, keeper = learned(rows.astype(int))
    late = [k for k in keeper.moved if k >= 16]
    assert len(late) > 20
    assert len(set(late)) == len(late)


@pytest.mark.parametrize(("seen", "needed"), [(20, 2), (100, 3), (300, 4), (1500, 5)])
def test_a_range_grows_after_several_values_outside_in_a_row(seen: int, needed: int) -> None:
    """The number rises: two below 64 samples, three below 256, four below 1,024, then five."""
    inside = np.resize([0, 1000], seen)
    _, keeper = learned(np.concatenate([inside, np.full(8, 5000)])[:, None])
    late = [k for k in keeper.moved if k >= 16]
    assert late[0] == seen + needed - 1


@given(st.integers(1, 2**28))
def test_a_range_has_room_for_a_sixteenth_more_than_its_values(most: int) -> None:
    """The range's length is the smallest power of two with that room."""
    quantizer, _ = learned(np.array([[0], [most]]))
    bits = {name: buffer for name, _, buffer in quantizer.buffers()}["growing.bits"][0]
    length = most + 1
    assert bits == (length + length // 16 - 1).bit_length()


def far_then_near(far: int, near: int, seed: int = 4) -> Any:
    """Return rows of two features, then rows with a thousandth of their spread."""
    rows = np.random.default_rng(seed).normal(0, 2**20, (far + near, 2))
    rows[far:] /= 1000
    return rows.astype(int)


def test_a_range_shrinks_when_its_values_are_close_for_long() -> None:
    """The earlier values keep their order, beyond the new range."""
    rows = far_then_near(400, 300)
    quantizer, keeper = learned(rows)
    for f in range(2):
        low, bits = quantizer.range_of(f)
        assert low <= rows[-200:, f].min() <= rows[-200:, f].max() < low + (1 << bits)
        assert 1 << bits < 4 * np.ptp(rows[400:, f])
    assert {k for k in keeper.moved if k > 400} <= set(range(655, 662))
    codes = np.array(keeper.codes)[:, 0]
    assert (np.diff(codes[np.argsort(rows[:, 0])][::50]) >= 0).all()
    assert np.ptp(codes[-30:]) > 57344 // 4


def test_a_range_that_shrank_grows_again() -> None:
    rows = np.concatenate([far_then_near(400, 300), far_then_near(100, 0)])
    quantizer, _ = learned(rows)
    low, bits = quantizer.range_of(0)
    inside = (low <= rows[-100:, 0]) & (rows[-100:, 0] < low + (1 << bits))
    assert inside.mean() > 0.8


@pytest.mark.parametrize("wrong", [0, RAW, 2**20])
def test_outliers_do_not_keep_a_range_wide(wrong: int) -> None:
    rows = far_then_near(400, 600)
    rows[410::150] = wrong
    quantizer, _ = learned(rows)
    assert quantizer.bits < 2 * 16


@pytest.mark.parametrize("near", [0, 3, 100])
def test_a_constant_value_shrinks_nothing(near: int) -> None:
    rows = far_then_near(400, 600)
    rows[400:] = near
    quantizer, keeper = learned(rows)
    assert max(keeper.moved) < 400
    assert quantizer.bits > 40


def smaller(part: int, samples: int) -> Any:
    """Return 500 rows of one feature, then `samples` rows in a smaller part of the range."""
    rows = np.random.default_rng(0).uniform(0, 2**20, (500 + samples, 1))
    rows[500:] /= part
    return rows.astype(int)


@pytest.mark.parametrize("part", [2, 10])
def test_values_in_a_smaller_part_of_a_range_shrink_nothing(part: int) -> None:
    _, keeper = learned(smaller(part, 3000))
    assert max(keeper.moved) < 500


@pytest.mark.parametrize("part", [40, 100])
def test_where_few_codes_are_left_a_thousand_values_shrink_the_range(part: int) -> None:
    """An example is metres instead of centimetres: the range shrinks to a 32nd or less."""
    rows = smaller(part, 1100)
    quantizer, keeper = learned(rows)
    assert next(k for k in keeper.moved if k > 500) in range(1523, 1530)
    low, bits = quantizer.range_of(0)
    assert low <= rows[500:].min() <= rows[500:].max() < low + (1 << bits)
    assert 1 << bits < 4 * np.ptp(rows[500:])


def test_no_range_shrinks_while_one_class_is_taught() -> None:
    """A sensor at rest has no new unit; the class after it has values like those before it."""
    rows = far_then_near(400, 600)
    keeper = Keeper()
    quantizer = LIBRARY.GrowingQuantizer(2, follow=(keeper,))
    codes = array("H", bytes(4))
    for k, row in enumerate(rows):
        keeper.run = k + 1
        quantizer.encode(array("i", row.tolist()), codes)
        keeper.codes.append(list(codes))
    assert max(keeper.moved) < 400


def test_the_state_of_a_range_that_is_about_to_shrink_is_saved() -> None:
    rows = far_then_near(400, 300).astype(np.int32)
    quantizer, _ = learned(rows)
    first, _ = learned(rows[:600])
    second = LIBRARY.GrowingQuantizer(2)
    second.load(first.save())
    codes = array("H", bytes(4))
    for row in rows[600:]:
        second.encode(array("i", row.tolist()), codes)
    assert second.save() == quantizer.save()


@pytest.mark.parametrize(
    ("place", "words"),
    [(0, (5, 4, 7)), (0, (0, 2**28, 7)), (0, (0, 1, 257)), (0, (0, 1, -1)),
     (3, (5, 4, 7)), (3, (0, 2**28, 7)), (3, (0, 1, 1025)), (9, (0, 1, -1))],
)  # fmt: skip
def test_forged_close_values_are_refused(place: int, words: tuple[int, int, int]) -> None:
    quantizer, _ = learned(far_then_near(100, 0))
    before = quantizer.save()
    recent = {name: buffer for name, _, buffer in quantizer.buffers()}["growing.recent"]
    recent[place], recent[place + 1], recent[place + 2] = words
    forged = quantizer.save()
    other = LIBRARY.GrowingQuantizer(2)
    with pytest.raises(ValueError, match="state"):
        other.load(forged)
    other.load(before)


def test_missing_values_keep_the_last_code() -> None:
    rows = np.array([[MISSING, 5], [7, MISSING], [MISSING, 9], [MISSING, MISSING]])
    quantizer, keeper = learned(rows)
    assert keeper.codes[0][0] == 32767
    assert keeper.codes[2][0] == keeper.codes[1][0] == keeper.codes[3][0]
    assert quantizer.missing == 5


@settings(max_examples=examples(40))
@given(st.integers(0, 2**32 - 1), st.integers(0, 65535))
def test_raw_is_the_greatest_value_up_to_a_code(seed: int, code: int) -> None:
    rng = np.random.default_rng(seed)
    rows = (rng.normal(0, 1, (30, 1)) * 10 ** rng.integers(0, 8)).astype(int)
    quantizer, _ = learned(rows)
    greatest = quantizer.raw(0, code)
    codes = array("H", [0])

    def coded(value: int) -> int:
        other = LIBRARY.GrowingQuantizer(1)
        other.load(quantizer.save())
        buffers = {name: buffer for name, _, buffer in other.buffers()}
        low, bits = buffers["growing.low"][0], buffers["growing.bits"][0]
        return int(LIBRARY.ranges.coded(value - low, bits))

    if greatest > MISSING:
        assert coded(greatest) <= code
    if greatest < RAW:
        assert coded(greatest + 1) > code
    assert len(codes) == 1


@pytest.mark.parametrize(
    ("raw", "codes", "words"),
    [
        (array("i", [1, 2, 3]), array("H", [0, 0, 0]), "rows of 2 values"),
        (array("h", [1, 2]), array("H", [0, 0]), "rows of 2 values"),
        (array("i", [1, 2]), array("H", [0]), "array('H') of 2 codes"),
    ],
)
def test_wrong_rows_are_refused_before_anything_changed(raw: Any, codes: Any, words: str) -> None:
    quantizer = LIBRARY.GrowingQuantizer(2)
    before = quantizer.save()
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)")):
        quantizer.encode(raw, codes)
    assert quantizer.save() == before


@pytest.mark.parametrize(
    ("learner", "settings_of_it"),
    [
        ("Thicket", {"features": 3}),
        ("ShrubEnsemble", {"features": 2}),
        ("HoeffdingTree", {"features": 2}),
    ],
)
def test_what_cannot_follow_is_refused(learner: str, settings_of_it: dict[str, int]) -> None:
    model = getattr(LIBRARY, learner)(classes=2, **settings_of_it)
    with pytest.raises(ValueError, match="follow has to be thickets and the like of as many"):
        LIBRARY.GrowingQuantizer(2, follow=(model,))
    pending = LIBRARY.Pending(features=3, classes=2)
    with pytest.raises(ValueError, match="follow has to be"):
        LIBRARY.GrowingQuantizer(2, follow=(LIBRARY.Thicket(features=2, classes=2), pending))


# With learners


def mixed(seed: int, samples: int, features: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, samples)
    rows = rng.normal(labels[:, None] * 700, 500, (samples, features))
    rows *= np.exp(np.linspace(0, 2, samples))[:, None]
    return rows.astype(np.int32), labels.astype(np.uint8)


LEARNERS: list[tuple[str, dict[str, Any]]] = [
    ("Thicket", {"bytes": 16384}),
    ("Thicket", {"bytes": 2048}),
    ("BalancedThicket", {"bytes": 8192}),
]


@pytest.mark.parametrize(("class_name", "parameters"), LEARNERS)
def test_learners_follow_the_moves(class_name: str, parameters: dict[str, Any]) -> None:
    """The learners' states stay valid, and keep the learned classes."""
    rows, labels = mixed(1, 600, 3)
    model = getattr(LIBRARY, class_name)(3, 3, **parameters)
    quantizer = LIBRARY.GrowingQuantizer(3, follow=(model,))
    codes = array("H", [0, 0, 0])
    right = 0
    for k in range(600):
        quantizer.encode(array("i", rows[k].tolist()), codes)
        right += model.learn(codes, int(labels[k])) == labels[k] if k >= 300 else 0
        if k % 50 == 0:
            model.load(model.save())
    assert right > 180  # out of 300; one in three is chance


@pytest.mark.usefixtures("micropython_command")
@pytest.mark.parametrize(("class_name", "parameters"), LEARNERS)
def test_on_micropython_nothing_is_allocated_and_the_bits_are_the_same(
    class_name: str, parameters: dict[str, Any]
) -> None:
    rows, labels = mixed(2, 400, 3)
    rows[40:60] //= 1000
    rows[100:120] *= 1000
    rows[120:] //= 4
    results = []
    for engine in (loader.fastest(), "micropython"):
        given_parameters = {"features": 3, "classes": 3, **parameters}
        with engines.start(engine, class_name, given_parameters, growing=True) as run:
            data = run.run(rows, labels).tobytes()
            bits = {name: buffer for name, _, buffer in run.buffers()}["growing.bits"]
            assert max(bits) < 18  # down from 22, before the ranges shrank
            results.append((data, run.buffers(), vars(run.status())))
    assert results[0] == results[1]


def clusters(samples: int, run: int, seed: int = 5) -> tuple[Any, Any]:
    """Return rows of twelve clusters, of three classes in runs of equal length, and the labels."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-(2**27), 2**27, (12, 4))
    labels = np.repeat(rng.integers(0, 3, samples // run + 1), run)[:samples]
    which = labels + 3 * rng.integers(0, 4, samples)
    return centres[which] + rng.normal(0, 2**24, (samples, 4)), labels.astype(np.uint8)


@pytest.mark.parametrize("run_length", [1, 20])
@pytest.mark.parametrize("most", [16384, 65536])
def test_in_another_unit_a_learner_is_as_accurate_as_a_fresh_one(
    most: int, run_length: int
) -> None:
    """From the middle on all values are a thousandth; 500 labels later the labels end."""
    rows, labels = clusters(2500, run_length)
    rows[1000:] /= 1000
    right = []
    for first in (0, 1000):
        given_parameters = {"features": 4, "classes": 3, "bytes": most}
        with engines.start(loader.fastest(), "Thicket", given_parameters, growing=True) as run:
            run.run(rows[first:1500].astype(np.int32), labels[first:1500])
            right.append((run.ask(rows[1500:].astype(np.int32)) == labels[1500:]).mean())
    assert right[0] > 0.88
    assert right[0] > right[1] - 0.06


@pytest.mark.parametrize("gain", [0.03, 0.01])
def test_with_another_gain_a_learner_is_as_accurate_as_before(gain: float) -> None:
    """An example is metres for centimetres: 1,500 labels later the labels end."""
    rows, labels = clusters(5000, 1)
    rows[2000:] *= gain
    given_parameters = {"features": 4, "classes": 3, "bytes": 16384}
    with engines.start(loader.fastest(), "Thicket", given_parameters, growing=True) as run:
        run.run(rows[:3500].astype(np.int32), labels[:3500])
        assert (run.ask(rows[3500:].astype(np.int32)) == labels[3500:]).mean() > 0.95


@pytest.mark.usefixtures("micropython_command")
@pytest.mark.parametrize("all_come", [True, False])
def test_samples_of_the_old_unit_are_dropped_once_all_classes_have_the_new_one(
    all_come: bool,
) -> None:
    """Two classes with close values do not make a board forget the third one."""
    rows, labels = clusters(900, 20)
    if not all_come:
        labels[500:] %= 2
    rows[500:] /= 1000
    results = []
    for engine in (loader.fastest(), "micropython"):
        given_parameters = {"features": 4, "classes": 3, "bytes": 16384}
        with engines.start(engine, "Thicket", given_parameters, growing=True) as run:
            run.run(rows[:760].astype(np.int32), labels[:760])
            buffers = {name: buffer for name, _, buffer in run.buffers()}
            held = np.frombuffer(buffers["store.count"], np.uint16)
            assert (held.sum() < 80) == all_come
            assert all_come or held[2] > 50
            run.run(rows[760:].astype(np.int32), labels[760:])
            results.append(run.buffers())
    assert results[0] == results[1]
