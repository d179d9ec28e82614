"""The Hoeffding tree on all engines: the same bits, no allocation, the same errors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from tests_support import stream_of

from microshrub_host.evaluation import prequential
from microshrub_host.library import loader
from microshrub_host.simulation import engines

WARMUP = 256
CHOICES: dict[str, tuple[Any, ...]] = {
    "policy": ("vfdt", "efdt", "svfdt1", "svfdt2"),
    "leaf": ("mc", "nb", "nba"),
    "adaptive": (False, True),
    "boost": (False, True),
}
COMBINATIONS = [dict(zip(CHOICES, one, strict=True)) for one in product(*CHOICES.values())]
for i, one in enumerate(COMBINATIONS):  # so that each value meets each choice, and the others
    one |= {"criterion": ("infogain", "gini")[i % 3 % 2], "regularization": (1.0, 0.5)[i % 5 % 2]}
# and one of plain, adaptive, boost and both for each policy and kind of leaf: 0, 5, 10, 15, 16...
LED_COMBINATIONS = [one for i, one in enumerate(COMBINATIONS) if i % 4 == i // 4 % 4]
RUNS = [("elec", one) for one in COMBINATIONS] + [("synth:led_a", c) for c in LED_COMBINATIONS]
SMALL = {"nodes": 31, "leaves": 6, "grace_period": 40, "tie_threshold": 0.2}


def name_of(choice: dict[str, Any]) -> str:
    return ",".join(str(value) for value in choice.values())


@pytest.mark.usefixtures("micropython_command")
@pytest.mark.parametrize(("source", "choice"), RUNS, ids=[f"{s}-{name_of(c)}" for s, c in RUNS])
def test_engines_agree(source: str, choice: dict[str, Any]) -> None:
    stream = stream_of(source, 2000)
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    raw = stream.raw_rows()
    states = []
    for name in engines.NAMES:
        with engines.start(name, "HoeffdingTree", shape | SMALL | choice) as run:
            prequential.fit(run, raw, WARMUP)
            predictions = run.run(raw, stream.labels).tobytes()
            states.append((predictions, run.status(), run.buffers()))
    assert states[0] == states[1] == states[2]
    if source == "elec":
        assert states[0][1].progress["nodes_used"] > 1


# With the heap locked, through splits and through a drift

LOCKED = """
def rows_of(state, samples, which):
    codes, labels = array("H", bytes(6 * samples)), bytearray(samples)
    for i in range(samples):
        for f in range(3):
            state = (state * 4093 + 12345) % 262139
            codes[3 * i + f] = state & 65535
        labels[i] = codes[3 * i + which] // 22000 if state % 5 else state % 3
    return codes, labels

blocks = [rows_of(1 + i, 400, int(i > 3)) for i in range(14)]
predictions = bytearray(400)
sure = {"split_confidence": 0.01, "tie_threshold": 0.1, "bins": 16}

def go_on(model, alternate, x):  # locals need no heap
    alternates = 0
    for codes, labels in blocks:
        model.run(codes, labels, predictions)
        if model.predict(x) != model.learn(x, 1):
            raise RuntimeError("learn said something else than predict")
        if alternate and max(alternate):
            alternates += 1
    return alternates

for choice in COMBINATIONS:
    model = HoeffdingTree(3, 3, nodes=15, leaves=9, grace_period=50, **sure, **choice)
    x = array("H", [1, 2, 3])
    held = {name: buffer for name, _, buffer in model.buffers()}
    model.learn(x, 0)
    lock()
    try:
        alternates = go_on(model, held["tree.alternate"], x)
    finally:
        unlock()
    feature = held["tree.feature"][0]
    say(model.state_crc32() & 0xFFFFFFFF, model.nodes_used, feature, alternates)
"""


def test_nothing_is_allocated_and_llvm_agrees(run_micropython: Callable[[str], str]) -> None:
    head = f"""
