"""Counts the instructions of calls. This file runs on an emulated board, compiled by mpy-cross.

QEMU's clock moves with each instruction by the same time, and so do the board's timers: ticks are
instructions times a factor. Ticks are kept here; instruction_counts.py makes instructions of them.
"""

import gc
import sys
from array import array
from binascii import crc32, hexlify

import micropython
from micropython import const

import microshrub

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from typing import Any

    ptr32: Any = None


@micropython.viper
def stamp_m0(ticks: ptr32, i: int):
    """Timer 0 of the nRF51, 16 MHz, counts up."""
    timer = ptr32(0x40008000)
    timer[0x10] = 1  # TASKS_CAPTURE[0], at 0x40
    ticks[i] = timer[0x150]  # CC[0], at 0x540


@micropython.viper
def stamp_m3(ticks: ptr32, i: int):
    """Timer 0 of the CMSDK, 25 MHz, counts down."""
    timer = ptr32(0x40000000)
    ticks[i] = 0 - timer[1]


@micropython.viper
def stamp_rv32(ticks: ptr32, i: int):
    """The CLINT's mtime of QEMU's virt, 10 MHz, counts up."""
    timer = ptr32(0x0200BFF8)
    ticks[i] = timer[0]


@micropython.viper
def start_m0():
    """Let it run, with all 32 bits and no divisor."""
    timer = ptr32(0x40008000)
    timer[0x142] = 3  # BITMODE, at 0x508
    timer[0x144] = 0  # PRESCALER
    timer[0] = 1  # TASKS_START


@micropython.viper
def start_m3():
    """Let it run from 2**32 - 1 down, and again."""
    timer = ptr32(0x40000000)
    timer[2] = -1  # RELOAD
    timer[1] = -1  # VALUE
    timer[0] = 1  # CTRL: enable


_N_COUNT = const(8)  # of a thicket's neighbours.state: how many samples they searched last
_BLOCK = const(10)  # samples whose counts are printed at once


def start_rv32():
    """It runs anyway."""


M3 = "mps2" in sys.implementation._machine  # or M4, or M7
RV32 = "rv32" in sys.implementation._machine
stamp = stamp_m3 if M3 else stamp_rv32 if RV32 else stamp_m0
start = start_m3 if M3 else start_rv32 if RV32 else start_m0


@micropython.viper
def count_empty(stamp, ticks) -> int:
    """Ticks between two stamps with nothing between them."""
    t = ptr32(ticks)
    stamp(ticks, 0)
    stamp(ticks, 1)
    return t[1] - t[0]


@micropython.viper
def count_predict(stamp, ticks, predict, x) -> int:
    """Ticks of predict(x)."""
    t = ptr32(ticks)
    stamp(ticks, 0)
    predict(x)
    stamp(ticks, 1)
    return t[1] - t[0]


@micropython.viper
def count_learn(stamp, ticks, learn, x, label) -> int:
    """Ticks of learn(x, label)."""
    t = ptr32(ticks)
    stamp(ticks, 0)
    learn(x, label)
    stamp(ticks, 1)
    return t[1] - t[0]


# Stands in for a kernel: calls it, as other kernels do, and adds up ticks and calls.
STANDIN = """
def standin(kernel, ticks, total, stamp, add_up):
    @micropython.viper
    def call(ARGUMENTS):
        stamp(ticks, 0)
        result = kernel(ARGUMENTS)
        stamp(ticks, 1)
        add_up(ticks, total)
        return result
    return call
"""


def counted(kernel, arguments, ticks, total):
    """A stand-in for a kernel of so many arguments."""
    names: dict[str, Any] = {"micropython": micropython}
    exec(STANDIN.replace("ARGUMENTS", ", ".join(["a%d" % i for i in range(arguments)])), names)
    return names["standin"](kernel, ticks, total, stamp, add_up)


@micropython.viper
def add_up(ticks: ptr32, total: ptr32):
    """Add the ticks between two stamps to a sum, and one to the calls."""
    total[0] = total[0] + ticks[1] - ticks[0]
    total[1] = total[1] + 1


