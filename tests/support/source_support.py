"""The device library's sources as syntax trees."""

from __future__ import annotations

import ast
from functools import cache

from microshrub_host.engines import library_files

FILES = [path.relative_to(library_files.folder()).as_posix() for path in library_files.sources()]
POINTERS = {"ptr8", "ptr16", "ptr32"}

Function = ast.FunctionDef


@cache
def parse(name: str) -> ast.Module:
    return ast.parse((library_files.folder() / name).read_text(encoding="utf-8"), name)


def is_kernel(node: ast.AST) -> bool:
    return isinstance(node, Function) and any(
        ast.unparse(decorator) == "micropython.viper" for decorator in node.decorator_list
    )


def kernels(tree: ast.Module) -> list[Function]:
    """The module's; a method in viper works on objects, and is none."""
    return [node for node in tree.body if isinstance(node, Function) and is_kernel(node)]


def constants(tree: ast.Module) -> dict[str, int]:
    """Names that the module assigns const(integer), in their order."""
    return {
        node.targets[0].id: ast.literal_eval(node.value.args[0])
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "const"
    }


def is_call_of(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
