"""Times of samples that a board's file does not have, from instructions counted in emulation.

`microshrub costs --served` counts the rest of `build`'s program on an emulated Cortex-M0: link,
codes, metrics, alarm, checkpoints and a turn of the program's loop. The count varies by up to 15 %
with the other parts of the program. The time of each byte on the line is added: for a UART, by its
rate, and for USB, about the time in the port's driver on an emulated Pico with MicroPython 1.28.

`microshrub costs --thickets` counts thickets of 16 and 48 KB, with 3, 10 and 36 features and 2, 5
and 10 classes, respectively: 600 samples in clusters, after 2,000 others. Between two counts, and
up to 64 KB, the work grows with the bytes, and with features * classes; below 16 KB, with bytes +
80 KB. An emulated Cortex-M0 has no room to count 36 features, so its ratio to a Cortex-M3 is
assumed to be the same as with 10 features.

`microshrub costs --features` counts the features of a window: the work of the transform and the
statistics is about linear in the window's readings. A turn of the program's loop comes on top of
each reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from ..simulation.feature_choice import Time, Work
from .board_files import Board
from .emits import NATIVE, VIPER

# Instructions besides predict and learn, and additional ones for each feature: for a labelled
# sample from the serial link, and for one from the board's own pins, which is sent to a monitor
LINK_OF_NATIVE, SENSOR_OF_NATIVE = (172_600, 460), (180_300, 1_610)
LINK, SENSOR = (183_600, 4_470), (172_800, 5_790)
CHECKPOINT = 29_400  # instructions less without checkpoints
LINE = (67_900, 17_770)  # more for the plotter's line, which programs with a sensor print
SHOWN = 6  # features in that line
TURN = (78_000, 320)  # a turn with a reading, and more for each of its values
USB_BYTE_US = 30.0
_SENT = 22  # bytes of an answer
_FRAME = 16  # bytes of a request, without the values
_OBSERVATION = 22  # bytes of an observation, without the values
_VALUE = 4  # bytes of a value
_LINE, _LINE_VALUE = 24, 10  # bytes of the line for a plotter, and of each feature in it, about


def outside_learner_us(
    board: Board, features: int, emit: str = NATIVE, *, sensor: bool = False, saves: bool = True
) -> float:
    """Return the microseconds of a labelled sample without the learner's.

    With sensor, the sample comes from the board's sensor, else over the link. With saves, the
    program saves checkpoints.
    """
    counted = (LINK_OF_NATIVE, SENSOR_OF_NATIVE) if emit == NATIVE else (LINK, SENSOR)
    fixed, each = counted[sensor]
    if not saves:
        fixed -= CHECKPOINT
    sent = (_OBSERVATION if sensor else _SENT + _FRAME) + _VALUE * features
    return (fixed + each * features) * _instruction_us(board) + sent * _byte_us(board)


def line_us(board: Board, features: int) -> float:
    """Return the microseconds of a sample's line for a plotter, which USB takes as a whole."""
    fixed, each = LINE
    shown = min(features, SHOWN)
    sent = 0 if board.serial.interface == "usb" else _LINE + _LINE_VALUE * shown
    return (fixed + each * shown) * _instruction_us(board) + sent * _byte_us(board)


def _instruction_us(board: Board) -> float:
    cycles = board.cost.cycles if board.cost else 1.0
    return cycles * 1e6 / board.clock_hz


def _byte_us(board: Board) -> float:
    usb = board.serial.interface == "usb"
    return USB_BYTE_US if usb else 10e6 / board.serial.baud


Pair = tuple[float, float]  # median and 99th percentile

SOURCE = "`microshrub costs --thickets`: emulated boards, QEMU"
BETWEEN = ("thickets of 16 KB", "48 KB")
_SMALL, _LARGE, _MOST = 16_384, 49_152, 65_536
_AT_LEAST = 80 * 1024

# By features * classes: predict and learn of the small thicket, predict and learn of the large one
_Counted = dict[str, dict[int, tuple[Pair, Pair, Pair, Pair]]]
_OF_VIPER: _Counted = {
    "armv6m": {
        6: ((121407, 124434), (213846, 418957), (181104, 186058), (296116, 613954)),
        50: ((102722, 109098), (435311, 480697), (165246, 179694), (403785, 764675)),
        360: ((232786, 235539), (865130, 998198), (292372, 329083), (1097877, 1236544)),
    },
    "armv7emsp": {
        6: ((110487, 113506), (189683, 380827), (168470, 173346), (267183, 557508)),
        50: ((85996, 92193), (389240, 431645), (148129, 162588), (363554, 687989)),
        360: ((194882, 199042), (773569, 896338), (262087, 297756), (988490, 1112536)),
    },
    "rv32imc": {
        6: ((107372, 110047), (187534, 375997), (162001, 166598), (259892, 548431)),
        50: ((82855, 88665), (381577, 423231), (140109, 154176), (353449, 670515)),
        360: ((183169, 187043), (743479, 876487), (247962, 283585), (947683, 1081632)),
    },
}


