"""A learner's method as C in a native module: what `microshrub.native` has besides kernels.

A method in viper is plain Python on MicroPython's objects. In C, its attributes are looked up and
its calls made as the interpreter does, without what that takes to interpret them. What it may
consist of: `if` without `else`, calls, `return`; attributes, arguments and whole numbers; `is`,
`is not` between objects, other comparisons between whole numbers; len() of an array or of bytes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .kernel_sources import TranslationError, symbol

OBJECTS = """
static mp_int_t int_of(mp_obj_t object) {
    return mp_obj_is_small_int(object) ? MP_OBJ_SMALL_INT_VALUE(object) : mp_obj_get_int(object);
}

static mp_obj_t object_of(mp_int_t number) {
    return MP_SMALL_INT_FITS(number) ? MP_OBJ_NEW_SMALL_INT(number) : mp_obj_new_int(number);
}
"""

METHODS = """
static mp_int_t length_of(mp_obj_t object) {
    mp_buffer_info_t info;
    mp_get_buffer_raise(object, &info, MP_BUFFER_READ);
    switch (info.typecode) {
        case 'b': case 'B': case BYTEARRAY_TYPECODE:
            return info.len;
        case 'h': case 'H':
            return info.len / 2;
        default:
            return info.len / 4;
    }
}

static mp_obj_t call_of(mp_obj_t self, qstr name, size_t count, mp_obj_t *given) {
    mp_load_method(self, name, given); /* to the first two places */
    return mp_fun_table.call_method_n_kw(count, 0, given);
}
"""

_FUNCTION = """
static mp_obj_t m_NAME(mp_obj_t f, size_t n, size_t n_kw, const mp_obj_t *a) {
    (void)f;
    if (n != COUNT || n_kw != 0) {
        mp_arg_check_num(n, n_kw, COUNT, COUNT, false);
    }
BODY
    return mp_const_none;
}
"""
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "==", ast.IsNot: "!=",
}  # fmt: skip


@dataclass(frozen=True)
class ViperMethod:
    """A method of a class in a module; no other class of the module may have one of its name."""

    module: str
    node: ast.FunctionDef

    @property
    def name(self) -> str:
        """Its name in C and in the native module."""
        return symbol(self.module, self.node.name)

    def text(self) -> str:
        """The function in C. Raises TranslationError."""
        arguments = [arg.arg for arg in self.node.args.args]
        lines = [f"    mp_obj_t v_{name} = a[{i}];" for i, name in enumerate(arguments)]
        body = self.node.body[int(ast.get_docstring(self.node) is not None) :]
        lines += ["    " + line for statement in body for line in self._statement(statement)]
        text = _FUNCTION.replace("BODY", "\n".join(lines)).replace("COUNT", str(len(arguments)))
        return text.replace("NAME", self.name)

    def _statement(self, node: ast.stmt) -> Iterator[str]:
        if isinstance(node, ast.If) and not node.orelse:
            yield f"if ({self._test(node.test)}) {{"
            for statement in node.body:
                yield from ("    " + line for line in self._statement(statement))
            yield "}"
        elif isinstance(node, ast.Expr):
            yield f"{self._object(node.value)};"
        elif isinstance(node, ast.Return) and node.value:
            yield f"return {self._object(node.value)};"
        else:
            raise self._error(node)

    def _test(self, node: ast.expr) -> str:
        """An expression that is true or false."""
        if isinstance(node, ast.BoolOp):
            word = " && " if isinstance(node.op, ast.And) else " || "
            return f"({word.join(map(self._test, node.values))})"
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            same = isinstance(node.ops[0], (ast.Is, ast.IsNot))
            sides = map(self._object if same else self._int, (node.left, node.comparators[0]))
            if type(node.ops[0]) in _COMPARISONS:
                return f" {_COMPARISONS[type(node.ops[0])]} ".join(sides)
        raise self._error(node)

    def _int(self, node: ast.expr) -> str:
        """A whole number."""
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "len":
            return f"length_of({self._object(node.args[0])})"
        return f"int_of({self._object(node)})"

    def _object(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return f"v_{node.id}"
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return f"MP_OBJ_NEW_SMALL_INT({int(node.value)})"
        if isinstance(node, ast.Attribute):
            return f"mp_load_attr({self._object(node.value)}, MP_QSTR_{node.attr})"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, name = self._object(node.func.value), node.func.attr
            given = ", ".join(["0", "0", *map(self._object, node.args)])
            count = len(node.args)
            return f"call_of({owner}, MP_QSTR_{name}, {count}, (mp_obj_t[]){{{given}}})"
        raise self._error(node)

    def _error(self, node: ast.AST) -> TranslationError:
        line = getattr(node, "lineno", 0)
        text = f"{self.module}, line {line}: {ast.unparse(node)} cannot be translated to C"
        return TranslationError(f"{text} in a method")
