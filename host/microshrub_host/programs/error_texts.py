"""Moves the texts of errors out of a program's module into a file, which takes no RAM.

An error is rare, and its text is read when there is one; see the library's error_text.py.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..kernels.syntax_tree import Transformer

MODULE = FUNCTION = "error_text"  # of the device library
FILE = "errors.txt"
_SHORTEST = 20  # characters; a shorter text takes little more than the call that reads it


def moved(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], bytes]:
    """The statements without the texts of what they raise, and the file with these, one a line."""
    texts = _Texts()
    return [_InRaise(texts).visit(statement) for statement in body], bytes(texts.file)


class _InRaise(Transformer):
    def __init__(self, texts: _Texts) -> None:
        self._texts = texts

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return self._texts.generic_visit(node)


class _Texts(Transformer):
    """Exchanges long texts for calls; `file` holds them."""

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
