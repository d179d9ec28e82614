"""Merged modules of a program: names stay distinct, and unused code is left out."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from microshrub_host.library.syntax_tree import source_text
from microshrub_host.programs import error_texts, mpy, short_names
from microshrub_host.programs.merged_source import Merged
from microshrub_host.programs.short_names import shortened_parameters
from microshrub_host.programs.unused_code import defined, used, without_missing

SOURCES = {
    "base": """
\"\"\"What the others need.\"\"\"
from micropython import const
_SIZE = const(3)
LIMIT = const(7)
count = 0

def _table(n):
    return [n] * _SIZE

def add(n):
    global count
    count += n
    return count

class Base:
    count = 11

    def size(self, limit=LIMIT):
        return self.count + _SIZE + limit
""",
    "room.first": """
from micropython import const
from ..base import LIMIT, Base, _table as table
_SIZE = const(5)

def _table(n):
    return table(n) + [_SIZE, LIMIT]

class First(Base):
    def rows(self, count):
        add = [count for count in _table(count)]
        return add, sum(count for count in add), (lambda LIMIT: LIMIT)(1)
""",
    "second": """
from .learners import names

class Second:
    def go(self, kind):
        if kind:
            from .base import add
        else:
            from .elsewhere import add
        return add(2)

    def first(self):
        from .room.first import First as add

        return add().rows(1), names()
""",
    "learners": """
_LEARNERS = "One .one"

def names():
    return _LEARNERS
""",
    "elsewhere": "def add(n):\n    return n\n",
}
LEARNERS = {"First": "room.first", "Second": "second", "Other": "elsewhere", "Gone": "gone"}


@pytest.fixture
def merged() -> Merged:
    modules = [name for name in SOURCES if name != "elsewhere"]
    keep = {"First": "room.first", "Second": "second"}
    return Merged(SOURCES, modules, keep, LEARNERS)


def run(body: list[ast.stmt]) -> dict[str, Any]:
    text = source_text(ast.Module(body, [])).replace("from micropython import const\n", "")
    namespace: dict[str, Any] = {"const": int, "__name__": "one"}
    exec(text, namespace)
    return namespace


def test_merged_modules_work_as_before(merged: Merged) -> None:
    result = run(merged.body)
    second, first = result["Second"](), result["First"]()
    assert (second.go(1), second.go(1)) == (2, 4)
    assert result[merged.names["base"]["count"]] == 4
    assert first.rows(2) == ([2, 2, 2, 5, 7], 18, 1)
    assert first.size() == 11 + 3 + 7
    assert second.first()[0] == ([1, 1, 1, 5, 7], 15, 1)


def test_modules_that_are_not_merged_are_imported(merged: Merged) -> None:
    with pytest.raises(ImportError, match=r"microshrub\.elsewhere"):
        run(merged.body)["Second"]().go(0)


def test_the_table_of_learners_equals_that_of_the_files(merged: Merged) -> None:
    rows = run(merged.body)["Second"]().first()[1].split("\n")
    assert rows == ["First .", "Second .", "Other .elsewhere", ""]


def test_a_name_with_two_meanings_is_refused() -> None:
    sources = {
        "a": "def g():\n    return 1\n",
        "b": "from .a import g as f\ndef h(g):\n    f(g)\n",
    }
    with pytest.raises(ValueError, match=r"^b: f cannot .* g"):
        Merged(sources, ["a", "b"], {}, {})


def test_a_statement_with_an_effect_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be merged: print"):
        Merged({"a": "print(1)\n"}, ["a"], {}, {})


def test_code_that_only_a_removed_function_uses_is_removed() -> None:
    source = """
import os
from micropython import const
_MOST = const(3)
_ROWS = (1, 2)
def used(n):
    return min(n, _MOST)
def check(n):
    return _inner(n)
def go(n):
    if n:
        check(n)
def _inner(n):
    return os.stat(_ROWS[n])
"""
    tree = ast.parse(without_missing("two", source, {"two"}, ["two:check", "three:used"]))
    assert [name for node in tree.body for name in defined(node)] == [
        *("const", "_MOST", "used", "go")
    ]


def test_the_import_of_a_missing_module_raises_and_ends_its_branch() -> None:
    source = """
from .base import first
def go(kind):
    if kind == "one":
        from .room.one import f
        f()
    elif kind == "two":
        from .two import f, g
        g(f)
    return kind
"""
    error = """raise ImportError("no module named 'microshrub.two'")"""
    cut = source.replace("from .two import f, g", error).replace("        g(f)\n", "")
    text = without_missing("three", source, {"base", "room.one"})
    assert text == ast.unparse(ast.parse(cut))
    assert without_missing("three", source, {"room.one", "two"}) == ast.unparse(ast.parse(source))


def test_a_class_that_a_program_does_not_use_is_left_out_of_its_module() -> None:
    there = """
class Saving:
    def make(self, held):
        if held:
            return Held()
        return Saving()
class Held(Saving):
    pass
"""
    user = """
def go(held):
    if held:
        from .there import Held
        return Held()
    from .there import Saving
    return Saving().make(held)
"""
    left_out = {"there:Held"}
    texts = {
        name: without_missing(name, text, {"there"}, left_out)
        for name, text in {"there": there, "user": user}.items()
    }
    merged = Merged(texts, texts, {}, {})
    text = source_text(ast.Module(used(merged.body, {"go"}), []))
    assert "class Saving" in text
    assert "Held" not in text
    space = run(merged.body)
    assert isinstance(space["go"](held=False), space["Saving"])
    with pytest.raises(ImportError, match=r"microshrub\.there"):
        space["go"](held=True)


def test_unused_code_is_left_out() -> None:
    tree = ast.parse("""
