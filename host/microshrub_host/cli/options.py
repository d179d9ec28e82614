"""The parameters of our learners as options, and what all subcommands' parsers share."""

from __future__ import annotations

import argparse
import os
import re
from typing import Any

from ..base.errors import UserError
from ..engines.learners import MODELS, defaults, option, parameter_help
from .parsed import parsed

SUFFIX = ".mshrub"  # of saved models


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
    texts = {model: parameter_help(model) for model in MODELS}
    for name, models in _owners().items():
        default = defaults(models[0])[name]
        about = [
            f"{texts[model].get(name, '')} (default {defaults(model)[name]})" for model in models
        ]
        if len(models) > 1:
            about = [f"{model}: {text}" for model, text in zip(models, about, strict=True)]
        kind: dict[str, Any] = {"action": "store_true"}
        if not isinstance(default, bool):
            kind = {"type": parsed(type(default)), "metavar": _metavar(default, about)}
        group.add_argument(
            option(name),
            dest=name,
            default=argparse.SUPPRESS,
            help="; ".join(about).replace("%", "%%"),
            **kind,
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
