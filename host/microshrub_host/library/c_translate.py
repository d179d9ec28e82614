"""The device library's kernels as C: one function a kernel, with the integers of viper.

A kernel is restricted Python: integers of 32 bits that wrap around, loops, pointers of three
widths, and objects that are only passed on or cast to a pointer. Each of these has exactly one
meaning in C, so the translation just walks over the syntax tree:

    x = ptr8(buffer)      x = (item8_t *)buffer;   loads of 8 and 16 bits are unsigned
    ptr8(a[3])            the buffer whose address is item 3 of the table a
    a // b, a % b         rounded down, as Python rounds
    for i in range(n)     n is evaluated once

The text is both C99 and C++, and compiles without warnings. The library's tests check that sums
and products fit 32 bits, so nothing depends on a compiler's treatment of overflows.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from .kernel_sources import OBJECT, POINTERS, Kernel, KernelFile, KernelScope, loaded, select

TYPES = """\
#include <limits.h>
#include <stdint.h>

#if INT_MAX < 2147483647
#error the kernels need an int of 32 bits
#endif
#if defined(__GNUC__)
#define MICROSHRUB_ANY __attribute__((may_alias)) /* a buffer is read at one width or another */
#else
#define MICROSHRUB_ANY
#endif
typedef uint8_t MICROSHRUB_ANY item8_t;
typedef uint16_t MICROSHRUB_ANY item16_t;
typedef int32_t MICROSHRUB_ANY item32_t;
"""
DIVISION = """
static inline int32_t floor_div(int32_t a, int32_t b) {
    int32_t q = a / b;
    return q - (a % b != 0 && (a ^ b) < 0);
}

