"""Moves the texts of error messages out of a program's module into a file, to save RAM.

Errors are rare, so a text is read from the file only when its error is raised; see error_text.py
in the device library.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..library.syntax_tree import Transformer

MODULE = FUNCTION = "error_text"  # of the device library
FILE = "errors.txt"
_SHORTEST = 20  # characters; the call that reads a shorter text would take as much RAM


def moved(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], bytes]:
    """Return the statements without error texts, and the bytes of a file with a text per line."""
    texts = _Texts()
    return [_InRaise(texts).visit(statement) for statement in body], bytes(texts.file)


class _InRaise(Transformer):
    def __init__(self, texts: _Texts) -> None:
        self._texts = texts

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return self._texts.generic_visit(node)


class _Texts(Transformer):
    """Replaces long texts with calls that read them from `file`."""

    def __init__(self) -> None:
        self.file = bytearray()
        self._places: dict[str, int] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        text = node.value
        if not isinstance(text, str) or len(text) < _SHORTEST or "\n" in text:
            return node
        if text not in self._places:
            self._places[text] = len(self.file)
            self.file += text.encode() + b"\n"
        values = text.replace("%%", "").count("%")
        arguments = [self._places[text], values] if values else [self._places[text]]
        return ast.Call(ast.Name(FUNCTION, ast.Load()), list(map(ast.Constant, arguments)), [])
