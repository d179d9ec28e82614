"""A project's file, microshrub.toml, with options that several commands share.

    board = "rpi_pico"
    data = "walk.csv"                # record writes it, simulate learns it
    model = "walk.mshrub"            # simulate writes it, build takes it
    sensor = "mpu6050 scl=1 sda=0 rate=100 axes=3"
    features = "window=64 hop=16"
    label-pin = "15 pressed=walk released="

    [simulate]                       # options of one command alone
    plot = "walk.png"

A command reads the file in its working folder. Options on the command line take precedence.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..base.errors import UserError
from ..base.text import did_you_mean

NAME = "microshrub.toml"
DATA = "DATA"  # the positional argument of commands

_LEARNS = ("simulate", "tune", "build", "stream")  # commands that read a recording


def _everywhere(flag: str, *commands: str) -> dict[str, str]:
    return dict.fromkeys(commands, flag)


# Options for reading a recording; a saved model has them
_READING = {
    name: _everywhere(f"--{name}", *_LEARNS)
    for name in (
        *("features", "label", "label-from", "classes", "columns", "drop", "group", "wide"),
        "target",
    )
} | {
    "horizon": _everywhere("--horizon", "simulate", "tune", "build"),
    "lags": _everywhere("--lags", "simulate", "tune", "build"),
    "interval": _everywhere("--interval", "simulate", "build"),
    "learner": _everywhere("--model", "simulate", "build"),
}
# By key: the option of each command that has one
KEYS: dict[str, dict[str, str]] = {
    "board": _everywhere("--board", "simulate", "tune", "build", "flash"),
    "data": _everywhere(DATA, *_LEARNS) | {"record": "--output", "device": "--sensor"},
    "model": {"simulate": "--save", "build": "--model"},
    "sensor": {"build": "--sensor"},
    "label-pin": {"build": "--label-pin"},
    "label-keys": {"record": "--label-keys"},
    "port": _everywhere("--port", "record", "flash", "monitor", "stream"),
    **_READING,
}
for _name in ("label", "classes", "columns", "drop"):
    KEYS[_name]["device"] = f"--{_name}"
COMMANDS = ("record", "simulate", "tune", "build", "flash", "monitor", "stream", "device")

_Rest = Callable[[], tuple[argparse.Namespace, list[str]]]


def read(path: Path = Path(NAME)) -> dict[str, Any]:
    """Return the contents of the file; empty if there is none. Raises UserError."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with path.open("rb") as file:
            contents: dict[str, Any] = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}") from None
    for name, value in contents.items():
        if name not in KEYS and name not in COMMANDS:
            hint = did_you_mean(name, [*KEYS, *(f"[{each}]" for each in COMMANDS)])
            raise UserError(f"{path}: there is no key {name}. {hint}")
        if isinstance(value, dict) != (name in COMMANDS):
            what = "a section, [" + name + "]" if name in COMMANDS else "a value, not a section"
            raise UserError(f"{path}: {name} has to be {what}")
    return contents


def parse(
    parser: argparse.ArgumentParser, command: str, rest: _Rest
) -> tuple[argparse.Namespace, list[str]]:
    """Return the arguments that rest() parses, with the project file's values for other options.

    Ends with an error for an invalid file.
    """
    try:
        project = read()
        settings = _Settings(parser, command, project) if project else None
    except UserError as error:
        parser.error(str(error))
    if settings is None:
        return rest()
    settings.make_optional()
    parsed, more = rest()
    if not more:
        settings.fill_in(parsed)
    return parsed, more


