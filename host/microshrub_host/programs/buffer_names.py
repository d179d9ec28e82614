"""Gives a program's buffers numbers for names, which take RAM and which nobody reads there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from ..kernels.syntax_tree import walk

_TYPECODES = ("B", "H", "i")


def numbers(body: Iterable[ast.stmt]) -> dict[str, int]:
    """A number for each buffer in tables such as `[("window.codes", "B", n), ...]`."""
    names = (_name(node) for top in body for node in walk(top))
    return {name: number for number, name in enumerate(dict.fromkeys(filter(None, names)))}


def _name(node: ast.AST) -> str:
    """The name of a buffer if this is a row of a table, else nothing."""
    if isinstance(node, ast.Tuple) and len(node.elts) == 3:
        name, typecode, _ = (getattr(each, "value", None) for each in node.elts)
        if typecode in _TYPECODES and isinstance(name, str) and "." in name:
            return name
    return ""


def numbered(node: ast.stmt, numbers: Mapping[str, int]) -> ast.stmt:
    """The statement with these numbers for names."""
    for each in walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            each.value = numbers.get(each.value, each.value)
    return node
