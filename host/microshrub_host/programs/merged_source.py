"""Merges the modules of a program into one, which `build` puts on a board.

On a board, each module takes RAM for its dictionary, its tables of names and constants, and its
file's name, and each imported name takes an entry in a dictionary. So all modules that a program
always imports become one. Imported modules come first in it. If two modules use one name for
different things, one of the two is renamed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Mapping

from ..library import library_files
from ..library.syntax_tree import called, walk
from .scoped_names import Renamer, library_home

_ONLY = ("learner", "_ONLY")
_REGISTRY = ("learners", "_LEARNERS")  # the text that lists the learners with their modules


class Merged:
    """The merged module: its statements, `body`, and the new names of globals.

    names    by module: its globals, each with its new name
    defined  the same without imported names
    """

    def __init__(
        self,
        sources: Mapping[str, str],
        modules: Collection[str],
        keep: Mapping[str, str],
        learners: Mapping[str, str],
    ) -> None:
        """Merge these modules of the library. sources holds the text of every module, by name.

        keep maps names that must not change to their modules, and learners maps the class of each
        learner to its module. Raises ValueError for a statement that cannot be merged.
        """
        self.names: dict[str, dict[str, str]] = {}
        self.defined: dict[str, dict[str, str]] = {}
        self.body: list[ast.stmt] = []
        self._modules = modules
        self._trees = {name: ast.parse(text) for name, text in sources.items()}
        self._meanings = {name: f"{home}:{name}" for name, home in keep.items()}
        self._registry = "".join(  # learners in these files; "." is the merged module
            f"{name} .{'' if module in modules else module}\n"
            for name, module in learners.items()
            if module in sources
        )
        self._asked = {_REGISTRY, _ONLY, *_asked_later(self._trees, modules)}
        self._imports: dict[str, ast.stmt] = {}
        self._constants: set[str] = set()
        code: dict[str, list[ast.stmt]] = {}
        for module in sorted(modules):
            self._read(module, code)
        for module, statements in code.items():
            self._name_all(module, statements)
        self.body.extend(self._imports.values())
        for module, statements in code.items():
            for node in statements:
                if not isinstance(node, (ast.Import, ast.ImportFrom)):
                    self._append(module, node)

    def _read(self, module: str, code: dict[str, list[ast.stmt]]) -> None:
        """Add a module's statements after the statements of the modules that it imports."""
        if module in code:
            return
        tree = self._trees[module]
        statements = [node for node in tree.body if not is_text(node)]
        for node in statements:
            home = library_home(module, node)
            if home is not None and home in self._modules:
                self._read(home, code)
        tied = {n for each in walk(tree) if isinstance(each, ast.Global) for n in each.names}
        known = {name for node in statements if constant(node) for name in bound(node)}
        for node in statements:
            if isinstance(node, ast.Assign) and _is_literal(node.value, known):
                (name,) = bound(node)
                if name not in tied and (module, name) not in self._asked:
                    node.value = ast.Call(ast.Name("const", ast.Load()), [node.value], [])
            # Constants are defined before use
            tied |= {each.id for each in walk(node) if isinstance(each, ast.Name)}
        code[module] = statements

    def _name_all(self, module: str, statements: list[ast.stmt]) -> None:
        self.names[module], self.defined[module] = {}, {}
        for node in statements:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    self._import(module, node, alias)
            else:
                self._name(module, node)

    def _import(self, module: str, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        """Import a name once, unless it belongs to a merged module, and so is already defined."""
        home = library_home(module, node)
        name = alias.asname or alias.name
        if home in self.names:
            self.names[module][name] = self.names[home][alias.name]
            return
        origin = f"{library_files.PACKAGE}.{home}" if home else getattr(node, "module", None)
        new = self._free(module, name, f"{origin}:{alias.name}")
        self.names[module][name] = new
        names = [ast.alias(alias.name, None if new == alias.name else new)]
        self._imports[new] = ast.ImportFrom(origin, names, 0) if origin else ast.Import(names)

    def _name(self, module: str, node: ast.stmt) -> None:
        """Choose new names for the names that a statement defines.

        Constants with the same name and value become one. Their names begin with "_", so that the
        compiler leaves no trace of them.
        """
        value = constant(node)
        for name in bound(node):
            meaning = f"{module}:{name}"
            if value is None or self._meanings.get(name) == meaning:
                new = self._free(module, name, meaning)
            else:
                value = Renamer(module, self.names).visit(copy.deepcopy(value))
                new = self._free(module, "_" + name.lstrip("_"), ast.unparse(value))
            self.names[module][name] = self.defined[module][name] = new

    def _free(self, module: str, name: str, meaning: str) -> str:
        """Return the name, with the module's name appended if it already means something else."""
        while self._meanings.setdefault(name, meaning) != meaning:
            name += f"_{module.rpartition('.')[2]}"
        return name

    def _append(self, module: str, node: ast.stmt) -> None:
        if constant(node):
            new = self.names[module][bound(node)[0]]
            if new in self._constants:
                return
            self._constants.add(new)
        if isinstance(node, ast.Assign) and (module, *bound(node)) == _REGISTRY:
            node.value = ast.Constant(self._registry)
        self.body.append(Renamer(module, self.names).visit(node))


def constant(node: ast.stmt) -> ast.expr | None:
    """Return the value in a statement `NAME = const(value)`, or None."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        return node.value.args[0] if called(node.value) == "const" else None
    return None


def bound(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines. Raises ValueError if it does anything else."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        if len(names) == len(node.targets):
            return names
    raise ValueError(f"this cannot be merged: {ast.unparse(node)}")


def is_text(node: ast.stmt) -> bool:
    """Return whether the statement is a docstring or another bare constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_literal(node: ast.expr, constants: Collection[str]) -> bool:
    """Return whether the node is a constant's name, a number, a text, or a tuple of literals."""
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(_is_literal(each, ()) for each in node.elts)
    if isinstance(node, ast.Name):
        return node.id in constants
    return isinstance(node, ast.Constant) and type(node.value) in (int, str, bytes)


def _asked_later(
    trees: Mapping[str, ast.Module], modules: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of names that are imported while the program runs, not at its start."""
    for module, tree in trees.items():
        at_once = tree.body if module in modules else []
        for node in walk(tree):
            if not isinstance(node, ast.ImportFrom) or node in at_once:
                continue
            home = library_home(module, node)
            if home is not None:
                yield from ((home, alias.name) for alias in node.names)
