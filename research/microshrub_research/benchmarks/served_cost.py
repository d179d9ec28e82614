"""Instructions of a labelled sample in the program of `build`, without those of its learner."""

from __future__ import annotations

import ast
import itertools
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import showing
from microshrub_host.boards import board_files, emulated_boards
from microshrub_host.boards.counted_times import OF_FEATURES, SHOWN
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.emits import NATIVE, VIPER
from microshrub_host.boards.emulator import ON_BOARD as FOLDER
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.boards.instruction_counts import SECONDS, TICKS
from microshrub_host.boards.program import Program, usual_program
from microshrub_host.library import learners
from microshrub_host.programs import mpy
from microshrub_host.simulation.feature_options import FeatureOptions
from microshrub_host.simulation.pipeline import pipeline
from microshrub_tools.board import build
from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.messages import HELLO, sample

BOARD = "cortex-m0"
LIKE = "rpi_pico"  # the board for which the program is built
FEATURES = (3, SHOWN, 14)
_LEARNED, _COUNTED = 30, 20  # samples before counting, and counted samples
_SESSION = 77
_RATE = 50  # readings a second
WINDOW = "window=8 hop=4 statistics=mean zero=32768"  # most readings make no sample
_BUTTON = {"pin": 15, "pressed": 0, "released": 1}
_HEAD = (
    "constant",
    *(f"{n} features" for n in FEATURES),
    "fixed",
    "each feature",
    "an empty turn",
)

ON_BOARD = """
import gc
import sys
gc.threshold(4096)
from array import array

class Line:
    def write(self, data, n=-1):
        return n

class Text:
    buffer = Line()

class System:
    stdin = stdout = Text

    def __getattr__(self, name):
        return getattr(real, name)

real = sys
sys.modules["sys"] = System()
sys.path.insert(0, "lib")
from microshrub import Service
from count import stamp, start

class Voltage:
    def __init__(self, pin):
        values = [(pin + 1) * (k + 1) * 7919 % 65536 for k in range(LEARNED + COUNTED + 1)]
        self.read_u16 = values.pop  # in C, as that of a board

class Pressed:
    now = 0

    def value(self):
        self.now = 1 - self.now
        return self.now

class Board:
    now = 0

    def milliseconds(self):
        return self.now

    def microseconds(self):
        return 1000 * self.now

    def adc(self, pin):
        return Voltage(pin)

    def button(self, pin):
        return Pressed()

class Nothing:
    "A learner that takes no time."

    def __init__(self, learner):
        self.votes, self.votes_change = learner.votes, learner.votes_change

    def learn(self, x, label):
        return 0

    def predict(self, x):
        return 0

class Inputs:
    "A hello, then samples, each with a turn of the loop behind it that has none."

    turn = -1
    at = 0

    def take(self, link, wait):
        stamp(ticks, 1)
        turn = self.turn
        if turn >= 2 * LEARNED:
            counted[turn & 1].append(ticks[1] - ticks[0] & 0x3FFFFFFF)
        self.turn = turn = turn + 1
        if STUB and turn == 2 * LEARNED:
            link.app.learner = Nothing(link.app.learner)
        link.app.restart = turn == 2 * (LEARNED + COUNTED)
        frame = b""
        if turn & 1 == 0 and (not turn or not SENSOR):
            end = self.at + (SIZE if turn else HELLO)
            frame = bytearray(frames[self.at : end])
            self.at = end
        board.now = 10 * turn  # a sensor is read every 20 ms
        gc.collect()
        stamp(ticks, 0)
        if frame:
            link.feed(frame, len(frame))
        return len(frame)

ticks = array("i", (0, 0))
counted = [], []
frames = open("/frames", "rb").data
board = Board()
service = Service(board, "", Inputs(), print)
start()
service.serve()
print(service._app.metrics.samples)
print(counted)
"""


class ServedCost(NamedTuple):
    """Instructions of a labelled sample, and of a turn of the loop without one: medians."""

    sample: float
    turn: float


def program_of(features: int, sensor: bool, window: str = "", **config: Any) -> Program:
    """Return the program that `build` makes of a thicket, with these parts of config.json.

    Samples come over the link or, with `sensor`, from the board's own pins, with labels from a
    button. `window` has options of --features.
    """
    shape = {"features": features, "classes": 2, "bytes": 4096}
    parameters = learners.defaults("thicket") | shape
    names = [f"x{k}" for k in range(features)]
    made = FeatureOptions.of(window.split()).extraction(names, _RATE) if window else None
    deployment = Deployment(parameters, board_files.load(LIKE), "Thicket", pipeline(made))
    program = usual_program(deployment)
    if sensor:
        pins = {"kind": "adc", "rate": _RATE, "pins": list(range(features))}
        config = {"sensor": pins, "label_pin": _BUTTON, **config}
    return replace(program, config=program.config | config)


