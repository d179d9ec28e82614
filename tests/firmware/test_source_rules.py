"""Rules that the device library's sources keep, read from their syntax trees.

What viper cannot do, or does in another way than CPython, is in the table of MICROPYTHON.md.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from microshrub_host import firmware

FILES = [path.name for path in firmware.sources()]
MOST_LINES = 310
MODULES = {"micropython", "array", "struct", "binascii", "io"}
POINTERS = {"ptr8", "ptr16", "ptr32"}
SMALL = 2**30

# Where a rule does not hold, and why: rule and function, "" being the module's level.
EXCEPTIONS = {
    ("float", "__init__"): "a default of a parameter that a person passes in",
    ("float", "twelve_bits"): "makes an integer of what a person passes in",
    ("float", "_step_q16"): "makes an integer of what a person passes in",
    ("dict", ""): "made once, when the module is imported",
    ("dict", "progress"): "made for a person who asks",
    ("try", "same_items"): "MicroPython's arrays do not tell their typecode otherwise",
}

Function = ast.FunctionDef


@cache
def parse(name: str) -> ast.Module:
    return ast.parse((firmware.folder() / name).read_text(encoding="utf-8"), name)


def is_kernel(node: ast.AST) -> bool:
    return isinstance(node, Function) and any(
        ast.unparse(decorator) == "micropython.viper" for decorator in node.decorator_list
    )


def kernels(tree: ast.AST) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function) and is_kernel(node)]


def constants(tree: ast.Module) -> dict[str, int]:
    """Names that the module assigns const(integer), in their order."""
    return {
        node.targets[0].id: ast.literal_eval(node.value.args[0])
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "const"
    }


def with_function(node: ast.AST, function: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Every node below, with the name of the innermost function that it is in."""
    for child in ast.iter_child_nodes(node):
        inner = child.name if isinstance(child, Function) else function
        yield child, inner
        yield from with_function(child, inner)


def is_call_of(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


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
    path: Path = firmware.folder() / file
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("file", FILES)
def test_only_modules_of_micropython_are_imported(file: str) -> None:
    for node in ast.walk(parse(file)):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= MODULES
            assert not any(alias.asname for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module in MODULES
        if isinstance(node, ast.ImportFrom) and node.level:
            assert f"{node.module}.py" in FILES


@pytest.mark.parametrize("file", FILES)
def test_no_floats_dicts_and_try(file: str) -> None:
    found = set()
    for node, function in with_function(parse(file)):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, (float, complex))
        if literal or isinstance(node, ast.Div):
            found.add(("float", function))
        if isinstance(node, (ast.Dict, ast.DictComp)):
            found.add(("dict", function))
        if isinstance(node, ast.Try):
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


# Layouts that more than one file knows


def repeated(file: str, prefix: str) -> dict[str, int]:
    """The constants of the file that begin so, without that."""
    found = constants(parse(file))
    return {"_" + k[len(prefix) :]: v for k, v in found.items() if k.startswith(prefix)}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("prefix", "owner"), [("_W_", "window.py"), ("_P_", "shrubs.py")])
def test_repeated_layouts_agree_with_their_owner(file: str, prefix: str, owner: str) -> None:
    own = constants(parse(owner))
    for name, value in repeated(file, prefix).items():
        assert own.get(name) == value, f"{prefix}{name[1:]}"


def test_the_repeated_layouts_are_found() -> None:
    for file in ("cart.py", "splits.py", "weights.py"):
        assert repeated(file, "_W_")
        assert repeated(file, "_P_")
    assert repeated("ensemble.py", "_M_")


MERITS = ("_BEST", "_FEATURE", "_BIN", "_THRESHOLD", "_SECOND", "_SAMPLES", "_CURRENT")


def without_merits(file: str) -> dict[str, int]:
    return {name: value for name, value in constants(parse(file)).items() if name not in MERITS}


@pytest.mark.parametrize(
    ("file", "prefix", "owner"),
    [
        ("hoeffding.py", "_N_", "nodes.py"),
        ("leaves.py", "_O_", "observers.py"),
        ("nodes.py", "_O_", "observers.py"),
    ],
)
def test_the_tree_knows_its_parts_layouts(file: str, prefix: str, owner: str) -> None:
    found, own = repeated(file, prefix), without_merits(owner)
    assert found
    assert found == {name: own.get(name) for name in found}


@pytest.mark.parametrize("file", ["growth.py", "nodes.py"])
def test_the_tree_knows_what_merits_leaves_behind(file: str) -> None:
    own, found = constants(parse("observers.py")), constants(parse(file))
    assert [own[name] for name in MERITS] == list(range(len(MERITS)))
    shared = {name: found[name] for name in MERITS if name in found}
    assert "_BEST" in shared
    assert shared == {name: own[name] for name in shared}


def test_the_tree_knows_its_own_tuple() -> None:
    """The first part's buffers one by one, then the nodes and the slots."""
    model = firmware.load("python").HoeffdingTree(features=1, classes=2)
    names = dict.fromkeys(name.split(".")[0] for name, _, _ in model.buffers())
    names = [{"tree": "nodes", "observers": "slots"}.get(name, name) for name in names]
    found = constants(parse("growth.py")) | constants(parse("hoeffding.py"))
    assert [found["_" + name.upper()] for name in names] == list(range(len(names)))


def test_growth_knows_the_state_and_the_tuple() -> None:
    own, found = constants(parse("hoeffding.py")), without_merits("growth.py")
    shared = {name: value for name, value in found.items() if name in own}
    assert {"_STATE", "_NODES", "_BOUND", "_TIE", "_OMEGA", "_EAGER"} <= set(shared)
    assert shared == {name: own[name] for name in shared}


def test_the_ensemble_knows_the_members() -> None:
    weights = sys.modules[firmware.load("python").__name__ + ".weights"]
    places = [name.split(".")[1] for name, _, _ in weights.members_table(1, 2)]
    own = constants(parse("weights.py"))
    for name, value in repeated("ensemble.py", "_M_").items():
        if name in own:
            assert own[name] == value, name  # a word of the shape
        else:
            assert places[value] == name[1:].lower()  # a buffer of the tuple


def test_the_ensemble_knows_its_own_tuple() -> None:
    model = firmware.load("python").ShrubEnsemble(features=1, classes=2)
    names = dict.fromkeys(name.split(".")[0] for name, _, _ in model.buffers())
    found = constants(parse("ensemble.py"))
    assert [found["_" + name.upper()] for name in names] == list(range(len(names)))


def test_splits_and_cart_share_their_scratch() -> None:
    cart, splits = constants(parse("cart.py")), constants(parse("splits.py"))
    shared = cart.keys() & splits.keys()
    assert {"_MAX_FEATURES", "_CLOSED", "_FEATURE", "_THRESHOLD", "_FORK", "_SCORE"} <= shared
    assert {name: cart[name] for name in shared} == {name: splits[name] for name in shared}


@pytest.mark.parametrize("file", FILES)
def test_the_words_of_a_layout_are_numbered_one_by_one(file: str) -> None:
    names = list(constants(parse(file)).items())
    for i, (name, words) in enumerate(names):
        if name in ("_WORDS", "_FORK", "_NODE", "_SCORES"):
            before = [value for _, value in names[max(0, i - words) : i]]
            columns = list(range(words))
            # cart.py repeats only those columns of splits.py that it needs
            assert before == columns or (file == "cart.py" and name in ("_FORK", "_SCORES"))


def test_the_missing_value_is_the_public_one() -> None:
    library = firmware.load("python")
    assert constants(parse("quantizer.py"))["_MISSING"] == library.MISSING == -library.RAW_MAX - 1
