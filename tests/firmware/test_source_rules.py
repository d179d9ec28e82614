"""Rules for the device library's sources, checked in their syntax trees.

MICROPYTHON.md has a table of the differences between viper and CPython.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from source_support import FILES, parse

from microshrub_host.library import library_files
from microshrub_host.library.kernel_rules import (
    MODULES,
    SMALL,
    Function,
    broken,
    constants,
    global_names,
    kernels,
    uncast_results,
    unknown_calls,
)

# The program handles files, ports and people, which fail: it may use try, and more imports.
PROGRAM = {
    "checkpoint.py",
    *(
        "device/application.py",
        "device/hardware.py",
        "device/config.py",
        "device/program.py",
    ),
    *(
        "device/sensors.py",
        "device/sensor_start.py",
        "device/motion_fifo.py",
        "device/custom_sensor.py",
    ),
    *(
        "device/service.py",
        "device/novel_classes.py",
        "device/states.py",
    ),
    *("device/saving.py", "device/sleep.py", "device/watchers.py"),
    *(
        "device/mqtt_companion.py",
        "device/mqtt_subscriber.py",
    ),
    *(
        "device/mqtt_client.py",
        "device/mqtt_connect.py",
        "device/sharing.py",
    ),
    *("device/sharing_mqtt.py", "device/sharing_datagrams.py"),
    *(
        "device/networking.py",
        "device/network_start.py",
        "device/tcp.py",
    ),
    "device/network_update.py",
}
NETWORK_MODULES = {"errno", "espnow", "network", "ntptime", "socket", "tls"}
PROGRAM_MODULES = (
    MODULES
    | NETWORK_MODULES
    | {"gc", "json", "machine", "neopixel", "os", "select", "sys", "time"}
)

# Exceptions of a rule, with the reason: rule and function, "" being the module's level.
EXCEPTIONS = {
    ("float", "__init__"): "a default of a parameter that a person passes in",
    ("float", "twelve_bits"): "makes an integer of what a person passes in",
    ("float", "_read"): "reads a range of what a person passes in",
    ("float", "_prepare"): "tells a person what was passed in",
    ("dict", ""): "made once, when the module is imported",
    ("dict", "__init__"): "made once, when the program starts: what answers which request",
    ("dict", "renew"): "made once, when the program has ended: what lines of Python share",
    ("dict", "take"): "read once, when the program starts",
    ("dict", "read_secrets"): "read once, when the program starts",
    ("dict", "progress"): "made for a person who asks",
    ("dict", "print_readings"): "made once, before the first reading",
    ("float", "_mean"): "made for a person who asks",
    ("float", "_delta_q16"): "makes an integer of what a person passes in",
    ("try", "__getattr__"): "a PC has no micropython, and a person is told",
    ("try", "_check"): "a slot may be missing or damaged",
    ("try", "_take"): "a disk may fail while a slot is read",
    ("try", "steps"): "a disk may be full",
    ("try", "read"): "a disk may fail while a state is read",
    ("try", "_made"): "a configuration may have an option that there is not",
    ("try", "same_items"): "MicroPython's arrays do not tell their typecode otherwise",
    ("try", "error_text"): "the file of the texts may be missing",
}


def with_function(node: ast.AST, function: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Yield every node below, with the name of the innermost function around it."""
    for child in ast.iter_child_nodes(node):
        inner = child.name if isinstance(child, Function) else function
        yield child, inner
        yield from with_function(child, inner)


ALL_KERNELS = {kernel.name for name in FILES for kernel in kernels(parse(name))}


@pytest.mark.parametrize("file", FILES)
def test_kernels_use_only_what_viper_and_cpython_agree_on(file: str) -> None:
    problems = broken(parse(file), ALL_KERNELS)
    assert not [(ast.unparse(node), *words) for node, *words in problems]


def test_kernels_exist() -> None:
    assert {"predict", "learn", "slide", "grow", "project", "encode_rows"} <= ALL_KERNELS


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("keyword calls", "y = g(x, n=1)"),
        ("keyword calls", "g(**x)"),
        ("starred calls", "g(*x)"),
        ("unusual arguments", "def f(x, n=1): pass"),
        ("unusual arguments", "def f(x, *n): pass"),
        ("unusual arguments", "def f(x, *, n): pass"),
        ("unusual arguments", "def f(**x): pass"),
        ("division and power", "y = x / 2"),
        ("division and power", "x /= 2"),
        ("division and power", "y = x ** 2"),
        ("negative subscripts", "y = x[-1]"),
        ("negative subscripts", "x[-1] = 0"),
        ("slices", "y = x[1:2]"),
        ("wide literals", "y = 1073741824"),
        ("wide literals", "y = 0x7FFFFFFF"),
        ("other literals", "y = 0.5"),
        ("other literals", "y = None"),
        ("other literals", "y = 'text'"),
        ("other literals", "y = True"),
        ("allocating syntax", "y = [x]"),
        ("allocating syntax", "y, z = x"),
        ("allocating syntax", "y = x is z"),
        ("ranges with a variable step", "for i in range(0, 9, x): pass"),
    ],
)
def test_the_rules_detect_violations(rule: str, line: str) -> None:
    source = line if line.startswith("def") else f"def f(x, z):\n    {line}"
    problems = broken(ast.parse(f"@micropython.viper\n{source}"), set())
    assert ("f", rule) in [(kernel, name) for _, kernel, name in problems]


def test_the_rules_about_names_detect_violations() -> None:
    (function,) = ast.parse("def f(x):\n    y = g(x) + LIMIT\n    h(x)\n    return int(g(y))").body
    assert isinstance(function, Function)
    assert [ast.unparse(n) for n in uncast_results(function, {"g", "h"})] == ["g(x)"]
    assert [ast.unparse(n) for n in global_names(function, set())] == ["LIMIT"]
    assert not global_names(function, {"LIMIT"})
    assert [ast.unparse(n) for n in unknown_calls(function, {"g"})] == ["h(x)"]


# Rules of whole files


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
def test_imports_at_any_place_are_found(file: str) -> None:
    name = library_files.module_name(library_files.folder() / file)
    nodes = [node for node in ast.walk(parse(file)) if isinstance(node, ast.ImportFrom)]
    of_library = filter(library_files.is_of_library, nodes)
    assert library_files.imports(name) == {
        library_files.imported_from(name, node) for node in of_library
    }


@pytest.mark.parametrize("file", FILES)
def test_sources_have_no_floats_dicts_or_try(file: str) -> None:
    exceptions = set()
    for node, function in with_function(parse(file)):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, (float, complex))
        if literal or isinstance(node, ast.Div):
            exceptions.add(("float", function))
        if isinstance(node, (ast.Dict, ast.DictComp)):
            exceptions.add(("dict", function))
        if isinstance(node, ast.Try) and file not in PROGRAM:
            exceptions.add(("try", function))
    assert exceptions <= set(EXCEPTIONS)


def test_the_exceptions_are_in_use() -> None:
    functions = {
        n.name for name in FILES for n in ast.walk(parse(name)) if isinstance(n, Function)
    }
    assert {function for _, function in EXCEPTIONS if function} <= functions


@pytest.mark.parametrize("file", FILES)
def test_constants_are_small_integers(file: str) -> None:
    for name, value in constants(parse(file)).items():
        assert -SMALL <= value < SMALL, name