def count(program: Program, emit: str, stub: bool = True) -> ServedCost:
    """Count instructions on the emulated Cortex-M0; with `stub`, the learner takes no time."""
    features = program.parameters["features"]
    sensor = program.config["sensor"]["kind"] != "serial"
    frames = _frames(features)
    constants = {
        "LEARNED": _LEARNED, "COUNTED": _COUNTED, "SENSOR": sensor, "STUB": stub,
        "HELLO": len(frames[0]), "SIZE": len(frames[1]),
    }  # fmt: skip
    arch = emulated_boards.board_named(BOARD).arch
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build.make(program, board_files.load(LIKE), folder / "program", emit)
        files = {f"/{path}": data for path, data in build.read(folder / "program").items()}
        source = folder / "measure.py"
        source.write_text("\n".join(f"{k} = {v!r}" for k, v in constants.items()) + ON_BOARD)
        for path in (source, FOLDER / "count.py"):
            files[f"/{path.stem}.mpy"] = mpy.compiled_program(path, arch).read_bytes()
    files["/frames"] = b"".join(frames)
    with EmulatedBoard(BOARD, files) as board:
        *_, learned, counted = board.exec("import measure", SECONDS).splitlines()
    readings = (program.config.get("extraction") or {"hop": 1})["hop"]
    if int(learned) < (_LEARNED + _COUNTED) // readings - 2:
        raise UserError(f"{BOARD}: only {learned} samples were learned")
    return ServedCost(
        *(float(np.median(ticks)) / TICKS[BOARD] for ticks in ast.literal_eval(counted))
    )


def _frames(features: int) -> list[bytes]:
    """Return a hello, and labelled samples, all of one size."""
    rng = np.random.default_rng(1)
    frames = [pack(Frame(HELLO, _SESSION, 0, b""))]
    for k in range(1, _LEARNED + _COUNTED):
        request = sample(rng.integers(0, 1000, features).tolist(), k % 2)
        frames.append(pack(Frame(request.kind, _SESSION, k, request.payload)))
    return frames


def served_rows() -> list[tuple[str, ...]]:
    """Return the table, its head first; counted_times.py has its constants.

    A constant has a fixed part and one for each feature. LINE is the cost of a line for a plotter,
    CHECKPOINT is the cost of checkpoints, and TURN the cost of a turn of the program's loop with a
    reading that makes no sample. An empty turn has no reading.
    """
    with showing("counting instructions", announce=True) as update:
        done = itertools.count(1)

        def counted(name: str, emit: str, sensor: bool, **config: Any) -> list[ServedCost]:
            result = []
            for features in FEATURES:
                result.append(count(program_of(features, sensor, **config), emit))
                update(next(done), 7 * len(FEATURES), name)
            return result

        link = counted("LINK_OF_NATIVE", NATIVE, False)
        sensor = counted("SENSOR_OF_NATIVE", NATIVE, True)
        rows = {
            "LINK_OF_NATIVE": link,
            "SENSOR_OF_NATIVE": sensor,
            "LINK": counted("LINK", VIPER, False),
            "SENSOR": counted("SENSOR", VIPER, True),
            "LINE": _more(counted("LINE", NATIVE, True, text=True), sensor),
            "TURN": _turns(counted("TURN", NATIVE, True, window=WINDOW, text=False)),
            "CHECKPOINT": _more(link, counted("CHECKPOINT", NATIVE, False, checkpoint=None)),
        }
    return [_HEAD, *(_row(name, costs) for name, costs in rows.items())]


def _more(costs: list[ServedCost], without: list[ServedCost]) -> list[ServedCost]:
    pairs = zip(costs, without, strict=True)
    return [ServedCost(a.sample - b.sample, a.turn - b.turn) for a, b in pairs]


def _turns(costs: list[ServedCost]) -> list[ServedCost]:
    """Return the costs of readings without what `costs --features` counts."""
    fixed, each, *_ = OF_FEATURES[emulated_boards.board_named(BOARD).arch]
    pairs = zip(costs, FEATURES, strict=True)
    return [ServedCost(cost.sample - fixed - each * values, cost.turn) for cost, values in pairs]


def _row(name: str, costs: list[ServedCost]) -> tuple[str, ...]:
    """Return a row of the table. A line for a plotter has only the first features."""
    last = FEATURES.index(SHOWN) if name == "LINE" else -1
    each = (costs[last].sample - costs[0].sample) / (FEATURES[last] - FEATURES[0])
    fixed = costs[0].sample - each * FEATURES[0]
    figures = [*(cost.sample for cost in costs), round(fixed, -2), round(each, -1), costs[0].turn]
    return (name, *(f"{round(figure):,}" for figure in figures))
