"""Rules for kernels, against code that viper lacks or runs differently from CPython.

Each rule returns the nodes, or arguments, that break the rule.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from .kernel_rewriting import POINTERS, in_viper, is_call_of

SMALL = 2**30  # exclusive limit of integers
MODULES = {"micropython", "array", "builtins", "struct", "binascii", "io"}  # allowed imports

Function = ast.FunctionDef

_SYNTAX: dict[str, tuple[type[ast.AST], ...]] = {  # forbidden nodes, by rule
    "keyword calls": (ast.keyword,),
    "starred calls": (ast.Starred,),
    "division and power": (ast.Div, ast.Pow),
    "slices": (ast.Slice,),
    "allocating syntax": (
        ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp,
        ast.GeneratorExp, ast.Lambda, ast.JoinedStr, ast.Yield, ast.YieldFrom, ast.Await,
        ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.With, ast.Global, ast.Nonlocal,
    ),
}  # fmt: skip


def kernels(tree: ast.Module) -> list[Function]:
    """Return the kernels of a module; a method in viper works on objects, and is no kernel."""
    return [node for node in tree.body if in_viper(node)]


def without_viper(tree: ast.Module) -> list[Function]:
    """Return functions of the module that use pointers, but are not kernels."""
    functions = [each for each in tree.body if isinstance(each, Function) and not in_viper(each)]
    return [
        each for each in functions if any(is_call_of(node, POINTERS) for node in ast.walk(each))
    ]


def constants(tree: ast.Module) -> dict[str, int]:
    """Return the names that the module assigns const(integer), in their order."""
    return {
        node.targets[0].id: ast.literal_eval(node.value.args[0])
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "const"
    }


def locals_of(kernel: Function) -> set[str]:
    stored = {
        node.id
        for node in ast.walk(kernel)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {arg.arg for arg in kernel.args.args}


def unusual_arguments(kernel: Function) -> list[ast.AST]:
    args = kernel.args
    odd = [args.vararg, args.kwarg, *args.posonlyargs, *args.kwonlyargs, *args.defaults]
    return [n for n in odd if n]


def negative_subscripts(kernel: Function) -> list[ast.AST]:
    return [
        n
        for n in ast.walk(kernel)
        if isinstance(n, ast.Subscript)
        and isinstance(n.slice, ast.UnaryOp)
        and isinstance(n.slice.op, ast.USub)
    ]


def wide_literals(kernel: Function) -> list[ast.AST]:
    return [
        n
        for n in ast.walk(kernel)
        if isinstance(n, ast.Constant) and isinstance(n.value, int) and n.value >= SMALL
    ]


def other_literals(kernel: Function) -> list[ast.AST]:
    """Return floats, None, texts except the docstring, True and False."""
    allowed = kernel.body[0].value if ast.get_docstring(kernel) else None  # type: ignore[attr-defined]
    return [
        n
        for n in ast.walk(kernel)
        if isinstance(n, ast.Constant) and type(n.value) is not int and n is not allowed
    ]


def ranges_with_a_variable_step(kernel: Function) -> list[ast.AST]:
    return [
        n
        for n in ast.walk(kernel)
        if is_call_of(n, {"range"})
        and len(n.args) == 3
        and not isinstance(n.args[2], ast.Constant)
    ]


RULES: tuple[Callable[[Function], list[ast.AST]], ...] = (
    unusual_arguments, negative_subscripts, wide_literals, other_literals,
    ranges_with_a_variable_step,
)  # fmt: skip


def uncast_results(kernel: Function, others: set[str]) -> list[ast.AST]:
    """Return calls of kernels whose result is used without int(...): in viper, it is an object."""
    fine = set()
    for node in ast.walk(kernel):
        if isinstance(node, ast.Expr):
            fine.add(id(node.value))
        if is_call_of(node, {"int"}):
            fine.update(map(id, node.args))
    return [n for n in ast.walk(kernel) if is_call_of(n, others) and id(n) not in fine]


def global_names(kernel: Function, consts: set[str]) -> list[ast.AST]:
    """Return names in expressions that are neither local nor const; calls are allowed."""
    called = {id(n.func) for n in ast.walk(kernel) if isinstance(n, ast.Call)}
    known = locals_of(kernel) | consts
    body = [node for statement in kernel.body for node in ast.walk(statement)]
    return [
        n for n in body if isinstance(n, ast.Name) and n.id not in known and id(n) not in called
    ]


def unknown_calls(kernel: Function, module: set[str]) -> list[ast.AST]:
    """Return all calls except of the module's functions, local names, builtins and pointers."""
    known = module | locals_of(kernel) | {*POINTERS} | set(dir(builtins))
    return [
        n
        for n in ast.walk(kernel)
        if isinstance(n, ast.Call) and not (isinstance(n.func, ast.Name) and n.func.id in known)
    ]


def names_of(tree: ast.Module) -> set[str]:
    """Return the module's functions and imported names."""
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    return imported | {node.name for node in tree.body if isinstance(node, Function)}


def broken(tree: ast.Module, others: set[str]) -> list[tuple[ast.AST, str, str]]:
    """Return each node that breaks a rule in a module's kernels, with names of kernel and rule.

    others are the names of all kernels that these may call, including their own.
    """
    result: list[tuple[ast.AST, str, str]] = []
    consts, named = set(constants(tree)), names_of(tree)
    for kernel in kernels(tree):
        breaking = {rule.__name__.replace("_", " "): rule(kernel) for rule in RULES}
        for name, node_types in _SYNTAX.items():
            breaking[name] = [node for node in ast.walk(kernel) if isinstance(node, node_types)]
        breaking["uncast results"] = uncast_results(kernel, others)
        breaking["global names"] = global_names(kernel, consts)
        breaking["unknown calls"] = unknown_calls(kernel, named)
        result += [(node, kernel.name, name) for name, nodes in breaking.items() for node in nodes]
    return result
