"""The drift alarm compared with River's detectors and with Page-Hinkley in floats; its hooks."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from locked_support import printed_on, printed_on_micropython
from numpy.typing import NDArray
from property_support import examples

from microshrub_host.library import loader

library = loader.load(loader.fastest())
checked = loader.load("checked")
alarm_module = sys.modules[library.__name__ + ".drift_alarm"]
ONE = 65536
DETECTORS = ("page_hinkley", "adwin")
Bits = NDArray[np.bool_]


def errors(seed: int, *parts: tuple[int, float]) -> Bits:
    """Return a stream of errors: parts of (count, rate)."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.random(count) < rate for count, rate in parts])


def drifts(alarm: Any, stream: Bits) -> list[int]:
    return [i for i, wrong in enumerate(stream.tolist()) if alarm.update(wrong) == "drift"]


def words_of(alarm: Any) -> Any:
    return alarm.buffers()[0][2]


class Floats:
    """Page-Hinkley for rises, in floats."""

    def __init__(self, threshold: float, delta: float, horizon: int, grace: int) -> None:
        self.threshold, self.delta, self.grace = threshold, delta, grace
        self.keep = 1 - 1 / horizon
        self.reset()

    def reset(self) -> None:
        self.seen = self.ones = 0
        self.sum, self.least = 0.0, float("inf")

    def update(self, wrong: bool) -> float:
        """Return the sum minus its least value; 0 during the grace period."""
        self.seen += 1
        self.ones += wrong
        self.sum = self.sum * self.keep + wrong - self.ones / self.seen - self.delta
        self.least = min(self.least, self.sum)
        return self.sum - self.least if self.seen >= self.grace else 0.0


STREAMS = {
    "steady": ((6000, 0.2),),
    "abrupt": ((3000, 0.1), (3000, 0.4)),
    "fall": ((3000, 0.5), (3000, 0.1)),
    "up and down": ((2000, 0.05), (1000, 0.6), (2000, 0.05), (1000, 0.6)),
    "slow": tuple((300, 0.1 + 0.02 * i) for i in range(20)),
    "certain": ((500, 0.0), (500, 1.0), (500, 0.0)),
}


# Page-Hinkley


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(
    ("threshold", "delta", "horizon", "grace"),
    [(50, 0.005, 10000, 30), (10, 0.005, 10000, 30), (20, 0.05, 500, 100), (3, 0.2, 50, 1)],
)
def test_page_hinkley_matches_river(
    name: str, threshold: int, delta: float, horizon: int, grace: int
) -> None:
    from river import drift as river

    for seed in range(3):
        stream = errors(seed, *STREAMS[name])
        alarm = library.DriftAlarm(threshold=threshold, delta=delta, horizon=horizon, grace=grace)
        other = river.PageHinkley(
            min_instances=grace,
            delta=alarm.delta_q16 / ONE,
            threshold=threshold,
            alpha=1 - 1 / horizon,
            mode="up",
        )
        theirs = []
        for i, wrong in enumerate(stream.tolist()):
            other.update(wrong)
            if other.drift_detected:
                theirs.append(i)
        assert drifts(alarm, stream) == theirs
        assert alarm.drifts == len(theirs)
        if (name, threshold) in (("abrupt", 50), ("up and down", 50)):
            assert theirs


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 700), st.floats(0, 1)), min_size=1, max_size=5),
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.floats(0.0001, 0.5),
    st.integers(10, 10000),
    st.integers(1, 300),
)
def test_page_hinkley_follows_the_floats(
    parts: list[tuple[int, float]],
    seed: int,
    threshold: int,
    delta: float,
    horizon: int,
    grace: int,
) -> None:
    """Each step is off by less than 1/65536, and the sum by less than horizon times that."""
    options = {"threshold": threshold, "delta": delta, "horizon": horizon, "grace": grace}
    alarm = checked.DriftAlarm(**options)
    # rounded to twelve bits, and to a whole number
    assert abs(alarm.delta_q16 - delta * ONE) <= delta * ONE / 4096 + 0.6
    floats = Floats(threshold, alarm.delta_q16 / ONE, horizon, grace)
    words = words_of(alarm)
    bound = horizon / ONE
    warned = threshold * 3 / 4
    for wrong in errors(seed, *parts).tolist():
        above = floats.update(wrong)
        level = alarm.update(wrong)
        assert abs(words[alarm_module._SUM] / ONE - floats.sum) <= bound
        expected = "drift" if above > threshold else "warning" if above > warned else "none"
        if level != expected:
            nearest = threshold if "drift" in (level, expected) else warned
            assert abs(above - nearest) <= 2 * bound
        if level == "drift":
            floats.reset()


