"""Counting the work of kernels does not change their results."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from typing import Any

import pytest

from microshrub_host.boards.board_files import load as board
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.program import usual_program
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_host.boards.scarce_machine_code import kernel_work
from microshrub_host.library import loader, user_learner_check
from microshrub_host.library.kernel_rewriting import WORK, count_work
from microshrub_host.library.learners import defaults

_KERNEL = '''
def kernel(n, odd):
    """Add up."""
    total = 0
    for i in range(n):
        if i & 1:
            if odd:
                total += i * i * i * i
        else:
            total += i
    while total > 1000:
        total -= 1
    return total
'''


def counted(n: int, odd: int) -> tuple[int, int]:
    tree = ast.parse(_KERNEL)
    kernel = tree.body[0]
    assert isinstance(kernel, ast.FunctionDef)
    count_work(kernel, "here.kernel")
    there: dict[str, Any] = {WORK: Counter()}
    exec(compile(ast.fix_missing_locations(tree), "kernel", "exec"), there)
    return there["kernel"](n, odd), there[WORK]["here.kernel"]


def plain(n: int, odd: int) -> int:
    there: dict[str, Any] = {}
    exec(_KERNEL, there)
    result: int = there["kernel"](n, odd)
    return result


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("odd", [0, 1])
def test_a_counted_kernel_computes_the_same(n: int, odd: int) -> None:
    assert counted(n, odd)[0] == plain(n, odd)


def test_each_iteration_and_each_branch_counts() -> None:
    work = [counted(n, 0)[1] for n in range(0, 12, 2)]
    steps = {after - before for before, after in itertools.pairwise(work)}
    assert len(steps) == 1
    assert min(steps) > 0
    assert counted(10, 1)[1] > counted(10, 0)[1]


@pytest.mark.parametrize("name", ["Thicket", "ShrubEnsemble", "HoeffdingTree", "ThicketRegressor"])
def test_the_counted_library_learns_the_same(name: str) -> None:
    states = []
    for engine in ("python", "counted"):
        learner = user_learner_check.make(loader.load(engine), name, user_learner_check.SHAPE)
        samples = user_learner_check.Samples(3, getattr(learner, "classes", 65536))
        user_learner_check.learn(learner, samples, 60)
        states.append(learner.state_crc32())
    assert states[0] == states[1]


@pytest.mark.long
def test_kernels_with_the_least_work_stay_bytecode() -> None:
    """On an ESP32, they do less than 6 % of the work."""
    parameters = {**defaults("thicket"), "features": 8, "classes": 4, "bytes": 8192}
    work = kernel_work("Thicket", parameters)
    assert work == kernel_work("Thicket", parameters)
    for name, most in (("esp32", 0.06), ("esp32s2", 0.12), ("esp32s3", 0.003), ("esp32c3", 0.002)):
        library = ProgramLibrary(
            usual_program(Deployment(parameters, board(name), "Thicket")), board(name), "viper"
        )
        kernels = library.kernels
        assert kernels.plain
        done = sum(work[name] for name in kernels.names)  # all of them have counts
        assert done < most * sum(work.values())
        assert "thicket.neighbours.search" not in kernels.names


def test_with_room_for_all_kernels_none_stays_bytecode() -> None:
    parameters = {**defaults("shrub"), "features": 8, "classes": 4}
    for name in ("esp32", "rpi_pico"):
        library = ProgramLibrary(
            usual_program(Deployment(parameters, board(name), "ShrubEnsemble")), board(name)
        )
        assert not library.kernels.plain
