"""The learners by their short names, and the parameters of each.

Nothing is listed here: the learners are in firmware's learners.py and in library_files.py. A
learner's class has its parameters' names, defaults and ranges; its docstring has their meaning.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import UserError
from ..base.text import PARSERS, did_you_mean
from ..streams.stream import Stream
from . import library_files, loader

WARMUP = 256  # samples that set the ranges if these cannot grow, and the units
_GIVEN = ("features", "classes", "two_valued", "late")  # parameters that the stream determines


class _Models(Mapping[str, str]):
    """The learners' class names, by their short names.

    A short name is a class name's first word for a classifier, and like shrub-regressor for a
    regressor.
    """

    def __init__(self, *, of_numbers: bool) -> None:
        self._of_numbers = of_numbers

    def _known(self) -> dict[str, str]:
        registry = loader.load("python").learners
        return {
            short_name(name): name
            for name in registry.learner_names()
            if registry.is_regressor(name) is self._of_numbers
        }

    def __getitem__(self, model: str) -> str:
        """Return the class name. Raises UserError, with the known names, for an unknown name."""
        known = self._known()
        if model not in known:
            raise UserError(f"the model {model!r} is unknown. {did_you_mean(model, known)}")
        return known[model]

    def __contains__(self, model: object) -> bool:
        return model in self._known()

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())


def short_name(learner: str) -> str:
    """Return the short name of a learner's class: shrub, or shrub-regressor for a regressor."""
    words = [word.lower() for word in re.findall("[A-Z][a-z0-9]*|.+", learner)]
    return "-".join([words[0], *words[-1:]] if words[-1] == "regressor" else words[:1])


MODELS = _Models(of_numbers=False)
REGRESSORS = _Models(of_numbers=True)

DEFAULT = "thicket"  # the default learner, which needs no options
BALANCED = "balanced"  # the learner that does not overlook rare classes


def is_known(name: str) -> bool:
    """Return whether a name is the short name of a classifier or a regressor."""
    return name in MODELS or name in REGRESSORS


def learner_name(model: str) -> str:
    """Return the class name of a classifier or a regressor. Raises UserError for another name."""
    return REGRESSORS[model] if model in REGRESSORS else MODELS[model]


def regressor_for(model: str) -> str:
    """Return the short name of the regressor for a name: shrub-regressor for shrub.

    Raises UserError if there is none.
    """
    if model in REGRESSORS:
        return model
    if f"{model}-regressor" in REGRESSORS:
        return f"{model}-regressor"
    raise UserError(
        f"--model {model} predicts classes, and --target wants numbers. "
        f"Write one of: {', '.join(REGRESSORS)}"
    )


def register(name: str, path: str | os.PathLike[str]) -> None:
    """Add your own learner, the class of that name in that file, to all commands and engines.

    Programs started by this program also have the learner. Raises UserError if there is no such
    class, if another learner already has its name, or if a kernel breaks a rule: this runs the
    quick checks of `microshrub check-learner`.
    """
    first = short_name(name)
    taken = first in MODELS or first in REGRESSORS
    if taken and not any(each.name == name for each in library_files.user_learners()):
        raise UserError(f"{name} cannot be called {first}: that is {learner_name(first)}")
    library_files.add(name, path)
    loader.load.cache_clear()
    try:
        loader.load("python")
    except UserError:
        library_files.remove(name, path)
        loader.forget(Path(path).stem)
        raise


def model_name(learner: str) -> str:
    """Return the short name of a learner's class. Raises UserError if there is none."""
    for model, name in [*MODELS.items(), *REGRESSORS.items()]:
        if name == learner:
            return model
    raise UserError(
        f"the learner {learner!r} is unknown. {did_you_mean(learner, MODELS.values())}"
    )


def companion(package: str, learner: str) -> Any:
    """Return the module of a package with the learner's short name; None if there is none."""
    name = f"{package}.{model_name(learner).replace('-', '_')}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def learner(model: str) -> Any:
    """Return the learner's class, as the `python` engine runs it."""
    return loader.load("python").learners.learner_class(learner_name(model))


@dataclass(frozen=True)
class Parameter:
    """A parameter of a learner.

    For a number, low and high are the range; high is None if the limit is the number of features.
    For a choice of texts or numbers, `choices` has all of them.
    """

    name: str
    default: Any
    low: float | None
    high: float | None
    choices: tuple[Any, ...]
    help: str

    @property
    def kind(self) -> type:
        """The type: bool, int, float, str, or tuple for a list of features."""
        return type(self.default)


def parameters(model: str) -> dict[str, Parameter]:
    """Return the parameters of a learner by name, without features and classes."""
    learner_class = learner(model)
    texts = _texts(learner_class)
    read = loader.load("python").learner._read
    result = {}
    for name, default, *allowed in learner_class._rows():
        low, high = None, None
        choices: tuple[Any, ...] = ()
        if allowed and "|" in allowed[0]:
            choices = tuple(map(read, allowed[0].split("|")))
        elif allowed:
            low, high = (
                None if end == "features" else read(end) for end in allowed[0].split("..")
            )
        elif default in ("False", "True"):
            choices = (False, True)
        result[name] = Parameter(name, read(default), low, high, choices, texts.get(name, ""))
    return result


