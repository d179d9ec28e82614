"""The page's data besides its program, written by `make web`.

data.json               boards, learners and their options, streams, expected states
streams/*.csv.gz        generated streams; `microshrub simulate` reads the same files
library/page.gz         a line with names and sizes, then the files for the page itself: the device
                        library's .mpy files, its kernels as a module of WebAssembly, and
                        kernels.py, learning.py and motion.py, which drive a learner
library/bytecode.gz     the .mpy files for boards with any processor, with the kernels as bytecode;
                        in serial/ the files that differ in programs without a sensor
library/LEARNER.gz      the library of programs with the learner, merged, without kernels, as it is
                        for one of the processors
library/ARCH.gz         for each learner the native module, and other differences on the processor
"""

from __future__ import annotations

import base64
import csv
import difflib
import gzip
import io
import itertools
import json
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microshrub_host.base.terminal import showing
from microshrub_host.base.versions import version_of
from microshrub_host.boards import board_files
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.default_bytes import SIZE, exists
from microshrub_host.boards.program import VERSION
from microshrub_host.boards.program_library import modules
from microshrub_host.evaluation import prequential
from microshrub_host.library import library_files, loader
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
from microshrub_host.programs import merged_files, mpy, native_module
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream

from ..board import board_code, build
from . import page_kernels
from .page_boards import (
    BOARDS,
    MORE_OF_DEVICE,
    RATE,
    WARMUP,
    board_bytes,
    board_data,
    files_of_more,
    learners,
    motion_config,
    never_used,
    page_library,
    page_program,
    serial_config,
)
from .page_sensors import sensor_data

_DECIMALS = 4
_DRIVERS = ("kernels.py", "learning.py", "motion.py")
_PAGE = "page"  # the library that runs in the page
_DEVICE = "device"
_SERIAL = "serial"  # the kind of sensor for samples from the link
_NATIVE = f"{library_files.PACKAGE}/{native_module.MODULE}.mpy"


@dataclass(frozen=True)
class Sample:
    """A stream that comes with the page: the first samples of a synthetic stream."""

    key: str
    source: str
    samples: int
    classes: tuple[str, ...] = ()  # their names; by default the source's


SAMPLES = (
    Sample("agrawal", "synth:agrawal_8_to_2_at_1500", 3000, ("refuse", "grant")),
    Sample("sea", "synth:sea_0_to_2_at_1500", 3000, ("above", "below")),
    Sample("led", "synth:led", 2000),
)


def write(folder: Path) -> None:
    """Write all data into a folder, which is made if need be, and show the progress."""
    with showing("What the page knows of boards") as update:
        _write(folder, update)


def _write(folder: Path, update: Callable[[int, int, str], object]) -> None:
    """Write all data; update(done, all, note) is called for each step."""
    boards = [board_files.load(name) for name in BOARDS]
    begun = itertools.count()
    steps = len(learners()) * (1 + len({board.arch for board in boards})) + len(boards)

    def step(note: str) -> None:
        update(next(begun), steps, note)

    for name in ("streams", "library"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    described = []
    for name in learners():
        step(name)
        described.append(_learner(name, boards[0]))
    for name, files in _libraries(boards, described, step).items():
        packed = gzip.compress(_joined(files), mtime=0)
        (folder / "library" / f"{name}.gz").write_bytes(packed)
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
        "boards": [_board(board, step) for board in boards],
        "sensors": sensor_data(RATE),
        "learners": described,
        "more_of_device": MORE_OF_DEVICE,
        "streams": [_stream(sample, boards, folder / "streams") for sample in SAMPLES],
    }
    (folder / "data.json").write_text(_json(data), encoding="utf-8")


def _json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":")) + "\n"


def _board(board: Board, step: Callable[[str], None]) -> dict[str, Any]:
    step(board.name)
    return board_data(board)


