"""The learners by the names the command line has for them, and their parameters as options.

Nothing is listed twice: names, defaults and help come from the learner's signature and docstring.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from ..base.errors import UserError
from ..engines import loader
from ..streams.stream import Stream, did_you_mean

SUFFIX = ".mshrub"  # of saved models
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


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"has to be true or false, not {text!r}")
    return text.lower() == "true"


_PARSERS: dict[type, Callable[[str], Any]] = {
    bool: _truth,
    int: _number(int, "a whole number"),
    float: _number(float, "a number"),
    str: str,
}
whole_number = _PARSERS[int]


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
            found[name] = _PARSERS[type(found[name])](value)
        except argparse.ArgumentTypeError as error:
            raise UserError(f"{name} {error}") from None
    return model, found


class Parser(argparse.ArgumentParser):
    """An ArgumentParser some of whose help is only made when somebody asks for it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._late: list[tuple[argparse.Action, Callable[[], str]]] = []

    def add_late_help(self, action: argparse.Action, text: Callable[[], str]) -> None:
        """Have text() as the action's help."""
        self._late.append((action, text))

    def format_help(self) -> str:
        for action, text in self._late:
            action.help = text()
        return super().format_help()


def is_model_file(text: str) -> bool:
    """Whether the value of --model names a saved model, not a learner."""
    return text not in MODELS


def _model_or_file(text: str) -> str:
    if text in MODELS or text.endswith(SUFFIX) or os.path.exists(text):
        return text
    known = ", ".join(MODELS)
    raise argparse.ArgumentTypeError(f"has to be one of {known} or a saved model, not {text!r}")


def add_model_options(parser: argparse.ArgumentParser, *, files: bool = False) -> None:
    """Add --model and an option for every parameter of every model.

    With files --model may also name a saved model, see is_model_file().
    """
    kinds: dict[str, Any] = {"choices": list(MODELS)}
    if files:
        kinds = {"type": _model_or_file, "metavar": "{" + ",".join([*MODELS, "FILE"]) + "}"}
    what = f"the learner{', or a file of simulate --save' if files else ''} (default shrub)"
    parser.add_argument("--model", default="shrub", help=what, **kinds)
    group = parser.add_argument_group("options of the model")
    texts = {model: _help(model) for model in MODELS}
    for name, models in _owners().items():
        default = defaults(models[0])[name]
        about = [
            f"{texts[model].get(name, '')} (default {defaults(model)[name]})" for model in models
        ]
        if len(models) > 1:
            about = [f"{model}: {text}" for model, text in zip(models, about, strict=True)]
        kind: dict[str, Any] = {"action": "store_true"}
        if not isinstance(default, bool):
            kind = {"type": _PARSERS[type(default)], "metavar": _metavar(default, about)}
        group.add_argument(
            option(name), dest=name, default=argparse.SUPPRESS, help="; ".join(about), **kind
        )


def _owners() -> dict[str, list[str]]:
    """The models that have a parameter, by its name, in the order of the signatures."""
    found: dict[str, list[str]] = {}
    for model in MODELS:
        for name in defaults(model):
            found.setdefault(name, []).append(model)
    return found


def _metavar(default: Any, texts: list[str]) -> str:
    """X for a number, N for a whole one, else the words: for a text those that its help quotes."""
    if isinstance(default, str):
        words = [word for text in texts for word in re.findall(r'"(\w+)"', text)]
        return "{" + ",".join(dict.fromkeys(words)) + "}"
    if isinstance(default, bool):
        return "{true,false}"
    return "X" if isinstance(default, float) else "N"


def option(name: str) -> str:
    """The option that sets the parameter of that name."""
    return "--" + name.replace("_", "-")


def options_text(parameters: Mapping[str, Any]) -> str:
    """Parameters as one would type them."""
    words = [option(n) if v is True else f"{option(n)} {v}" for n, v in parameters.items()]
    return " ".join(words)


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The parameters of any model that were given as options."""
    owners = _owners()
    return {name: value for name, value in vars(arguments).items() if name in owners}


def model_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """The parameters of the model that was asked for, as given or by default.

    Raises UserError for an option that this model does not have.
    """
    own = defaults(arguments.model)
    given = given_options(arguments)
    for name in given:
        if name not in own:
            raise UserError(f"{option(name)} is not an option of --model {arguments.model}")
    return own | given


def check_parameters(
    model: str, parameters: Mapping[str, Any], also: Collection[str] = ()
) -> None:
    """Raise UserError, in the learner's words, for parameters that it refuses.

    The parameters that are options of the model, and those of also, are called by their option.
    """
    try:
        learner(model).nbytes(**parameters)
    except ValueError as error:
        name, space, rest = str(error).partition(" ")
        if name in defaults(model) or name in also:
            name = option(name)
        raise UserError(name + space + rest) from None
