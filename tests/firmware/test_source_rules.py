"""Rules that the device library's sources keep, read from their syntax trees.

What viper cannot do, or does in another way than CPython, is in the table of MICROPYTHON.md.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator

import pytest
from source_support import FILES, POINTERS, Function, constants, is_call_of, kernels, parse

from microshrub_host.engines import library_files
from microshrub_host.engines.shared_constants import own_part

MOST_LINES = 310
MODULES = {"micropython", "array", "builtins", "struct", "binascii", "io"}

# The device's program talks to files, ports and people, which fail: it may try, and import more.
PROGRAM = {
    *(
        "device/device_model.py",
        "device/hardware.py",
        "device/config.py",
        "device/stdin.py",
        "device/plotter.py",
        "device/program.py",
    ),
    *("device/sensors.py", "device/motion.py", "device/motion_fifo.py", "device/own.py"),
    *("device/service.py", "device/naming.py", "device/naming_button.py", "device/states.py"),
    "device/saving.py",
}
PROGRAM_MODULES = MODULES | {"gc", "json", "machine", "os", "select", "sys", "time"}
SMALL = 2**30

# Where a rule does not hold, and why: rule and function, "" being the module's level.
EXCEPTIONS = {
    ("float", "__init__"): "a default of a parameter that a person passes in",
    ("float", "twelve_bits"): "makes an integer of what a person passes in",
    ("float", "_read"): "reads a range of what a person passes in",
    ("float", "_prepare"): "tells a person what was passed in",
    ("dict", ""): "made once, when the module is imported",
    ("dict", "progress"): "made for a person who asks",
    ("dict", "record"): "made once, before the first reading",
    ("float", "_mean"): "made for a person who asks",
    ("float", "_delta_q16"): "makes an integer of what a person passes in",
    ("try", "__getattr__"): "a PC has no micropython, and a person is told",
    ("try", "_check"): "a slot may be missing or damaged",
    ("try", "_take"): "a disk may fail while a slot is read",
    ("try", "steps"): "a disk may be full",
    ("try", "read"): "a disk may fail while a state is read",
    ("try", "same_items"): "MicroPython's arrays do not tell their typecode otherwise",
    ("try", "error_text"): "the file of the texts may be missing",
    ("try", "_apply"): "what the application refuses is answered in its words",
}


def with_function(node: ast.AST, function: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Every node below, with the name of the innermost function that it is in."""
    for child in ast.iter_child_nodes(node):
        inner = child.name if isinstance(child, Function) else function
        yield child, inner
        yield from with_function(child, inner)


