"""Saved states with altered words and a right checksum, loaded and used.

This file runs on CPython and on MicroPython. A state is refused, or it can be used: no use of a
loaded state may raise an error, or leave a buffer's bounds.
"""

import struct
from array import array
from binascii import crc32

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from types import ModuleType
    from typing import Any

SHRUB = {"features": 3, "classes": 3, "window": 8, "trees": 3, "depth": 3}
TREE = {"features": 3, "classes": 3, "nodes": 15, "leaves": 4, "bins": 4, "grace_period": 9,
        "tie_threshold": 0.5, "adaptive": False}  # fmt: skip
# The targets: a class of the library and its parameters; targets() adds all other learners
_TARGETS: "list[tuple[str, dict[str, Any]]]" = [
    ("ShrubEnsemble", SHRUB),
    ("ShrubEnsemble", dict(SHRUB, depth=9, window=12, feature_bits=8)),
    ("ShrubEnsemble", dict(SHRUB, leaf="class", splitter="random", loss="cross_entropy")),
    ("HoeffdingTree", TREE),
    ("HoeffdingTree", dict(TREE, policy="efdt", leaf="nb", boost=True)),
    ("HoeffdingTree", dict(TREE, adaptive=True, policy="svfdt2", regularization=0.5)),
    ("Grove", {"features": 3, "classes": 3, "window": 40, "trees": 3, "leaves": 6, "every": 9}),
    ("Grove", {"features": 3, "classes": 3, "window": 300, "trees": 2, "leaves": 130}),
    ("NearestNeighbours", {"features": 3, "classes": 3, "window": 20, "k": 3}),
    ("SoftmaxRegression", {"features": 3, "classes": 3}),
    ("GaussianNaiveBayes", {"features": 3, "classes": 3}),
    ("Thicket", {"features": 3, "classes": 3, "bytes": 3000}),
    ("Thicket", {"features": 3, "classes": 3, "bytes": 5000}),
    ("Thicket", {"features": 3, "classes": 3, "bytes": 65600}),
    ("BalancedThicket", {"features": 3, "classes": 3, "bytes": 3000, "costs": (1, 2, 9)}),
    ("ShrubRegressor", {"features": 3, "window": 40, "trees": 3, "leaves": 6, "every": 9}),
    ("LinearRegressor", {"features": 3}),
    ("HoeffdingRegressor", {"features": 3, "nodes": 9, "leaves": 3, "bins": 4, "grace_period": 9}),
    ("ThicketRegressor", {"features": 3, "bytes": 2000, "late": 2}),
    ("Target", {}),
    ("Interval", {"share": 0.8}),
    ("Interval", {"share": 0.9, "late": 7}),
    ("NaiveForecasts", {"horizon": 3, "kept": 346}),
    ("RegressionMetrics", {}),
    ("Forecaster", {"columns": 2, "column": 1, "ends": (0, 9999), "horizon": 3, "lags": 2}),
    ("Forecaster", {"columns": 4, "column": 0, "ends": (0, 9999), "interval": 90}),
    ("Quantizer", {"features": 3}),
    ("GrowingQuantizer", {"features": 3}),
    ("Metrics", {"classes": 3}),
    ("Pending", {"features": 3, "classes": 3, "samples": 4}),
    ("DriftAlarm", {}),
    ("DriftAlarm", {"detector": "adwin"}),
    ("AnomalyScore", {"features": 3, "window": 8, "period": 7}),
    ("AnomalyScore", {"features": 3, "window": 8, "period": 7, "normal": 60}),
    ("NoveltyDetector", {"features": 3, "classes": 3, "window": 16, "period": 7, "collect": 2}),
    ("ClassNames", {"names": ("walk", "rest"), "spare": 3, "room": 5}),
    ("QueryStrategy", {"classes": 3, "labels": 2, "samples": 7}),
]
_SHAPE = {"features": 3, "classes": 3}
_LEARNED = 120  # samples before the state is saved
_USED = 30  # samples for which an altered state is used
_TAUGHT = (
    260  # more samples before a save, if labels come in runs: thickets then replay their samples
)
_RUN = 12  # labels in a run


def targets(library: "ModuleType") -> "list[tuple[str, dict[str, Any]]]":
    """Return the targets: every learner, and every other class that saves a state."""
    known = [name for name, _ in _TARGETS]
    others = [name for name in library.learners.learner_names() if name not in known]
    result = list(_TARGETS)
    for name in others:
        shape = library.learners.learner_class(name)._SHAPE
        result.append((name, {word: _SHAPE[word] for word in shape}))
    return result


class Chance:
    """Random numbers that are the same everywhere."""

    def __init__(self, seed: int) -> None:
        self._now = seed % 1048573 + 1

    def below(self, n: int) -> int:
        """Return a number of 0..n - 1, for n up to 2**20."""
        self._now = (self._now * 1103 + 12345) % 1048573
        return self._now * 997 % 1048573 % n


