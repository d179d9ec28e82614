"""The modules of a program as one: what `build` puts on a board.

On a board each module takes RAM for its dictionary, for its tables of names and constants, and for
the names of its file; and each import from another module, for an entry in its dictionary. So the
modules that a program imports anyway become one. What is imported comes first, and a name that two
modules give to different things is changed in one of them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Mapping

from ..kernels.syntax_tree import called, walk
from ..sources import library_files
from .scoped_names import Renamer, library_home

_ONLY = ("learner", "_ONLY")
_REGISTRY = ("learners", "_LEARNERS")  # the text that says which learners there are and where


class Merged:
    """The statements of the merged module, `body`, and what names have become.

    names    of each module: its globals, and what they are called now
    defined  the same without what it imports
    """

    def __init__(
        self,
        sources: Mapping[str, str],
        modules: Collection[str],
        keep: Mapping[str, str],
        learners: Mapping[str, str],
    ) -> None:
        """Merge these modules of the library; sources are the texts of all, by module name.

        `keep` has names that stay as they are, and the module of each; `learners`, each learner's
        class and module. Raises ValueError for what cannot be merged.
        """
        self.names: dict[str, dict[str, str]] = {}
        self.defined: dict[str, dict[str, str]] = {}
        self.body: list[ast.stmt] = []
        self._modules = modules
        self._trees = {name: ast.parse(text) for name, text in sources.items()}
        self._meanings = {name: f"{home}:{name}" for name, home in keep.items()}
        self._registry = "".join(  # the learners in these files; "." stands for the merged module
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
        """Add a module's statements, behind those of the modules that it imports."""
        if module in code:
            return
        tree = self._trees[module]
        found = [node for node in tree.body if not is_text(node)]
        for node in found:
            home = library_home(module, node)
            if home is not None and home in self._modules:
                self._read(home, code)
        tied = {n for each in walk(tree) if isinstance(each, ast.Global) for n in each.names}
        known = {name for node in found if constant(node) for name in bound(node)}
        for node in found:
            if isinstance(node, ast.Assign) and _is_literal(node.value, known):
                (name,) = bound(node)
                if name not in tied and (module, name) not in self._asked:
                    node.value = ast.Call(ast.Name("const", ast.Load()), [node.value], [])
            # a constant stands before what it is used in
            tied |= {each.id for each in walk(node) if isinstance(each, ast.Name)}
        code[module] = found

    def _name_all(self, module: str, statements: list[ast.stmt]) -> None:
        self.names[module], self.defined[module] = {}, {}
        for node in statements:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    self._import(module, node, alias)
            else:
                self._name(module, node)

    def _import(self, module: str, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        """A name of a merged module is there already; any other is imported once."""
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
        """Decide what those names are called that a statement defines.

        Constants of one name and value are one, and begin with "_": the compiler keeps no trace of
        those.
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
        """The name for something, with the module's behind it if it is that of something else."""
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
    """The value if this is `NAME = const(value)`."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        return node.value.args[0] if called(node.value) == "const" else None
    return None


def bound(node: ast.stmt) -> list[str]:
    """The names that a module's statement defines. Raises ValueError where it does more."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        if len(names) == len(node.targets):
            return names
    raise ValueError(f"this cannot be merged: {ast.unparse(node)}")


def is_text(node: ast.stmt) -> bool:
    """Whether this is a docstring or the like."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_literal(node: ast.expr, constants: Collection[str]) -> bool:
    """Whether this is a constant, a number, a text, or a tuple of such two."""
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(_is_literal(each, ()) for each in node.elts)
    if isinstance(node, ast.Name):
        return node.id in constants
    return isinstance(node, ast.Constant) and type(node.value) in (int, str, bytes)


def _asked_later(
    trees: Mapping[str, ast.Module], modules: Collection[str]
) -> Iterator[tuple[str, str]]:
    """The modules, and what is imported from them not while they are merged, but when it runs."""
    for module, tree in trees.items():
        at_once = tree.body if module in modules else []
        for node in walk(tree):
            if not isinstance(node, ast.ImportFrom) or node in at_once:
                continue
            home = library_home(module, node)
            if home is not None:
                yield from ((home, alias.name) for alias in node.names)