static inline int32_t floor_mod(int32_t a, int32_t b) {
    int32_t r = a % b;
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}
"""


def translate(
    modules: Iterable[str],
    *,
    functions: bool = True,
    linkage: str = "",
    roots: Iterable[tuple[str, str]] | None = None,
    of: Collection[str] | None = None,
) -> tuple[str, list[Kernel]]:
    """Return C for the kernels of these modules of the device library, and the kernels.

    For the modules and `functions`, `roots` and `of`, see kernel_sources.select(). `linkage`
    begins each function ("static "). TYPES and DIVISION, or the like, have to precede the text.
    Raises TranslationError.
    """
    files, kernels = select(modules, functions=functions, roots=roots, of=of)
    texts = [f"{linkage}{head_of(kernel)};" for kernel in kernels.values()]
    for file in files:
        for node in file.nodes:
            if (file.name, node.name) in kernels:
                texts.append(linkage + CFunction(file, kernels, node).text())
    return "\n".join(texts) + "\n", list(kernels.values())


_ARITHMETIC = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_ROUNDED = {ast.FloorDiv: "floor_div", ast.Mod: "floor_mod"}
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.Invert: "~", ast.Not: "!"}


class CFunction(KernelScope):
    """The translation of one kernel to C."""

    def __init__(
        self, file: KernelFile, kernels: Mapping[tuple[str, str], Kernel], node: ast.FunctionDef
    ) -> None:
        super().__init__(file, kernels, node)
        self.loops = 0

    def text(self) -> str:
        """Return the whole function, with its locals declared at the top."""
        lines = [f"    (void)v_{name};" for name in self.types if name not in self.read]
        lines += self._block(self.body, 1)
        local = [
            f"    {c_type} v_{name}{'' if c_type in POINTERS.values() else ' = 0'};"
            for name, c_type in self.types.items()
            if name not in self.arguments
        ]
        return "\n".join([f"{head_of(self.kernel)} {{", *local, *lines, "}", ""])

    # --- Statements ------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt], depth: int) -> Iterator[str]:
        for statement in body:
            for line in self._statement(statement):
                yield "    " * depth + line

    def _statement(self, node: ast.stmt) -> Iterator[str]:
        if isinstance(node, ast.Assign):
            yield self._assign(node.targets[0], node.value)
        elif isinstance(node, ast.AugAssign):
            yield self._assign(node.target, ast.BinOp(loaded(node.target), node.op, node.value))
        elif isinstance(node, ast.Return):
            yield f"return {self._value(node.value)};" if node.value else "return;"
        elif isinstance(node, ast.Expr):
            yield f"{self._value(node.value)};"
        elif isinstance(node, ast.If):
            yield from self._branches(node)
        elif isinstance(node, ast.While):
            yield f"while ({self._value(node.test)}) {{"
            yield from self._block(node.body, 1)
            yield "}"
        elif isinstance(node, ast.For):
            yield from self._loop(node)
        elif isinstance(node, (ast.Break, ast.Continue, ast.Pass)):
            yield {ast.Break: "break;", ast.Continue: "continue;"}.get(type(node), ";")
        else:
            raise self.error(node)

    def _assign(self, target: ast.expr, value: ast.expr) -> str:
        if isinstance(target, ast.Name):
            c_type = self.type_of(value)
            if self.types.setdefault(target.id, c_type) != c_type:
                raise self.error(target)
            return f"v_{target.id} = {self._value(value)};"
        if isinstance(target, ast.Subscript):
            item = self.pointer_of(target).removesuffix(" *")
            return f"{self._value(target)} = ({item})({self._value(value)});"
        raise self.error(target)

    def _branches(self, node: ast.If) -> Iterator[str]:
        yield f"if ({self._value(node.test)}) {{"
        yield from self._block(node.body, 1)
        if node.orelse:
            yield "} else {"
            yield from self._block(node.orelse, 1)
        yield "}"

    def _loop(self, node: ast.For) -> Iterator[str]:
        target, start, stop, step = self.range_of(node)
        first, last = self._value(start), self._value(stop)
        self.loops += 1
        i, end = f"i{self.loops}", f"end{self.loops}"
        compare = "<" if step > 0 else ">"
        yield (
            f"for (int32_t {i} = {first}, {end} = {last}; {i} {compare} {end}; {i} += {step}) {{"
        )
        if target in self.read:
            yield f"    v_{target} = {i};"
        yield from self._block(node.body, 1)
        yield "}"

    # --- Expressions -----------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> str:
        translated = getattr(self, f"_{type(node).__name__.lower()}", None)
        if translated is None:
            raise self.error(node)
        return str(translated(node))

    def _constant(self, node: ast.Constant) -> str:
        if not isinstance(node.value, int):
            raise self.error(node)
        return str(int(node.value))

    def _binop(self, node: ast.BinOp) -> str:
        left, right = self._value(node.left), self._value(node.right)
        if type(node.op) in _ROUNDED:
            return f"{_ROUNDED[type(node.op)]}({left}, {right})"
        return f"({left} {self._word(_ARITHMETIC, node.op, node)} {right})"

    def _unaryop(self, node: ast.UnaryOp) -> str:
        return f"({self._word(_UNARY, node.op, node)}{self._value(node.operand)})"

    def _boolop(self, node: ast.BoolOp) -> str:
        word = " && " if isinstance(node.op, ast.And) else " || "
        return f"({word.join(map(self._value, node.values))})"

    def _ifexp(self, node: ast.IfExp) -> str:
        test, body, other = map(self._value, (node.test, node.body, node.orelse))
        return f"({test} ? {body} : {other})"

    def _word(self, words: Mapping[Any, str], op: ast.AST, node: ast.AST) -> str:
        """Return an operator in C."""
        if type(op) not in words:
            raise self.error(node)
        return words[type(op)]

    def _name(self, node: ast.Name) -> str:
        if node.id in self.types:
            return f"v_{node.id}"
        if node.id in self.file.constants:
            return f"({self.file.constants[node.id]})"
        called = self.kernel_called(node.id)
        if called is None:
            raise self.error(node)
        return called.name

    def _subscript(self, node: ast.Subscript) -> str:
        """Return an item of a pointer, or an object in a tuple."""
        if self.type_of(node.value) == OBJECT:
            return f"((void **){self._value(node.value)})[{self._value(node.slice)}]"
        self.pointer_of(node)
        return f"{self._value(node.value)}[{self._value(node.slice)}]"

    def _call(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name):
            raise self.error(node)
        name = node.func.id
        if name == "int":
            return self._value(node.args[0])
        if name in POINTERS:
            return f"(({POINTERS[name]}){self._address(node.args[0])})"
        return f"{self._name(node.func)}({', '.join(self._given(name, node.args))})"

    def _given(self, name: str, arguments: list[ast.expr]) -> Iterator[str]:
        """Yield the arguments of a call; C++ needs explicit casts to pointers."""
        called = self.kernel_called(name)
        for place, argument in enumerate(arguments):
            c_type = called.arguments[place] if called else OBJECT
            cast = f"({c_type})" if c_type in POINTERS.values() else ""
            yield cast + self._value(argument)

    def _address(self, node: ast.expr) -> str:
        """Return the value to cast to a pointer: an object, or an item of a table of addresses."""
        if isinstance(node, ast.Subscript) and self.type_of(node.value) == POINTERS["ptr32"]:
            return f"((void **){self._value(node.value)})[{self._value(node.slice)}]"
        return self._value(node)

    def _compare(self, node: ast.Compare) -> str:
        values = [self._value(part) for part in (node.left, *node.comparators)]
        words = [self._word(_COMPARISONS, op, node) for op in node.ops]
        pairs = [
            f"{left} {word} {right}"
            for left, word, right in zip(values, words, values[1:], strict=False)
        ]
        return f"({' && '.join(pairs)})"


def head_of(kernel: Kernel) -> str:
    """Return a kernel's declaration, without the semicolon."""
    names = (f"v_{arg.arg}" for arg in kernel.node.args.args)
    given = ", ".join(map(_declared, kernel.arguments, names))
    return f"{kernel.returns} {kernel.name}({given or 'void'})"


def _declared(c_type: str, name: str) -> str:
    return c_type.replace("(*)", f"(*{name})") if "(*)" in c_type else f"{c_type} {name}"