def count_anomaly(codes: str, features: int, first: int, samples: int, detector: str) -> None:
    """Print the ticks of each sample that an AnomalyScore or NoveltyDetector compares, after the
    first samples; the ticks of an empty call; and the hash of its state."""
    if detector == "NoveltyDetector":
        anomaly = microshrub.NoveltyDetector(features, 2)
        compare = lambda x: anomaly.meet(x, x[0] & 1)  # noqa: E731
    else:
        anomaly = microshrub.AnomalyScore(features)
        compare = anomaly.update
    data = open(codes, "rb").data
    x = array("H", bytes(2 * features))
    ticks = array("i", (0, 0))
    result = array("i", [0] * (samples - first))
    start()
    for i in range(samples):
        for f in range(features):
            k = 2 * (i * features + f)
            x[f] = data[k] | data[k + 1] << 8
        if i < first:
            compare(x)
        else:
            result[i - first] = count_predict(stamp, ticks, compare, x)
    print(str(hexlify(bytes(result)), "ascii"))
    print(count_empty(stamp, ticks), anomaly.state_crc32() & 0xFFFFFFFF)


def count_queries(codes: str, classes: int, samples: int) -> None:
    """Print ticks of each ask(votes) and of each note(), of nothing, and the hash of the state."""
    strategy = microshrub.QueryStrategy(classes)
    data = open(codes, "rb").data
    votes = array("i", [0] * classes)
    ticks = array("i", (0, 0))
    result = array("i", [0] * (2 * samples))
    note = lambda votes: strategy.note(votes, votes[0] > votes[1])  # noqa: E731
    start()
    for i in range(samples):
        for c in range(classes):
            k = 2 * (i * classes + c)
            votes[c] = (data[k] | data[k + 1] << 8) << 7
        result[i] = count_predict(stamp, ticks, strategy.ask, votes)
        result[samples + i] = count_predict(stamp, ticks, note, votes)
    print(str(hexlify(bytes(result)), "ascii"))
    print(count_empty(stamp, ticks), strategy.state_crc32() & 0xFFFFFFFF)


def count_rehearsal(codes: str, labels: str, model: "Any", first: int, samples: int) -> None:
    """Print ticks of each rehearse() of a thicket that has learned the first samples, of nothing,
    and the hash of its state."""
    rehearsal = microshrub.Rehearsal(model, microshrub.QueryStrategy(model.classes))
    data, known = open(codes, "rb").data, open(labels, "rb").data
    x = array("H", bytes(2 * model.features))
    ticks = array("i", (0, 0))
    predicted = array("i", (0,))
    result = array("i", [0] * (samples - first))
    rehearse = lambda x: rehearsal.rehearse(x, predicted[0])  # noqa: E731
    start()
    for i in range(samples):
        for f in range(model.features):
            k = 2 * (i * model.features + f)
            x[f] = data[k] | data[k + 1] << 8
        if i < first:
            model.learn(x, known[i])
        else:
            predicted[0] = model.predict(x)
            result[i - first] = count_predict(stamp, ticks, rehearse, x)
    print(str(hexlify(bytes(result)), "ascii"))
    print(count_empty(stamp, ticks), model.state_crc32() & 0xFFFFFFFF)


def count_numbers(
    learner: str,
    parameters: "dict[str, Any]",
    target: "dict[str, Any]",
    codes: str,
    first: int,
    samples: int,
) -> None:
    """Print ticks of each take(values) of a Forecaster behind the first samples, of nothing, and
    the hash of its learner's state. The codes are the values of the columns."""
    gc.collect()
    model = getattr(microshrub, learner)(**parameters)
    forecaster = microshrub.Forecaster(model, **target)
    columns = forecaster.columns
    data = open(codes, "rb").data
    values = array("i", [0] * columns)
    ticks = array("i", (0, 0))
    result = array("i", [0] * (samples - first))
    start()
    for observing in (True, False):
        for i in range(samples):
            for f in range(columns):
                k = 2 * (i * columns + f)
                values[f] = data[k] | data[k + 1] << 8
            if observing:
                forecaster.observe(values)
            elif i < first:
                forecaster.take(values)
            else:
                result[i - first] = count_predict(stamp, ticks, forecaster.take, values)
        forecaster.freeze()
        gc.collect()
    print(str(hexlify(bytes(result)), "ascii"))
    print(count_empty(stamp, ticks), model.state_crc32() & 0xFFFFFFFF)