@pytest.mark.parametrize("delta", [0.0001, 0.5])
@pytest.mark.parametrize("first", [0, 1])
def test_the_sum_stays_within_30_bits(delta: float, first: int) -> None:
    """The sum reaches both limits; the checked engine refuses to store more."""
    alarm = checked.DriftAlarm(threshold=4096, delta=delta, horizon=10000)
    words = words_of(alarm)
    for wrong, times in ((first, 40), (1 - first, 1500), (first, 1500)):
        words[alarm_module._SUM] = (15000 - 1) * ONE if wrong else -(15000 - 1) * ONE
        words[alarm_module._LOWEST] = min(words[alarm_module._LOWEST], words[alarm_module._SUM])
        words[alarm_module._LEVEL] = 0
        for _ in range(times):
            alarm.update(wrong)
            words[alarm_module._LEVEL] = 0


def test_the_counts_are_halved_when_they_are_full() -> None:
    alarm = checked.DriftAlarm(threshold=4096)
    words = words_of(alarm)
    words[alarm_module._SEEN] = 2**29 - 3
    words[alarm_module._ERRORS] = 2**28
    for _ in range(6):
        alarm.update(True)
    assert words[alarm_module._SEEN] == 2**28 + 3
    assert words[alarm_module._ERRORS] == (2**28 + 3) // 2 + 3


# ADWIN


@pytest.mark.parametrize(("before", "after"), [(0.1, 0.3), (0.2, 0.8), (0.05, 0.5), (0.3, 0.45)])
def test_adwin_raises_an_alarm_when_rivers_does(before: float, after: float) -> None:
    from river import drift as river

    for seed in range(5):
        stream = errors(seed, (3000, before), (2000, after))
        mine = drifts(library.DriftAlarm("adwin"), stream)
        other = river.ADWIN(delta=0.002)
        theirs = []
        for i, wrong in enumerate(stream.tolist()):
            mean = other.estimation
            other.update(wrong)
            if other.drift_detected and other.estimation > mean:
                theirs.append(i)
        late = [[i for i in places if i >= 3000] for places in (mine, theirs)]
        assert all(late)
        assert abs(late[0][0] - late[1][0]) <= 96
        assert len(mine) - len(late[0]) <= 1


def test_adwin_ignores_a_fall() -> None:
    alarm = library.DriftAlarm("adwin")
    stream = errors(3, (2000, 0.6), (2000, 0.1)).tolist()
    assert {alarm.update(wrong) for wrong in stream} == {"none"}


