"""Boards in the page's data: their pins, and how much of a board the page's programs take."""

from __future__ import annotations

import contextlib
from typing import Any

from microshrub_host.boards import ram_budget
from microshrub_host.boards.board_files import Board, load
from microshrub_host.boards.default_bytes import SIZE, NoRoom, Sizes, bytes_for, bytes_within
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.emits import NATIVE
from microshrub_host.boards.program import Program
from microshrub_host.boards.program_budget import budget_of
from microshrub_host.boards.program_library import MadeAhead, ProgramLibrary, left_out, modules
from microshrub_host.library.learners import DEFAULT, MODELS, defaults, grows, model_name
from microshrub_host.programs.merged_files import files_of
from microshrub_host.simulation.feature_options import FeatureOptions

from ..board.program_options import ProgramOptions
from ..board.program_sensors import sensors

WARMUP = 256
# Modules that only some programs with a motion sensor have, each with the functions and classes
# that only some of these programs have, in alphabetical order, as files are named
MORE_OF_DEVICE: dict[str, tuple[str, ...]] = {
    "device.companions": (),
    "device.switches": ("Buzzer", "UsbKeyboard"),
    "device.motion_fifo": (),
    "device.combined_sensor": (),
    "device.custom_sensor": (),
}
_CLASSES = ("0", "1")  # any two: a program without classes would predict numbers

_PICO_PINS = (1, 0), (16, 17, 18, 19, 20)
# Boards whose empty flash the page can fill, or explain how to; with pins that no boot, flash or
# USB needs: SCL and SDA of a motion sensor, and pins of lights
BOARDS = {
    "esp32": ((22, 21), (25, 26, 27, 32, 33)),
    "esp32c3": ((5, 4), (0, 1, 3, 6, 7)),
    "esp32s3": ((9, 8), (4, 5, 6, 7, 15)),
    "rpi_pico": _PICO_PINS,
    "rpi_pico2": _PICO_PINS,
    "rpi_pico_w": _PICO_PINS,
}
RATE, _WINDOWS = 50, ("window=32", "hop=8")  # for motion taught in the page
_AXES = ("ax", "ay", "az", "gx", "gy", "gz")
# The number of features and classes for which the page shows sizes
_USUAL = {"features": len(FeatureOptions.of(_WINDOWS).names(_AXES)), "classes": 8}


def learners() -> list[str]:
    """Return the classifiers that the page offers: all, the default one first."""
    return [DEFAULT, *(model for model in MODELS if model != DEFAULT)]


def _wired(board: Board) -> dict[str, Any]:
    """Return a sensor's default pins."""
    (scl, sda), lights = BOARDS[board.key]
    analog = board.pins.adc
    return {"scl": scl, "sda": sda, "pins": [analog], "analog": analog, "digital": lights[-1]}


def pin_data(board: Board) -> dict[str, Any]:
    """Return a board's pins for the page's data."""
    pins = board.pins
    known = {"taken": pins.taken, "takenBy": pins.taken_by, "inputs": pins.inputs}
    return {"last": pins.last, "layout": pins.layout, **known}


def board_data(board: Board) -> dict[str, Any]:
    """Return a board for the page's data."""
    configs = (serial_config(board), motion_config(board))
    programs = [whole_budget(board, page_program(DEFAULT, each)) for each in configs]
    return {
        "key": board.key,
        "name": board.name,
        "arch": board.arch,
        "firmware": board.firmware,
        "heap_free_bytes": min(each.free_bytes for each in programs),
        "serial": serial_config(board),
        "motion": motion_config(board),
        "lights": BOARDS[board.key][1],
        "pins": pin_data(board),
        "wired": _wired(board),
        "overhead": {model: _overhead(board, model) for model in learners()},
        "wifi": board.wifi is not None,
        "keys": bool(board.usb_device_source),
        "bytes": board_bytes(board, _usual(DEFAULT)),
    }


def _overhead(board: Board, model: str) -> dict[str, int]:
    """Return a learner's bytes on a board besides its buffers: code, headers, objects.

    The figures are for the learner alone in a user's own program, and for a program that the page
    puts on a board, with samples from the link or with a motion sensor.
    """
    result = {"alone": ram_budget.budget(_usual(model), board, MODELS[model])}
    for name, config in (("program", serial_config(board)), ("motion", motion_config(board))):
        result[name] = whole_budget(board, page_program(model, config))
    return {
        name: sum(part.bytes for part in (*each.code, *each.overhead))
        for name, each in result.items()
    }


def page_library(board: Board, program: Program) -> ProgramLibrary:
    """Return the library of the page's program on a board. Raises NoNativeTools.

    One library serves a learner's programs: the parts for a motion sensor are merged, and the
    other parts are separate files.
    """
    model = model_name(program.learner)
    more = (*modules(page_program(model, serial_config(board))), *files_of_more())
    ahead = MadeAhead(page_program(model, motion_config(board)), more)
    return ProgramLibrary(program, board, NATIVE, ahead=ahead)


def whole_budget(board: Board, program: Program) -> ram_budget.Budget:
    """Return the budget of the page's program on a board."""
    return budget_of(page_library(board, program))


def board_bytes(board: Board, given: dict[str, Any]) -> int:
    """Return the default --bytes for the page's program.

    If no size fits with this program, return the bytes of `simulate --board`, for a program of
    `build`; if no size fits there, return the usual bytes, which the page shows to be too many.
    """
    motion, plain = (
        whole_budget(board, page_program(DEFAULT, config))
        for config in (motion_config(board), serial_config(board))
    )
    sensor = motion.ram_bytes - plain.ram_bytes
    result = bytes_within(plain, sensor, Sizes(given, board, MODELS[DEFAULT]))
    with contextlib.suppress(NoRoom):
        result = result or bytes_for(Deployment(given, board, MODELS[DEFAULT]))
    return result or int(defaults(DEFAULT)[SIZE])


def _usual(model: str) -> dict[str, Any]:
    return {**_USUAL, **defaults(model)}


def serial_config(board: Board) -> dict[str, Any]:
    """Return config.json, except the learner, for samples from the link."""
    return ProgramOptions().config(board, (), _CLASSES)


def motion_config(board: Board) -> dict[str, Any]:
    """Return config.json, except the learner, for motion taught in the page."""
    (scl, sda), _ = BOARDS[board.key]
    sensor = ("mpu6050", f"scl={scl}", f"sda={sda}", f"rate={RATE}")
    names = FeatureOptions.of(_WINDOWS).names(sensors(sensor, board).channels)
    return ProgramOptions(sensor=sensor, features=_WINDOWS).config(board, names, _CLASSES)


def never_used(sensor: bool) -> set[str]:
    """Return the functions and classes of the device library that no program of the page uses;
    if not sensor, those that no program for samples from the link uses.
    """
    board = load(next(iter(BOARDS)))
    plain = serial_config(board)
    configs = [plain, plain | {"switches": [[[0, 440], [4]]]}]
    if sensor:
        configs.append(motion_config(board))
    return set.intersection(*(set(left_out(page_program(DEFAULT, each))) for each in configs))


def files_of_more() -> list[str]:
    """Return the names of the files of MORE_OF_DEVICE, see merged_files.compiled()."""
    names: list[str] = []
    for module, parts in MORE_OF_DEVICE.items():
        names += files_of(module, [f"{module}:{part}" for part in parts])
    return names


def page_program(model: str, config: dict[str, Any], **options: int) -> Program:
    """Return the program that the page puts on a board, for a learner with these options."""
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
        config=config,
    )