def locals_of(kernel: Function) -> set[str]:
    stored = {
        node.id
        for node in ast.walk(kernel)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return stored | {arg.arg for arg in kernel.args.args}


# Rules of kernels: each gives the nodes, or arguments, that break it


def keyword_calls(kernel: Function) -> list[ast.AST]:
    return [n for n in ast.walk(kernel) if isinstance(n, ast.keyword)]


def starred_calls(kernel: Function) -> list[ast.AST]:
    return [n for n in ast.walk(kernel) if isinstance(n, ast.Starred)]


def unusual_arguments(kernel: Function) -> list[ast.AST]:
    args = kernel.args
    odd = [args.vararg, args.kwarg, *args.posonlyargs, *args.kwonlyargs, *args.defaults]
    return [n for n in odd if n]


def division_and_power(kernel: Function) -> list[ast.AST]:
    return [n for n in ast.walk(kernel) if isinstance(n, (ast.Div, ast.Pow))]


def negative_subscripts(kernel: Function) -> list[ast.AST]:
    return [
        n
        for n in ast.walk(kernel)
        if isinstance(n, ast.Subscript)
        and isinstance(n.slice, ast.UnaryOp)
        and isinstance(n.slice.op, ast.USub)
    ]


def slices(kernel: Function) -> list[ast.AST]:
    return [n for n in ast.walk(kernel) if isinstance(n, ast.Slice)]


def wide_literals(kernel: Function) -> list[ast.AST]:
    return [
        n
        for n in ast.walk(kernel)
        if isinstance(n, ast.Constant) and isinstance(n.value, int) and n.value >= SMALL
    ]


def other_literals(kernel: Function) -> list[ast.AST]:
    """Floats, None, text (but for the docstring), True and False."""
    allowed = kernel.body[0].value if ast.get_docstring(kernel) else None  # type: ignore[attr-defined]
    return [
        n
        for n in ast.walk(kernel)
        if isinstance(n, ast.Constant) and type(n.value) is not int and n is not allowed
    ]


def allocating_syntax(kernel: Function) -> list[ast.AST]:
    kinds = (
        ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp,
        ast.GeneratorExp, ast.Lambda, ast.JoinedStr, ast.Yield, ast.YieldFrom, ast.Await,
        ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.With, ast.Global, ast.Nonlocal,
    )  # fmt: skip
    return [n for n in ast.walk(kernel) if isinstance(n, kinds)]


def ranges_with_a_variable_step(kernel: Function) -> list[ast.AST]:
    return [
        n
        for n in ast.walk(kernel)
        if is_call_of(n, {"range"})
        and isinstance(n, ast.Call)
        and len(n.args) == 3
        and not isinstance(n.args[2], ast.Constant)
    ]


RULES: tuple[Callable[[Function], list[ast.AST]], ...] = (
    keyword_calls,
    starred_calls,
    unusual_arguments,
    division_and_power,
    negative_subscripts,
    slices,
    wide_literals,
    other_literals,
    allocating_syntax,
    ranges_with_a_variable_step,
)


def uncast_results(kernel: Function, others: set[str]) -> list[ast.AST]:
    """Calls of kernels whose result is used without int(...): in viper it is an object."""
    fine = set()
    for node in ast.walk(kernel):
        if isinstance(node, ast.Expr):
            fine.add(id(node.value))
        if isinstance(node, ast.Call) and is_call_of(node, {"int"}):
            fine.update(map(id, node.args))
    return [n for n in ast.walk(kernel) if is_call_of(n, others) and id(n) not in fine]


def global_names(kernel: Function, consts: set[str]) -> list[ast.AST]:
    """Names in expressions that are neither local nor const; calls are fine."""
    called = {id(n.func) for n in ast.walk(kernel) if isinstance(n, ast.Call)}
    known = locals_of(kernel) | consts
    body = [node for statement in kernel.body for node in ast.walk(statement)]
    return [
        n for n in body if isinstance(n, ast.Name) and n.id not in known and id(n) not in called
    ]


def unknown_calls(kernel: Function, module: set[str]) -> list[ast.AST]:
    """Calls of what is neither in the module, nor an argument, nor a builtin or a pointer."""
    known = module | locals_of(kernel) | POINTERS | set(dir(builtins))
    return [
        n
        for n in ast.walk(kernel)
        if isinstance(n, ast.Call) and not (isinstance(n.func, ast.Name) and n.func.id in known)
    ]


def names_of(tree: ast.Module) -> set[str]:
    """Functions of the module and what it imports."""
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    return imported | {node.name for node in tree.body if isinstance(node, Function)}


ALL_KERNELS = {kernel.name for name in FILES for kernel in kernels(parse(name))}


@pytest.mark.parametrize("file", FILES)
def test_kernels_are_what_viper_and_cpython_agree_on(file: str) -> None:
    tree = parse(file)
    for kernel in kernels(tree):
        broken = {rule.__name__: [ast.unparse(n) for n in rule(kernel)] for rule in RULES}
        broken["uncast"] = [ast.unparse(n) for n in uncast_results(kernel, ALL_KERNELS)]
        consts = set(constants(tree))
        broken["globals"] = [ast.unparse(n) for n in global_names(kernel, consts)]
        broken["calls"] = [ast.unparse(n) for n in unknown_calls(kernel, names_of(tree))]
        assert not any(broken.values()), (kernel.name, broken)


def test_there_are_kernels() -> None:
    assert {"predict", "learn", "slide", "grow", "project", "encode_rows"} <= ALL_KERNELS


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (keyword_calls, "y = g(x, n=1)"),
        (keyword_calls, "g(**x)"),
        (starred_calls, "g(*x)"),
        (unusual_arguments, "def f(x, n=1): pass"),
        (unusual_arguments, "def f(x, *n): pass"),
        (unusual_arguments, "def f(x, *, n): pass"),
        (unusual_arguments, "def f(**x): pass"),
        (division_and_power, "y = x / 2"),
        (division_and_power, "x /= 2"),
        (division_and_power, "y = x ** 2"),
        (negative_subscripts, "y = x[-1]"),
        (negative_subscripts, "x[-1] = 0"),
        (slices, "y = x[1:2]"),
        (wide_literals, "y = 1073741824"),
        (wide_literals, "y = 0x7FFFFFFF"),
        (other_literals, "y = 0.5"),
        (other_literals, "y = None"),
        (other_literals, "y = 'text'"),
        (other_literals, "y = True"),
        (allocating_syntax, "y = [x]"),
        (allocating_syntax, "y, z = x"),
        (allocating_syntax, "y = x is z"),
        (ranges_with_a_variable_step, "for i in range(0, 9, x): pass"),
    ],
)
def test_the_rules_notice(rule: Callable[[Function], list[ast.AST]], line: str) -> None:
    source = line if line.startswith("def") else f"def f(x, z):\n    {line}"
    (function,) = ast.parse(source).body
    assert isinstance(function, Function)
    assert rule(function)


