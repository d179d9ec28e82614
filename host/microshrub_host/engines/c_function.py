"""One kernel's body as C: its statements and expressions; see c_translate.py."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from .c_declarations import INT, OBJECT, POINTERS, Kernel, KernelFile, TranslationError, head_of

_ARITHMETIC = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_ROUNDED = {ast.FloorDiv: "floor_div", ast.Mod: "floor_mod"}
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.Invert: "~", ast.Not: "!"}


class KernelBody:
    """The C of one kernel."""

    def __init__(
        self, module: KernelFile, kernels: Mapping[tuple[str, str], Kernel], node: ast.FunctionDef
    ) -> None:
        self.module, self.kernels, self.node = module, kernels, node
        self.kernel = kernels[module.name, node.name]
        names = [arg.arg for arg in node.args.args]
        self.types = dict(zip(names, self.kernel.arguments, strict=True))
        self.arguments = set(names)
        self.read = {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
        }
        self.loops = 0

    def text(self) -> str:
        """The whole function; its locals are declared at its top."""
        body = self.node.body[int(ast.get_docstring(self.node) is not None) :]
        lines = [f"    (void)v_{name};" for name in self.types if name not in self.read]
        lines += self._block(body, 1)
        local = [
            f"    {kind} v_{name}{'' if kind in POINTERS.values() else ' = 0'};"
            for name, kind in self.types.items()
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
            yield self._assign(node.target, ast.BinOp(_loaded(node.target), node.op, node.value))
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
            raise self._error(node)

    def _assign(self, target: ast.expr, value: ast.expr) -> str:
        if isinstance(target, ast.Name):
            kind = self._type(value)
            if self.types.setdefault(target.id, kind) != kind:
                raise self._error(target)
            return f"v_{target.id} = {self._value(value)};"
        if isinstance(target, ast.Subscript):
            item = self._type(target.value).removesuffix(" *")
            return f"{self._value(target)} = ({item})({self._value(value)});"
        raise self._error(target)

    def _branches(self, node: ast.If) -> Iterator[str]:
        yield f"if ({self._value(node.test)}) {{"
        yield from self._block(node.body, 1)
        if node.orelse:
            yield "} else {"
            yield from self._block(node.orelse, 1)
        yield "}"

    def _loop(self, node: ast.For) -> Iterator[str]:
        call = node.iter
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "range"):
            raise self._error(node)
        if not isinstance(node.target, ast.Name):
            raise self._error(node)
        given = [self._value(argument) for argument in call.args]
        start, stop = ("0", given[0]) if len(given) == 1 else given[:2]
        step = ast.literal_eval(call.args[2]) if len(given) == 3 else 1
        if node.target.id in self.read:
            self.types.setdefault(node.target.id, INT)
        self.loops += 1
        i, end = f"i{self.loops}", f"end{self.loops}"
        compare = "<" if step > 0 else ">"
        yield (
            f"for (int32_t {i} = {start}, {end} = {stop}; {i} {compare} {end}; {i} += {step}) {{"
        )
        if node.target.id in self.read:
            yield f"    v_{node.target.id} = {i};"
        yield from self._block(node.body, 1)
        yield "}"

    # --- Expressions -----------------------------------------------------------------------------

    def _type(self, node: ast.expr) -> str:
        """The type in C of what an expression gives."""
        if isinstance(node, ast.Name):
            return self.types.get(node.id, INT)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return POINTERS.get(node.func.id, INT)
        if isinstance(node, ast.Subscript) and self._type(node.value) == OBJECT:
            return OBJECT
        if isinstance(node, ast.IfExp):
            return self._type(node.body)
        return INT

    def _value(self, node: ast.expr) -> str:
        translated = getattr(self, f"_{type(node).__name__.lower()}", None)
        if translated is None:
            raise self._error(node)
        return str(translated(node))

    def _constant(self, node: ast.Constant) -> str:
        if not isinstance(node.value, int):
            raise self._error(node)
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
        """The operator in C."""
        if type(op) not in words:
            raise self._error(node)
        return words[type(op)]

    def _name(self, node: ast.Name) -> str:
        if node.id in self.types:
            return f"v_{node.id}"
        if node.id in self.module.constants:
            return f"({self.module.constants[node.id]})"
        called = self._kernel(node.id)
        if called is None:
            raise self._error(node)
        return called.name

    def _kernel(self, name: str) -> Kernel | None:
        """The kernel that has this name in this file."""
        place = self.module.imported.get(name, (self.module.name, name))
        return self.kernels.get(place)

    def _subscript(self, node: ast.Subscript) -> str:
        """An item of a pointer; of an object, which is a tuple, the object that it holds."""
        if self._type(node.value) == OBJECT:
            return f"((void **){self._value(node.value)})[{self._value(node.slice)}]"
        return f"{self._value(node.value)}[{self._value(node.slice)}]"

    def _call(self, node: ast.Call) -> str:
        if not isinstance(node.func, ast.Name):
            raise self._error(node)
        name = node.func.id
        if name == "int":
            return self._value(node.args[0])
        if name in POINTERS:
            return f"(({POINTERS[name]}){self._address(node.args[0])})"
        return f"{self._name(node.func)}({', '.join(self._given(name, node.args))})"

    def _given(self, name: str, arguments: list[ast.expr]) -> Iterator[str]:
        """What a kernel is called with; C++ wants casts to pointers said."""
        called = self._kernel(name)
        for place, argument in enumerate(arguments):
            kind = called.arguments[place] if called else OBJECT
            cast = f"({kind})" if kind in POINTERS.values() else ""
            yield cast + self._value(argument)

    def _address(self, node: ast.expr) -> str:
        """What is cast to a pointer: an object, or an item of a table of addresses."""
        if isinstance(node, ast.Subscript) and self._type(node.value) == POINTERS["ptr32"]:
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

    def _error(self, node: ast.AST) -> TranslationError:
        line = getattr(node, "lineno", 0)
        return TranslationError(
            f"{self.module.name}, line {line}: {ast.unparse(node)} cannot be translated to C"
        )


def _loaded(target: ast.expr) -> ast.expr:
    """A target of an assignment as a value."""
    found = ast.parse(ast.unparse(target), mode="eval").body
    return ast.copy_location(found, target)
