"""What microshrub_host and microshrub_tools export: all of it is there, and its examples hold."""

from __future__ import annotations

import doctest
import importlib
from types import ModuleType

import pytest

import microshrub_host
import microshrub_host.api.features
import microshrub_host.api.models
import microshrub_host.api.planning
import microshrub_host.api.runs
import microshrub_tools
import microshrub_tools.api


@pytest.mark.parametrize("package", [microshrub_host, microshrub_tools])
def test_what_is_exported_is_documented(package: ModuleType) -> None:
    assert sorted(package.__all__) == package.__all__
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        found = getattr(package, name)
        assert found.__doc__, name
        assert importlib.import_module(package.__name__).__getattr__(name) is found
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
def test_the_examples_hold(api: ModuleType) -> None:
    found = doctest.testmod(api, optionflags=doctest.ELLIPSIS)
    assert found.attempted
    assert not found.failed


def test_a_wrong_name_is_said_in_the_words_of_the_command_line() -> None:
    with pytest.raises(microshrub_host.UserError, match="Did you mean shrub"):
        microshrub_host.budget("rpi_pico", "schrub", features=2, classes=2)
    with pytest.raises(microshrub_host.UserError, match="dept is not a parameter of thicket"):
        microshrub_host.budget("rpi_pico", features=2, classes=2, dept=3)
