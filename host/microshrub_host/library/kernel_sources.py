"""The kernels in the device library's files, with their arguments and calls.

KernelScope resolves a kernel's names and the types of its expressions. Types have their names in
C.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from . import library_files
from .kernel_rewriting import in_viper, index_addresses
from .syntax_tree import walk

INT, OBJECT, NOTHING = "int32_t", "void *", "void"
POINTERS = {"ptr8": "item8_t *", "ptr16": "item16_t *", "ptr32": "item32_t *"}


class TranslationError(ValueError):
    """A kernel has code without a translation; the message names file, line and source."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of a module: the types of its arguments and of its result."""

    module: str
    node: ast.FunctionDef
    arguments: tuple[str, ...]
    returns: str

    @property
    def name(self) -> str:
        """The kernel's name in C and in compiled code."""
        return symbol(self.module, self.node.name)

    @property
    def takes_function(self) -> bool:
        """Whether one of the kernel's arguments is a function."""
        return any("(*)" in argument for argument in self.arguments)


@dataclass
class KernelFile:
    """The kernels of one file, and the names that they can use; read once, and never changed."""

    name: str
    constants: dict[str, int] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)  # module, name there
    nodes: list[ast.FunctionDef] = field(default_factory=list)

    @functools.cached_property
    def kernels(self) -> dict[tuple[str, str], Kernel]:
        """The kernels by module and name."""
        return {(self.name, node.name): kernel_of(self.name, node) for node in self.nodes}


def symbol(module: str, function: str) -> str:
    """Return the name of a module's function in C and in compiled code."""
    return f"{module.replace('.', '_')}__{function}"


def is_kernel(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    """Return whether a syntax tree's node is a kernel, except the one that each engine brings."""
    return in_viper(node) and node.name != library_files.WRITE_ADDRESSES


def works_on_objects(module: str, node: ast.FunctionDef) -> bool:
    """Return whether a function of the device's program calls methods or loops over iterators."""
    return module.startswith("device.") and any(
        isinstance(part, ast.Attribute)
        or (isinstance(part, ast.For) and "range(" not in ast.unparse(part.iter))
        for statement in node.body
        for part in walk(statement)
    )


def read(name: str) -> KernelFile:
    """Read the file of a module, without the kernels of the room device/ that work on objects."""
    return _read(name, *library_files.as_it_is(library_files.source_of(name)))


@functools.cache
def _read(name: str, path: Path, *_: int) -> KernelFile:
    file = KernelFile(name)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if is_kernel(node):
            if works_on_objects(name, node):
                continue
            index_addresses(node)
            file.nodes.append(node)
        elif isinstance(node, ast.ImportFrom) and library_files.is_of_library(node):
            home = library_files.imported_from(name, node)
            file.imported |= {a.asname or a.name: (home, a.name) for a in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Call) and ast.unparse(value.func) == "const":
                text = ast.unparse(value.args[0])
                file.constants[node.targets[0].id] = eval(text, {}, dict(file.constants))
    return file


def kernel_of(module: str, node: ast.FunctionDef) -> Kernel:
    called = {
        part.func.id: part
        for part in walk(node)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)
    }
    types = tuple(
        _function_type(called[arg.arg], node) if arg.arg in called else _argument_type(arg)
        for arg in node.args.args
    )
    returns = INT if node.returns is not None else NOTHING
    return Kernel(module, node, types, returns)


def _argument_type(arg: ast.arg) -> str:
    text = ast.unparse(arg.annotation) if arg.annotation else ""
    return {"": OBJECT, "int": INT, **POINTERS}[text]


def _function_type(call: ast.Call, node: ast.FunctionDef) -> str:
    """Return the C type of a function argument: arguments as in a call, and an int as result."""
    objects = {arg.arg for arg in node.args.args if not arg.annotation}
    given = [OBJECT if isinstance(a, ast.Name) and a.id in objects else INT for a in call.args]
    return f"{INT} (*)({', '.join(given)})"


