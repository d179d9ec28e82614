"""A learner refuses wrong arguments before anything changes, with the same messages on CPython and
on a real MicroPython.

The cases are source text, which both evaluate.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache

import pytest

from microshrub_host.library import library_files, loader
from microshrub_host.library.learners import MODELS, parameters
from microshrub_host.programs import native_files

# Each parameter: the message about allowed values, and values that are not allowed.
WHOLE = (
    "-1",
    "1.0",
    "1.5",
    "None",
    "'1'",
    "b'1'",
    "True",
    "False",
    "[1]",
    "(1,)",
    "2**40",
    "-2**40",
)
TEXT = ("None", "1", "True", "''", "'Mse'", "b'mse'", "['mse']", "('mse', 'best')")
PARAMETERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "features": ("a whole number of 1..256", ("0", "257", *WHOLE)),
    "classes": ("a whole number of 2..256", ("0", "1", "257", *WHOLE)),
    "window": ("a whole number of 2..1024", ("-1", "1", "1025", "32.0", *WHOLE)),
    "trees": ("a whole number of 1..255", ("0", "256", *WHOLE)),
    "depth": ("a whole number of 1..30", ("0", "31", *WHOLE)),
    "step": (
        "a number of 1/1024..64",
        (
            "0", "0.0", "1/1025", "1e-9", "64.001", "65", "-0.5", "-64", "None", "'0.5'", "True",
            "float('nan')", "float('inf')", "float('-inf')", "(0.5,)", "[0.5]", "1j",
        ),
    ),
    "loss": ("one of mse, cross_entropy", (*TEXT, "'cross-entropy'")),
    "splitter": ("one of best, random", (*TEXT, "'mse'")),
    "max_features": ("a whole number of 0..3", ("4", "257", *WHOLE)),
    "leaf": ("one of proba, class", (*TEXT, "'mse'")),
    "train_every": ("a whole number of 1..32767", ("-1", "32768", *WHOLE)),
    "trigger": ("one of sample, error", (*TEXT, "'mse'")),
    "feature_bits": (
        "one of 8, 16",
        ("0", "1", "7", "9", "12", "32", "8.0", "16.0", "-8", "None", "'8'", "True", "(8,)"),
    ),
    "seed": ("a whole number of 0..1073741823", ("2**30", "2**31", *WHOLE)),
}  # fmt: skip
WRONG_PARAMETERS = [(name, value) for name, (_, values) in PARAMETERS.items() for value in values]

# Least and greatest of each, which are allowed. The other parameters keep the model small.
ALLOWED = [
    "features=1", "features=256", "classes=2", "classes=256", "window=2", "window=1024", "trees=1",
    "trees=255, window=2", "depth=1", "depth=30", "step=1/1024", "step=1", "step=64", "step=0.3",
    "loss='mse'", "loss='cross_entropy'", "splitter='best'", "splitter='random'",
    "max_features=0", "max_features=3", "leaf='proba'", "leaf='class'", "train_every=1",
    "train_every=32767", "trigger='sample'", "trigger='error'", "feature_bits=8",
    "feature_bits=16", "seed=0", "seed=2**30 - 1",
]  # fmt: skip

X = "array('H', [1, 2, 3])"
ROWS = "x has to be array('H') of 3 codes"
LABELS = "label has to be a whole number of 0..1"
WRONG_ROWS = [
    "array('H', [])", "array('H', [1, 2])", "array('H', [1, 2, 3, 4])", "array('B', [1, 2, 3])",
    "array('b', [1, 2, 3])", "array('i', [1, 2, 3])", "array('f', [1, 2, 3])",
    "array('d', [1, 2, 3])", "array('q', [1, 2, 3])", "array('B', [1, 2, 3, 4, 5, 6])",
    "[1, 2, 3]", "(1, 2, 3)", "b'abc'", "bytearray(3)", "bytearray(6)", "'abc'", "None", "3",
    "memoryview(array('H', [1, 2, 3]))",
]  # fmt: skip
WRONG_LABELS = [
    "-1",
    "2",
    "256",
    "2**31",
    "2**40",
    "1.5",
    "1.0",
    "None",
    "'1'",
    "b'1'",
    "True",
    "(1,)",
]
# Calls of a model of 3 features and 2 classes, and words of the message.
WRONG_CALLS = [
    *((f"predict({x})", ROWS) for x in WRONG_ROWS),
    *((f"learn({x}, 1)", ROWS) for x in WRONG_ROWS),
    *((f"learn({X}, {label})", f"{LABELS}, not ") for label in WRONG_LABELS),
    (f"run({X}, bytearray(2), bytearray(2))", "x has to be array('H') of 6 codes"),
    (
        f"run({X}, bytearray(1), bytearray(2))",
        "predictions has to be a bytearray as long as labels",
    ),
    (f"run({X}, bytearray([2]), bytearray(1))", "labels has to be a bytearray of classes 0..1"),
    ("run(array('H', range(9)), bytearray([0, 255, 1]), bytearray(3))", "labels has to be"),
    ("run(array('B', range(9)), bytearray(3), bytearray(3))", "array('H') of 9 codes"),
    ("run([1, 2, 3], bytearray(1), bytearray(1))", ROWS),
]

# Returns the result of each case: an error's name and message, or "fine".
TRY_ALL = """
from array import array

