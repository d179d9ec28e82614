"""explain() returns, as text, the path that predict() takes, in the features' units."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microshrub_host.library import loader
from microshrub_host.streams.units import RAW_MAX, Scale

library = loader.load("checked")
words = library.explanation
MISSING: int = library.MISSING

# A program with the same output on every engine: it learns a small stream and explains it.
SCRIPT = """
def rows_of(samples):
    state, raw, labels = 7, [], []
    for _ in range(samples):
        row = []
        for _ in range(3):
            state = (state * 4093 + 12345) % 262139
            row.append(state % 4001 - 2000)
        raw.append(array("i", row))
        label = int(row[0] > 500) + int(row[0] > 500 and row[1] > -20)
        labels.append((label + int(row[2] > 900)) % 3)
    return raw, labels

def learned(leaf, leaves):
    raw, labels = rows_of(1500)
    quantizer = Quantizer(3, ((-1000, 1000), (-3, 3), (5, 5)))
    model = HoeffdingTree(3, 3, nodes=31, leaves=leaves, grace_period=40, split_confidence=0.01,
                          tie_threshold=0.2, leaf=leaf, adaptive=False, bins=16)
    codes = array("H", [0] * 3)
    for row, label in zip(raw, labels):
        quantizer.encode(row, codes)
        model.learn(codes, label)
    return raw, quantizer, model

def explained(leaf, leaves, every):
    raw, quantizer, model = learned(leaf, leaves)
    codes = array("H", [0] * 3)
    names, classes = ("price", "heat", "dull"), ("UP", "DOWN", "FLAT")
    units = ((0, 3), (17, 1), (0, -2))
    for row in raw[::every]:
        quantizer.encode(row, codes)
        say(explain(model, codes))
        say(explain(model, codes, quantizer))
        say(explain(model, codes, quantizer, names, classes, units))
"""


def program(engine: str = "python") -> dict[str, Any]:
    """Return the functions of SCRIPT; `said` has their output."""
    here = loader.load(engine)
    messages: list[str] = []
    names: dict[str, Any] = {name: getattr(here, name) for name in here.__all__}
    names["HoeffdingTree"] = here.HoeffdingTree
    names |= {"array": array, "say": messages.append, "said": messages}
    exec(SCRIPT, names)
    return names


def learned(leaf: str = "nba", leaves: int = 8) -> tuple[list[array[int]], Any, Any]:
    numbers: tuple[list[array[int]], Any, Any] = program()["learned"](leaf, leaves)
    return numbers


def test_a_path_in_plain_words() -> None:
    _, quantizer, model = learned("mc")
    codes = array("H", bytes(6))
    quantizer.encode(array("i", [700, 1500, 0]), codes)
    names, classes = ("price", "heat", "dull"), ("UP", "DOWN", "FLAT")
    explanation = words.explain(model, codes, quantizer, names, classes, [(0, 3)] * 3)
    assert explanation == "price <= 0.833, dull <= 0.259, price > 0.427 -> FLAT (0.47 of 66)"


TEST = re.compile(r"(\w+) (<=|>) (-?[\d.]+)")


@pytest.mark.parametrize("leaf", ["mc", "nb", "nba"])
@pytest.mark.parametrize("leaves", [2, 8])
def test_the_path_matches_predict(leaf: str, leaves: int) -> None:
    raw, quantizer, model = learned(leaf, leaves)
    codes = array("H", bytes(6))
    paths: dict[str, list[str]] = {}
    for row in raw:
        quantizer.encode(row, codes)
        explanation = words.explain(model, codes, quantizer, "abc", "xyz")
        tests, _, outcome = explanation.rpartition(" -> ")
        assert outcome[0] == "xyz"[model.predict(codes)]
        assert tests
        for name, sign, value in TEST.findall(tests):
            assert (row["abc".index(name)] > int(value)) == (sign == ">"), (explanation, row)
        paths.setdefault(tests, []).append(outcome)
    assert len(paths) == sum(not child for _, child in reached(model))
    if leaf == "mc":
        assert all(len(set(outcomes)) == 1 for outcomes in paths.values())


def reached(model: Any) -> list[tuple[int, int]]:
    """Return (node, its left child) of all nodes below the root."""
    child = next(b for name, _, b in model.buffers() if name == "tree.child")
    waiting, path = [0], []
    while waiting:
        node = waiting.pop()
        path.append((node, child[node]))
        if child[node]:
            waiting += [child[node], child[node] + 1]
    return path


def test_a_leaf_shows_its_counts() -> None:
    model = library.HoeffdingTree(1, 2, adaptive=False)
    x = array("H", [9])
    assert words.explain(model, x) == "class 0"
    for label in (1, 1, 0):
        model.learn(x, label)
    assert words.explain(model, x) == "class 1 (0.67 of 3)"
    assert words.explain(model, x, classes=("off", "on")) == "on (0.67 of 3)"


def test_explain_changes_only_the_votes() -> None:
    _, quantizer, model = learned()
    x = array("H", [1, 2, 3])
    model.predict(x)
    before = model.state_crc32(), quantizer.state_crc32()
    words.explain(model, x, quantizer)
    assert (model.state_crc32(), quantizer.state_crc32()) == before


def test_the_same_text_on_all_engines(run_micropython: Callable[[str], str]) -> None:
    runs = (
        "for leaf, leaves in (('mc', 8), ('nba', 2), ('nb', 8)):\n    explained(leaf, leaves, 9)\n"
    )
    expected = []
    for engine in ("checked", loader.fastest()):
        names = program(engine)
        exec(runs, names)
        expected.append(names["said"])
    head = """
