"""The sources of a native build: the device library with its kernels in a native module.

The library's files import the kernels from `microshrub/native.mpy`; see native_files.py. Two sorts
of kernels are still compiled by viper: those that take a function as an argument, as native code
cannot call Python functions, and those of the user's own learners and companions.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..library import library_files
from ..library.c_translate import translate
from ..library.kernel_sources import (
    INT,
    NOTHING,
    OBJECT,
    Kernel,
    is_kernel,
    read,
    select,
    symbol,
)
from ..library.syntax_tree import source_text, walk
from .machine_code import Exported

MODULE = "native"  # of the device library
IN_LIBRARY = f"{library_files.PACKAGE}.{MODULE}"


@dataclass(frozen=True)
class NativeLibrary:
    """The kernels that Python calls, and the sources of the library without them, by module.

    A module that has only kernels is left out.
    """

    exported: tuple[Exported, ...]
    sources: Mapping[str, str]


def native_library(modules: Iterable[str]) -> NativeLibrary:
    """Return a native build of these modules of the device library."""
    names = tuple(modules)
    paths = map(library_files.source_of, names)
    return _native_library(names, tuple(path.read_text(encoding="utf-8") for path in paths))


@functools.cache
def _native_library(names: tuple[str, ...], _: tuple[str, ...]) -> NativeLibrary:
    """Make the native build of modules; it is cached by their names and their sources."""
    user_files = library_files.user_files()
    modules = [name for name in names if name not in user_files]
    translated = select(modules, functions=False)[1]
    parts = _needed(
        [_file(name, {name, *library_files.imports(name)} & {*modules}) for name in names]
    )
    exported = dict.fromkeys(place for part in parts for place in part.wanted)
    known = _names(exported)
    tuples = _takes_tuples(translated.values())
    rows = [_exported(known[place], translated[place], tuples) for place in exported]
    return NativeLibrary(tuple(rows), {part.name: part.text(known) for part in parts})


def kernels_in_c() -> str:
    """Return, as C, all kernels of the device library that can be in a native module."""
    modules = sorted(map(library_files.module_name, library_files.sources()))
    text, _ = translate(modules, functions=False)
    return text


def _needed(files: list[_File]) -> list[_File]:
    """Return all files except those that had only kernels, and are now empty."""
    gave = {home for file in files for home in library_files.imports(file.name)}
    while True:
        imported = {home for file in files for home in file.imported}
        useless = {f.name for f in files if not f.has_class} & gave - imported
        if not useless:
            return files
        files = [file for file in files if file.name not in useless]


def _names(exported: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Choose each kernel's name in Python: its own name if unique, which takes no more RAM."""
    often = Counter(function for _, function in exported)
    return {
        (module, function): function if often[function] == 1 else symbol(module, function)
        for module, function in exported
    }


def _file(name: str, translated: Iterable[str]) -> _File:
    """Return one file of the library; native.mpy has the kernels of the modules `translated`."""
    state = library_files.as_it_is(library_files.source_of(name))
    return _remembered_file(name, frozenset(translated), *state)


@functools.cache
def _remembered_file(name: str, translated: frozenset[str], path: Path, *_: int) -> _File:
    kernels = select(translated, functions=False)[1]
    return _File(name, path.read_text(encoding="utf-8"), kernels)


class _File(ast.NodeTransformer):
    """One file of the library without the kernels that are in the native module.

    Where it uses one of these kernels, its own or an imported one, it imports the native one.
    """

    def __init__(self, name: str, text: str, translated: Mapping[tuple[str, str], Kernel]) -> None:
        self.name, self.translated = name, translated
        self.wanted: dict[tuple[str, str], None] = {}
        self.imported: set[str] = set()  # modules
        self._texts: dict[tuple[str, ...], str] = {}
        self._aliases: defaultdict[tuple[str, str], list[ast.alias]] = defaultdict(list)
        tree = ast.parse(text)
        tree.body = [node for node in tree.body if not self._is_translated(node)]
        self.has_class = any(isinstance(node, ast.ClassDef) for node in tree.body)
        self._used = {node.id for node in walk(tree) if isinstance(node, ast.Name)}
        self._tree = self.visit(tree)
        aliases = [ast.alias(function) for module, function in translated if module == name]
        first = int(ast.get_docstring(self._tree) is not None)
        self._tree.body[first:first] = self._native(name, aliases)

    def text(self, names: Mapping[tuple[str, str], str]) -> str:
        """Return the text to compile for a board; names are the kernels' in the native module."""
        given = tuple(names[place] for place in self.wanted)
        if given not in self._texts:
            for place, name in zip(self.wanted, given, strict=True):
                for alias in self._aliases[place]:
                    alias.name = name
            self._texts[given] = source_text(self._tree)
        return self._texts[given]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        """Import kernels from the native module, if they are used."""
        if not library_files.is_of_library(node):
            return [node]
        home = library_files.imported_from(self.name, node)
        kernels = [alias for alias in node.names if (home, alias.name) in self.translated]
        node.names = [alias for alias in node.names if alias not in kernels]
        if node.names:
            self.imported.add(home)
        return [*self._native(home, kernels), *([node] if node.names else [])]

    def _is_translated(self, node: ast.stmt) -> bool:
        return is_kernel(node) and (self.name, node.name) in self.translated

    def _native(self, home: str, kernels: Iterable[ast.alias]) -> list[ast.stmt]:
        """Return the import of a module's kernels that this file uses, by their names in C."""
        names = []
        for alias in kernels:
            local = alias.asname or alias.name
            if local in self._used:
                self.wanted[home, alias.name] = None
                names.append(ast.alias(symbol(home, alias.name), local))
                self._aliases[home, alias.name].append(names[-1])
        return [ast.ImportFrom(IN_LIBRARY, names, 0)] if names else []


def _takes_tuples(kernels: Iterable[Kernel]) -> set[tuple[str, int]]:
    """Return the arguments that are tuples, as (name of the kernel in C, number of the argument).

    The kernel takes an item of such an argument, or passes it to another kernel that does.
    """
    by_place = {(kernel.module, kernel.node.name): kernel for kernel in kernels}
    imported = {module: read(module).imported for module in {module for module, _ in by_place}}
    tuples: set[tuple[str, int]] = set()
    passed: list[tuple[tuple[str, int], tuple[str, int]]] = []  # to other kernels
    for (module, _), kernel in by_place.items():
        objects = {
            arg.arg: (kernel.name, place)
            for place, arg in enumerate(kernel.node.args.args)
            if kernel.arguments[place] == OBJECT
        }
        for node in walk(kernel.node):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                tuples |= {objects[node.value.id]} if node.value.id in objects else set()
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                called = by_place.get(imported[module].get(name, (module, name)))
                for place, given in enumerate(node.args if called else ()):
                    if called and isinstance(given, ast.Name) and given.id in objects:
                        passed.append((objects[given.id], (called.name, place)))
    while more := {here for here, there in passed if there in tuples} - tuples:
        tuples |= more
    return tuples


def _exported(name: str, kernel: Kernel, tuples: Collection[tuple[str, int]]) -> Exported:
    objects = tuple(argument != INT for argument in kernel.arguments)
    if {place for called, place in tuples if called == kernel.name} - {0}:
        raise ValueError(f"{kernel.name}: a tuple of buffers has to be the first argument")
    tuple_first = (kernel.name, 0) in tuples
    return Exported(name, kernel.name, objects, tuple_first, kernel.returns != NOTHING)
