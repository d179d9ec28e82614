"""Changes of the kernels' syntax trees before an engine compiles the kernels.

For the engine `counted`, each kernel adds to a Counter the number of nodes in the syntax tree of
each block of statements that runs. The sum is about proportional to the time without machine code,
and the same on every computer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeGuard

from .syntax_tree import walk

POINTERS = ("ptr8", "ptr16", "ptr32")
VIPER = "micropython.viper"  # the decorator of a kernel
_OF_BYTES = ("ptr8", "ptr16")  # the casts of an address in a variable
WORK = "_work"  # the name of the Counter, in each module of the library
_DONE = "_done"  # a kernel's variable for the work of a call so far: much faster than a Counter


def in_viper(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    """Return whether a node is a function, or a method, that viper compiles."""
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(decorator) == VIPER for decorator in node.decorator_list
    )


class Overflows(ast.NodeTransformer):
    """A transformer: _i32() checks that sums, differences, products and left shifts fit 32 bits.

    _bits() checks the number of bits of each shift, and _turn() that a `while` loop ends.
    """

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, (ast.LShift, ast.RShift)):
            bits = ast.Call(ast.Name("_bits", ast.Load()), [node.right], [])
            node.right = ast.copy_location(bits, node)
        if not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.LShift)):
            return node
        call = ast.Call(ast.Name("_i32", ast.Load()), [node], [])
        return ast.copy_location(call, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        assert isinstance(node.target, ast.Name), "kernels update plain names only"
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        assign = ast.Assign([node.target], ast.copy_location(value, node))
        return ast.copy_location(self.generic_visit(assign), node)

    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        count = ast.parse("_turns = _turn(_turns)").body[0]
        node.body.insert(0, _moved(count, node))
        return node


def _moved(statement: ast.stmt, place: ast.stmt) -> ast.stmt:
    """Give a statement the line of another statement, for error messages."""
    for node in ast.walk(statement):
        ast.copy_location(node, place)
    return statement


def check_overflows(kernel: ast.FunctionDef) -> None:
    """Make a kernel check its results with _i32()."""
    body = [Overflows().visit(statement) for statement in kernel.body]
    if any(isinstance(node, ast.While) for node in walk(kernel)):
        begin = ast.parse("_turns = 0").body[0]
        body.insert(1 if ast.get_docstring(kernel) else 0, _moved(begin, kernel.body[0]))
    kernel.body = body


def cast_arguments(node: ast.FunctionDef) -> None:
    """Make a kernel cast annotated arguments as viper does, and remove the annotations."""
    casts: list[ast.stmt] = []
    for arg in node.args.args:
        if arg.annotation and ast.unparse(arg.annotation) in POINTERS:
            casts += ast.parse(f"{arg.arg} = {ast.unparse(arg.annotation)}(_{arg.arg})").body
            arg.arg = "_" + arg.arg
        arg.annotation = None
    for cast in casts:
        for part in ast.walk(cast):
            ast.copy_location(part, node)
    docstring = int(ast.get_docstring(node) is not None)
    node.body[docstring:docstring] = casts
    node.returns = None


def index_addresses(kernel: ast.FunctionDef) -> None:
    """Replace variables that hold addresses by indices, as only viper can compute addresses.

    An address is an item of a table, plus a number of bytes, and is only used as an argument of
    ptr8() or ptr16():

        address = ptr32(t)             address = ptr32(t); _at8_3 = ptr8(address[3])
        row = address[3] + first       row = first
        next = row + 8                 next = row + 8
        x = ptr8(next)[2]              x = _at8_3[next + 2]

    Raises ValueError if a variable holds addresses in two buffers.
    """
    nodes = walk(kernel)
    values = _assigned(nodes)
    tables = {name for name, value in values if is_call_of(value, {"ptr32"})}
    casts = {
        node.args[0].id: ast.unparse(node.func)
        for node in nodes
        if is_call_of(node, _OF_BYTES) and isinstance(node.args[0], ast.Name)
    }
    places: dict[str, str] = {}
    for name, value in values:
        item = _leftmost(value)
        if name in casts and (_is_item(item, tables) or ast.unparse(item) in places):
            place = places.get(ast.unparse(item), ast.unparse(item))
            if places.setdefault(name, place) != place:
                raise ValueError(f"{kernel.name}: {name} is an address in two buffers")
    if places:
        _Indices({name: (casts[name], place) for name, place in places.items()}).visit(kernel)
        ast.fix_missing_locations(kernel)


def is_call_of(node: ast.AST, names: Collection[str]) -> TypeGuard[ast.Call]:
    """Return whether a node is a call of one of these functions."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _assigned(nodes: Iterable[ast.AST]) -> list[tuple[str, ast.expr]]:
    """Return the assignments in a kernel, as pairs of variable and value."""
    return [
        (node.targets[0].id, node.value)
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]


