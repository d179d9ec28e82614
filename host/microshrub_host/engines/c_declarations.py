"""The kernels in the device library's files, and how C declares them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TypeGuard

from . import library_files

INT, OBJECT, NOTHING = "int32_t", "void *", "void"
POINTERS = {"ptr8": "item8_t *", "ptr16": "item16_t *", "ptr32": "item32_t *"}


class TranslationError(ValueError):
    """A kernel uses something that has no translation; the message names file, line and source."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of a module: its C name, the types of its arguments, and what it returns."""

    module: str
    node: ast.FunctionDef
    arguments: tuple[str, ...]
    returns: str

    @property
    def name(self) -> str:
        """Its name in C."""
        return c_name(self.module, self.node.name)

    @property
    def takes_function(self) -> bool:
        """Whether one of its arguments is a function."""
        return any("(*)" in kind for kind in self.arguments)


@dataclass
class KernelFile:
    """What the kernels of one file can refer to."""

    name: str
    constants: dict[str, int] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)  # module and name there
    nodes: list[ast.FunctionDef] = field(default_factory=list)


def c_name(module: str, function: str) -> str:
    """The name in C of a module's function."""
    return f"{module.replace('.', '_')}__{function}"


def is_kernel(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    """Whether a syntax tree's node is a kernel, other than the one that each engine brings."""
    return (
        isinstance(node, ast.FunctionDef)
        and node.name != library_files.WRITE_ADDRESSES
        and any(ast.unparse(decorator) == "micropython.viper" for decorator in node.decorator_list)
    )


def works_on_objects(module: KernelFile, node: ast.FunctionDef) -> bool:
    """Whether a function of the device's program calls methods or loops over an iterator."""
    return module.name.startswith("device.") and any(
        isinstance(part, ast.Attribute)
        or (isinstance(part, ast.For) and "range(" not in ast.unparse(part.iter))
        for statement in node.body
        for part in ast.walk(statement)
    )


def read(name: str) -> KernelFile:
    found = KernelFile(name)
    tree = ast.parse(library_files.source_of(name).read_text(encoding="utf-8"))
    for node in tree.body:
        if is_kernel(node):
            found.nodes.append(node)
        elif isinstance(node, ast.ImportFrom) and library_files.is_of_library(node):
            home = library_files.imported_from(name, node)
            found.imported |= {a.asname or a.name: (home, a.name) for a in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Call) and ast.unparse(value.func) == "const":
                text = ast.unparse(value.args[0])
                found.constants[node.targets[0].id] = eval(text, {}, dict(found.constants))
    return found


def kernel_of(module: str, node: ast.FunctionDef) -> Kernel:
    called = {
        part.func.id: part
        for part in ast.walk(node)
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
    """The type of an argument that is called: it takes what this call gives and returns an int."""
    objects = {arg.arg for arg in node.args.args if not arg.annotation}
    given = [OBJECT if isinstance(a, ast.Name) and a.id in objects else INT for a in call.args]
    return f"{INT} (*)({', '.join(given)})"


def _declared(kind: str, name: str) -> str:
    return kind.replace("(*)", f"(*{name})") if "(*)" in kind else f"{kind} {name}"


def head_of(kernel: Kernel) -> str:
    names = (f"v_{arg.arg}" for arg in kernel.node.args.args)
    given = ", ".join(map(_declared, kernel.arguments, names))
    return f"{kernel.returns} {kernel.name}({given or 'void'})"
