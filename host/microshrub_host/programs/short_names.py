"""Reuses names that are on the board anyway, to save RAM.

Each new name takes some 20 bytes of a board's RAM, and once a pool of names is full, another one
takes several kilobytes. So a function whose name no user needs to see gets one that the program or
the firmware already has: kernels, as a traceback has no line for machine code; functions of a
single expression, as their caller's line is informative enough; and private functions. Names of
attributes can be reused, since an attribute and a global may share a name, and so can built-in
names and the names of the module math that the program does not use.

Buffers are numbered instead of named. MicroPython keeps the names of a function's parameters, but
neither the names of its other variables nor any names in kernels. Parameters that are never passed
by name get names from the firmware; parameters of public methods and of functions called with `**`
keep their names.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..library.kernel_rewriting import in_viper
from ..library.syntax_tree import walk
from .merged_source import constant, is_text
from .unused_code import defined

_IMPORTS = (ast.Import, ast.ImportFrom)
# Names in the firmware
_BUILT_IN = """\
ArithmeticError AssertionError AttributeError BaseException EOFError Ellipsis GeneratorExit
IndentationError IndexError KeyError LookupError NameError OverflowError StopIteration SyntaxError
SystemExit ZeroDivisionError abs all any bin callable chr classmethod dict dir divmod enumerate
eval exec float frozenset globals hash hex id iter list locals map next object oct ord pow print
property range repr reversed round set slice sorted staticmethod str super zip acos asin atan atan2
ceil copysign cos degrees e exp fabs floor fmod frexp isfinite isinf isnan ldexp log modf pi
radians sin sqrt tan trunc"""


def free_names(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names that the program or the firmware already has, and that globals can take."""
    return attributes(body) | {*_BUILT_IN.split()}