def options_of(model: str) -> dict[str, Parameter]:
    """Return the parameters that a user may set: all that the stream does not determine."""
    return {name: p for name, p in parameters(model).items() if name not in _GIVEN}


def defaults(model: str) -> dict[str, Any]:
    """Return the defaults by parameter name, without parameters that the stream determines."""
    return {name: p.default for name, p in options_of(model).items()}


def grows(model: str) -> bool:
    """Return whether ranges can grow while the model learns, as the model adapts its state."""
    return bool(learner(model).moves)


def warmup_of(model: str, wanted: int | None, *, frozen: bool = False) -> int:
    """Return the number of samples that set the ranges before the run; 0 if ranges grow.

    None becomes 0 if ranges can grow, else 256. Ranges cannot grow if a companion keeps them
    `frozen`. Raises UserError for a 0 that is impossible, and for what is no number of samples.
    """
    can = grows(model) and not frozen
    _check_warmup(wanted, 0)
    if wanted == 0 and not can:
        what = "an anomaly score and spare classes" if grows(model) else model
        raise UserError(f"--warmup 0: {what} cannot move along when ranges grow; name 1 or more")
    return (0 if can else WARMUP) if wanted is None else wanted


def number_warmup(wanted: int | None) -> int:
    """Return the number of rows of a regression stream that set the ranges before the run.

    None becomes 256. Raises UserError for a 0, since these ranges do not grow, and for what is no
    number of rows.
    """
    _check_warmup(wanted, 1, ": the ranges do not grow where numbers are predicted")
    return wanted or WARMUP


def _check_warmup(wanted: int | None, least: int, why: str = "") -> None:
    if wanted is not None and not (isinstance(wanted, (int, np.integer)) and wanted >= least):
        raise UserError(
            f"--warmup is {wanted!r}; it must be a whole number of samples, {least} or more{why}"
        )


def stream_parameters(model: str, stream: Stream, warmup: int | None) -> dict[str, Any]:
    """Return the parameters that the stream determines: its shape, and more for some models.

    Features with exactly two values in the warm-up, or else in the first 256 samples, are
    two-valued.
    """
    result: dict[str, Any] = {
        "features": stream.values.shape[1],
        "classes": len(stream.class_names),
    }
    if "two_valued" in parameters(model):
        columns = stream.values[: warmup or WARMUP].T
        two = [len(np.unique(column[~np.isnan(column)])) == 2 for column in columns]
        result["two_valued"] = [f for f, yes in enumerate(two) if yes]
    return result


def number_parameters(model: str, features: int, late: int) -> dict[str, int]:
    """Return the parameters that a regression stream determines: its shape, and maybe `late`.

    `late` is the number of samples between a sample and its target, for models with that
    parameter.
    """
    asks = "late" in parameters(model)
    return {"features": features, "late": late} if asks else {"features": features}


def _texts(learner_class: Any) -> dict[str, str]:
    """Return the text on each parameter in the docstring's table, with rows `    name  text`.

    Parameters that are missing there are in the docstrings of the base classes.
    """
    result: dict[str, str] = {}
    name = ""
    docs = (inspect.cleandoc(each.__doc__ or "") for each in reversed(learner_class.__mro__[:-1]))
    for line in "\n\n".join(docs).splitlines():
        row = re.match(r"(\w+) {2,}(.*)", line)
        if row:
            name = row[1]
            result[name] = row[2]
        elif name and line.startswith("   "):
            result[name] += " " + line.strip()
        else:
            name = ""
    return result


def specification(text: str) -> tuple[str, dict[str, Any]]:
    """Parse a text such as "hoeffding policy=efdt depth=10" to a model and all its parameters.

    Raises UserError for an unknown model or parameter, and for an invalid value.
    """
    model, *words = text.split() or [""]
    result = defaults(model)
    for word in words:
        name, equals, value = word.partition("=")
        if name not in result:
            known = did_you_mean(name, result)
            raise UserError(f"{name} is not a parameter of {model}. {known}")
        if not equals:
            raise UserError(f"{name} has no value; write {name}={result[name]}")
        try:
            result[name] = PARSERS[type(result[name])](value)
        except ValueError as error:
            raise UserError(f"{name} {error}") from None
    return model, result


def option(name: str) -> str:
    """Return the command-line option for the parameter of that name."""
    return "--" + name.replace("_", "-")


def options_text(parameters: Mapping[str, Any]) -> str:
    """Return parameters as options on a command line."""
    return " ".join(_typed(name, value) for name, value in parameters.items())


def _typed(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return option(name if value else f"no_{name}")
    words = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else value
    return f"{option(name)} {words}"


def check_parameters(
    model: str,
    parameters: Mapping[str, Any],
    also: Collection[str] = (),
    *,
    on_command_line: bool = True,
) -> None:
    """Raise UserError for parameters that the learner refuses.

    The message names a parameter by its option if there is a command line, and the model has it as
    an option, or it is in `also`.
    """
    refusal: type[ValueError] = loader.load("python").learner.ParameterError
    try:
        learner(model).nbytes(**parameters)
    except refusal as error:
        name, allowed, given = error.args
        has_option = on_command_line and (name in defaults(model) or name in also)
        called = option(name) if has_option else name
        raise UserError(f"{called} has to be {allowed}, not {given!r}") from None
