"""Our learners by the names that people use for them, and their parameters.

Nothing is listed twice: names, defaults and help come from the learner's signature and docstring.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..base.errors import UserError
from ..base.text import did_you_mean
from ..base.values import PARSERS
from ..streams.stream import Stream
from . import loader

MODELS = {"shrub": "ShrubEnsemble", "hoeffding": "HoeffdingTree"}
_GIVEN = ("features", "classes", "two_valued")  # by the stream


def learner(model: str) -> Any:
    """The learner's class, as the `python` engine runs it."""
    return getattr(loader.load("python"), MODELS[model])


def defaults(model: str) -> dict[str, Any]:
    """Parameter names and their defaults, but for those that the stream gives."""
    return {name: p.default for name, p in _signature(model).items() if name not in _GIVEN}


def _signature(model: str) -> Mapping[str, inspect.Parameter]:
    found = dict(inspect.signature(learner(model).__init__).parameters)
    del found["self"]
    return found


def stream_parameters(model: str, stream: Stream, warmup: int) -> dict[str, Any]:
    """What the stream says of the parameters: its shape and, where the model asks, more.

    Features that have exactly two values in the warm-up are two-valued.
    """
    found: dict[str, Any] = {
        "features": stream.values.shape[1],
        "classes": len(stream.class_names),
    }
    if "two_valued" in _signature(model):
        columns = stream.values[:warmup].T
        two = [len(np.unique(column[~np.isnan(column)])) == 2 for column in columns]
        found["two_valued"] = [f for f, yes in enumerate(two) if yes]
    return found


def parameter_help(model: str) -> dict[str, str]:
    """What the docstring's table says of each parameter; its rows start `    name  text`."""
    found: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(learner(model).__doc__).splitlines():
        row = re.match(r"(\w+) {2,}(.*)", line)
        if row:
            name = row[1]
            found[name] = row[2]
        elif name and line.startswith("   "):
            found[name] += " " + line.strip()
        else:
            name = ""
    return found


def specification(text: str) -> tuple[str, dict[str, Any]]:
    """The model, and all its parameters, of a text such as "hoeffding policy=efdt depth=10".

    Raises UserError for a model or a parameter that is not there, and for a wrong value.
    """
    model, *words = text.split() or [""]
    if model not in MODELS:
        raise UserError(f"the model {model!r} is unknown. {did_you_mean(model, MODELS)}")
    found = defaults(model)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in found:
            known = did_you_mean(name, found)
            raise UserError(f"{name} is not a parameter of {model}. {known}")
        if not equals:
            raise UserError(f"{name} has no value; write {name}={found[name]}")
        try:
            found[name] = PARSERS[type(found[name])](value)
        except ValueError as error:
            raise UserError(f"{name} {error}") from None
    return model, found


def option(name: str) -> str:
    """The option that sets the parameter of that name."""
    return "--" + name.replace("_", "-")


def options_text(parameters: Mapping[str, Any]) -> str:
    """Parameters as one would type them."""
    words = [option(n) if v is True else f"{option(n)} {v}" for n, v in parameters.items()]
    return " ".join(words)


def check_parameters(
    model: str, parameters: Mapping[str, Any], also: Collection[str] = ()
) -> None:
    """Raise UserError for parameters that the learner refuses.

    The parameters that are options of the model, and those of also, are called by their option.
    """
    refusal: type[ValueError] = loader.load("python").learner.ParameterError
    try:
        learner(model).nbytes(**parameters)
    except refusal as error:
        name, allowed, given = error.args
        called = option(name) if name in defaults(model) or name in also else name
        raise UserError(f"{called} has to be {allowed}, not {given!r}") from None