def select(
    modules: Iterable[str],
    *,
    functions: bool = True,
    roots: Iterable[tuple[str, str]] | None = None,
    of: Collection[str] | None = None,
) -> tuple[list[KernelFile], dict[tuple[str, str], Kernel]]:
    """Return the files of these modules of the library, and their kernels by module and name.

    The modules have to include all from which they import. Kernels of the room device/ that work
    on Python's objects are left out, and, without `functions`, kernels that take a function. With
    `roots`, pairs of module and name, only these kernels and their callees are included; with
    `of`, some of the modules, only their kernels and callees.
    """
    result = [read(name) for name in modules]
    kernels = {place: kernel for file in result for place, kernel in file.kernels.items()}
    if not functions:
        kernels = {place: k for place, k in kernels.items() if not k.takes_function}
    if of is not None:
        roots = [place for place in kernels if place[0] in of]
    if roots is not None:
        kernels = _needed(result, kernels, roots)
    return result, kernels


def _needed(
    modules: Iterable[KernelFile],
    kernels: Mapping[tuple[str, str], Kernel],
    roots: Iterable[tuple[str, str]],
) -> dict[tuple[str, str], Kernel]:
    """Return the kernels that are roots, and all their callees. Raises KeyError."""
    imported = {module.name: module.imported for module in modules}

    def called(place: tuple[str, str]) -> set[tuple[str, str]]:
        home = place[0]
        names = {n.id for n in walk(kernels[place].node) if isinstance(n, ast.Name)}
        return {imported[home].get(name, (home, name)) for name in names} & kernels.keys()

    needed = library_files.reached(roots, called)
    return {place: kernel for place, kernel in kernels.items() if place in needed}


class KernelScope:
    """The scope of one kernel: its variables, and the names that it can use.

    types      types of its arguments and, as far as known yet, of its variables
    arguments  the names of its arguments
    read       the names that are ever read
    body       its statements, without the docstring
    """

    def __init__(
        self, file: KernelFile, kernels: Mapping[tuple[str, str], Kernel], node: ast.FunctionDef
    ) -> None:
        self.file, self.kernels, self.node = file, kernels, node
        self.kernel = kernels[file.name, node.name]
        names = [arg.arg for arg in node.args.args]
        self.types = dict(zip(names, self.kernel.arguments, strict=True))
        self.arguments = names
        self.read = {
            part.id
            for part in walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
        }
        self.body = node.body[int(ast.get_docstring(node) is not None) :]

    def type_of(self, node: ast.expr) -> str:
        """Return the type of an expression's value."""
        if isinstance(node, ast.Name):
            return self.types.get(node.id, INT)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return POINTERS.get(node.func.id, INT)
        if isinstance(node, ast.Subscript) and self.type_of(node.value) == OBJECT:
            return OBJECT
        if isinstance(node, ast.IfExp):
            return self.type_of(node.body)
        return INT

    def pointer_of(self, item: ast.Subscript) -> str:
        """Return the type of an item's pointer. Raises TranslationError if it is no pointer."""
        pointer = self.type_of(item.value)
        if pointer not in POINTERS.values():
            raise self.error(item)
        return pointer

    def kernel_called(self, name: str) -> Kernel | None:
        """Return the kernel with this name in this file; None if there is none."""
        place = self.file.imported.get(name, (self.file.name, name))
        return self.kernels.get(place)

    def range_of(self, node: ast.For) -> tuple[str, ast.expr, ast.expr, int]:
        """Return a loop's variable, and the start, stop and step of its range().

        The variable is an integer if it is ever read. Raises TranslationError for a loop without
        range().
        """
        call, target = node.iter, node.target
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "range"):
            raise self.error(node)
        if not isinstance(target, ast.Name):
            raise self.error(node)
        if target.id in self.read:
            self.types.setdefault(target.id, INT)
        start, stop = call.args[:2] if len(call.args) > 1 else (ast.Constant(0), call.args[0])
        step = ast.literal_eval(call.args[2]) if len(call.args) == 3 else 1
        return target.id, start, stop, step

    def error(self, node: ast.AST) -> TranslationError:
        """Return the error for a part of the kernel that has no translation."""
        line = getattr(node, "lineno", 0)
        return TranslationError(
            f"{self.file.name}, line {line}: {ast.unparse(node)} cannot be translated"
        )


def loaded(target: ast.expr) -> ast.expr:
    """Return the target of an assignment as a value."""
    result = ast.parse(ast.unparse(target), mode="eval").body
    return ast.copy_location(result, target)
