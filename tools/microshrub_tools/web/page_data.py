"""What the page carries beside its program, written when it is built: `make web`.

data.json               boards, learners and their options, streams, expected states
streams/*.csv.gz        generated streams; `microshrub simulate` reads the same files
library/ARCH.gz         a line with names and sizes, then the device library's .mpy files
learning.py, motion.py  drive a learner inside the page
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microshrub_host.base.versions import version_of
from microshrub_host.boards import board_files, ram_budget
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.default_bytes import (
    SIZE,
    NoRoom,
    bytes_for,
    bytes_within,
    exists,
)
from microshrub_host.boards.program import VERSION, Program
from microshrub_host.boards.program_budget import budget_of
from microshrub_host.boards.program_library import ProgramLibrary, modules
from microshrub_host.evaluation import prequential
from microshrub_host.features.feature_options import FeatureOptions
from microshrub_host.library import loader
from microshrub_host.library.learners import (
    DEFAULT,
    MODELS,
    defaults,
    grows,
    options_of,
    parameters,
    stream_parameters,
)
from microshrub_host.models import model_files
from microshrub_host.programs import mpy
from microshrub_host.sources import library_files
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.source_file import KINDS
from microshrub_host.streams.stream import Stream
from microshrub_host.streams.telltales import TELLTALE_NAMES

from ..board import board_code, build
from ..board.program_options import ProgramOptions
from ..board.program_pins import companion_flags
from ..board.program_sensors import sensors
from ..board.program_switches import COLOURS
from .page_sensors import sensors_told

WARMUP = 256
_USUAL = {"features": 36, "classes": 8}  # the shape for which sizes are told: windows of six axes
_CLASSES = ("0", "1")  # any: a program without classes would predict numbers
_DECIMALS = 4
_DRIVERS = ("learning.py", "motion.py")
_DEVICE = "device"
# What programs have only if asked to, and what the drivers import
_MORE_OF_DEVICE = {
    f"{_DEVICE}.{name}"
    for name in (
        "switches", "selftest", "extractor", "features", "motion", "motion_fifo", "several", "own",
    )
}  # fmt: skip


def learners() -> list[str]:
    """The classifiers that the page offers: all, the default one first."""
    return [DEFAULT, *(model for model in MODELS if model != DEFAULT)]


@dataclass(frozen=True)
class Sample:
    """A stream that comes with the page: the first samples of a synthetic one."""

    key: str
    source: str
    samples: int
    classes: tuple[str, ...] = ()  # what they are called; those of the source without


SAMPLES = (
    Sample("agrawal", "synth:agrawal_8_to_2_at_1500", 3000, ("refuse", "grant")),
    Sample("sea", "synth:sea_0_to_2_at_1500", 3000, ("above", "below")),
    Sample("led", "synth:led", 2000),
)

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
_RATE, _WINDOWS = 50, ("window=32", "hop=8")  # of the motion that is taught in the page


def write(folder: Path) -> None:
    """Write all of it into that folder, which is made if need be."""
    boards = [board_files.load(name) for name in BOARDS]
    for name in ("streams", "library"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    told = [_learner(name, boards[0]) for name in learners()]
    device = {name for each in told for name in (*each["modules"], *each["motion_modules"])}
    for arch in sorted({mpy.BYTECODE_ONLY, *(board.arch for board in boards)}):
        packed = gzip.compress(_library(arch, device), mtime=0)
        (folder / "library" / f"{arch}.gz").write_bytes(packed)
    data = {
        "version": version_of("microshrub"),
        "library": loader.digest(),
        "main": build.main_file().read_text(encoding="utf-8"),
        "config_version": VERSION,
        "program": library_files.version(),
        "model_format": model_files.FORMAT,
        "board_code": {
            "helpers": board_code.HELPERS,
            "loader": board_code.LOADER,
            "selftest": board_code.SELFTEST,
        },
        "boards": [_board(board) for board in boards],
        "sensors": sensors_told(_RATE),
        "companion_flags": companion_flags(),
        "pixel_colours": COLOURS,
        "learners": told,
        "streams": [_stream(sample, boards, folder / "streams") for sample in SAMPLES],
        "files": files_told(),
    }
    (folder / "data.json").write_text(_json(data), encoding="utf-8")


def files_told() -> dict[str, Any]:
    """What the page is told of files: what those are that are no CSV, by patterns of bytes, each
    one a character; and the names of columns that give the answer away."""
    kinds = [(pattern.decode("latin-1"), what, remedy) for pattern, what, remedy in KINDS]
    return {"kinds": kinds, "names": [(pattern.pattern, what) for pattern, what in TELLTALE_NAMES]}


def _wired(board: Board) -> dict[str, Any]:
    """The pins that a sensor has if nobody says others."""
    (scl, sda), lights = BOARDS[board.key]
    analog = board.pins.adc
    return {"scl": scl, "sda": sda, "pins": [analog], "analog": analog, "digital": lights[-1]}


def pins_told(board: Board) -> dict[str, Any]:
    """What the page is told of a board's pins."""
    return {"last": board.pins.last, "layout": board.pins.layout}


