"""The exports of microshrub_host and microshrub_tools: all exist, and their examples work."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import sys
import typing
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import microshrub_host
import microshrub_host.api.features
import microshrub_host.api.models
import microshrub_host.api.planning
import microshrub_host.api.runs
import microshrub_tools
import microshrub_tools.api
from microshrub_host import budget

# Internal parts of results, which may change
INNER = {
    *("Limits", "SearchedStream", "Measure", "Page"),  # of a TuningReport
    *("LibraryHeap", "ModuleHeap", "Program"),  # of a Build
    "KnownTargets",  # of a NumberStream
}
SHAPE = {"features": 8, "classes": 2, "window": 16, "trees": 4}


@pytest.mark.parametrize("package", [microshrub_host, microshrub_tools])
def test_all_exports_are_documented(package: ModuleType) -> None:
    assert sorted(package.__all__) == package.__all__
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        item = getattr(package, name)
        assert item.__doc__, name
        assert importlib.import_module(package.__name__).__getattr__(name) is item
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing


@pytest.mark.parametrize(
    "api",
    [
        microshrub_host.api.features,
        microshrub_host.api.models,
        microshrub_host.api.planning,
        microshrub_host.api.runs,
        microshrub_tools.api,
    ],
)
def test_the_examples_work(api: ModuleType) -> None:
    outcome = doctest.testmod(api, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted
    assert not outcome.failed


def test_a_wrong_name_is_a_user_error() -> None:
    with pytest.raises(microshrub_host.UserError, match="Did you mean shrub"):
        budget("schrub", "rpi_pico", features=2, classes=2)
    with pytest.raises(microshrub_host.UserError, match=r"^dept .* thicket"):
        budget(board="rpi_pico", features=2, classes=2, dept=3)


def of_hint(hint: Any) -> Iterator[type]:
    """Yield the package's classes in an annotation."""
    if isinstance(hint, type) and hint.__module__.startswith("microshrub_"):
        yield hint
    for part in typing.get_args(hint):
        yield from of_hint(part)


def returned(function: Callable[..., Any]) -> Iterator[type]:
    names = vars(sys.modules[function.__module__])
    yield from of_hint(typing.get_type_hints(function, names).get("return"))


def parts(result_class: type) -> Iterator[type]:
    """Yield the types of a result's fields and properties."""
    if dataclasses.is_dataclass(result_class):
        hints = typing.get_type_hints(result_class)
        for each in dataclasses.fields(result_class):
            if not each.name.startswith("_"):
                yield from of_hint(hints[each.name])
    for name, value in vars(result_class).items():
        if isinstance(value, property) and value.fget and not name.startswith("_"):
            yield from returned(value.fget)


def test_all_result_types_are_exported() -> None:
    exported = {
        getattr(package, name)
        for package in (microshrub_host, microshrub_tools)
        for name in package.__all__
    }
    waiting = [each for each in exported if inspect.isclass(each)]
    for function in filter(inspect.isfunction, exported):
        waiting += returned(function)
    seen: set[type] = set()
    while waiting:
        result_class = waiting.pop()
        if result_class not in seen and result_class.__name__ not in INNER:
            seen.add(result_class)
            waiting += parts(result_class)
    assert {"Result", "Budget", "Build", "ByClass", "Candidate"} <= {k.__name__ for k in seen}
    assert not [result_class.__name__ for result_class in seen - exported]
