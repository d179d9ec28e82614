"""Leaves out of a program's module what the program never mentions.

A function, a method, a class or a variable is kept if its name occurs in code that is kept, as a
name, an attribute or a word in a text; so what is reached with getattr() is kept, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

_WORD = re.compile(r"\w+")


def mentions(nodes: Iterable[ast.AST]) -> set[str]:
    """All names in the code, those of attributes included, and all words in texts."""
    return {word for top in nodes for node in ast.walk(top) for word in _words(node)}


def _words(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Name):
        return [node.id] if isinstance(node.ctx, ast.Load) else []
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.alias):
        return [node.name]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _WORD.findall(node.value)
    return ()


def used(body: list[ast.stmt], roots: Collection[str]) -> list[ast.stmt]:
    """The statements of a module that code which mentions the roots needs.

    The bodies of classes are changed in place.
    """
    wanted = set(roots)
    waiting = dict(enumerate(_parts(body)))
    while found := [i for i, (names, _) in waiting.items() if not names or names & wanted]:
        for i in found:
            wanted |= mentions(waiting.pop(i)[1])
    return list(_kept(body, wanted))


def _parts(body: list[ast.stmt]) -> Iterator[tuple[set[str], list[ast.AST]]]:
    """The names that each part of the code defines, none if it is kept anyway, and its code.

    A method is a part of its own, unless MicroPython itself calls it.
    """
    for node in body:
        if isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if _can_go(each)]
            yield {node.name}, [*node.bases, *(each for each in node.body if each not in methods)]
            for method in methods:
                yield defined(method), [method]
        else:
            yield defined(node), [node]


def _can_go(node: ast.stmt) -> bool:
    """Whether this is a method that only the program calls."""
    return isinstance(node, ast.FunctionDef) and not node.name.startswith("__")


def defined(node: ast.stmt) -> set[str]:
    """The names that a statement of a module defines; none if it does something else."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.Assign):
        return {each.id for each in node.targets if isinstance(each, ast.Name)}
    return set()


def _kept(body: list[ast.stmt], wanted: Collection[str]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            methods = (each for each in node.body if _can_go(each))
            gone = [method for method in methods if not defined(method) & set(wanted)]
            node.body = [each for each in node.body if each not in gone] or [ast.Pass()]
        names = defined(node)
        if not names or names & set(wanted):
            yield node
