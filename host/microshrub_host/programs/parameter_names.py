"""Gives parameters names that the firmware has anyway, where nobody passes them by name.

MicroPython keeps the names of a function's parameters, each of which takes RAM; it keeps none of
other variables, nor those of kernels. The methods of public classes keep them, and so does what is
called with `**`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from ..kernels.syntax_tree import walk

_SHORT = (
    "n",
    "s",
    "t",
    "text",
    "code",
    "value",
    "state",
    "step",
    "start",
    "count",
    "name",
    "data",
)


def shortened_parameters(
    body: list[ast.stmt], others: Iterable[ast.AST], public: Collection[str]
) -> None:
    """Rename them in a module, in place; `others` may call what is in it."""
    kept = _passed([*body, *others])
    for node in body:
        methods = node.body if isinstance(node, ast.ClassDef) else []
        for each in [node, *methods]:
            if isinstance(each, ast.FunctionDef) and not _is_kept(each, node, kept, public):
                _rename(each, kept)


def _passed(nodes: Iterable[ast.AST]) -> set[str]:
    """The names by which arguments are passed, and those of what is called with `**`."""
    found: set[str] = set()
    for top in nodes:
        for node in walk(top):
            if isinstance(node, ast.Call) and node.keywords:
                called = ast.unparse(node.func).rpartition(".")[2]
                found.update(each.arg or called for each in node.keywords)
    return found


def _is_kept(
    function: ast.FunctionDef, home: ast.stmt, kept: Collection[str], public: Collection[str]
) -> bool:
    """Whether a function of a module, or of a class, its home, has to keep its parameters."""
    name, of = function.name, getattr(home, "name", "")
    is_kernel = any("viper" in ast.unparse(each) for each in function.decorator_list)
    is_private = name.startswith("_") and not name.startswith("__")
    return is_kernel or bool({name, of}.intersection(kept)) or (of in public and not is_private)


def _rename(function: ast.FunctionDef, kept: Collection[str]) -> None:
    if function.args.kwarg or function.args.vararg:
        return
    taken = {name for node in walk(function) for name in _names(node)}
    inner = {name for node in _inner(function) for name in _names(node)}
    new: dict[str, str] = {}
    for each in function.args.args:
        free = next((name for name in _SHORT if name not in taken), "")
        if each.arg not in (*kept, *inner, *_SHORT, "self") and free:
            new[each.arg] = free
            taken.add(free)
    for node in walk(function):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        if isinstance(node, ast.arg):
            node.arg = new.get(node.arg, node.arg)


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    if isinstance(node, ast.arg):
        yield node.arg


def _inner(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """All within the scopes inside a function, which may have names of their own."""
    scopes = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp)
    for node in walk(function):
        if isinstance(node, scopes) and node is not function:
            yield from walk(node)