# Both detectors


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("rate", [0.02, 0.2, 0.5])
def test_false_alarms_are_rare(detector: str, rate: float) -> None:
    """There is at most one alarm per 10,000 samples without drift, and few warnings."""
    alarm = library.DriftAlarm(detector)
    samples = 100000
    levels = [alarm.update(wrong) for wrong in errors(11, (samples, rate)).tolist()]
    assert levels.count("drift") <= samples // 10000
    assert levels.count("warning") <= samples // 10


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_warning_comes_before_a_slow_drift(detector: str) -> None:
    earlier = 0
    for seed in range(10):
        alarm = library.DriftAlarm(detector)
        parts = [(4000, 0.1)] + [(100, 0.1 + 0.01 * i) for i in range(30)]
        levels = [alarm.update(wrong) for wrong in errors(seed, *parts).tolist()]
        assert "drift" in levels
        earlier += "warning" in levels[4000 : levels.index("drift", 4000)]
    assert earlier >= 9


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_loaded_alarm_has_the_same_future(detector: str) -> None:
    stream = errors(4, (2100, 0.1), (2000, 0.5), (900, 0.2))
    whole, first, second = (library.DriftAlarm(detector) for _ in range(3))
    alarms = drifts(whole, stream)
    assert alarms
    for cut in (1, 700, alarms[0], alarms[0] + 1, 3333):
        first.reset()
        drifts(first, stream[:cut])
        second.load(first.save())
        assert second.level == first.level
        drifts(second, stream[cut:])
        assert second.state_crc32() == whole.state_crc32()
    assert first.nbytes(detector) == sum(len(bytes(memoryview(b))) for _, _, b in first.buffers())
    first.reset()
    assert first.state_crc32() == library.DriftAlarm(detector).state_crc32()


@pytest.mark.parametrize("detector", DETECTORS)
def test_the_engines_agree(detector: str) -> None:
    stream = errors(5, (900, 0.1), (700, 0.6), (400, 0.2))
    alarms = [
        loader.load(engine).DriftAlarm(detector) for engine in ("python", "llvm", "c", "checked")
    ]
    for alarm in alarms:
        drifts(alarm, stream)
    assert len({alarm.state_crc32() for alarm in alarms}) == 1
    assert alarms[0].drifts


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"detector": "ddm"}, "detector .* page_hinkley, adwin"),
        ({"hook": "stop"}, "hook .* nothing, reset, forget"),
        ({"hook": "reset"}, "needs to know the learner"),
        ({"learner": 3}, "learner has to be the learner"),
        ({"threshold": 0}, "threshold has to be"),
        ({"threshold": 2.5}, "threshold has to be"),
        ({"delta": 0}, "delta has to be"),
        ({"delta": "1"}, "delta has to be"),
        ({"delta": 0.6}, "delta has to be"),
        ({"delta": True}, "delta has to be"),
        ({"horizon": 9}, "horizon has to be"),
        ({"horizon": 10001}, "horizon has to be"),
        ({"grace": 0}, "grace has to be"),
    ],
)
def test_wrong_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        library.DriftAlarm(**options)


@pytest.mark.parametrize("wrong", [2, -1, None, 0.0, "1"])
def test_a_value_that_is_no_error_flag_is_refused(wrong: object) -> None:
    alarm = library.DriftAlarm()
    before = alarm.state_crc32()
    with pytest.raises(ValueError, match=r"^wrong has to be"):
        alarm.update(wrong)
    assert alarm.state_crc32() == before


# Hooks


def ensemble(source: Any, trees: int = 4, **options: Any) -> Any:
    return source.ShrubEnsemble(2, 3, window=16, trees=trees, depth=3, seed=5, **options)


