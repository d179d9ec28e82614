"""Turns words that a learner's configuration fixes into constants, in its program's kernels.

Kernels read some facts, such as whether codes have 16 bits, or how many leaves a tree may have,
from words that never change (`_FIXED`). A program for one learner knows them when it is built, so
its kernels have constants in their place, and branches that are never taken are not compiled.

A buffer such as "window.shape" is recognised by the constant of its place, `_WINDOW_SHAPE`, as in

    shape = ptr32(address[_WINDOW_SHAPE])
    wide = shape[_W_WIDE_CODES]
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..library import loader
from ..library.shared_constants import place_of
from ..library.syntax_tree import called, walk
from .folded import Folded, number

Words = Mapping[str, Mapping[int, int]]  # by the constants of the buffers' places


@dataclass(frozen=True)
class Settled:
    """The configuration of a program's only learner, and the words that it fixes."""

    configuration: str
    words: Words


def settled(learner: str, parameters: Mapping[str, Any]) -> Settled:
    """Return a learner's configuration and fixed words. Raises ValueError for bad parameters."""
    model = getattr(loader.load("python"), learner)(**parameters)
    buffers = {name: buffer for name, code, buffer in model.buffers() if code == "i"}
    words = {
        place_of(name): {k: buffers[name][k] for k in fixed}
        for name, fixed in model._FIXED
        if name in buffers and "." in name
    }
    return Settled(model.configuration(), words)


def with_words(
    kernel: ast.FunctionDef, words: Words, constants: Mapping[str, int]
) -> ast.FunctionDef:
    """Return the kernel with constants for these words; `constants` are its module's."""
    aliases = _aliases(kernel, words)
    reads = _Reads(words, constants, aliases)
    if any(reads.value(node) is not None for node in walk(kernel) if _is_written(node)):
        raise ValueError(f"{kernel.name} writes a word that its configuration fixes")
    return Folded(constants, reads.value).of(kernel)


def _is_written(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)


def _aliases(kernel: ast.FunctionDef, words: Words) -> dict[str, str]:
    """Return the buffer of each pointer variable that is bound only once."""
    bound: dict[str, list[str]] = {}
    for node in walk(kernel):
        if isinstance(node, ast.arg):
            bound.setdefault(node.arg, []).append("")
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.setdefault(node.id, []).append("")
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, []).append(_buffer(node.value, words))
    # An assignment also binds its target as a name, so these variables have two entries
    return {name: "".join(each) for name, each in bound.items() if len(each) == 2 and any(each)}


def _buffer(node: ast.expr, words: Words) -> str:
    """Return the buffer in an expression `ptr32(address[_BUFFER])`, else an empty string."""
    if called(node) == "ptr32" and isinstance(node, ast.Call):
        place = node.args[0]
        if isinstance(place, ast.Subscript) and isinstance(place.slice, ast.Name):
            return place.slice.id if place.slice.id in words else ""
    return ""


@dataclass(frozen=True)
class _Reads:
    words: Words
    constants: Mapping[str, int]
    aliases: Mapping[str, str]

    def value(self, node: ast.AST) -> int | None:
        """Return the value of the word that an expression reads, if the configuration fixes it."""
        if not isinstance(node, ast.Subscript):
            return None
        base = node.value
        name = self.aliases.get(base.id, "") if isinstance(base, ast.Name) else ""
        values = self.words.get(name or _buffer(base, self.words), {})
        place = number(node.slice, self.constants)
        return None if place is None else values.get(place)