def _libraries(
    boards: list[Board], described: list[dict[str, Any]], step: Callable[[str], None]
) -> dict[str, dict[str, bytes]]:
    """Return the files of each library, by the library's name. Raises NoNativeTools."""
    device = {name for each in described for name in (*each["modules"], *each["motion_modules"])}
    names = _modules({*device, *MORE_OF_DEVICE})
    result = {_PAGE: _in_the_page(names), mpy.BYTECODE_ONLY: _bytecode(names)}
    for board in {board.arch: board for board in boards}.values():
        result[board.arch] = {}
        for model in learners():
            step(f"machine code of {model} for {board.arch}")
            program = page_program(model, motion_config(board))
            files = page_library(board, program).files()
            files = {name.removeprefix("lib/"): data for name, data in files.items()}
            native = files.pop(_NATIVE)
            first = result.setdefault(model, files)
            changes = {name: _changes(first[name], data) for name, data in files.items()}
            result[board.arch] |= {
                f"{model}.mpy": native,
                f"{model}.json": _json(changes).encode(),
            }
    return result


def _changes(before: bytes, after: bytes) -> list[tuple[int, int, str]]:
    """Return the differences: the place, how many bytes are removed, and the new ones, in base64.

    The few kernels that stay viper's differ by processor.
    """
    a, b = (re.findall(rb"[^\0]*\0?", data) for data in (before, after))
    starts = [0, *itertools.accumulate(map(len, a))]
    operations = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [
        (starts[i], starts[j] - starts[i], base64.b64encode(b"".join(b[begin:end])).decode())
        for what, i, j, begin, end in operations
        if what != "equal"
    ]


def _modules(device: Collection[str]) -> list[str]:
    """Return the modules of all learners, and the device modules of the page's programs."""
    names = map(library_files.module_name, library_files.sources())
    return [name for name in names if not name.startswith(f"{_DEVICE}.") or name in device]


def _bytecode(names: Collection[str]) -> dict[str, bytes]:
    """Return the files for programs with a sensor; and, in the folder serial/, the files that
    are smaller for samples from the link.
    """
    with_sensor, without = (_bytecode_without(names, never_used(each)) for each in (True, False))
    less = {name: data for name, data in without.items() if data != with_sensor[name]}
    return with_sensor | {f"{_SERIAL}/{name}": data for name, data in less.items()}


def _bytecode_without(names: Collection[str], unused: set[str]) -> dict[str, bytes]:
    result = {}
    for path in mpy.compiled(mpy.BYTECODE_ONLY, names, unused):
        result[mpy.in_library(path)] = path.read_bytes()
    for name in files_of_more():
        gone = unused.union(merged_files.parts_without(name))
        (path,) = mpy.compiled(mpy.BYTECODE_ONLY, [merged_files.whole(name)], gone)
        result[mpy.in_library(path.with_stem(name.rpartition(".")[2]))] = path.read_bytes()
    return result


def _in_the_page(names: Collection[str]) -> dict[str, bytes]:
    sources = map(Path(__file__).with_name, _DRIVERS)
    drivers = [mpy.compiled_program(source, mpy.BYTECODE_ONLY) for source in sources]
    return page_kernels.files(names) | {path.name: path.read_bytes() for path in drivers}


def _joined(files: Mapping[str, bytes]) -> bytes:
    sizes = {name: len(each) for name, each in files.items()}
    return b"".join([_json(sizes).encode(), *files.values()])


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
        "learner_class": MODELS[model],
        "asks_two_valued": "two_valued" in parameters(model),
        "grows": grows(model),
        "options": options,
        "modules": modules(page_program(model, serial_config(board))),
        "motion_modules": modules(page_program(model, motion_config(board))),
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
    """Return a CSV file with few decimals, the class last; equal streams make equal bytes."""
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
    return board_bytes(board, {**given, **defaults(DEFAULT)})


def _expected(stream: Stream, sizes: list[int]) -> Iterator[dict[str, Any]]:
    """Yield results of `simulate` on the stream, with default options and the boards' sizes."""
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
