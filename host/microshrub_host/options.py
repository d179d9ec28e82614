"""The learners by the names the command line has for them, and their parameters as options.

Nothing is listed twice: names, defaults and help come from the learner's signature and docstring.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from . import firmware
from .errors import UserError

MODELS = {"shrub": "ShrubEnsemble"}
_GIVEN = ("features", "classes")  # by the stream


def learner(model: str) -> Any:
    """The learner's class, as the `python` engine runs it."""
    return getattr(firmware.load("python"), MODELS[model])


def defaults(model: str) -> dict[str, Any]:
    """Parameter names and their defaults, but for features and classes."""
    signature = inspect.signature(learner(model).__init__)
    rows = [(p.name, p.default) for p in signature.parameters.values() if p.name != "self"]
    return {name: default for name, default in rows if name not in _GIVEN}


def _help(model: str) -> dict[str, str]:
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
    return {name: text.replace("%", "%%") for name, text in found.items()}


def _number(kind: type, noun: str) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"has to be {noun}, not {text!r}") from None

    return parse


_PARSERS: dict[type, Callable[[str], Any]] = {
    int: _number(int, "a whole number"),
    float: _number(float, "a number"),
    str: str,
}
whole_number = _PARSERS[int]


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add --model and an option for every parameter of every model."""
    parser.add_argument("--model", choices=sorted(MODELS), default="shrub", help="the learner")
    group = parser.add_argument_group("options of the model")
    known: set[str] = set()
    for model in MODELS:
        texts = _help(model)
        for name, default in defaults(model).items():
            if name in known:
                continue
            known.add(name)
            group.add_argument(
                "--" + name.replace("_", "-"),
                dest=name,
                type=_PARSERS[type(default)],
                default=argparse.SUPPRESS,
                metavar="X"
                if isinstance(default, float)
                else "N"
                if default != str(default)
                else "S",
                help=f"{texts.get(name, '')} (default {default})",
            )


def model_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """The parameters of the model that was asked for, as given or by default.

    Raises UserError for an option that this model does not have.
    """
    own = defaults(arguments.model)
    given = {name: value for name, value in vars(arguments).items() if name in _all_names()}
    for name in given:
        if name not in own:
            option = "--" + name.replace("_", "-")
            raise UserError(f"{option} is not an option of --model {arguments.model}")
    return own | given


def check_parameters(model: str, parameters: Mapping[str, Any]) -> None:
    """Raise UserError, in the learner's words, for parameters that it refuses."""
    try:
        learner(model).nbytes(**parameters)
    except ValueError as error:
        raise UserError(str(error)) from None


def _all_names() -> set[str]:
    return {name for model in MODELS for name in defaults(model)}
