"""Leaves out of a program's module what the program never mentions, or cannot do.

A function, a class or a variable of the module is kept if code that is kept mentions it by name, a
method if an attribute is called so. A word in a text counts as both, so what is reached with
getattr() is kept, too. What a function calls its own, and what docstrings say, counts as neither.

A function imports what few programs need when it needs it, as in

    if detector == "adwin":
        from .adwin import next_level

        self._next_level = next_level

In a program without adwin.py nothing behind that import is ever run. So an error takes its place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from ..kernels.syntax_tree import Transformer, Visitor, walk
from ..sources import library_files
from ..sources.library_files import PACKAGE
from .scoped_names import Bound, library_home

_WORD = re.compile(r"\w+")
_MISSING = """raise ImportError("no module named '{}'")"""  # as the import itself would say


def mentions(nodes: Iterable[ast.AST]) -> set[str]:
    """All names in the code that may be those of another module, attributes and words included."""
    found = _Mentions()
    for node in nodes:
        found.visit(node)
    return found.of_module | found.of_classes


def used(body: list[ast.stmt], roots: Collection[str]) -> list[ast.stmt]:
    """The statements of a module that code which mentions the roots needs.

    The bodies of classes are changed in place.
    """
    wanted = _Mentions(roots)
    waiting = [(node, node) for node in body]
    waiting += [(method, node) for node in body for method in _methods(node)]
    kept: set[ast.stmt] = set()
    while found := [each for each in waiting if wanted.has(*each)]:
        waiting = [each for each in waiting if each not in found]
        for node, _ in found:
            kept.add(node)
            wanted.visit_part(node)
    for node in body:
        if isinstance(node, ast.ClassDef):
            gone = [method for method in _methods(node) if method not in kept]
            node.body = [each for each in node.body if each not in gone] or [ast.Pass()]
    return [node for node in body if node in kept]


def defined(node: ast.stmt) -> set[str]:
    """The names that a statement of a module defines; none if it does something else."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.Assign):
        return {each.id for each in node.targets if isinstance(each, ast.Name)}
    return set()


def _methods(node: ast.stmt) -> Iterator[ast.FunctionDef]:
    """The methods that only the program calls, not MicroPython itself."""
    for each in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("__"):
            yield each


class _Mentions(Visitor):
    """What code mentions: names `of_module`, and names `of_classes`, which are attributes."""

    def __init__(self, roots: Collection[str] = ()) -> None:
        self.of_module = set(roots)
        self.of_classes = set(roots)
        self._own: frozenset[str] = frozenset()  # names of functions around the place

    def has(self, node: ast.stmt, home: ast.stmt) -> bool:
        """Whether a statement is needed, of a module or of a class, its home, that is one."""
        if node is not home:
            return bool(defined(home) & self.of_module and defined(node) & self.of_classes)
        return not defined(node) or bool(defined(node) & self.of_module)

    def visit_part(self, node: ast.stmt) -> None:
        """Visit all of a statement but a class's methods, which are parts of their own."""
        if not isinstance(node, ast.ClassDef):
            self.visit(node)
            return
        body = _Mentions()
        for child in {*ast.iter_child_nodes(node)}.difference(_methods(node)):
            body.visit(child)
        self.of_module |= body.of_module
        self.of_classes |= body.of_classes | body.of_module  # its methods, by their names

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id not in self._own:
            self.of_module.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.of_classes.add(node.attr)
        self.visit(node.value)

    def visit_alias(self, node: ast.alias) -> None:
        self.of_module.add(node.name)

    def visit_Global(self, node: ast.Global) -> None:
        self.of_module.update(node.names)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            words = _WORD.findall(node.value)
            self.of_module.update(words)
            self.of_classes.update(words)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for each in (*node.decorator_list, *node.args.defaults):
            self.visit(each)
        before = self._own
        self._own |= Bound.of([node.args, *node.body])
        for statement in node.body:
            self.visit(statement)
        self._own = before


def without_missing(module: str, source: str, present: Collection[str]) -> str:
    """The source of a module of the library in a program that has these modules."""
    if library_files.imports_in(module, source) <= {*present}:
        return source
    return ast.unparse(_Cut(module, present).visit(ast.parse(source)))


class _Cut(Transformer):
    def __init__(self, module: str, present: Collection[str]) -> None:
        self._module, self._present = module, present

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for inner in walk(node):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(inner, name, None)
                if isinstance(block, list):
                    setattr(inner, name, self._cut(block))
        return node

    def _cut(self, block: list[ast.stmt]) -> list[ast.stmt]:
        for place, statement in enumerate(block):
            home = library_home(self._module, statement)
            if home is not None and home not in self._present:
                return [*block[:place], *ast.parse(_MISSING.format(f"{PACKAGE}.{home}")).body]
        return block