def attempt(source, model):
    try:
        eval(source)
        return "fine"
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)

def make(words):
    return "library.ShrubEnsemble(**dict(small, %s))" % words

small = {"features": 3, "classes": 2, "window": 4, "trees": 2, "depth": 2}
for name, value in WRONG_PARAMETERS:
    words = "%s=%s" % (name, value)
    say(attempt(make(words), None))
    say(attempt("library.ShrubEnsemble.nbytes(**dict(small, %s))" % words, None))
for words in ALLOWED:
    say(attempt(make(words), None))

model = library.ShrubEnsemble(**small)
for i in range(6):
    model.learn(array("H", [i * 9, 7, 60000 - i]), i & 1)
before = model.state_crc32()
for call, _ in WRONG_CALLS:
    outcome = attempt("model." + call, model)
    say("%s %s" % (model.state_crc32() == before, outcome))
say(str(before))
"""


@cache
def outcomes(engine: str) -> list[str]:
    lines: list[str] = []
    names = {
        "library": loader.load(engine),
        "say": lines.append,
        "WRONG_PARAMETERS": WRONG_PARAMETERS,
        "ALLOWED": ALLOWED,
        "WRONG_CALLS": WRONG_CALLS,
    }
    exec(TRY_ALL, names)
    return lines


def split(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the results of wrong parameters (two lines a case), allowed ones and wrong calls."""
    wrong = 2 * len(WRONG_PARAMETERS)
    allowed = wrong + len(ALLOWED)
    return lines[:wrong], lines[wrong:allowed], lines[allowed:-1]


@pytest.mark.parametrize("engine", ["checked", "llvm"])
def test_a_wrong_parameter_is_named_with_allowed_and_given_values(engine: str) -> None:
    made, sized = split(outcomes(engine))[0][::2], split(outcomes(engine))[0][1::2]
    for (name, value), outcome in zip(WRONG_PARAMETERS, made, strict=True):
        allowed = PARAMETERS[name][0]
        assert outcome == f"ParameterError: {name} has to be {allowed}, not {eval(value)!r}"
    assert sized == made  # nbytes() refuses the same parameters as the learner


@pytest.mark.parametrize("engine", ["checked", "llvm"])
def test_the_limits_of_every_parameter_are_allowed(engine: str) -> None:
    assert dict(zip(ALLOWED, split(outcomes(engine))[1], strict=True)) == dict.fromkeys(
        ALLOWED, "fine"
    )


@pytest.mark.parametrize("engine", ["checked", "python", "llvm"])
def test_a_wrong_call_is_refused_before_anything_changes(engine: str) -> None:
    for (call, words), outcome in zip(WRONG_CALLS, split(outcomes(engine))[2], strict=True):
        assert outcome.startswith(("True ValueError: ", "True ParameterError: ")), call
        assert words in outcome, call


