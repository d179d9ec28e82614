"""The page's library learns the simulator's bits on a board, with native kernels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from microshrub_host.boards import board_files, emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.library import loader
from microshrub_host.library.learners import MODELS, defaults
from microshrub_tools.web.page_boards import motion_config, page_library, page_program

SHAPE = {"features": 5, "classes": 3}
LEARN = """
from array import array
def learned(model):
    x = array("H", [0] * 5)
    for k in range(80):
        for f in range(5):
            x[f] = ((k % 3) * (7919 + 631 * f) + k * k * (37 + 6 * f) % 8192) % 65536
        model.predict(x)
        model.learn(x, k % 3)
    return model.state_crc32()
"""


SMALL = {
    "thicket": {"bytes": 4096},
    "shrub": {"window": 16, "trees": 2, "depth": 3},
    "hoeffding": {"nodes": 7, "leaves": 4, "bins": 4},
}
RUN = """
import gc
gc.threshold(2048)
import microshrub
gc.collect()
gc.threshold(-1)
print(learned(microshrub.%s(**%r)))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("core", "key", "models"),
    [
        ("cortex-m0", "rpi_pico", ("thicket", "shrub", "hoeffding")),
        ("rv32", "esp32c3", ("thicket",)),
    ],
)
def test_a_board_learns_the_same_bits(core: str, key: str, models: tuple[str, ...]) -> None:
    try:
        emulated_boards.find_or_build(core)
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    board = board_files.load(key)
    for model in models:
        library = page_library(board, page_program(model, motion_config(board)))
        library_files = library.files()
        files = {f"/{name.removeprefix('lib/')}": data for name, data in library_files.items()}
        there: dict[str, Any] = {}
        exec(LEARN, there)
        learner, given = MODELS[model], SHAPE | defaults(model) | SMALL[model]
        expected = there["learned"](getattr(loader.load("python"), learner)(**given))
        with EmulatedBoard(core, files) as emulated:
            assert json.loads(emulated.exec(LEARN + RUN % (learner, given), 120)) == expected