def _json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":")) + "\n"


def _library(arch: str, device: Collection[str]) -> bytes:
    """All learners; of what is around them on a board, what programs of the page can have."""
    files = {
        mpy.in_library(path): path
        for path in mpy.compiled(arch)
        if not (name := library_files.module_name(path)).startswith(f"{_DEVICE}.")
        or name in device
        or name in _MORE_OF_DEVICE
    }
    if arch == mpy.BYTECODE_ONLY:
        for name in _DRIVERS:
            driver = mpy.compiled_program(Path(__file__).with_name(name), arch)
            files[driver.name] = driver
    data = {name: path.read_bytes() for name, path in files.items()}
    sizes = {name: len(each) for name, each in data.items()}
    return b"".join([_json(sizes).encode(), *data.values()])


def _board(board: Board) -> dict[str, Any]:
    return {
        "key": board.key,
        "name": board.name,
        "arch": board.arch,
        "firmware": board.firmware,
        "heap_free_bytes": board.heap_free_bytes,
        "largest_block_bytes": board.largest_block_bytes,
        "around": _around(board),
        "motion": _motion(board),
        "lights": BOARDS[board.key][1],
        "pins": pins_told(board),
        "wired": _wired(board),
        "beside": {model: _beside(board, model) for model in learners()},
        "bytes": _bytes(board, _usual(DEFAULT)),
    }


def _beside(board: Board, model: str) -> dict[str, int]:
    """What such a learner takes of the board beside its buffers: code, headers, objects.

    Alone in a program of one's own, and with the program of `build` around it, or such a program
    with a motion sensor. The page has the library's modules, each in a file of its own, of which
    it picks those that are needed.
    """
    found = {"alone": ram_budget.budget(_usual(model), board, MODELS[model])}
    for name, around in (("program", _around(board)), ("motion", _motion(board))):
        found[name] = _whole(board, _program(model, around))
    return {
        name: sum(part.bytes for part in (*each.code, *each.overhead))
        for name, each in found.items()
    }


def _whole(board: Board, program: Program) -> ram_budget.Budget:
    return budget_of(ProgramLibrary(program, board, merged=False))


def _bytes(board: Board, given: dict[str, Any]) -> int:
    """The default bytes beside the page's program, whose modules take a file each.

    If no size has room beside it, those that `simulate --board` takes, beside that of `build`;
    and if none has room there, the usual ones, which the page says are too many.
    """
    motion, plain = (
        _whole(board, _program(DEFAULT, around)) for around in (_motion(board), _around(board))
    )
    sensor = motion.ram_bytes - plain.ram_bytes
    found = bytes_within(plain, sensor, given, board, MODELS[DEFAULT])
    with contextlib.suppress(NoRoom):
        found = found or bytes_for(given, board, MODELS[DEFAULT])
    return found or int(defaults(DEFAULT)[SIZE])