def count_features(options: "dict[str, Any]", channels: int, codes: str, readings: int) -> None:
    """Print ticks of each take() of a FeatureExtractor, of nothing, and the CRC of its samples.

    The codes, less 2**15, are the readings of the channels.
    """
    from microshrub.device.feature_extractor import FeatureExtractor

    extractor = FeatureExtractor(channels, **options)
    data = open(codes, "rb").data
    reading = array("i", [0] * channels)
    values = array("i", [0] * extractor.features)
    ticks = array("i", (0, 0))
    result = array("i", [0] * readings)
    crc = 0
    gc.collect()
    gc.threshold(-1)  # none of the counts is to hold a collection
    start()
    for i in range(readings):
        for c in range(channels):
            k = 2 * (i * channels + c)
            reading[c] = (data[k] | data[k + 1] << 8) - 32768
        result[i] = count_learn(stamp, ticks, extractor.take, reading, values)
        crc = crc32(values, crc)
    print(str(hexlify(bytes(result)), "ascii"))
    print(count_empty(stamp, ticks), crc & 0xFFFFFFFF)


class Run:
    """A model and its stream: files of codes, u16, and of labels, u8. The first `warmup` samples
    are learned without being counted."""

    def __init__(
        self, learner: str, parameters: "dict[str, Any]", codes: str, labels: str, warmup: int
    ) -> None:
        self.model = getattr(microshrub, learner)(**parameters)
        features = self.model.features
        self.codes = open(codes, "rb").data  # what the RAM disk has, without a copy
        self.labels = open(labels, "rb").data
        self.x = array("H", bytes(2 * features))
        self.ticks = array("i", (0, 0))
        self.one, self.two = array("i", [0] * _BLOCK), array("i", [0] * _BLOCK)
        self.first = warmup
        start()
        for i in range(warmup):
            self.row(i)
            self.model.learn(self.x, self.labels[i])
        gc.collect()

    def row(self, i: int) -> None:
        """Have sample i in x."""
        k = 2 * i * len(self.x)
        for f in range(len(self.x)):
            self.x[f] = self.codes[k] | self.codes[k + 1] << 8
            k += 2

    def count(self, asked: int) -> None:
        """Print ticks of each predict and of each learn, of a sample as if nobody had asked for it
        before, or with `asked` with what the prediction has found."""
        predict, learn = self.model.predict, self.model.learn
        result = [b for name, _, b in self.model.buffers() if name == "neighbours.state"]
        for i in range(self.first, len(self.labels)):
            k = (i - self.first) % _BLOCK
            self.row(i)
            self.one[k] = count_predict(stamp, self.ticks, predict, self.x)
            if result and not asked:
                result[0][_N_COUNT] = 0
            self.two[k] = count_learn(stamp, self.ticks, learn, self.x, self.labels[i])
            self._print(i, k + 1)

    def count_kernel(self, name: str, arguments: int) -> None:
        """Print ticks and calls, in each learn, of the kernel of that name."""
        total = array("i", (0, 0))
        result = []  # a module's globals include what it has imported
        for module in sys.modules.values():
            if module.__name__.startswith("microshrub.") and hasattr(module, name):
                result.append((module, getattr(module, name)))
        for module, kernel in result:
            setattr(module, name, counted(kernel, arguments, self.ticks, total))
        for i in range(self.first, len(self.labels)):
            k = (i - self.first) % _BLOCK
            self.row(i)
            total[0] = total[1] = 0
            self.model.learn(self.x, self.labels[i])
            self.one[k], self.two[k] = total
            self._print(i, k + 1)
        for module, kernel in result:
            setattr(module, name, kernel)

    def _print(self, i: int, filled: int) -> None:
        """Print a block when it is full; in the end ticks of nothing and the model's hash."""
        last = i == len(self.labels) - 1
        if filled == _BLOCK or last:
            print(
                *[str(hexlify(bytes(column[:filled])), "ascii") for column in (self.one, self.two)]
            )
        if last:
            print(count_empty(stamp, self.ticks), self.model.state_crc32() & 0xFFFFFFFF)
