"""Walking and visiting a syntax tree equals the module ast, without operators and contexts."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from microshrub_host.library import library_files
from microshrub_host.library.syntax_tree import Transformer, Visitor, called, walk

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


def text_of(source: str | Path) -> str:
    return source if isinstance(source, str) else source.read_text(encoding="utf-8")


of_each_source = pytest.mark.parametrize(
    "source", [ODD, *library_files.sources()], ids=lambda source: getattr(source, "name", "odd")
)


@of_each_source
def test_walking_gives_the_same_nodes_in_the_same_order(source: str | Path) -> None:
    tree = ast.parse(text_of(source))
    assert walk(tree) == as_python_does(tree)


class Noting:
    """A mixin that records the nodes that a visitor passes, in order."""

    def __init__(self) -> None:
        self.passed: list[ast.AST] = []

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, LEFT_OUT):
            self.passed.append(node)
        return super().visit(node)  # type: ignore[misc]


@of_each_source
def test_visitors_pass_the_same_nodes_as_pythons(source: str | Path) -> None:
    tree = ast.parse(text_of(source))
    pairs: list[tuple[type, type]] = [
        (Visitor, ast.NodeVisitor),
        (Transformer, ast.NodeTransformer),
    ]
    for ours, theirs in pairs:
        visitor, expected = (type("", (Noting, each), {})() for each in (ours, theirs))
        visitor.visit(tree)
        expected.visit(tree)
        assert visitor.passed == expected.passed


def change_all(node: Any) -> Any:
    """Replace a node by another one, by several, or by none."""
    if isinstance(node, ast.Name):
        return ast.Name(node.id * 2, node.ctx)
    if isinstance(node, ast.Assign):
        return [node, ast.Pass()]
    if isinstance(node, ast.AugAssign):
        return None
    return node


class Ours(Transformer):
    visit_Name = visit_Assign = visit_AugAssign = staticmethod(change_all)


class Theirs(ast.NodeTransformer):
    visit_Name = visit_Assign = visit_AugAssign = staticmethod(change_all)


@of_each_source
def test_a_transformer_makes_the_same_changes_as_pythons(source: str | Path) -> None:
    text = text_of(source)
    changed, expected = Ours().visit(ast.parse(text)), Theirs().visit(ast.parse(text))
    assert ast.dump(changed) == ast.dump(expected)
    assert ast.dump(changed) != ast.dump(ast.parse(text))


def test_a_call_has_the_name_of_its_function() -> None:
    given = {"f(1)": "f", "f": "", "a.f(1)": "", "f()()": ""}
    for text, name in given.items():
        assert called(ast.parse(text, mode="eval").body) == name