from array import array
from microshrub import HoeffdingTree, Quantizer, explain
say = print
"""
    expected.append(run_micropython(head + SCRIPT + runs).splitlines())
    assert expected[0] == expected[1] == expected[2]
    assert len(set(expected[0])) > 20


def test_explain_is_loaded_on_first_use(run_micropython: Callable[[str], str]) -> None:
    script = """
import sys
from microshrub import HoeffdingTree, Quantizer
before = "microshrub.explanation" in sys.modules
from microshrub import explain
print(before, "microshrub.explanation" in sys.modules)
"""
    assert run_micropython(script) == "False True\n"


WRONG = [
    ("model=library.ShrubEnsemble(3, 3)", "only a HoeffdingTree has a tree"),
    ("names=('a', 'b')", "names has to have 3 items, not 2"),
    ("classes=('a', 'b')", "classes has to have 3 items, not 2"),
    ("quantizer=quantizer, units=((0, 0),)", "units has to have 3 items, not 1"),
    ("units=((0, 0),) * 3", "units are of raw values: they need a quantizer"),
    ("quantizer=library.Quantizer(2)", "the quantizer has to be of 3 features"),
    ("quantizer=library.Quantizer(3)", "call freeze() first"),
    ("x=[1, 2, 3]", "x has to be array('H') of 3 codes"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_arguments(arguments: str, message: str) -> None:
    _, quantizer, model = learned()
    known = {"library": library, "quantizer": quantizer}
    given = {"model": model, "x": array("H", [1, 2, 3])} | eval(f"dict({arguments})", known)
    with pytest.raises(ValueError, match=re.escape(message)):
        words.explain(**given)


# The quantizer's inverse


@st.composite
def quantizers(draw: st.DrawFn) -> Any:
    """Draw a quantizer of one feature, with a range of any size."""
    span = min(draw(st.integers(0, 2 ** draw(st.integers(0, 30)))), 2 * RAW_MAX)
    low = draw(st.integers(-RAW_MAX, RAW_MAX - span))
    return library.Quantizer(1, ((low, low + span),))


def code_of(quantizer: Any, raw: int) -> int:
    codes = array("H", [0])
    quantizer.encode(array("i", [raw]), codes)
    return codes[0]


@given(quantizers(), st.data())
def test_raw_is_the_inverse_of_the_codes(quantizer: Any, data: st.DataObject) -> None:
    seen = code_of(quantizer, data.draw(st.integers(-RAW_MAX, RAW_MAX)))
    code = data.draw(st.sampled_from([seen, max(seen - 1, 0)]) | st.integers(0, 65535))
    limit = quantizer.raw(0, code)
    near = st.integers(max(limit - 2, -RAW_MAX), max(min(limit + 2, RAW_MAX), -RAW_MAX))
    for raw in data.draw(st.lists(near | st.integers(-RAW_MAX, RAW_MAX), max_size=8)):
        assert (raw <= limit) == (code_of(quantizer, raw) <= code)
    assert limit == MISSING or code_of(quantizer, limit) <= code
    assert limit == RAW_MAX or code_of(quantizer, limit + 1) > code


def test_raw_at_the_ends() -> None:
    quantizer = library.Quantizer(2, ((0, 100), (5, 5)))
    assert [quantizer.raw(f, 0) for f in range(2)] == [MISSING, MISSING]
    assert [quantizer.raw(f, 65535) for f in range(2)] == [RAW_MAX, RAW_MAX]
    assert (quantizer.raw(1, 32766), quantizer.raw(1, 32767)) == (4, 5)
    for feature, code in ((2, 0), (-1, 0), (0, 65536), (0, -1), (0, 1.0)):
        with pytest.raises(ValueError, match=r"(feature|code) has to be"):
            quantizer.raw(feature, code)


# Numbers as text


def test_decimals() -> None:
    expected = {
        (5, 0, 2): "0.05", (-5, 0, 2): "-0.05", (0, 0, 3): "0", (1250, 0, 2): "12.5",
        (-1200, 0, 2): "-12", (7, 0, -2): "700", (3, 1000, 2): "1000.03", (-150, 1, 2): "-0.5",
        (12, 0, 20): "12e-20", (12, 0, -20): "12e20", (100, 0, 0): "100", (-100, 0, 1): "-10",
    }  # fmt: skip
    assert {given: words.decimal(*given) for given in expected} == expected


@given(st.integers(-RAW_MAX, RAW_MAX), st.integers(-(10**9), 10**9), st.integers(-20, 20))
def test_decimals_are_exact(raw: int, offset: int, digits: int) -> None:
    assert Fraction(words.decimal(raw, offset, digits)) == offset + raw / Fraction(10) ** digits


@given(st.integers(0, 10**4), st.integers(1, 10**4))
def test_shares(part: int, rest: int) -> None:
    share = words.share(part, part + rest)
    assert re.fullmatch(r"[01]\.\d\d", share)
    assert abs(float(share) - part / (part + rest)) <= 0.005 + 1e-9


@given(
    st.lists(st.integers(-999, 999), min_size=2, max_size=30),
    st.integers(0, 6),
    st.sampled_from([0, 10**6, -(10**9)]),
    st.integers(0, 65535),
)
@example([1, 1], 4, -(10**9), 16568)  # a unit of 1e-12, where floats are 1e-7 apart
def test_thresholds_separate_the_values_like_the_codes(
    wholes: list[int], places: int, offset: int, code: int
) -> None:
    """A threshold's text as a float separates values in their unit if floats are fine enough."""
    values = np.array([[float(f"{offset + w / 10**places:.{places}f}")] for w in wholes])
    scale = Scale.fit(values)
    apart = float(np.spacing(np.abs(values)).max())  # from one float to the next
    finer = apart * 10.0 ** scale.units()[0][1] > 1  # the unit is finer
    raw = scale.apply(values).ravel().tolist()
    quantizer = library.Quantizer(1)
    quantizer.observe(array("i", raw[:8]))
    quantizer.freeze()
    for threshold in (code, *(code_of(quantizer, r) for r in raw)):
        condition = words.condition(0, threshold, False, quantizer, ("v",), scale.units())
        limit = float(condition.removeprefix("v <= "))
        for value, r in zip(values.ravel(), raw, strict=True):
            if not finer or abs(value - limit) > apart:
                assert (value <= limit) == (code_of(quantizer, r) <= threshold), condition
