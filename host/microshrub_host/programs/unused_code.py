"""Drops code from a program's module that the program never uses.

A function, class or variable of the module is kept if other kept code mentions its name, and a
method is kept if an attribute of its name is used. A word in a string counts as a mention of both,
so that anything accessed with getattr() is kept, too. Local names and docstrings do not count.

Code that few programs need is imported inside the function that needs it, as in

    if detector == "adwin":
        from .adwin import next_level

        self._next_level = next_level

In a program without adwin.py the code after that import never runs, so an error replaces it. A
program may also leave out a class or a function of one of its modules: an error replaces the
statements that use it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator

from ..library import library_files
from ..library.library_files import PACKAGE
from ..library.syntax_tree import Transformer, Visitor, source_text, walk
from .scoped_names import Bound, library_home

_WORD = re.compile(r"\w+")
_MISSING = """raise ImportError("no module named '{}'")"""  # the import's own message


def mentions(nodes: Iterable[ast.AST]) -> set[str]:
    """Return all names that may come from another module, including attributes and words."""
    mentioned = _Mentions()
    for node in nodes:
        mentioned.visit(node)
    return mentioned.of_module | mentioned.of_classes


def used(body: list[ast.stmt], roots: Collection[str]) -> list[ast.stmt]:
    """Return the statements of a module that are needed if code uses the roots.

    Unused methods are removed from classes in place.
    """
    wanted = _Mentions(roots)
    waiting = [(node, node) for node in body]
    waiting += [(method, node) for node in body for method in _methods(node)]
    names = {node: defined(node) for node, _ in waiting}
    kept: set[ast.stmt] = set()
    while newly_wanted := [
        node
        for node, home in waiting
        if wanted.has(names[node], None if node is home else names[home])
    ]:
        kept.update(newly_wanted)
        waiting = [each for each in waiting if each[0] not in kept]
        for node in newly_wanted:
            wanted.visit_part(node)
    for node in body:
        if isinstance(node, ast.ClassDef):
            gone = [method for method in _methods(node) if method not in kept]
            node.body = [each for each in node.body if each not in gone] or [ast.Pass()]
    return [node for node in body if node in kept]


def defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module defines, if any."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.Assign):
        return {each.id for each in node.targets if isinstance(each, ast.Name)}
    return set()


def _methods(node: ast.stmt) -> Iterator[ast.FunctionDef]:
    """Yield the methods of a class, except those that MicroPython itself calls."""
    for each in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("__"):
            yield each


class _Mentions(Visitor):
    """The names that code mentions: globals, `of_module`, and attributes, `of_classes`."""

    def __init__(self, roots: Collection[str] = ()) -> None:
        self.of_module = set(roots)
        self.of_classes = set(roots)
        self._locals: frozenset[str] = frozenset()  # local names of the enclosing functions

    def has(self, names: set[str], home: set[str] | None) -> bool:
        """Return whether a statement that defines these names is needed.

        For a method, home has the names of its class.
        """
        if home is not None:
            return not (home.isdisjoint(self.of_module) or names.isdisjoint(self.of_classes))
        return not names or not names.isdisjoint(self.of_module)

    def visit_part(self, node: ast.stmt) -> None:
        """Visit a statement; the methods of a class are visited separately."""
        if not isinstance(node, ast.ClassDef):
            self.visit(node)
            return
        body = _Mentions()
        for child in {*ast.iter_child_nodes(node)}.difference(_methods(node)):
            body.visit(child)
        self.of_module |= body.of_module
        self.of_classes |= body.of_classes | body.of_module  # methods, by their names

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id not in self._locals:
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
        before = self._locals
        self._locals |= Bound.of([node.args, *node.body])
        for statement in node.body:
            self.visit(statement)
        self._locals = before


def without_missing(
    module: str, source: str, present: Collection[str], left_out: Collection[str] = ()
) -> str:
    """Return a module's source for a program that has only the present modules.

    left_out are functions and classes that the program does not use, such as
    "device.saving:LabelsHeld". The source is without them, and without code that only they use.
    """
    imported = library_files.imports_in(module, source)
    if imported <= {*present} and not {module, *imported} & {*map(home_of, left_out)}:
        return source
    tree = _Cut(module, present, left_out).visit(ast.parse(source))
    gone = {name.partition(":")[2] for name in left_out if home_of(name) == module}
    if any(defined(node) & gone for node in tree.body):
        tree.body = _mentioned_by_the_rest(
            [node for node in tree.body if not defined(node) & gone]
        )
    return ast.unparse(tree)


def without(module: str, source: str, left_out: Collection[str]) -> str:
    """Return a module's source without `left_out`; the program has all modules that it imports."""
    result = without_missing(module, source, library_files.imports_in(module, source), left_out)
    return source if result == source else source_text(ast.parse(result))


def _mentioned_by_the_rest(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return a module's statements without imports and private definitions that are not used."""
    while True:
        mentioned = mentions(node for node in body if not _is_import(node))
        kept = [
            node
            for node in body
            if defined(node) & mentioned or not (_is_import(node) or _is_private(node))
        ]
        if len(kept) == len(body):
            return kept
        body = kept


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _is_private(node: ast.stmt) -> bool:
    names = defined(node)
    return bool(names) and all(name.startswith("_") for name in names)


def home_of(name: str) -> str:
    """Return the module in a name: the name of a module, or of its function or class."""
    return name.partition(":")[0]


class _Cut(Transformer):
    def __init__(self, module: str, present: Collection[str], left_out: Collection[str]) -> None:
        self._module, self._present, self._left_out = module, present, left_out

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for inner in walk(node):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(inner, name, None)
                if isinstance(block, list):
                    setattr(inner, name, self._cut(block))
        return node

    def _cut(self, block: list[ast.stmt]) -> list[ast.stmt]:
        for place, statement in enumerate(block):
            missing = self._missing(statement)
            if missing:
                return [*block[:place], *ast.parse(_MISSING.format(missing)).body]
        return block

    def _missing(self, statement: ast.stmt) -> str:
        """Return the module that a statement needs but the program lacks, or an empty string."""
        home = library_home(self._module, statement)
        if home is not None and home not in self._present:
            return f"{PACKAGE}.{home}"
        names: Iterable[str] = ()
        if isinstance(statement, ast.ImportFrom) and home is not None:
            names = [f"{home}:{alias.name}" for alias in statement.names]
        elif isinstance(statement, (ast.Assign, ast.Expr, ast.Return)):
            names = [f"{self._module}:{name}" for name in _mentioned(statement)]
        return next((f"{PACKAGE}.{home_of(n)}" for n in names if n in self._left_out), "")


def _mentioned(statement: ast.stmt) -> Iterator[str]:
    """Yield the names of variables and attributes in a statement."""
    for node in walk(statement):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield node.id if isinstance(node, ast.Name) else node.attr