def use(target: "Any", chance: Chance, samples: int, run: int = 1) -> None:
    """Use an object as a program does; the label changes after `run` samples."""
    codes = array("H", [0] * 3)
    label = 0
    for i in range(samples):
        if i % run == 0:
            label = chance.below(3)
        for f in range(3):
            codes[f] = min(chance.below(20000) + label * (f % 2) * 30000, 65535)
        if hasattr(target, "room"):
            use_names(target, label, chance)
        elif hasattr(target, "meet"):
            target.meet(codes, label - chance.below(2))
            if target.is_ready and chance.below(2):
                target.give(label)
            target.take()
            if not chance.below(20):
                target.move(label, chance.below(4) - 1)
        elif hasattr(target, "value"):
            use_range(target, chance.below(100000) - 50000)
        elif hasattr(target, "half") or hasattr(target, "mae"):
            use_numbers(target, chance)
        elif hasattr(target, "foresee"):
            use_naive(target, chance)
        elif hasattr(target, "learn"):
            target.learn(codes, label)
            target.predict(codes)
            if i % 16 == 3 and getattr(target, "moves", False):
                target.predict_next(codes)
                target.idle()
                target.move_codes(label, 14, 4 - chance.below(9), 5 - chance.below(10))
            if i % 16 == 7 and target.features == 3 and hasattr(target, "trees"):
                target.forget()
        elif hasattr(target, "encode"):
            raw = array("i", [code - 20000 for code in codes])
            if target.frozen:
                target.encode(raw, codes)
                target.raw(label, codes[0])
            else:
                target.observe(raw)
        elif hasattr(target, "take"):
            number = target.add(codes, label)
            if label and number in target:
                target.take(number)
            target.waiting  # noqa: B018
        elif hasattr(target, "kappa"):
            target.update(label, chance.below(3))
            target.kappa, target.kappa_temporal, target.accuracy  # noqa: B018
        elif hasattr(target, "queries"):
            votes = array("i", [chance.below(1000000) * 16 for _ in range(target.classes)])
            if target.ask(votes):
                target.note(votes, chance.below(2))
            target.saved, target.threshold, target.asks  # noqa: B018
        elif hasattr(target, "reach"):
            target.update(codes)
            target.score, target.threshold, target.alarms  # noqa: B018
        else:
            target.update(chance.below(2))
            target.level, target.drifts  # noqa: B018
    target.save()


def use_names(target: "Any", label: int, chance: Chance) -> None:
    """Use names as a program does, also with values that they refuse."""
    other = chance.below(target.classes)
    try:
        (target.forget, target.learned_as, target.name)[label](other)
        target.add("c" + str(chance.below(30)))
        target.rename(other, "d" + str(chance.below(30)))
        target.merge(other, label)
    except ValueError:
        pass
    votes = array("i", [chance.below(9) for _ in range(target.classes)])
    assert target.name(target.resolve(other, votes))


def use_range(target: "Any", value: int) -> None:
    """Use a range of targets as a program does."""
    if target.frozen:
        target.value(target.learn(value))
    else:
        target.observe(value)


def use_numbers(target: "Any", chance: Chance) -> None:
    """Use an object that predicts numbers, or that counts errors, as a program does."""
    value = chance.below(20000) - 5000
    if hasattr(target, "take"):
        target.take(array("i", [value] * target.columns))
        target.prediction, target.outcome, target.waiting  # noqa: B018
    elif hasattr(target, "half"):
        target.learn(target.half, value)
    else:
        target.update(chance.below(9000), value, 0, chance.below(2))
        target.mae, target.mae_nochange  # noqa: B018


def use_naive(target: "Any", chance: Chance) -> None:
    """Use naive forecasts as a Forecaster with a horizon of three samples does."""
    recent = array("i", [chance.below(90) - 40 for _ in range(346)])
    at, head = chance.below(3), chance.below(346)
    target.judge(at, recent[0], recent[1], 1000)
    target.note(recent, head, 1000)
    assert abs(target.foresee(at, recent[2], recent, head)) < 2**31
    target.period  # noqa: B018


def make(library: "ModuleType", name: str, parameters: "dict[str, Any]") -> "Any":
    """Make a target; a Forecaster gets a learner, and ranges for that learner."""
    if name != "Forecaster":
        return getattr(library, name)(**parameters)
    made = library.Forecaster(library.LinearRegressor(3), **parameters)
    made.freeze()
    return made


def alter(saved: bytes, chance: Chance) -> bytearray:
    """Return a state with one to four changed items of the buffers and a right checksum."""
    data = bytearray(saved)
    first = 11 + data[5] + 256 * data[6]
    for _ in range(1 + chance.below(4)):
        at = first + chance.below(len(data) - 4 - first)
        how = chance.below(4)
        if how == 0:
            data[at] ^= 1 << chance.below(8)
        elif how == 1:
            data[at] = (0, 1, 2, 127, 128, 254, 255)[chance.below(7)]
        elif how == 2:
            data[at] = chance.below(256)
        else:  # a copy of another word of the buffers
            at -= (at - first) % 4
            other = first + chance.below((len(data) - 4 - first) // 4) * 4
            if max(at, other) + 4 <= len(data) - 4:
                data[at : at + 4] = data[other : other + 4]
    struct.pack_into("<I", data, len(data) - 4, crc32(memoryview(data)[: len(data) - 4]))
    return data


def attack(library: "ModuleType", number: int, seed: int, states: int) -> "tuple[int, int]":
    """Load altered states of targets()[number]; return how many were refused, and how many used.

    Raises AssertionError if part of a refused state was left in place.
    """
    name, parameters = targets(library)[number]
    chance = Chance(seed)
    target = make(library, name, parameters)
    fresh = target.state_crc32()
    refused = used = 0
    while refused + used < states:
        target.reset()
        run = (1, _RUN)[chance.below(2)]
        use(target, chance, 1 + chance.below(_LEARNED) + (run > 1) * _TAUGHT, run)
        if name in ("Quantizer", "Target") and chance.below(4):
            target.freeze()
            use(target, chance, 3)
        saved = target.save()
        target.load(saved)
        for _ in range(50):
            before = target.state_crc32()
            try:
                target.load(alter(saved, chance))
            except ValueError:
                refused += 1
                assert target.state_crc32() in (fresh, before), "a half of a state was left"
                continue
            used += 1
            use(target, chance, _USED, run)
    return refused, used