def test_the_rules_about_names_notice() -> None:
    (function,) = ast.parse("def f(x):\n    y = g(x) + LIMIT\n    h(x)\n    return int(g(y))").body
    assert isinstance(function, Function)
    assert [ast.unparse(n) for n in uncast_results(function, {"g", "h"})] == ["g(x)"]
    assert [ast.unparse(n) for n in global_names(function, set())] == ["LIMIT"]
    assert not global_names(function, {"LIMIT"})
    assert [ast.unparse(n) for n in unknown_calls(function, {"g"})] == ["h(x)"]


# Rules of whole files


@pytest.mark.parametrize("file", FILES)
def test_files_are_short(file: str) -> None:
    """Without what `make constants` writes into them."""
    source = (library_files.folder() / file).read_text(encoding="utf-8")
    assert len(own_part(source).splitlines()) <= MOST_LINES


@pytest.mark.parametrize("file", FILES)
def test_only_modules_of_micropython_are_imported(file: str) -> None:
    known = PROGRAM_MODULES if file in PROGRAM else MODULES
    for node in ast.walk(parse(file)):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= known
            assert not any(alias.asname for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module in known
    names = {library_files.module_name(source) for source in library_files.sources()}
    assert library_files.imports(library_files.module_name(library_files.folder() / file)) <= names


@pytest.mark.parametrize("file", FILES)
def test_no_floats_dicts_and_try(file: str) -> None:
    found = set()
    for node, function in with_function(parse(file)):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, (float, complex))
        if literal or isinstance(node, ast.Div):
            found.add(("float", function))
        if isinstance(node, (ast.Dict, ast.DictComp)):
            found.add(("dict", function))
        if isinstance(node, ast.Try) and file not in PROGRAM:
            found.add(("try", function))
    assert found <= set(EXCEPTIONS)


def test_the_exceptions_are_in_use() -> None:
    functions = {
        n.name for name in FILES for n in ast.walk(parse(name)) if isinstance(n, Function)
    }
    assert {function for _, function in EXCEPTIONS if function} <= functions


@pytest.mark.parametrize("file", FILES)
def test_constants_are_small_integers(file: str) -> None:
    for name, value in constants(parse(file)).items():
        assert -SMALL <= value < SMALL, name