def _leftmost(node: ast.expr) -> ast.expr:
    """Return the first term of a sum."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        node = node.left
    return node


def _is_item(node: ast.expr, tables: set[str]) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in tables
    )


class _Indices(ast.NodeTransformer):
    """A transformer with, for each variable, its cast and the table's item at which it begins."""

    def __init__(self, places: Mapping[str, tuple[str, str]]) -> None:
        self._places = places

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        target = ast.unparse(node.targets[0])
        if target in self._places and not isinstance(_leftmost(node.value), ast.Name):
            node.value = _without_leftmost(node.value)
        self.generic_visit(node)
        if not is_call_of(node.value, {"ptr32"}):
            return node
        result = {pair for pair in self._places.values() if pair[1].startswith(f"{target}[")}
        casts = [
            ast.parse(f"{_pointer(cast, place)} = {cast}({place})").body[0]
            for cast, place in sorted(result)
        ]
        return [node, *(ast.copy_location(cast, node) for cast in casts)]

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        self.generic_visit(node)
        base = node.value
        if not is_call_of(base, _OF_BYTES) or ast.unparse(base.args[0]) not in self._places:
            return node
        cast, place = self._places[ast.unparse(base.args[0])]
        start = base.args[0]
        if cast == "ptr16":
            start = ast.BinOp(start, ast.RShift(), ast.Constant(1))
        index = ast.BinOp(start, ast.Add(), node.slice)
        return ast.Subscript(ast.Name(_pointer(cast, place), ast.Load()), index, node.ctx)


def _without_leftmost(node: ast.expr) -> ast.expr:
    """Return a sum without its first term."""
    if not isinstance(node, ast.BinOp):
        return ast.Constant(0)
    if isinstance(node.left, ast.BinOp):
        return ast.BinOp(_without_leftmost(node.left), node.op, node.right)
    if isinstance(node.op, ast.Sub):
        return ast.UnaryOp(ast.USub(), node.right)
    return node.right


def _pointer(cast: str, place: str) -> str:
    """Return the name of a pointer to the buffer at that item of a table."""
    return f"_at{cast.removeprefix('ptr')}_" + re.sub(r"\W", "_", place)


def count_work(kernel: ast.FunctionDef, key: str) -> None:
    """Make a kernel add its work to the Counter's item `key`."""
    docstring = int(ast.get_docstring(kernel) is not None)
    counted = _Counting().block(kernel.body[docstring:])
    counting = ast.parse(f"{_DONE} = 0\ntry:\n pass\nfinally:\n {WORK}[{key!r}] += {_DONE}").body
    assert isinstance(counting[1], ast.Try)
    counting[1].body = counted
    kernel.body[docstring:] = counting


class _Counting(ast.NodeTransformer):
    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements of a block, after a new first one that counts them."""
        if not body:
            return body
        size = sum(map(_size, body))
        counting = ast.parse(f"{_DONE} += {size}").body
        return [*(ast.copy_location(each, body[0]) for each in counting), *map(self.visit, body)]

    def _with_blocks(self, node: ast.stmt) -> ast.stmt:
        assert isinstance(node, (ast.If, ast.For, ast.While))
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    visit_If = visit_For = visit_While = _with_blocks


def _size(statement: ast.stmt) -> int:
    """Return the number of nodes of a statement, without its inner blocks."""
    if isinstance(statement, (ast.If, ast.While)):
        return 1 + len(walk(statement.test))
    if isinstance(statement, ast.For):
        return 1 + len(walk(statement.iter))
    return len(walk(statement))