def _usual(model: str) -> dict[str, Any]:
    return {**_USUAL, **defaults(model)}


def _around(board: Board) -> dict[str, Any]:
    """What config.json has around a learner whose samples come over the link."""
    return ProgramOptions().config(board, (), _CLASSES)


def _motion(board: Board) -> dict[str, Any]:
    """What it has around one of the motion that was taught in the page."""
    (scl, sda), _ = BOARDS[board.key]
    sensor = ("mpu6050", f"scl={scl}", f"sda={sda}", f"rate={_RATE}")
    names = FeatureOptions.of(_WINDOWS).names(sensors(sensor, board).channels)
    return ProgramOptions(sensor=sensor, features=_WINDOWS).config(board, names, _CLASSES)


def _program(model: str, around: dict[str, Any]) -> Program:
    """The program that the page puts on a board, with such a learner."""
    names = [tuple(map(str, range(count))) for count in _USUAL.values()]
    return Program(
        learner=MODELS[model],
        parameters=_usual(model),
        feature_names=names[0],
        class_names=names[1],
        units=[(0, 0)] * len(names[0]),
        warmup=None if grows(model) else WARMUP,
        learner_state=b"",
        quantizer_state=b"",
        around=around,
    )


def _learner(model: str, board: Board) -> dict[str, Any]:
    options = [
        {
            "name": option.name,
            "kind": option.kind.__name__,
            "default": option.default,
            "low": option.low,
            "high": option.high,
            "choices": list(option.choices),
            "help": option.help,
        }
        for option in options_of(model).values()
    ]
    return {
        "key": model,
        "kind": MODELS[model],
        "asks_two_valued": "two_valued" in parameters(model),
        "grows": grows(model),
        "options": options,
        "modules": modules(_program(model, _around(board))),
        "motion_modules": modules(_program(model, _motion(board))),
    }


def _stream(sample: Sample, boards: list[Board], folder: Path) -> dict[str, Any]:
    path = folder / f"{sample.key}.csv.gz"
    path.write_bytes(_packed(sample))
    stream = open_stream(str(path))
    sizes = {board.key: _size(stream, board) for board in boards}
    return {
        "key": sample.key,
        "file": f"streams/{path.name}",
        "samples": sample.samples,
        "features": len(stream.feature_names),
        "classes": len(stream.class_names),
        "bytes": sizes,
        "expected": list(_expected(stream, sorted(set(sizes.values())))),
    }


def _packed(sample: Sample) -> bytes:
    """A CSV file with few decimals, the class last; equal streams make equal bytes."""
    stream = open_stream(sample.source, limit=sample.samples)
    names = sample.classes or stream.class_names
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*stream.feature_names, "class"])
    for values, label in zip(stream.values.round(_DECIMALS), stream.labels, strict=True):
        rows.writerow([*(f"{value:.12g}" for value in values), names[label]])
    return gzip.compress(text.getvalue().encode(), mtime=0)


def _size(stream: Stream, board: Board) -> int:
    given = stream_parameters(DEFAULT, stream, WARMUP)
    return _bytes(board, {**given, **defaults(DEFAULT)})


def _expected(stream: Stream, sizes: list[int]) -> Iterator[dict[str, Any]]:
    """What `simulate` comes to on the stream: with default options, and sizes of the boards."""
    for model in learners():
        given = stream_parameters(model, stream, WARMUP) | defaults(model)
        for size in sizes if SIZE in given else [None]:
            taken = given if size is None else {**given, SIZE: size}
            if not exists(taken, MODELS[model]):
                continue
            run = prequential.evaluate(stream, model, taken)
            yield {
                "learner": model,
                "options": {name: taken[name] for name in defaults(model)},
                "state_crc32": run.state_crc32,
                "accuracy": round(run.accuracy, 2),
            }


if __name__ == "__main__":
    write(Path(sys.argv[1]))
