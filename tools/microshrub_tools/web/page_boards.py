"""What the page is told of boards: their pins, and what programs of the page take of them."""

from __future__ import annotations

import contextlib
from typing import Any

from microshrub_host.boards import ram_budget
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.default_bytes import SIZE, NoRoom, bytes_for, bytes_within
from microshrub_host.boards.program import Program
from microshrub_host.boards.program_budget import budget_of, fitting
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_host.features.feature_options import FeatureOptions
from microshrub_host.library.learners import DEFAULT, MODELS, defaults, grows

from ..board.program_options import ProgramOptions
from ..board.program_sensors import sensors

WARMUP = 256
_USUAL = {"features": 36, "classes": 8}  # the shape for which sizes are told: windows of six axes
_CLASSES = ("0", "1")  # any: a program without classes would predict numbers

_PICO_PINS = (1, 0), (16, 17, 18, 19, 20)
# Those whose empty flash the page can fill, or tell how to; with pins that no boot, flash or USB
# needs: SCL and SDA of a motion sensor, and those of lights
BOARDS = {
    "esp32": ((22, 21), (25, 26, 27, 32, 33)),
    "esp32c3": ((5, 4), (0, 1, 3, 6, 7)),
    "esp32s3": ((9, 8), (4, 5, 6, 7, 15)),
    "rpi_pico": _PICO_PINS,
    "rpi_pico2": _PICO_PINS,
    "rpi_pico_w": _PICO_PINS,
}
RATE, _WINDOWS = 50, ("window=32", "hop=8")  # of the motion that is taught in the page


def learners() -> list[str]:
    """The classifiers that the page offers: all, the default one first."""
    return [DEFAULT, *(model for model in MODELS if model != DEFAULT)]


def _wired(board: Board) -> dict[str, Any]:
    """The pins that a sensor has if nobody says others."""
    (scl, sda), lights = BOARDS[board.key]
    analog = board.pins.adc
    return {"scl": scl, "sda": sda, "pins": [analog], "analog": analog, "digital": lights[-1]}


def pins_told(board: Board) -> dict[str, Any]:
    """What the page is told of a board's pins."""
    return {"last": board.pins.last, "layout": board.pins.layout}


def board_told(board: Board) -> dict[str, Any]:
    """All that the page is told of a board."""
    return {
        "key": board.key,
        "name": board.name,
        "arch": board.arch,
        "firmware": board.firmware,
        "heap_free_bytes": board.heap_free_bytes,
        "largest_block_bytes": board.largest_block_bytes,
        "executable_bytes": board.executable_bytes,
        "around": around_serial(board),
        "motion": around_motion(board),
        "lights": BOARDS[board.key][1],
        "pins": pins_told(board),
        "wired": _wired(board),
        "beside": {model: _beside(board, model) for model in learners()},
        "built": {model: _built(board, model) for model in learners()},
        "bytes": board_bytes(board, _usual(DEFAULT)),
    }


def _beside(board: Board, model: str) -> dict[str, int]:
    """What such a learner takes of the board beside its buffers: code, headers, objects.

    Alone in a program of one's own, and with the program of `build` around it, or such a program
    with a motion sensor; and the machine code of that one. The page has the library's modules,
    each in a file of its own, of which it picks those that are needed.
    """
    found = {"alone": ram_budget.budget(_usual(model), board, MODELS[model])}
    for name, around in (("program", around_serial(board)), ("motion", around_motion(board))):
        found[name] = whole_budget(board, page_program(model, around))
    told = {
        name: sum(part.bytes for part in (*each.code, *each.overhead))
        for name, each in found.items()
    }
    return told | {"machine": found["motion"].machine_code_bytes}


def _built(board: Board, model: str) -> dict[str, Any]:
    """Of such a learner's two programs as `build` makes them, that of the link and the one with a
    motion sensor: what build_told() says."""
    size = {SIZE: board_bytes(board, _usual(DEFAULT))} if model == DEFAULT else {}
    return {
        name: build_told(board, page_program(model, around, **size))
        for name, around in (("program", around_serial(board)), ("motion", around_motion(board)))
    }


def build_told(board: Board, program: Program) -> dict[str, Any]:
    """What the program takes beside the learner's buffers and its ranges when `build` makes it,
    with as much machine code as fits; and whether it fits."""
    found = budget_of(fitting(ProgramLibrary(program, board)))
    beside = sum(part.bytes for part in (*found.code, *found.overhead))
    return {"beside": beside, "fits": found.fits and found.code_fits}


def whole_budget(board: Board, program: Program) -> ram_budget.Budget:
    """What a program of the page takes there."""
    return budget_of(ProgramLibrary(program, board, merged=False))


def board_bytes(board: Board, given: dict[str, Any]) -> int:
    """The default bytes beside the page's program, whose modules take a file each.

    If no size has room beside it, those that `simulate --board` takes, beside that of `build`;
    and if none has room there, the usual ones, which the page says are too many.
    """
    motion, plain = (
        whole_budget(board, page_program(DEFAULT, around))
        for around in (around_motion(board), around_serial(board))
    )
    sensor = motion.ram_bytes - plain.ram_bytes
    found = bytes_within(plain, sensor, given, board, MODELS[DEFAULT])
    with contextlib.suppress(NoRoom):
        found = found or bytes_for(given, board, MODELS[DEFAULT])
    return found or int(defaults(DEFAULT)[SIZE])


def _usual(model: str) -> dict[str, Any]:
    return {**_USUAL, **defaults(model)}


def around_serial(board: Board) -> dict[str, Any]:
    """What config.json has around a learner whose samples come over the link."""
    return ProgramOptions().config(board, (), _CLASSES)


def around_motion(board: Board) -> dict[str, Any]:
    """What it has around one of the motion that was taught in the page."""
    (scl, sda), _ = BOARDS[board.key]
    sensor = ("mpu6050", f"scl={scl}", f"sda={sda}", f"rate={RATE}")
    names = FeatureOptions.of(_WINDOWS).names(sensors(sensor, board).channels)
    return ProgramOptions(sensor=sensor, features=_WINDOWS).config(board, names, _CLASSES)


def page_program(model: str, around: dict[str, Any], **options: int) -> Program:
    """The program that the page puts on a board, with such a learner, and such options of it."""
    names = [tuple(map(str, range(count))) for count in _USUAL.values()]
    return Program(
        learner=MODELS[model],
        parameters=_usual(model) | options,
        feature_names=names[0],
        class_names=names[1],
        units=[(0, 0)] * len(names[0]),
        warmup=None if grows(model) else WARMUP,
        learner_state=b"",
        quantizer_state=b"",
        around=around,
    )
