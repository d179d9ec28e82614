"""A program's kernels are compiled for its learner alone: the same bits, in less code."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from program_support import PROGRAM_FIELDS, blobs, number_program, x86

from microshrub_host.boards.board_files import Board
from microshrub_host.boards.emits import VIPER
from microshrub_host.boards.program import Program
from microshrub_host.boards.program_budget import budget_of, fitting
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_host.library import loader
from microshrub_tools.board import build, program_config

# the state after 400 samples; growing ranges move, and one reset happens
_LEARN = """
from array import array
def learned(model, labels):
    for k in range(400):
        x = array("H", [(k * (97 + 31 * f) + 7 * (k & 3)) % 65536 for f in range(model.features)])
        model.learn(x, (k * k >> 3) % labels)
        if k % 90 == 80 and model.moves:
            model.move_codes(k % model.features, 12, 1, 3)
        if k == 250:
            model.forget()
    return model.state_crc32()
"""
_ON_BOARD = """
import sys
sys.path[:] = ["lib"]
import microshrub
model = getattr(microshrub, {learner!r})(**{parameters!r})
print(learned(model, {labels}))
"""
SHRUBS = {"window": 300, "trees": 5, "max_features": 1}
RANDOM = {"window": 40, "depth": 4, "splitter": "random", "leaf": "class", "feature_bits": 8}
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "all of a thicket": ("thicket", 5, {"bytes": 28672}),
    "a tiny thicket of two classes": ("thicket", 2, {"bytes": 2600, "prior": "taught"}),
    "a thicket that looks back": ("thicket", 3, {"bytes": 81920}),
    "shrubs": ("shrub", 6, {**SHRUBS, "loss": "cross_entropy", "depth": 12}),
    "random shrubs": ("shrub", 3, {**RANDOM, "trigger": "error"}),
    "a tree that adapts": ("hoeffding", 2, {"nodes": 31, "leaves": 8, "adaptive": True}),
}
_LONG = ("a thicket that looks back", "a tree that adapts")


def made(model: str, classes: int, more: dict[str, Any]) -> Program:
    stream = blobs()
    stream = stream.__class__(
        "blobs",
        stream.values,
        stream.labels,
        stream.feature_names,
        tuple(f"class {c}" for c in range(classes)),
    )
    parameters = {"features": stream.values.shape[1], "classes": classes, **more}
    warmup = 0 if model == "thicket" else 256
    return program_config.of_stream(stream, model, parameters, warmup, PROGRAM_FIELDS)


def on_board(code: str, folder: Path, command: tuple[str, ...]) -> str:
    done = subprocess.run(
        [*command, "-X", "heapsize=2m", "-c", _LEARN + code],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert not done.stderr
    return done.stdout


def check(
    program: Program,
    labels: int,
    folder: Path,
    command: tuple[str, ...],
    board: Board | None = None,
) -> None:
    """Compare the learned states. On a given board kernels are viper's: native ones would fit."""
    emit = VIPER if board else ""
    built = build.make(program, board or x86(folder), folder / "out", emit)
    code = _ON_BOARD.format(learner=program.learner, parameters=program.parameters, labels=labels)
    there: dict[str, Any] = {}
    exec(_LEARN, there)
    here = getattr(loader.load(loader.fastest()), program.learner)(**program.parameters)
    assert int(on_board(code, built.folder, command)) == there["learned"](here, labels)


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.long if c in _LONG else ()) for c in CASES]
)
def test_it_learns_the_same(
    case: str, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    model, classes, more = CASES[case]
    check(made(model, classes, more), classes, tmp_path, micropython_command)


def test_it_learns_the_same_numbers(tmp_path: Path, micropython_command: tuple[str, ...]) -> None:
    program = number_program("thicket-regressor", 0, None)
    check(program, 60_000, tmp_path, micropython_command)


@pytest.mark.parametrize(
    ("case", "share"),
    [
        ("all of a thicket", 0.97),
        ("all of a thicket", 0.5),
        ("shrubs", 0.8),
        ("a tree that adapts", 0.8),
    ],
)
def test_it_learns_the_same_where_memory_for_machine_code_is_too_small(
    case: str, share: float, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    """Some kernels stay bytecode there, and work on the same buffers."""
    model, classes, more = CASES[case]
    program = made(model, classes, more)
    whole = ProgramLibrary(program, x86(tmp_path), VIPER)
    of_all = sum(module.native for module in whole.heap().modules)
    board = with_room(x86(tmp_path), int(share * of_all))
    library = ProgramLibrary(program, board, VIPER)
    assert 0 < library.kernels.plain < library.kernels.of
    check(program, classes, tmp_path, micropython_command, board)
    assert sum(module.native for module in library.heap().modules) <= int(share * of_all)


@pytest.mark.parametrize(("case", "less"), [("all of a thicket", 30_000), ("shrubs", 6_000)])
def test_it_learns_the_same_where_machine_code_on_the_heap_leaves_too_little(
    case: str, less: int, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    """No more kernels are bytecode than necessary."""
    model, classes, more = CASES[case]
    program = made(model, classes, more)
    board = x86(tmp_path)
    needed = budget_of(ProgramLibrary(program, board, VIPER)).peak_bytes
    just = dataclasses.replace(board, heap_free_bytes=needed)
    assert not fitting(ProgramLibrary(program, just, VIPER)).kernels.plain
    small = dataclasses.replace(board, heap_free_bytes=needed - less)
    library = fitting(ProgramLibrary(program, small, VIPER))
    assert 0 < library.kernels.plain < library.kernels.of
    assert 0 <= small.heap_free_bytes - budget_of(library).peak_bytes < 4096
    check(program, classes, tmp_path, micropython_command, small)


def with_room(board: Board, executable: int) -> Board:
    """The same board with its machine code off the heap, in this many bytes."""
    return dataclasses.replace(board, native=False, executable_bytes=executable)


def test_another_learner_is_refused(tmp_path: Path, micropython_command: tuple[str, ...]) -> None:
    program = made("thicket", 2, {"bytes": 16384})
    built = build.make(program, x86(tmp_path), tmp_path / "out", emit="viper")
    code = """
import sys
sys.path[:] = ["lib"]
from microshrub import Thicket, NearestNeighbours
for make in (
    lambda: Thicket(features=2, classes=2, bytes=131072),
    lambda: Thicket(features=2, classes=3, bytes=16384),
    lambda: NearestNeighbours(features=2, classes=2),
):
    try:
        make()
    except ValueError as error:
        print(error)
"""
    message = (
        "this program is for Thicket features=2 classes=2 bytes=16384 prior=even seed=0: build "
        "and flash it again\n"
    )
    assert on_board(code, built.folder, micropython_command) == 3 * message
