"""The device library's kernels as C: one function a kernel, with the integers of viper.

A kernel is restricted Python: integers of 32 bits that wrap around, loops, pointers of three
widths, and objects that are only passed on or cast to a pointer. Each of these means exactly one
thing in C, so the translation just walks over the syntax tree:

    x = ptr8(buffer)      x = (item8_t *)buffer;   loads of 8 and 16 bits are unsigned
    ptr8(a[3])            the buffer whose address is item 3 of the table a
    a // b, a % b         rounded down, as Python rounds
    for i in range(n)     n is evaluated once

The text is C99 and C++ at once and clean of warnings. The library's tests hold every sum and
product within 32 bits, so nothing in it depends on how a compiler treats an overflow.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from . import library_files

INT, OBJECT, NOTHING = "int32_t", "void *", "void"
POINTERS = {"ptr8": "item8_t *", "ptr16": "item16_t *", "ptr32": "item32_t *"}
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

_ARITHMETIC = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_ROUNDED = {ast.FloorDiv: "floor_div", ast.Mod: "floor_mod"}
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.Invert: "~", ast.Not: "!"}


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
class _Module:
    """What the kernels of one file can refer to."""

    name: str
    constants: dict[str, int] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)  # module and name there
    nodes: list[ast.FunctionDef] = field(default_factory=list)


def c_name(module: str, function: str) -> str:
    """The name in C of a module's function."""
    return f"{module.replace('.', '_')}__{function}"


def translate(
    modules: Iterable[str],
    *,
    functions: bool = True,
    linkage: str = "",
    roots: Iterable[tuple[str, str]] | None = None,
) -> tuple[str, list[Kernel]]:
    """C for the kernels of these modules of the device library, and what they are.

    The modules that they import from have to be among them. Those of the room device/ that work
    on Python's objects are left out, and without `functions` those that take a function are, too.
    Of `roots`, pairs of module and name, only these and what they call are taken. `linkage` stands
    before each function ("static "). What has to stand before the text: TYPES and DIVISION, or the
    like. Raises TranslationError.
    """
    read = [_read(name) for name in modules]
    for module in read:
        module.nodes = [node for node in module.nodes if not _works_on_objects(module, node)]
    kernels = {(m.name, node.name): _kernel(m.name, node) for m in read for node in m.nodes}
    if not functions:
        kernels = {place: k for place, k in kernels.items() if not k.takes_function}
    if roots is not None:
        kernels = _needed(read, kernels, roots)
    texts = [f"{linkage}{_head(kernel)};" for kernel in kernels.values()]
    for module in read:
        for node in module.nodes:
            if (module.name, node.name) in kernels:
                texts.append(linkage + _Function(module, kernels, node).text())
    return "\n".join(texts) + "\n", list(kernels.values())


def _needed(
    modules: Iterable[_Module],
    kernels: Mapping[tuple[str, str], Kernel],
    roots: Iterable[tuple[str, str]],
) -> dict[tuple[str, str], Kernel]:
    """The kernels that are roots, or called by one that is needed. Raises KeyError."""
    imported = {module.name: module.imported for module in modules}
    needed: set[tuple[str, str]] = set()
    waiting = list(roots)
    while waiting:
        place = waiting.pop()
        if place not in needed:
            needed.add(place)
            home = place[0]
            names = {n.id for n in ast.walk(kernels[place].node) if isinstance(n, ast.Name)}
            called = {imported[home].get(name, (home, name)) for name in names}
            waiting += called & kernels.keys()
    return {place: kernel for place, kernel in kernels.items() if place in needed}


def is_kernel(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    """Whether a syntax tree's node is a kernel, other than the one that each engine brings."""
    return (
        isinstance(node, ast.FunctionDef)
        and node.name != library_files.WRITE_ADDRESSES
        and any(ast.unparse(decorator) == "micropython.viper" for decorator in node.decorator_list)
    )


def _works_on_objects(module: _Module, node: ast.FunctionDef) -> bool:
    """Whether a function of the device's program calls methods or loops over an iterator."""
    return module.name.startswith("device.") and any(
        isinstance(part, ast.Attribute)
        or (isinstance(part, ast.For) and "range(" not in ast.unparse(part.iter))
        for statement in node.body
        for part in ast.walk(statement)
    )


def _read(name: str) -> _Module:
    found = _Module(name)
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


def _kernel(module: str, node: ast.FunctionDef) -> Kernel:
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


def _head(kernel: Kernel) -> str:
    names = (f"v_{arg.arg}" for arg in kernel.node.args.args)
    given = ", ".join(map(_declared, kernel.arguments, names))
    return f"{kernel.returns} {kernel.name}({given or 'void'})"


class _Function:
    """The C of one kernel."""

    def __init__(
        self, module: _Module, kernels: Mapping[tuple[str, str], Kernel], node: ast.FunctionDef
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
        return "\n".join([f"{_head(self.kernel)} {{", *local, *lines, "}", ""])

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
