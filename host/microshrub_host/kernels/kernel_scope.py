"""What a name in a kernel means, and of which type an expression is."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from .kernel_sources import INT, OBJECT, POINTERS, Kernel, KernelFile, TranslationError
from .syntax_tree import walk


class KernelScope:
    """One kernel, its variables and what it can refer to.

    types      of its arguments and, as far as they are known yet, of its variables
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
        """The type of what an expression gives."""
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
        """The type of the pointer that an item is of. Raises TranslationError if it is none."""
        kind = self.type_of(item.value)
        if kind not in POINTERS.values():
            raise self.error(item)
        return kind

    def kernel_called(self, name: str) -> Kernel | None:
        """The kernel that has this name in this file."""
        place = self.file.imported.get(name, (self.file.name, name))
        return self.kernels.get(place)

    def range_of(self, node: ast.For) -> tuple[str, ast.expr, ast.expr, int]:
        """A loop's variable, which is an integer if it is ever read, and its range()'s start, stop
        and step. Raises TranslationError if it has none."""
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
        """That this part of the kernel means nothing that a compiler is told here."""
        line = getattr(node, "lineno", 0)
        return TranslationError(
            f"{self.file.name}, line {line}: {ast.unparse(node)} cannot be translated"
        )


def loaded(target: ast.expr) -> ast.expr:
    """A target of an assignment as a value."""
    found = ast.parse(ast.unparse(target), mode="eval").body
    return ast.copy_location(found, target)