from array import array
from micropython import heap_lock as lock, heap_unlock as unlock
from microshrub import HoeffdingTree
say = print
COMBINATIONS = {COMBINATIONS!r}
"""
    lines: list[str] = []
    names = {
        "HoeffdingTree": loader.load("llvm").HoeffdingTree,
        "COMBINATIONS": COMBINATIONS,
        "lock": int,
        "unlock": int,
        "say": lambda *words: lines.append(" ".join(map(str, words))),
    }
    exec("from array import array\n" + LOCKED, names)
    there = run_micropython(head + LOCKED).splitlines()
    assert there == lines
    for choice, line in zip(COMBINATIONS, lines, strict=True):
        _, nodes, feature, alternates = map(int, line.split())
        assert nodes > 3, choice
        # VFDT keeps the first concept's root; EFDT has taken it back, HAT has replaced it
        changes = choice["policy"] == "efdt" or choice["adaptive"]
        assert (feature == 0) == (not changes), (choice, line)
        assert (alternates > 0) == choice["adaptive"], (choice, line)


# Wrong parameters

WHOLE = ("-1", "1.0", "None", "'1'", "True", "[1]", "2**40")
TEXT = ("None", "1", "True", "''", "b'nb'", "['nb']")
NO_NUMBER = ("-0.1", "None", "'0.5'", "True", "float('nan')", "float('inf')", "1j")
NUMBER = ("1.1", "2", *NO_NUMBER)
SWITCH = ("None", "0", "1", "'True'", "''", "[]")
WRONG: dict[str, tuple[str, ...]] = {
    "features": ("0", "257", *WHOLE),
    "classes": ("0", "1", "257", *WHOLE),
    "depth": ("31", *WHOLE),
    "nodes": ("65536", *WHOLE),
    "leaves": ("65535", *WHOLE),
    "grace_period": ("0", "65536", *WHOLE),
    "split_confidence": ("0", "0.0", "1e-10", "0.6", *NUMBER),
    "tie_threshold": NUMBER,
    "criterion": (*TEXT, "'Gini'", "'entropy'"),
    "policy": (*TEXT, "'VFDT'", "'hatt'"),
    "regularization": NUMBER,
    "adaptive": SWITCH,
    "leaf": (*TEXT, "'NB'", "'proba'"),
    "boost": SWITCH,
    "lambda_min": ("16.1", "17", "6.1", "1.5, lambda_max=1", *NO_NUMBER),
    "lambda_max": ("16.1", "17", *NO_NUMBER),
    "bins": ("0", "1", "256", *WHOLE),
    "two_valued": ("(3,)", "(0, -1)", "(0.0,)", "('0',)", "(None,)", "(True,)"),
    "seed": ("2**30", *WHOLE),
}
ALLOWED = (
    "features=1", "features=256", "classes=2", "classes=256", "depth=0", "depth=30", "nodes=0",
    "nodes=1", "nodes=65535", "leaves=0", "leaves=1", "leaves=300", "grace_period=1",
    "grace_period=65535",
    "split_confidence=0.5", "split_confidence=1 / (1 << 29)", "tie_threshold=0",
    "tie_threshold=1", "regularization=0", "regularization=1", "bins=2", "bins=255",
    "two_valued=()", "two_valued=[0, 2, 2]", "two_valued=range(3)", "adaptive=False",
    "adaptive=True", "adaptive=True, depth=1", "boost=False", "boost=True", "lambda_min=0",
    "lambda_min=16, lambda_max=16", "lambda_min=6", "lambda_max=1.0", "lambda_max=16", "seed=0",
    "seed=2**30 - 1",
)  # fmt: skip
TRY_ALL = """
def attempt(words):
    try:
        eval("HoeffdingTree(**dict(small, %s))" % words)
        return "fine"
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)

small = {"features": 3, "classes": 2, "nodes": 3, "leaves": 1, "bins": 2}
for words in CASES:
    say(attempt(words))
"""
CASES = [f"{name}={value}" for name, values in WRONG.items() for value in values]


def outcomes() -> list[str]:
    lines: list[str] = []
    tree = loader.load("checked").HoeffdingTree
    exec(TRY_ALL, {"HoeffdingTree": tree, "CASES": [*CASES, *ALLOWED], "say": lines.append})
    return lines


def test_a_wrong_parameter_is_named_and_shown() -> None:
    for case, outcome in zip(CASES, outcomes(), strict=False):
        name, value = case.split("=", 1)
        assert outcome.startswith(f"ParameterError: {name} has to be "), case
        shown = eval(value.split(", ")[0] if name.startswith("lambda") else value)
        if name == "two_valued":
            shown = shown[-1]
        assert outcome.endswith(f", not {shown!r}"), case


def test_the_limits_of_every_parameter_are_allowed() -> None:
    results = dict(zip(ALLOWED, outcomes()[len(CASES) :], strict=True))
    assert results == dict.fromkeys(ALLOWED, "fine")


def test_micropython_refuses_the_same(run_micropython: Callable[[str], str]) -> None:
    """The messages are equal, except for the digits of floats."""
    head = f"from microshrub import HoeffdingTree\nsay = print\nCASES = {[*CASES, *ALLOWED]!r}\n"
    there = run_micropython(head + TRY_ALL).splitlines()
    for case, one, other in zip([*CASES, *ALLOWED], there, outcomes(), strict=True):
        assert one.split(" of ")[0] == other.split(" of ")[0], case


def test_every_parameter_has_its_cases() -> None:
    rows = loader.load("checked").HoeffdingTree._rows()
    assert set(WRONG) == {"features", "classes", *(row[0] for row in rows)}
