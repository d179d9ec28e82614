"""A syntax tree is walked as the module ast walks it, but for operators and contexts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from microshrub_host.kernels.syntax_tree import called, walk
from microshrub_host.sources import library_files

LEFT_OUT = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
ODD = """
@f(*a, **b)
async def g(x: int = 1, /, *y, z=None) -> {None: 2, **c}:
    global h
    try:
        with k as (l, [m]), n: pass
    except E as e:
        raise e from None
    finally:
        async for o in p: yield (q := [r async for r in s if r])
    return f"{t!r:{u}}", lambda v=...: v[1:2, ::w], x if y else z, not -x < y
match x:
    case [1, {"a": A(b=c)}, *_] | None if d: del e
"""


def as_python_does(tree: ast.AST) -> list[ast.AST]:
    return [node for node in ast.walk(tree) if not isinstance(node, LEFT_OUT)]


@pytest.mark.parametrize(
    "source", [ODD, *library_files.sources()], ids=lambda source: getattr(source, "name", "odd")
)
def test_it_gives_the_same_nodes_in_the_same_order(source: str | Path) -> None:
    text = source if isinstance(source, str) else source.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert walk(tree) == as_python_does(tree)


def test_what_is_called() -> None:
    given = {"f(1)": "f", "f": "", "a.f(1)": "", "f()()": ""}
    for text, name in given.items():
        assert called(ast.parse(text, mode="eval").body) == name