def attributes(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names of a program's attributes, except those with a meaning in MicroPython."""
    names = {each.attr for node in body for each in walk(node) if isinstance(each, ast.Attribute)}
    return {name for name in names if not name.startswith("__")} - {*dir(builtins)}


def unread(body: Iterable[ast.stmt]) -> list[str]:
    """Return the names of a module's kernels, and of its single-expression functions."""
    functions = [node for node in body if isinstance(node, ast.FunctionDef)]
    return [node.name for node in functions if in_viper(node) or _is_expression(node)]


def private(body: Iterable[ast.stmt]) -> list[str]:
    """Return the private names that a module defines, except constants.

    The compiler drops the names of constants.
    """
    statements = [node for node in body if not isinstance(node, _IMPORTS) and not constant(node)]
    names = [name for node in statements for name in defined(node)]
    return [name for name in names if name.startswith("_") and not name.startswith("__")]


def new_names(
    able: Iterable[str],
    free: Collection[str],
    body: list[ast.stmt],
    others: Iterable[ast.AST] = (),
    kept: Collection[str] = (),
) -> dict[str, str]:
    """Assign a free name to each of these names of a module, until no free name is left.

    Names in `kept` do not change, nor do names that also have another meaning in the module. A new
    name is never one that the module or `others` use.
    """
    used = {name for node in others for each in walk(node) for name in _names(each)}
    inner: set[str] = set()
    for top in body:
        nodes = walk(top)
        used.update(name for each in nodes for name in _names(each))
        if not isinstance(top, _IMPORTS):
            inner.update(_bound_within(top, nodes))
    renamed = [name for name in able if name not in inner and name not in kept]
    return dict(zip(renamed, sorted({*free} - used - {*kept}), strict=False))


def rename(body: Iterable[ast.stmt], names: Mapping[str, str]) -> None:
    """Rename names in place, wherever the module uses them."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            node.name = names.get(node.name, node.name)
        for each in walk(node):
            if isinstance(each, ast.Name):
                each.id = names.get(each.id, each.id)


def _is_expression(function: ast.FunctionDef) -> bool:
    code = [node for node in function.body if not is_text(node)]
    return len(code) == 1 and isinstance(code[0], ast.Return)


def _names(node: ast.AST) -> list[str]:
    """Return the bare names in a node, and the names that it binds."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.ExceptHandler) and node.name:
        return [node.name]
    if isinstance(node, ast.Global):
        return list(node.names)
    return []


def _bound_within(top: ast.stmt, nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that a statement binds, except the one that it defines for the module.

    nodes are all nodes of the statement.
    """
    names: set[str] = set()
    defining = (top, *(top.targets if isinstance(top, ast.Assign) else ()))
    for node in nodes:
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load) and node not in defining:
                names.add(node.id)
        elif node not in defining:
            names.update(_names(node))
    return names


_TYPECODES = ("B", "H", "i")


def number_buffers(body: Iterable[ast.stmt]) -> None:
    """Replace the names of buffers in a module by numbers, in place.

    A buffer is named in a table such as `[("window.codes", "B", n), ...]`.
    """
    nodes = [node for top in body for node in walk(top)]
    names = dict.fromkeys(filter(None, map(_name, nodes)))
    numbers = {name: number for number, name in enumerate(names)}
    for each in nodes:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            each.value = numbers.get(each.value, each.value)


def _name(node: ast.AST) -> str:
    """Return the buffer's name if the node is a row of such a table, else an empty string."""
    if isinstance(node, ast.Tuple) and len(node.elts) == 3:
        name, typecode, _ = (getattr(each, "value", None) for each in node.elts)
        if typecode in _TYPECODES and isinstance(name, str) and "." in name:
            return name
    return ""


# Parameter names that are in the firmware anyway
_SHORT = (
    *("n", "s", "t", "text", "code", "value", "state", "step", "start", "count", "name", "data"),
)


def shortened_parameters(
    body: list[ast.stmt], others: Iterable[ast.AST], public: Collection[str]
) -> None:
    """Give parameters in a module shorter names, in place; `others` may call its functions."""
    kept = _passed([*body, *others])
    for node in body:
        methods = node.body if isinstance(node, ast.ClassDef) else []
        for each in [node, *methods]:
            if isinstance(each, ast.FunctionDef) and not _is_kept(each, node, kept, public):
                _renamed_in(each, kept)


def _passed(nodes: Iterable[ast.AST]) -> set[str]:
    """Return names by which arguments are passed, and of functions that are called with `**`."""
    names: set[str] = set()
    for top in nodes:
        for node in walk(top):
            if isinstance(node, ast.Call) and node.keywords:
                called = ast.unparse(node.func).rpartition(".")[2]
                names.update(each.arg or called for each in node.keywords)
    return names


def _is_kept(
    function: ast.FunctionDef, home: ast.stmt, kept: Collection[str], public: Collection[str]
) -> bool:
    """Return whether a function must keep its parameters' names; home is its class or itself."""
    name, of = function.name, getattr(home, "name", "")
    is_private = name.startswith("_") and not name.startswith("__")
    return (
        in_viper(function)
        or bool({name, of}.intersection(kept))
        or (of in public and not is_private)
    )


def _renamed_in(function: ast.FunctionDef, kept: Collection[str]) -> None:
    if function.args.kwarg or function.args.vararg:
        return
    parameters = {each.arg for each in function.args.args}
    if not parameters.difference(kept, _SHORT, ("self",)):
        return
    nodes = walk(function)
    taken = {name for node in nodes for name in _variables(node)}
    inner = {name for node in _inner(function) for name in _variables(node)}
    new: dict[str, str] = {}
    for each in function.args.args:
        free = next((name for name in _SHORT if name not in taken), "")
        if each.arg not in (*kept, *inner, *_SHORT, "self") and free:
            new[each.arg] = free
            taken.add(free)
    for node in nodes if new else ():
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        if isinstance(node, ast.arg):
            node.arg = new.get(node.arg, node.arg)


def _variables(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    if isinstance(node, ast.arg):
        yield node.arg


def _inner(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes in nested scopes of a function, which may have local names of their own."""
    scopes = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp)
    for node in walk(function):
        if isinstance(node, scopes) and node is not function:
            yield from walk(node)