def test_micropython_refuses_the_same_with_the_same_message(
    run_micropython: Callable[[str], str],
) -> None:
    head = f"""
import microshrub as library
say = print
WRONG_PARAMETERS = {WRONG_PARAMETERS!r}
ALLOWED = {ALLOWED!r}
WRONG_CALLS = {WRONG_CALLS!r}
"""
    there, here = run_micropython(head + TRY_ALL).splitlines(), outcomes("checked")
    cases = [*(case for case in WRONG_PARAMETERS for _ in range(2)), *ALLOWED, *WRONG_CALLS, "crc"]
    assert dict(enumerate(zip(cases, there, strict=True))) == dict(
        enumerate(zip(cases, here, strict=True))
    )


# A row that was checked may have changed its length since
RESIZED = """
from array import array

model = library.ShrubEnsemble(3, 2, window=4, trees=2)
x = array("H", (1, 2, 3))
for change in ("", "x.append(4)", "x[2:4] = array('H', ())"):
    exec(change)
    for call in ("predict(x)", "learn(x, 1)", "predict()", "predict(bytes(6))", "predict(x)"):
        try:
            say(str(eval("model." + call)))
        except (TypeError, ValueError) as error:
            say(type(error).__name__)
"""


@pytest.mark.parametrize("emit", ["viper", "native"])
def test_a_row_is_checked_again_when_its_length_changes(
    emit: str, run_micropython: Callable[[str], str], native_tools_for: Callable[[str], object]
) -> None:
    lines: list[str] = []
    exec(RESIZED, {"library": loader.load("python"), "say": lines.append})
    refused = ["ValueError", "ValueError", "TypeError", "ValueError", "ValueError"]
    assert lines[:5] == ["0", "0", "TypeError", "ValueError", "1"]
    assert lines[5:] == refused * 2
    head = "import microshrub as library\nsay = print\n"
    if emit == "native":
        native_tools_for("x86")
        file = native_files.compiled("x86", library_files.closure(["learners", "shrub.ensemble"]))[
            0
        ]
        head = f"import sys\nsys.path.insert(0, {str(file.parent.parent)!r})\n" + head
    assert run_micropython(head + RESIZED).split() == lines


def test_every_parameter_has_its_cases() -> None:
    assert set(PARAMETERS) == {"features", "classes", *parameters("shrub")}


def test_max_features_is_at_most_the_number_of_features() -> None:
    library = loader.load("checked")
    for features in (1, 9, 256):
        library.ShrubEnsemble(features, 2, max_features=features)
        with pytest.raises(ValueError, match=rf"max_features .* 0\.\.{features}, not"):
            library.ShrubEnsemble(features, 2, max_features=features + 1)


@pytest.mark.parametrize("classes", [2, 3, 256])
def test_every_class_of_the_range_is_a_label(classes: int) -> None:
    model = loader.load("checked").ShrubEnsemble(1, classes, window=2, trees=1)
    for label in (0, classes - 1):
        model.learn(array("H", [label]), label)
    for label in (-1, classes):
        with pytest.raises(ValueError, match=rf"label .* 0\.\.{classes - 1}, not {label}"):
            model.learn(array("H", [0]), label)


@pytest.mark.parametrize("class_name", sorted(MODELS.values()))
@pytest.mark.parametrize("engine", ["checked", "c"])
def test_an_untrained_learner_predicts_a_class(engine: str, class_name: str) -> None:
    """Where labels come late, the first predictions come before any label."""
    model = getattr(loader.load(engine), class_name)(2, 3)
    assert model.predict(array("H", [7, 60000])) in range(3)
    model.learn(array("H", [7, 60000]), 2)
    assert model.predict(array("H", [7, 60000])) in range(3)


def test_a_wrong_row_is_not_learned_in_part() -> None:
    model = loader.load("checked").ShrubEnsemble(1, 3, window=4, trees=2)
    predictions = bytearray([9, 9, 9])
    before = model.state_crc32()
    with pytest.raises(ValueError, match=r"^labels .* 0\.\.2"):
        model.run(array("H", [1, 2, 3]), bytearray([0, 1, 3]), predictions)
    assert model.state_crc32() == before
    assert predictions == bytearray([9, 9, 9])
