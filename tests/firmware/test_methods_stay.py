"""No method is replaced while a program runs: a class defines its behaviour.

An assignment to an attribute that the object's class defines as a method replaces the method. The
kernels of a learner, `_predict` and `_learn`, are functions that it chooses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest
from source_support import FILES, parse

from microshrub_host.library.kernel_rules import Function

KERNELS = {"_predict", "_learn"}
# The classes of the objects whose attributes others set, by the objects' names
CLASSES = {
    "app": "Application RegressionApp",
    "client": "MqttClient",
    "configuration": "Configuration",
    "fifo": "MotionFifo",
    "in": "PacketIn",
    "line": "Tcp",
    "link": "Link",
    "mqtt": "MqttCompanion",
    "out": "PacketOut",
    "pace": "Pace FifoPace",
    "plan": "Learner",
    "reader": "Reader",
    "service": "Service",
    "sharing": "BoardSharing",
    "sleep": "Sleep",
    "store": "Checkpoint",
    "table": "",  # table of addresses
    "publisher": "MqttPublisher",
    "usb": "",  # MicroPython's USBDevice
}
# Functions that compute the name of an attribute, and the attributes concerned
COMPUTED = {
    "join": "the points of an application",
    "take": "the fields of config.json",
    "fit": "a parameter",
    "_set_up": "a parameter",
}


@cache
def classes() -> dict[str, ast.ClassDef]:
    nodes = [node for name in FILES for node in ast.walk(parse(name))]
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}


@cache
def methods(name: str) -> set[str]:
    """Return the methods of a class of the library and of its bases, without properties."""
    node = classes().get(name)
    if node is None:
        return set()
    names = {
        each.name
        for each in node.body
        if isinstance(each, Function)
        and not any(
            "property" in ast.unparse(d) or ".setter" in ast.unparse(d)
            for d in each.decorator_list
        )
    }
    names -= KERNELS if name == "Learner" else set()
    return names.union(*(methods(ast.unparse(base)) for base in node.bases))


def assigned(node: ast.AST) -> Iterator[tuple[ast.Attribute, ast.expr | None]]:
    """Yield the attributes that a statement assigns, and the value if it is one expression."""
    targets: list[ast.expr] = []
    if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
        targets = [node.target]
    elif isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets = [node.optional_vars]
    for each in (each for target in targets for each in ast.walk(target)):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            yield each, getattr(node, "value", None)


def object_of(target: ast.Attribute) -> str:
    """Return the name of an attribute's object."""
    return ast.unparse(target.value).rpartition(".")[2].lstrip("_")


def owners(target: ast.Attribute, class_name: str) -> list[str]:
    """Return the names of the possible classes of an attribute's object."""
    name = object_of(target)
    return [class_name] if name == "self" else CLASSES[name].split()


def replaced(tree: ast.AST, class_name: str = "") -> Iterator[str]:
    """Yield the methods that code replaces; class_name is the class around the code."""
    for node in ast.iter_child_nodes(tree):
        for target, value in assigned(node):
            same = value is not None and ast.unparse(value) == ast.unparse(target)
            if not same and any(
                target.attr in methods(name) for name in owners(target, class_name)
            ):
                yield ast.unparse(target)
        yield from replaced(node, node.name if isinstance(node, ast.ClassDef) else class_name)


@pytest.mark.parametrize("file", FILES)
def test_no_method_is_replaced(file: str) -> None:
    assert not [*replaced(parse(file))]


def test_the_classes_are_known_and_in_use() -> None:
    nodes = [node for file in FILES for node in ast.walk(parse(file))]
    objects = {object_of(target) for node in nodes for target, _ in assigned(node)}
    assert objects - {"self"} == set(CLASSES)
    assert set(" ".join(CLASSES.values()).split()) <= set(classes())


def computed(tree: ast.AST, function: str = "") -> Iterator[str]:
    """Yield the functions that set attributes with computed names."""
    for node in ast.iter_child_nodes(tree):
        inner = node.name if isinstance(node, Function) else function
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
            yield inner
        yield from computed(node, inner)


def test_attributes_with_computed_names_are_known() -> None:
    names = {name for file in FILES for name in computed(parse(file))}
    assert names - {"unload"} == set(COMPUTED)


def test_no_point_of_an_application_is_a_method() -> None:
    tree = parse("device/companions.py")
    (points,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_POINTS"
    )
    assert not {*points} & (methods("Application") | methods("RegressionApp"))


@pytest.mark.parametrize(
    "line",
    [
        "app.sample = wrapped",
        "self._app.tick = wrapped",
        "x, self.app.label = 1, wrapped",
        "x, [y, app.label] = 1, wrapped",
        "for app.label in wrapped: pass",
        "with wrapped as app.label: pass",
        "service.serve = wrapped",
        "self.forget = wrapped",
    ],
)
def test_the_rule_detects_violations(line: str) -> None:
    source = f"class Learner:\n    def forget(self): pass\n    def f(self, app):\n        {line}"
    assert [*replaced(ast.parse(source))]


def test_a_chosen_kernel_is_no_replacement() -> None:
    source = (
        "class Learner:\n    def f(self, app):\n        self.run = self.run\n        app.show = f"
    )
    assert not [*replaced(ast.parse(source))]
