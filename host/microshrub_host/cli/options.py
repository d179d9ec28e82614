"""Options for the parameters of learners and companions."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..base.errors import UserError
from ..base.terminal import messages
from ..library.learners import (
    BALANCED,
    DEFAULT,
    MODELS,
    REGRESSORS,
    Parameter,
    check_parameters,
    defaults,
    is_known,
    option,
    options_of,
    options_text,
)
from ..simulation import companion_registry
from ..simulation.companion import Companions, with_companions
from ..simulation.spare_classes import SpareClasses
from ..streams.stream import Stream
from .parsed import parsed, whole_number
from .plain_parser import BY_MODEL, MODEL_OPTIONS, nearest

SUFFIX = ".mshrub"  # the ending of saved models
_DEST = "model "  # prefix of a parameter's name in the parsed arguments


def is_model_file(text: str) -> bool:
    """Return whether the value of --model names a saved model, not a learner."""
    return not is_known(text)


def _whole_name(text: str) -> str:
    """Complete a name such as linear, which no classifier has, to linear-regressor."""
    whole = f"{text}-regressor"
    return whole if text not in MODELS and whole in REGRESSORS else text


def _model_or_file(text: str) -> str:
    text = _whole_name(text)
    if is_known(text) or text.endswith(SUFFIX) or os.path.exists(text):
        return text
    known = nearest(text, [*MODELS, *REGRESSORS])
    raise argparse.ArgumentTypeError(f"there is no learner or saved model {text!r}. {known}")


def add_model_options(
    parser: argparse.ArgumentParser, *, files: bool = False, numbers: bool = False
) -> None:
    """Add --model and an option for every parameter of every model, after all other options.

    With files, --model may also name a saved model, see is_model_file(); with numbers, a
    regressor. A parameter with the name of an option of the command becomes --model-NAME.
    """
    known = [*MODELS, *(REGRESSORS if numbers else ())]
    choice: dict[str, Any] = {"choices": known, "type": _whole_name}
    if files:
        choice = {"type": _model_or_file, "metavar": "{" + ",".join([*known, "FILE"]) + "}"}
    what = "the learner" + ", or a file that `simulate --save` wrote" * files
    what += f" (default {DEFAULT})"
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--model", default=DEFAULT, help=what, **choice)
    either.add_argument(
        "--balance",
        dest="model",
        action="store_const",
        const=BALANCED,
        help=f"do not overlook rare classes; short for --model {BALANCED} (default: off)",
    )
    group = parser.add_argument_group(MODEL_OPTIONS)
    for name, models in _owners(known).items():
        rows = [options_of(model)[name] for model in models]
        about: dict[str, list[str]] = {}  # models by their help text for the option
        for model, row in zip(models, rows, strict=True):
            about.setdefault(f"{row.help}{_default(row)}".strip(), []).append(model)
        how: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
        if rows[0].kind is not bool:
            how = {"type": parsed(rows[0].kind), "metavar": _metavar(rows)}
        taken = option(name) in parser._option_string_actions
        added = group.add_argument(
            option(f"model_{name}" if taken else name),
            dest=_DEST + name,
            default=argparse.SUPPRESS,
            help=_help(about),
            **how,
        )
        setattr(
            added, BY_MODEL, {each: text for text, each_of in about.items() for each in each_of}
        )


def _default(row: Parameter) -> str:
    """Return a parameter's default as text in brackets."""
    if row.kind is tuple:
        return " (default: none)"
    default = {False: "off", True: "on"}[row.default] if row.kind is bool else row.default
    return f" (default {default})"


def _help(about: Mapping[str, Sequence[str]]) -> str:
    """Return the help texts of an option, each with the names of its models."""
    texts = [f"{', '.join(models)}: {text}" for text, models in about.items()]
    return "; ".join(texts).replace("%", "%%")


def _owners(known: Iterable[str]) -> dict[str, list[str]]:
    """Return each parameter's models, by the parameter's name, in the order of the signatures."""
    result: dict[str, list[str]] = {}
    for model in known:
        for name in defaults(model):
            result.setdefault(name, []).append(model)
    return result


def _metavar(rows: list[Parameter]) -> str:
    """Return X for a number, N for a whole number, else the choices of all the models."""
    if rows[0].kind is tuple:
        return "N,M,..."
    if rows[0].kind is str:
        words = dict.fromkeys(word for row in rows for word in row.choices)
        return "{" + ",".join(words) + "}"
    return "X" if rows[0].kind is float else "N"


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters, of any model, that were given as options."""
    result = vars(arguments).items()
    return {name.removeprefix(_DEST): value for name, value in result if name.startswith(_DEST)}


def model_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the requested model, as given or by default.

    Raises UserError for an option that this model does not have.
    """
    usual = defaults(arguments.model)
    given = given_options(arguments)
    for name in given:
        if name not in usual:
            raise UserError(
                f"{option(name)} is not an option of --model {arguments.model}. "
                f"{_with_model(given, _owners([*MODELS, *REGRESSORS])[name])}"
            )
    return usual | given


def _with_model(given: Mapping[str, Any], owners: Sequence[str]) -> str:
    """Return the right way to write the options, for a learner that has them all."""
    able = [model for model in owners if given.keys() <= defaults(model).keys()] or owners
    return f"Write: --model {able[0]} {options_text(given)}"


def add_companion_options(
    parser: argparse._ActionsContainer,
    *,
    simulated: bool = False,
    only: Collection[str] | None = None,
) -> None:
    """Add the options of all companions, or only of the companions in `only`.

    With `simulated`, also add options that are only useful for a stream with all labels.
    """
    for companion in companion_registry.all_companions():
        for each in companion.options:
            wanted = only is None or companion.name in only
            if not wanted or (each.simulated and not simulated):
                continue
            more: dict[str, Any] = {"nargs": "+"} if each.many else {}
            parser.add_argument(
                each.flag,
                type=whole_number if each.kind is int else each.kind,
                metavar=each.metavar,
                help=each.help,
                **more,
            )


def companions_of(arguments: argparse.Namespace, hertz: float | None = None) -> Companions:
    """Return the requested companions. hertz is the rate of the sensor, if known.

    Raises UserError for an invalid option.
    """
    return companion_registry.of_options(vars(arguments), hertz)


def companions_on_stream(
    arguments: argparse.Namespace, stream: Stream, parameters: dict[str, Any]
) -> tuple[Companions, dict[str, Any]]:
    """Return the companions for a stream, and the model's parameters with them.

    Raises UserError for an invalid option or parameter.
    """
    companions = [each.on_stream(stream, arguments.warmup) for each in companions_of(arguments)]
    for each in companions:
        if isinstance(each, SpareClasses) and (note := each.note(stream, arguments.warmup)):
            messages.say(note)
    parameters = with_companions(parameters, companions)
    check_parameters(arguments.model, parameters)
    return companions, parameters
