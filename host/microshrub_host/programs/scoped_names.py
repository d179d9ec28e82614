"""Renames the globals of a module wherever the module uses them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from ..library import library_files
from ..library.syntax_tree import Transformer, Visitor, walk

Names = Mapping[str, str]  # new names by old names


class Renamer(Transformer):
    """Renames globals, and names that functions import from modules with renamed globals.

    These imports are dropped. Local names of functions and classes do not change. Raises
    ValueError if a new name would clash with a local name.
    """

    def __init__(self, module: str, names: Mapping[str, Names]) -> None:
        self._module, self._names = module, names
        self._globals = names[module]
        self._imported: dict[str, str] = {}  # names imported in the enclosing functions
        self._locals: frozenset[str] = frozenset()  # local names of the enclosing functions
        self._of_class: frozenset[str] = frozenset()  # names of the enclosing class

    def _new(self, name: str) -> str:
        if name in self._locals | self._of_class:
            return self._imported.get(name, name)
        new = self._globals.get(name, name)
        if new != name and new in self._locals | self._of_class:
            raise ValueError(f"{self._module}: {name} cannot be called {new} everywhere")
        return new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._new(node.id)
        return node

    def visit_Global(self, node: ast.Global) -> ast.Global:
        node.names = [self._globals.get(name, name) for name in node.names]
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | list[ast.stmt]:
        home = library_home(self._module, node)
        if home is None:
            return node
        statements: list[ast.stmt] = [ast.Pass()]
        for alias in node.names:
            renamed = self._imported.get(alias.asname or alias.name)
            new = self._names.get(home, {}).get(alias.name)
            if new is None:
                origin = f"{library_files.PACKAGE}.{home}"
                names = [ast.alias(alias.name, renamed or alias.asname)]
                statements.append(ast.ImportFrom(origin, names, 0))
            elif renamed != new:  # the name may have several meanings
                value = ast.Name(new, ast.Load())
                statements.append(ast.Assign([ast.Name(renamed or new, ast.Store())], value))
        return statements

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.name = self._new(node.name)
        with self._inside(Bound.of([node.args, *node.body]), self._merged_imports(node)):
            self._visit_body(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        with self._inside(Bound.of([node.args])):
            node.body = self.visit(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.bases = [self.visit(base) for base in node.bases]
        node.name = self._new(node.name)
        self._of_class = Bound.of(node.body)
        self._visit_body(node)
        self._of_class = frozenset()
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> ast.AST:
        with self._inside(Bound.of(each.target for each in node.generators)):
            return self.generic_visit(node)

    def _visit_body(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        statements: list[ast.stmt] = []
        for statement in node.body:
            new = self.visit(statement)
            statements += new if isinstance(new, list) else [new]
        node.body = statements

    @contextmanager
    def _inside(self, names: frozenset[str], imported: Names | None = None) -> Iterator[None]:
        """Enter a function with these local names; methods do not see the names of their class."""
        before = self._locals, self._of_class, self._imported
        kept = {name: new for name, new in self._imported.items() if name not in names}
        self._locals, self._of_class = self._locals | names, frozenset()
        self._imported = {**kept, **(imported or {})}
        yield
        self._locals, self._of_class, self._imported = before

    def _merged_imports(self, function: ast.FunctionDef) -> dict[str, str]:
        """Choose new names for a function's imports from modules with renamed globals.

        A name with two possible meanings, as in `if ...: from .one import f; else: from .two
        import f`, becomes a variable of the function.
        """
        meanings: dict[str, set[str]] = {}
        for node in walk(function):
            if not isinstance(node, ast.ImportFrom):
                continue
            home = library_home(self._module, node)
            for alias in node.names if home else ():
                meaning = self._names.get(home or "", {}).get(alias.name, "")
                meanings.setdefault(alias.asname or alias.name, set()).add(meaning)
        return {
            name: choices.pop() if len(choices) == 1 else f"{name}_here"
            for name, choices in meanings.items()
            if choices != {""}
        }


class Bound(Visitor):
    """The names that statements bind in their own scope."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._global: set[str] = set()

    @classmethod
    def of(cls, nodes: Iterable[ast.AST]) -> frozenset[str]:
        bound = cls()
        for node in nodes:
            bound.visit(node)
        return frozenset(bound.names - bound._global)

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_arg(self, node: ast.arg) -> None:
        self.names.add(node.arg)

    def visit_Global(self, node: ast.Global) -> None:
        self._global.update(node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.names.update([node.name] if node.name else [])
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.names.update(alias.asname or alias.name for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.visit_Import(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        self.names.add(node.name)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, _: ast.Lambda) -> None:
        """Skip a lambda, which has a scope of its own."""

    def visit_ListComp(self, _: ast.ListComp) -> None:
        """Skip a comprehension, which has a scope of its own."""

    def visit_GeneratorExp(self, _: ast.GeneratorExp) -> None:
        """Skip a generator expression, which has a scope of its own."""


def library_home(module: str, node: ast.AST) -> str | None:
    """Return the module of the library that a statement of this module imports from, or None."""
    if isinstance(node, ast.ImportFrom) and library_files.is_of_library(node):
        return library_files.imported_from(module, node)
    return None