import gc, sys
LEFT = 1
def loop():
    return loop()
def by_name():
    return gc
class Used(Base):
    KIND = kind()
    def __init__(self):
        self.go()
    def go(self):
        return getattr(self, "this or by_name")
    def idle(self):
        return helper()
class Base:
    pass
def kind():
    return sys
def helper():
    return LEFT
""")
    text = source_text(ast.Module(used(tree.body, {"Used"}), []))
    expected = ["import gc, sys", "def by_name", "class Used", "KIND", "__init__", "def go"]
    for word in [*expected, "class Base", "def kind"]:
        assert word in text
    for word in ("LEFT", "loop", "idle", "helper"):
        assert word not in text


def test_error_texts_are_moved_to_a_file() -> None:
    tree = ast.parse("""
def go(n):
    if n > 9:
        raise ValueError("too much: there is room for %d of %s" % (n, "a kind of texts, say"))
    if n:
        raise ValueError("short")
    raise KeyError("too much: there is room for %d of %s" + "a long text without 100%%" + str(n))
""")
    body, file = error_texts.moved(tree.body)

    def error_text(at: int, values: int = 0) -> str:
        line = file[at:].split(b"\n")[0].decode()
        assert values == line.count("%d") + line.count("%s")
        return line

    result = run(body)
    result[error_texts.FUNCTION] = error_text
    with pytest.raises(ValueError, match=r"too much: .* 10 .* texts, say"):
        result["go"](10)
    with pytest.raises(ValueError, match="short"):
        result["go"](1)
    with pytest.raises(KeyError, match="100%%0"):
        result["go"](0)
    assert file.count(b"too much") == 1
    assert b"short" not in file


def test_buffers_are_numbered_instead_of_named() -> None:
    tree = ast.parse("""
def table(n):
    return [("one.words", "i", n), ("one.bytes", "B", 2 * n), ("state", "i", 3), ("a.b", n, 1)]
FIXED = (("one.bytes", (1, 2)), ("a.b", ()))
""")
    short_names.number_buffers(tree.body)
    result = run(tree.body)
    assert result["table"](4) == [(0, "i", 4), (1, "B", 8), ("state", "i", 3), ("a.b", 4, 1)]
    assert result["FIXED"] == ((1, (1, 2)), ("a.b", ()))


def test_names_that_never_change_become_constants() -> None:
    source = """
from micropython import const
_SIZE = const(3)
LIMIT = _SIZE
_WAYS = ("one", 2)
WORDS = "some words"
count = 0
_own = [1]
def go():
    global count
    count += LIMIT
    return _WAYS, WORDS, count, _BEHIND
_BEHIND = (5,)
"""
    later = "def first():\n    from .z import LATER\n    return LATER\n"
    sources = {"a": source, "b": "from .a import WORDS\n", "c": later, "z": "LATER = 4\n"}
    text = source_text(ast.Module(Merged(sources, ["a", "c", "z"], {}, {}).body, []))
    assert "_LIMIT = const(_SIZE)" in text
    assert "_WAYS = const(('one', 2))" in text
    for line in ("WORDS = 'some words'", "count = 0", "_own = [1]", "LATER = 4", "_BEHIND = (5,)"):
        assert f"\n{line}\n" in text


def test_parameters_that_no_call_names_get_short_names() -> None:
    tree = ast.parse("""
def helper(first, second=2):
    return first * 10 + second
def by_name(low, high):
    return low - high
def inside(amount, others):
    return [amount + others for amount in (1, 2)]
class Own:
    def __init__(self, size):
        self.size = size
    def grown(self, much):
        return self.size + much
class Asked:
    def __init__(self, size):
        self.size = size
    def grown(self, much):
        return self.size + self._less(much)
    def _less(self, amount):
        return amount - 1
@micropython.viper
def kernel(table, at: int) -> int:
    return at
""")
    callers = [ast.parse("by_name(1, high=2)\nAsked(**options)")]
    shortened_parameters(tree.body, callers, {"Asked"})
    text = source_text(tree)
    for line in (
        "def helper(n, s=2)",
        "def by_name(n, high)",
        "def inside(amount, others)",
        "def __init__(self, n)",
        "def grown(self, n)",
        "def __init__(self, size)",
        "def grown(self, much)",
        "def _less(self, amount)",
        "def kernel(table, at: int)",
    ):
        assert line in text
    result = run(ast.parse(text.replace("@micropython.viper", "")).body)
    assert result["helper"](4) == 42
    assert result["inside"](5, 6) == [7, 8]
    assert result["Own"](3).grown(4) == 7
    assert result["Asked"](3).grown(much=4) == 6


def test_a_class_is_left_out_of_a_file_that_is_not_merged() -> None:
    names = ["device.switches", "device.companions"]
    whole, less = (
        [mpy.read(path) for path in mpy.compiled(mpy.BYTECODE_ONLY, names, left_out)]
        for left_out in ((), ("device.switches:Buzzer",))
    )
    assert {name for module in whole for name in module.names} >= {"Buzzer", "freq"}
    assert not {name for module in less for name in module.names} & {"Buzzer", "freq"}
    others, same = ([each for each in made if each.name == "companions"] for made in (whole, less))
    assert others == same