_OF_NATIVE: _Counted = {
    "armv6m": {
        6: ((52125, 53277), (77134, 154716), (81146, 83287), (116505, 233136)),
        50: ((43554, 46486), (159746, 182034), (76210, 83371), (161113, 288648)),
        360: ((94765, 96727), (332728, 366499), (119736, 137095), (428916, 463526)),
    },
    "armv7emsp": {
        6: ((38504, 39121), (55864, 121182), (60746, 62045), (84711, 184593)),
        50: ((27054, 29528), (111482, 129922), (53294, 60011), (113891, 216952)),
        360: ((58864, 60083), (232201, 255769), (83732, 95871), (303201, 327667)),
    },
    "rv32imc": {
        6: ((32618, 33325), (49300, 118110), (51000, 52602), (72958, 179056)),
        50: ((25609, 27562), (104978, 129439), (47553, 52688), (104439, 216480)),
        360: ((62029, 63276), (228206, 253638), (85850, 99053), (293202, 321274)),
    },
}


def instructions(
    arch: str, size: int, features: int, classes: int, emit: str = NATIVE
) -> tuple[Pair, Pair] | None:
    """Return a thicket's instructions of a predict and of a learn; None beyond the counted sizes.

    Each is the median and the 99th percentile.
    """
    counted = {NATIVE: _OF_NATIVE, VIPER: _OF_VIPER}.get(emit, {}).get(arch)
    work = features * classes
    if not counted or size > _MOST or work > max(counted):
        return None
    work = max(work, min(counted))
    low, high = next(pair for pair in pairwise(counted) if work <= pair[1])
    part = (work - low) / (high - low)
    small, large = (
        [_part_between(counted[low][k + i], counted[high][k + i], part) for i in range(2)]
        for k in (0, 2)
    )
    grown = (size - _SMALL) / (_LARGE - _SMALL)
    if size < _SMALL:
        share = (size + _AT_LEAST) / (_SMALL + _AT_LEAST)
        predict, learn = [(a * share, b * share) for a, b in small]
    else:
        predict, learn = [_part_between(a, b, grown) for a, b in zip(small, large, strict=True)]
    return predict, learn


def _part_between(low: Pair, high: Pair, part: float) -> Pair:
    return low[0] + part * (high[0] - low[0]), low[1] + part * (high[1] - low[1])


# Instructions for a reading, and for each of its values; for each reading of a window and each
# channel, for the statistics, and for the transform with its bands; and for each turn of a pair
OF_FEATURES = {
    "armv6m": (4_500, 900, 820, 1_240, 270),
    "armv7emsp": (3_400, 800, 720, 1_160, 200),
}
_LIKE = {"rv32imc": "armv7emsp"}


def time_on(board: Board, classes: int, size: int) -> Time | None:
    """Return a function for the microseconds of a reading, and of a sample with its learning.

    A thicket of that size predicts and learns the sample; its time is the 99th percentile. None if
    the board has no counts.
    """
    if features_us(board, Work(0, 0, False, False, 0)) is None:
        return None

    def time(work: Work) -> tuple[float, float]:
        assert board.cost is not None
        reading, made = features_us(board, work) or (0.0, 0.0)
        learner = instructions(board.arch, size, work.features, classes)
        taught = sum(pair[1] for pair in learner) if learner else 0.0
        return reading, made + taught * board.cost.cycles * 1e6 / board.clock_hz

    return time


class Window(NamedTuple):
    """The number of new readings in a window; microseconds of a reading, and of the features.

    turn_us is the part of reading_us for a turn of the program's loop.
    """

    readings: int
    reading_us: float
    features_us: float
    turn_us: float

    @property
    def us(self) -> float:
        """The microseconds of a sample's readings and features, without the last one's turn."""
        return self.readings * self.reading_us - self.turn_us + self.features_us


def window_of(board: Board, extraction: Mapping[str, Any], together: int = 1) -> Window | None:
    """Return the readings and times of config.json's extraction; None without counts.

    A turn of the program's loop takes `together` readings.
    """
    work = work_of(extraction)
    counted = features_us(board, work)
    if counted is None:
        return None
    reading_us, made_us = counted
    turn_us = (TURN[0] + TURN[1] * work.channels) * _instruction_us(board) / together
    return Window(extraction["hop"], reading_us + turn_us, made_us, turn_us)


def features_us(board: Board, work: Work) -> tuple[float, float] | None:
    """Return the microseconds of a reading, and of a window's features; None without counts."""
    counted = OF_FEATURES.get(_LIKE.get(board.arch, board.arch))
    if counted is None or board.cost is None:
        return None
    unit = board.cost.cycles * 1e6 / board.clock_hz
    fixed, each, statistics, bands, turns = counted
    per_reading = statistics * work.statistics + bands * work.bands
    made = work.window * (work.channels * per_reading + work.turns * turns)
    return (fixed + each * work.channels) * unit, made * unit


def work_of(extraction: Mapping[str, Any]) -> Work:
    """Return the features that config.json's extraction computes; plain values take no time."""
    channels = len(extraction["zero"]) - len(extraction["plain"])
    some = bool(extraction["statistics"]), bool(extraction["bands"])
    turns = len(extraction.get("turns", ())) * len(extraction.get("lags", (1,)))
    return Work(channels, extraction["window"], *some, 0, turns)