class _Settings:
    """The values of a project's file for the options of one command."""

    def __init__(
        self, parser: argparse.ArgumentParser, command: str, project: Mapping[str, Any]
    ) -> None:
        self._parser, self._command = parser, command
        self._project = project
        self._actions: dict[str, argparse.Action] = {}  # by key
        self._values: dict[str, Any] = {}
        for key, of in KEYS.items():
            if key in project and command in of:
                self._add(key, of[command], project[key])
        for key, value in project.get(command, {}).items():
            if f"--{key}" not in parser._option_string_actions:
                known = [each.removeprefix("--") for each in parser._option_string_actions]
                raise UserError(
                    f"{NAME}: [{command}] has no {key}. {did_you_mean(key, sorted(known))}"
                )
            self._add(f"[{command}] {key}", f"--{key}", value)

    def _add(self, key: str, flag: str, value: Any) -> None:
        self._values[key] = value
        self._actions[key] = next(
            action
            for action in self._parser._actions
            if flag in action.option_strings or (flag == DATA and action.metavar == DATA)
        )

    def make_optional(self) -> None:
        """Make options with values in the file optional; None then marks an option not given."""
        self._defaults: dict[str, Any] = {}
        for action in self._actions.values():
            if action.default != argparse.SUPPRESS:
                self._defaults.setdefault(action.dest, action.default)
                action.default = None
            action.required = False
            if not action.option_strings:
                action.nargs = "*" if action.nargs in ("+", "*") else "?"
        for group in self._parser._mutually_exclusive_groups:
            for action in group._group_actions:
                if action.dest in self._defaults:
                    action.default = None

    def fill_in(self, parsed: argparse.Namespace) -> None:
        """Use the file's values for options that were not given, and print these options."""
        given = {name for name, value in vars(parsed).items() if value is not None}
        wanted = self._wanted(parsed)
        for dest, default in self._defaults.items():
            if dest not in given:
                setattr(parsed, dest, default)
        used = []
        for key, action in self._actions.items():
            if key not in wanted or action.dest in given or self._excluded(action, parsed, given):
                continue
            for words in self._words(key, action):
                self._take(key, action, words, parsed)
                used.append(shlex.join([*action.option_strings[-1:], *words]))
        if used:
            from ..base.terminal import messages  # imported only if needed

            messages.say(f"{NAME}: {' '.join(used)}")

    def _wanted(self, parsed: argparse.Namespace) -> set[str]:
        """Return the keys that apply; a saved model has its own options for reading."""
        keys = set(self._values)
        named = getattr(parsed, "data", None) is not None
        saved = self._saved_model(parsed, named)
        if self._command == "simulate":
            if saved:
                return keys & {"data", "label"}
            return keys - {"model"} if named else keys
        if self._command == "build":
            return keys - {*_READING, "data"} if saved else keys - {"model"}
        return keys

    def _saved_model(self, parsed: argparse.Namespace, named: bool) -> bool:
        from ..library.learners import is_known  # a slow import, seldom needed

        model = getattr(parsed, "model", None)
        if model is not None:
            return not is_known(model)
        return self._command == "build" and "model" in self._values and not named

    def _excluded(
        self, action: argparse.Action, parsed: argparse.Namespace, given: set[str]
    ) -> bool:
        """Return whether an option was given that excludes this one."""
        return any(
            other is not action and other.dest in given and getattr(parsed, other.dest)
            for group in self._parser._mutually_exclusive_groups
            if action in group._group_actions
            for other in group._group_actions
        )

    def _words(self, key: str, action: argparse.Action) -> list[list[str]]:
        """Return the words after the option, a list for each time that the option is given."""
        value = self._values[key]
        several = action.nargs in ("+", "*") or isinstance(action.nargs, int)
        if isinstance(value, bool):
            if action.nargs not in (0, "*"):
                self._refuse(key, "a text")
            return [[]] if value else []
        if isinstance(value, list) and several and all(isinstance(each, str) for each in value):
            if type(action) is argparse._AppendAction:  # not its subclass, for --columns
                return [shlex.split(each) for each in value]
            return [value]
        if action.nargs == 0 or not isinstance(value, (str, int, float)):
            self._refuse(key, "true or false" if action.nargs == 0 else "a text or a number")
        return [shlex.split(value) if several and isinstance(value, str) else [str(value)]]

    def _refuse(self, key: str, what: str) -> NoReturn:
        self._parser.error(f"{NAME}: {key} has to be {what}, not {self._values[key]!r}")

    def _take(
        self, key: str, action: argparse.Action, words: Sequence[str], parsed: argparse.Namespace
    ) -> None:
        try:
            value = self._parser._get_values(action, list(words))
            action(self._parser, parsed, value, None)
        except argparse.ArgumentError as error:
            self._parser.error(f"{NAME}: {key}: {error.message}")


def written(settings: Mapping[str, Any]) -> str:
    """Return the text of a project's file with these keys; None and empty lists are left out."""
    lines = []
    for key, value in settings.items():
        if value is None or value == []:
            continue
        lines.append(f"{key} = {_toml(value)}")
    return "\n".join([*lines, ""])


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
