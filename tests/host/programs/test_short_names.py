"""Functions get short names that the program contains anyway, and keep their meaning."""

from __future__ import annotations

import ast
from typing import Any

from microshrub_host.library.syntax_tree import source_text
from microshrub_host.programs import short_names

SOURCE = '''
from micropython import const
from elsewhere import _helper

_SIZE = const(3)
_TABLE = (1, 2)

@micropython.viper
def double(x: int) -> int:
    return x * 2

@micropython.viper
def take(x: int) -> int:
    y = int(double(x))
    return y + 1

@micropython.viper
def shown(x: int) -> int:
    return x

def half(x):
    """One expression."""
    return x // 2

def long(x):
    y = half(x)
    return y

def local(items):
    total = 0
    for shown in items:
        total += shown
    return total

class Thing:
    kernel = double

    def __init__(self):
        self.level = 4
        self._state = 5

    def take(self):
        return take(self.level) + half(self._state) + Thing.kernel(1)

    def width(self, x):
        double = 7
        return double + long(x)
'''


def run(text: str) -> dict[str, Any]:
    plain = text.replace("@micropython.viper", "").replace("from micropython import const", "")
    plain = plain.replace("from elsewhere import _helper", "def const(x): return x")
    scope: dict[str, Any] = {}
    exec(plain, scope)
    return scope


def renamed(kept: tuple[str, ...] = ()) -> tuple[list[ast.stmt], dict[str, str]]:
    body = ast.parse(SOURCE).body
    free = short_names.attributes(body)
    names = short_names.new_names(short_names.unread(body), free, body, kept=kept)
    short_names.rename(body, names)
    return body, names


def test_renamed_code_works_as_before() -> None:
    before = run(SOURCE)
    body, names = renamed()
    after = run(source_text(ast.Module(body, [])))
    assert names.keys() == {"half"}  # `double`, `shown` and `take` have other meanings, too
    for scope in (before, after):
        thing = scope["Thing"].__new__(scope["Thing"])
        thing.level, thing._state = 4, 5
        assert scope["local"]([1, 2, 3]) == 6
        assert thing.width(8) == 11
    assert after[names["half"]](9) == 4


def test_a_kernel_is_called_by_its_new_name_everywhere() -> None:
    source = SOURCE.replace("double = 7\n        return double", "return 7")
    body = ast.parse(source).body
    names = short_names.new_names(short_names.unread(body), {"level", "_state", "width"}, body)
    assert names.keys() == {"double", "half"}
    short_names.rename(body, names)
    text = source_text(ast.Module(body, []))
    assert "double" not in text
    assert run(text)["Thing"]().take() == run(source)["Thing"]().take()


def test_functions_that_are_accessed_by_name_keep_it() -> None:
    body, names = renamed(kept=("half",))
    assert names == {}
    assert source_text(ast.Module(body, [])) == source_text(ast.parse(SOURCE))


def test_no_new_name_is_a_global_a_builtin_or_magic() -> None:
    body = ast.parse(
        SOURCE + "\ndef more(x):\n    x.len = x.Thing = x.__class__\n    return x"
    ).body
    free = short_names.attributes(body)
    assert {"level", "_state", "Thing"} <= free
    assert not {"len", "__class__", "__init__", "__call__"} & free
    renamed = short_names.new_names([f"f{k}" for k in range(50)], free, body)
    assert not {"Thing", "double", "local"} & {*renamed.values()}


def test_private_parts_exclude_constants_and_imports() -> None:
    body = ast.parse(SOURCE).body
    assert "_TABLE" in short_names.private(body)
    assert "_SIZE" not in short_names.private(body)
    names = short_names.new_names(short_names.private(body), {"level", "_state"}, body)
    assert names.keys() == {"_TABLE"}