def feed(model: Any, samples: int, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 65536, (samples, 2))
    labels = np.where(rng.random(samples) < 0.7, rows[:, 0] // 22000, rows[:, 1] // 22000)
    written = bytearray(samples)
    model.run(array("H", rows.ravel().tolist()), bytearray(labels.tolist()), written)


def weights_of(model: Any) -> dict[int, int]:
    """Return the members' weights by slot."""
    named = {name: buffer for name, _, buffer in model.buffers()}
    ranked = named["members.rank"][: model.trees_used]
    return {slot: named["members.weight"][slot] for slot in ranked}


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(1, 120), st.integers(1, 5), st.sampled_from((0.05, 0.5, 8)), st.integers(0, 9))
def test_forgetting_halves_the_old_shrubs(
    samples: int, trees: int, step: float, seed: int
) -> None:
    model = ensemble(checked, trees, step=step)
    feed(model, samples, seed)
    before = weights_of(model)
    twin = ensemble(library, trees, step=step)
    twin.load(model.save())
    model.forget()
    twin.forget()
    assert twin.state_crc32() == model.state_crc32()
    after = weights_of(model)
    assert sum(after.values()) == ONE
    assert min(after.values()) > 0
    assert len(after) <= trees
    (newest,) = after.keys() - before.keys() or {-1}
    halves = {slot: (weight + 1) // 2 for slot, weight in before.items()}
    halves[newest] = ONE - sum(halves.values())
    if len(before) < trees:
        assert after == halves
        assert abs(after[newest] - ONE // 2) <= len(before)
    elif trees > 1:  # the lightest's share is split among all
        dropped = halves.keys() - after.keys()
        assert dropped
        assert max(halves[slot] for slot in dropped) <= min(halves[slot] for slot in after)
        assert all(weight >= halves[slot] for slot, weight in after.items())
    feed(model, 20)
    assert sum(weights_of(model).values()) == ONE


def test_forgetting_before_the_first_sample_has_no_effect() -> None:
    model = ensemble(checked)
    model.forget()
    assert model.state_crc32() == ensemble(checked).state_crc32()


@pytest.mark.parametrize("hook", ["nothing", "reset", "forget"])
def test_hooks_do_what_their_names_say(hook: str) -> None:
    source = loader.load("python")
    for make in (ensemble, lambda source: source.HoeffdingTree(2, 3, nodes=9, leaves=3)):
        model, twin = make(source), make(source)
        for one in (model, twin):
            feed(one, 60)
        alarm = source.DriftAlarm(hook=hook, learner=model, threshold=5)
        alarms = drifts(alarm, errors(1, (300, 0.0), (15, 1.0)))
        assert len(alarms) == 1
        if hook != "nothing":
            getattr(twin, hook)()
        assert model.state_crc32() == twin.state_crc32()


LOCKED = """
def go_on(alarm, model, bits):
    count = 0
    for i in range(len(bits)):
        count += alarm.update(bits[i]) == "drift"
        model.learn(x, i % 3)
    return count

x = array("H", [30000, 7])
count = 0
for detector in ("page_hinkley", "adwin"):
    model = ShrubEnsemble(2, 3, window=8, trees=3, depth=3)
    for i in range(12):
        x[0] = 6000 * i & 65535
        model.learn(x, i % 3)
    for hook in ("nothing", "forget"):
        alarm = DriftAlarm(detector, hook, model, threshold=10)
        alarm.update(0)
        lock()
        try:
            count = go_on(alarm, model, BITS)
        finally:
            unlock()
        say(count, alarm.state_crc32() & 0xFFFFFFFF, model.state_crc32() & 0xFFFFFFFF)
"""


def test_nothing_is_allocated_and_the_pc_agrees(run_micropython: Callable[[str], str]) -> None:
    stream = errors(6, (500, 0.1), (300, 0.7), (300, 0.1), (300, 0.9))
    names, given = ("DriftAlarm", "ShrubEnsemble"), {"BITS": bytearray(stream.tolist())}
    lines = printed_on(loader.fastest(), LOCKED, names, **given)
    assert printed_on_micropython(run_micropython, LOCKED, names, **given) == lines
    assert all(int(line.split()[0]) >= 2 for line in lines)


def test_the_sum_is_rounded_to_the_nearest_and_has_no_bias() -> None:
    alarm = library.DriftAlarm(threshold=4096, horizon=10000, grace=1)
    floats = Floats(4096, alarm.delta_q16 / ONE, 10000, 1)
    for wrong in errors(8, (20000, 0.3)).tolist():
        alarm.update(wrong)
        floats.update(wrong)
    # rounded down, each sample would lose half of 1/65536: 5,000 units in the long run
    assert words_of(alarm)[4] == pytest.approx(floats.sum * ONE, abs=2000)
