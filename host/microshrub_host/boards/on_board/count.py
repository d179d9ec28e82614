"""Counts of the instructions of calls. This file runs on an emulated board, compiled by mpy-cross.

QEMU's clock advances by the same time with each instruction, and so do the board's timers: ticks
are instructions times a factor. This file counts ticks; instruction_counts.py converts them.
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
    """Store the ticks of the nRF51's timer 0, which counts up at 16 MHz."""
    timer = ptr32(0x40008000)
    timer[0x10] = 1  # TASKS_CAPTURE[0], at 0x40
    ticks[i] = timer[0x150]  # CC[0], at 0x540


@micropython.viper
def stamp_m3(ticks: ptr32, i: int):
    """Store the ticks of the CMSDK's timer 0, which counts down at 25 MHz."""
    timer = ptr32(0x40000000)
    ticks[i] = 0 - timer[1]


@micropython.viper
def stamp_rv32(ticks: ptr32, i: int):
    """Store the ticks of the CLINT's mtime in QEMU's virt, which counts up at 10 MHz."""
    timer = ptr32(0x0200BFF8)
    ticks[i] = timer[0]


@micropython.viper
def start_m0():
    """Start the nRF51's timer, with all 32 bits and no divisor."""
    timer = ptr32(0x40008000)
    timer[0x142] = 3  # BITMODE, at 0x508
    timer[0x144] = 0  # PRESCALER
    timer[0] = 1  # TASKS_START


@micropython.viper
def start_m3():
    """Start the CMSDK's timer, which counts down from 2**32 - 1 again and again."""
    timer = ptr32(0x40000000)
    timer[2] = -1  # RELOAD
    timer[1] = -1  # VALUE
    timer[0] = 1  # CTRL: enable


_N_COUNT = const(8)  # index in a thicket's neighbours.state: number of samples in the last search
_BLOCK = const(10)  # samples in a printed line of counts


def start_rv32():
    """Do nothing, as the timer always runs."""


M3 = "mps2" in sys.implementation._machine  # or M4, or M7
RV32 = "rv32" in sys.implementation._machine
stamp = stamp_m3 if M3 else stamp_rv32 if RV32 else stamp_m0
start = start_m3 if M3 else start_rv32 if RV32 else start_m0


@micropython.viper
def count_empty(stamp, ticks) -> int:
    """Return the ticks between two stamps with nothing between them."""
    t = ptr32(ticks)
    stamp(ticks, 0)
    stamp(ticks, 1)
    return t[1] - t[0]


@micropython.viper
def count_predict(stamp, ticks, predict, x) -> int:
    """Return the ticks of predict(x)."""
    t = ptr32(ticks)
    stamp(ticks, 0)
    predict(x)
    stamp(ticks, 1)
    return t[1] - t[0]


@micropython.viper
def count_learn(stamp, ticks, learn, x, label) -> int:
    """Return the ticks of learn(x, label)."""
    t = ptr32(ticks)
    stamp(ticks, 0)
    learn(x, label)
    stamp(ticks, 1)
    return t[1] - t[0]


# A stand-in for a kernel: calls the kernel, as other kernels do, and adds up ticks and calls.
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
    """Make a stand-in for a kernel with that number of arguments."""
    names: dict[str, Any] = {"micropython": micropython}
    exec(STANDIN.replace("ARGUMENTS", ", ".join(["a%d" % i for i in range(arguments)])), names)
    return names["standin"](kernel, ticks, total, stamp, add_up)


@micropython.viper
def add_up(ticks: ptr32, total: ptr32):
    """Add the ticks between two stamps to a sum, and one to the calls."""
    total[0] = total[0] + ticks[1] - ticks[0]
    total[1] = total[1] + 1


def count_anomaly(codes: str, features: int, first: int, samples: int, detector: str) -> None:
    """Print the ticks of an AnomalyScore or NoveltyDetector for each sample after the first ones.

    Then print the ticks of an empty call, and the hash of the detector's state.
    """
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
    """Print the ticks of each ask(votes), each note() and an empty call; and the state's hash."""
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
    """Print the ticks of each rehearse() of a thicket that has learned the first samples.

    Then print the ticks of an empty call, and the hash of the thicket's state.
    """
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
    """Print the ticks of each take(values) of a Forecaster after the first samples.

    Then print the ticks of an empty call, and the hash of the learner's state. The codes are the
    values of the columns.
    """
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
    """Print the ticks of each take() of a FeatureExtractor, of an empty call; the samples' CRC.

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
    gc.threshold(-1)  # no count may include a collection
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
    """A model and its stream: files of codes, u16, and of labels, u8.

    The first `warmup` samples are learned without being counted.
    """

    def __init__(
        self, learner: str, parameters: "dict[str, Any]", codes: str, labels: str, warmup: int
    ) -> None:
        self.model = getattr(microshrub, learner)(**parameters)
        features = self.model.features
        self.codes = open(codes, "rb").data  # the bytes on the RAM disk, not copied
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
        """Copy sample i to x."""
        k = 2 * i * len(self.x)
        for f in range(len(self.x)):
            self.x[f] = self.codes[k] | self.codes[k + 1] << 8
            k += 2

    def count(self, asked: int) -> None:
        """Print the ticks of each predict and each learn.

        With `asked`, learn may reuse the results of the prediction; otherwise, it starts without
        them.
        """
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
        """Print the ticks and the calls of the kernel of that name in each learn."""
        total = array("i", (0, 0))
        result = []  # a module's globals include its imports
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
        """Print a full block; at the end, also the ticks of an empty call and the model's hash."""
        last = i == len(self.labels) - 1
        if filled == _BLOCK or last:
            print(
                *[str(hexlify(bytes(column[:filled])), "ascii") for column in (self.one, self.two)]
            )
        if last:
            print(count_empty(stamp, self.ticks), self.model.state_crc32() & 0xFFFFFFFF)
