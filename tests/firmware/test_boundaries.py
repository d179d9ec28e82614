"""Possible differences of boards and PCs: single precision, raw values out of range, buffers."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable

import numpy as np
import pytest

from microshrub_host.library import loader

STEPS = [n / 10_000 for n in range(10, 640_001, 7)]
RAW = [-(2**31), -(2**31) + 999, -(2**29) - 1, -(2**29) + 1, 0, 2**29 - 1, 2**29, 2**31 - 1]
RANGES = [(1000, 2000), (-(2**29) + 1, 2**29 - 1), (5, 5), (2**29 - 2, 2**29 - 1)]

SCRIPT = """
from array import array
from microshrub import Metrics, Quantizer, ShrubEnsemble
def codes(low, high, values):
    quantizer = Quantizer(1, ranges=((low, high),))
    encoded = array("H", bytes(2 * len(values)))
    quantizer.encode(array("i", values), encoded)
    return list(encoded)
def refused(call, *given):
    try:
        call(*given)
    except ValueError:
        return 1
    return 0
model = ShrubEnsemble(2, 3, window=4)
metrics = Metrics(3)
rows = array("H", [1, 2] * 8)
before = model.state_crc32(), metrics.state_crc32()
print([codes(low, high, RAW) for low, high in RANGES])
print([
    refused(model.run, rows, array("b", [0] + [-1] * 7), bytearray(8)),
    refused(model.run, rows, array("H", [0] * 8), bytearray(8)),
    refused(model.run, rows, bytes(8), bytearray(8)),
    refused(model.run, rows, bytearray(8), bytes(8)),
    refused(model.run, array("h", [-5] * 16), bytearray(8), bytearray(8)),
    refused(model.learn, array("h", [-5, 3]), 1),
    refused(model.predict, array("h", [-5, 3])),
    refused(metrics.update_rows, array("b", [0] + [-1] * 7), bytearray(8)),
    refused(metrics.update_rows, bytearray(8), b"constant"),
])
print(before == (model.state_crc32(), metrics.state_crc32()))
"""


def test_a_step_is_the_same_in_single_precision() -> None:
    bits = sys.modules[loader.load("python").Quantizer.__module__.split(".")[0] + ".learner"]
    for step in STEPS:
        assert bits.twelve_bits(np.float32(step)) == bits.twelve_bits(step), step


@pytest.mark.parametrize("step", [1 / 1024, 0.05, 0.06, 0.3, 8.0, 8.43, 64.0])
def test_a_step_is_held_in_twelve_bits(step: float) -> None:
    model = loader.load("python").ShrubEnsemble(2, 2, step=step)
    assert model.step == pytest.approx(step * 65536, rel=1 / 4096, abs=1)


def codes(engine: str, low: int, high: int) -> list[int]:
    quantizer = loader.load(engine).Quantizer(1, ranges=((low, high),))
    values = array("H", bytes(2 * len(RAW)))
    quantizer.encode(array("i", RAW), values)
    return list(values)


def test_a_board_and_a_pc_treat_the_same_input_equally(
    run_micropython: Callable[[str], str],
) -> None:
    script = f"RAW = {RAW}\nRANGES = {RANGES}\n" + SCRIPT
    on_board, refused, unchanged = run_micropython(script).splitlines()[-3:]
    for engine in ("checked", "python", "llvm"):
        assert on_board == str([codes(engine, low, high) for low, high in RANGES]), engine
    assert refused == str([1] * 9)
    assert unchanged == "True"


def test_codes_of_raw_values_out_of_range_keep_their_order() -> None:
    for low, high in RANGES:
        in_order = codes("python", low, high)
        assert in_order == sorted(in_order)


def test_write_is_save_without_the_copy(tmp_path_factory: pytest.TempPathFactory) -> None:
    model = loader.load("python").ShrubEnsemble(2, 3, window=4)
    path = tmp_path_factory.mktemp("state") / "model"
    with path.open("wb") as file:
        model.write(file)
    assert path.read_bytes() == model.save()
