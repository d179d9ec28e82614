"""Gives functions that nobody asks for by name those names that the program has anyway.

Each name takes some 20 bytes of a board's RAM, and many of them another pool of names. Kernels
need none of their own, as MicroPython has no line for machine code in a traceback. Nor do
functions of a single expression, since the line that calls one says as much, nor the private parts
of a module that checks a configuration, whose errors are sentences. The names of the program's
attributes do for all: an attribute and a global of one name are two things.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Mapping

from ..kernels.syntax_tree import walk
from .merged_source import constant, is_text
from .unused_code import defined


def attributes(body: Iterable[ast.stmt]) -> set[str]:
    """The names of a program's attributes, but of those that have a meaning to MicroPython."""
    found = {each.attr for node in body for each in walk(node) if isinstance(each, ast.Attribute)}
    return {name for name in found if not name.startswith("__")} - {*dir(builtins)}


def unread(body: Iterable[ast.stmt]) -> list[str]:
    """The names of the kernels in a module, and of functions that are one expression."""
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    return [node.name for node in functions if _is_kernel(node) or _is_expression(node)]


def private(body: Iterable[ast.stmt]) -> list[str]:
    """The private names that a module defines, but for constants, of which nothing remains."""
    found = [name for node in body if not constant(node) for name in defined(node)]
    return [name for name in found if name.startswith("_") and not name.startswith("__")]


def new_names(
    able: Iterable[str],
    free: Collection[str],
    body: list[ast.stmt],
    others: Iterable[ast.AST] = (),
    kept: Collection[str] = (),
) -> dict[str, str]:
    """For these names of a module one of the free names each, as far as there are some.

    `kept` stay as they are, and so do those whose name is something else somewhere in the module.
    No new name is that of something in the module, or in `others`.
    """
    used = {name for node in [*body, *others] for each in walk(node) for name in _names(each)}
    inner = {name for node in body for name in _bound_within(node)}
    found = [name for name in able if name not in inner and name not in kept]
    return dict(zip(found, sorted({*free} - used - {*kept}), strict=False))


def rename(body: Iterable[ast.stmt], names: Mapping[str, str]) -> None:
    """Give them their new names, in place, wherever the module uses them."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.name = names.get(node.name, node.name)
        for each in walk(node):
            if isinstance(each, ast.Name):
                each.id = names.get(each.id, each.id)


def _is_expression(function: ast.FunctionDef) -> bool:
    code = [node for node in function.body if not is_text(node)]
    return len(code) == 1 and isinstance(code[0], ast.Return)


def _is_kernel(function: ast.FunctionDef) -> bool:
    return any("viper" in ast.unparse(each) for each in function.decorator_list)


def _names(node: ast.AST) -> list[str]:
    """The bare names in a node, and what it binds."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.ExceptHandler) and node.name:
        return [node.name]
    if isinstance(node, ast.Global):
        return list(node.names)
    return []


def _bound_within(top: ast.stmt) -> set[str]:
    """What is bound in a statement but the name that it defines for the module."""
    found: set[str] = set()
    own = (top, *(top.targets if isinstance(top, ast.Assign) else ()))
    for node in walk(top):
        if node not in own and not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
            found.update(_names(node))
    return found
