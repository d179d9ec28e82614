"""Parsers whose help fits a screen and whose errors are one or two lines; a table of subcommands.

The module of a subcommand is imported when the subcommand is used.
"""

from __future__ import annotations

import argparse
import copy
import os
import pkgutil
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from . import project_file
from .kept_help import kept_help

MODEL_OPTIONS = "options of the model"  # title of the group
BY_MODEL = "by_model"  # attribute of an option of that group: help text by model
_SENTENCES = 2  # sentences of a command's description in --help
_WIDTH = 80  # columns of a screen
_COLUMN = 26  # column in which the texts begin
_USUAL = re.compile(r" \(((?:default|required)[^();]*)[^()]*\)")
_REQUIRED = "the following arguments are required: "
_BARE = re.compile(r"argument (?:\S+/)?(\S+): expected (?:one|at least one|\d+) arguments?")


class PlainParser(argparse.ArgumentParser):
    """A parser that reports an error and a suggestion, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Print one or two lines, and exit with 2."""
        sys.stdout.flush()
        hint = f"`{self.prog} --help` explains it."
        self.exit(2, f"{self.prog}: {_plain(self, message)}\n{hint}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Name the nearest choice of an option with choices. Raises ArgumentError."""
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        meant = f"Did you mean --{value}?" if f"--{value}" in self._option_string_actions else ""
        hint = meant or nearest(value, known)
        raise argparse.ArgumentError(action, f"there is no {value!r}. {hint}")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        parsed, more = super().parse_known_args(args, namespace)
        if more:
            self.error(self._unknown(more))
        return parsed, more

    def _unknown(self, words: Sequence[str]) -> str:
        """Return the message for words that the command does not take."""
        option = next((word for word in words if word.startswith("-")), None)
        if option is None:
            name, equals, value = words[0].partition("=")
            is_option = bool(equals) and f"--{name}" in self._option_string_actions
            meant = f" Did you mean --{name} {value}?" if is_option else ""
            return f"there is no place for {words[0]!r} here.{meant}"
        name = option.partition("=")[0]
        hint = nearest(name, self._option_string_actions, "`--help-all` lists all.")
        return f"there is no option {name}. {hint}"

    def print_help(self, file: Any = None) -> None:
        """Print the help.

        An OSError is raised for exit_code(), as when the output has no reader.
        """
        (file or sys.stdout).write(self.format_help())

    def full_help(self) -> str:
        """Return the help for all options, as argparse formats it."""
        return super().format_help()


def nearest(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return the end of a message about an unknown name: the nearest name, `otherwise`, or all."""
    import difflib  # its import doubles the time of a start

    choices = list(known)
    near = difflib.get_close_matches(name, choices, n=1)
    if near:
        return f"Did you mean {near[0]}?"
    return otherwise or f"Choose from: {', '.join(choices)}."


def _plain(parser: argparse.ArgumentParser, message: str) -> str:
    """Return argparse's message in our own words."""
    if message.startswith(_REQUIRED):
        names = message.removeprefix(_REQUIRED).split(", ")
        abouts = {action.metavar: action.help or _choices(action) for action in parser._actions}
        about = abouts.get(names[0]) if len(names) == 1 else None
        missing = " and ".join(names) + (" is missing" if len(names) == 1 else " are missing")
        return f"{missing}: {brief(about)}" if about else f"{missing}."
    if bare := _BARE.fullmatch(message):
        return _value_of(parser, bare[1])
    message = message.replace("argument COMMAND: there is no ", "there is no command ")
    return re.sub(r"^argument (\S+?)(?:/\S+)?: ", r"\1: ", message)


def _choices(action: argparse.Action) -> str | None:
    """Return the choices of an argument, such as the subcommands."""
    return ", ".join(map(str, action.choices)) if action.choices else None


def _value_of(parser: argparse.ArgumentParser, flag: str) -> str:
    """Return the message for an option without the value that it needs."""
    action = next(each for each in parser._actions if flag in each.option_strings)
    words = action.metavar if isinstance(action.metavar, tuple) else (action.metavar,)
    needed = words if isinstance(action.nargs, int) else words[:1]  # further values are optional
    value = " ".join(word or action.dest.upper() for word in needed)
    return (
        f"{flag} needs {value}: {brief(action.help)}" if action.help else f"{flag} needs {value}."
    )


def brief(text: str) -> str:
    """Return the first part of an option's help, up to a semicolon or a bracket."""
    return re.split(r"; | \((?=default|required)", text.replace("%%", "%"))[0]


def _in_short(text: str) -> str:
    """Return an option's help up to a semicolon, and the default if there is room in the line."""
    usual = _USUAL.search(text)
    start = re.split(r"; |(?<!\b.)\. ", _USUAL.sub("", text))[0]
    both = f"{start} ({usual[1]})" if usual else start
    return both if len(both) <= _WIDTH - _COLUMN else start


def show_first(parser: argparse.ArgumentParser, *options: str) -> None:
    """Make a command's --help show these options, in this order, and --help-all all options.

    --help shows an option's help text up to a semicolon.
    """
    if isinstance(parser, ScreenParser):
        parser.first = (*options, "--help")


class _Help(argparse.Action):
    """-h, --help [MODEL]: the help that fits a screen, or the options of a learner."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        sys.stdout.write(parser.model_help(values) if values else parser.format_help())
        parser.exit()


class _HelpAll(argparse.Action):
    """--help-all: the help for all options."""

    def __call__(self, parser: Any, *_: Any) -> None:
        sys.stdout.write(parser.full_help())
        parser.exit()


class ScreenParser(PlainParser):
    """A parser with many options, of which --help shows the most important ones.

    show_first() names these; otherwise, --help shows all but the learners' options.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"add_help": False})
        self.first: Sequence[str] = ()
        self._help = self.add_argument(
            "-h", "--help", action=_Help, nargs="?", metavar="MODEL", default=argparse.SUPPRESS,
            help="show this, or the options of a learner",
        )  # fmt: skip
        self._help_all = self.add_argument(
            "--help-all", action=_HelpAll, nargs=0, default=argparse.SUPPRESS,
            help="show all options",
        )  # fmt: skip

    def settle(self) -> None:
        """Adapt --help once all options are added: it takes a MODEL only if there are learners."""
        if not self._of_models():
            self._help.nargs, self._help.metavar, self._help.help = 0, None, "show this"
            if not self.first:
                self._help_all.help = argparse.SUPPRESS

    def format_help(self) -> str:
        """Return the help that fits a screen."""
        learners = self._of_models()
        if not self.first and not learners:
            return self.full_help()
        shown = [a for a in self._actions if a.option_strings and self._is_first(a, learners)]
        if self.first:
            order = self.first
            shown.sort(key=lambda a: min(order.index(n) for n in a.option_strings if n in order))
        places = [action for action in self._actions if not action.option_strings]
        about = re.split(r"(?<=\.) ", self.description or "")
        return self._laid_out(" ".join(about[:_SENTENCES]), places, shown) + self._more(learners)

    def _is_first(self, action: argparse.Action, learners: Sequence[argparse.Action]) -> bool:
        if not self.first:
            return action not in learners and action.dest != "help_all"
        return not {*self.first}.isdisjoint(action.option_strings)

    def model_help(self, model: str) -> str:
        """Return the options of a learner. Ends with an error for an unknown learner."""
        learners = self._of_models()
        known = list(dict.fromkeys(m for action in learners for m in getattr(action, BY_MODEL)))
        if model not in known:
            if not known:
                self.error("--help takes nothing here.")
            self.error(f"--help: there is no learner {model!r}. {nearest(model, known)}")
        mine = [a for a in learners if model in getattr(a, BY_MODEL)]
        shown = [_with_help(a, getattr(a, BY_MODEL)[model].replace("%", "%%")) for a in mine]
        return self._laid_out(f"The options of --model {model}.", [], shown)

    def _of_models(self) -> list[argparse.Action]:
        return [action for action in self._actions if hasattr(action, BY_MODEL)]

    def _laid_out(
        self,
        description: str | None,
        places: Sequence[argparse.Action],
        options: Sequence[argparse.Action],
    ) -> str:
        """Return a help text for these positional arguments and options."""
        words = [f"[{a.metavar}]" if a.nargs == "?" else str(a.metavar) for a in places]
        usage = [f"usage: {' '.join([self.prog, *words, '[options]'])}", ""]
        usage += [*textwrap.wrap(description or "", _WIDTH), ""]
        for action in (*places, *options):
            text = (action.help or "").replace("%%", "%")
            text = _in_short(text) if self.first else text
            lines = textwrap.wrap(text, _WIDTH - _COLUMN)
            left = f"  {_left(action)}"
            if len(left) >= _COLUMN:
                usage.append(left)
                left = ""
            usage += [f"{left:<{_COLUMN}}{lines[0]}", *(" " * _COLUMN + x for x in lines[1:])]
        return "\n".join(usage) + "\n"

    def _more(self, learners: Sequence[argparse.Action]) -> str:
        models = "`--help thicket` shows a learner's options. " if learners else ""
        return f"\n{models}`--help-all` shows all options.\n"


def _left(action: argparse.Action) -> str:
    """Return an option as it is typed, with its values."""
    if not action.option_strings:
        return str(action.metavar)
    name = action.option_strings[-1]
    if action.nargs == 0:
        either = isinstance(action, argparse.BooleanOptionalAction)  # on and off
        return ", ".join(action.option_strings) if either else name
    several = action.metavar if isinstance(action.metavar, tuple) else (action.metavar,)
    value = str(several[0] or action.dest.upper())
    if value.startswith("{") and len(value) > _COLUMN // 2:
        value = name.strip("-").upper()
    elif action.choices and not action.metavar:
        value = "{" + ",".join(map(str, action.choices)) + "}"
        value = value if len(value) < _COLUMN // 2 else name.strip("-").upper()
    value = f"[{value}]" if action.nargs == "?" else value
    return f"{name} {value}{' ...' if action.nargs == '+' else ''}"


def _with_help(action: argparse.Action, text: str) -> argparse.Action:
    copied = copy.copy(action)
    copied.help = text
    return copied


@dataclass(frozen=True)
class Command:
    """A subcommand, with its line in the list of subcommands.

    The module, or MODULE:NAME of an object in a module, has `add_arguments(parser)` and
    `run(arguments)`, which returns the exit code; a command with its own subcommands needs no
    `run`.
    """

    name: str
    help: str
    module: str


class CommandParser(ScreenParser):
    """The parser of a subcommand, whose options are added when they are needed."""

    def __init__(self, *args: Any, module: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._module = module

    def fill(self) -> None:
        """Import the module and add its options, unless that is already done."""
        if self._module:
            module, self._module = pkgutil.resolve_name(self._module), ""
            if hasattr(module, "run"):
                self.set_defaults(run=module.run)
            module.add_arguments(self)
            self.settle()

    def _filled_help(self) -> str:
        self.fill()
        return self.format_help()

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        command = self.prog.removeprefix("microshrub ")
        if self._module and args is not None and list(args) in (["--help"], ["-h"]):
            sys.stdout.write(kept_help(command, self._filled_help))
            self.exit()
        self.fill()
        if not (command in project_file.COMMANDS and os.path.exists(project_file.NAME)):
            return super().parse_known_args(args, namespace)
        return project_file.parse(
            self, command, lambda: super(CommandParser, self).parse_known_args(args, namespace)
        )


def add_commands(
    parser: argparse.ArgumentParser, commands: Iterable[Command], *, required: bool = True
) -> None:
    """Add the subcommands; if required, the user has to give one."""
    subparsers = parser.add_subparsers(
        metavar="COMMAND", required=required, parser_class=CommandParser, dest="command"
    )
    for command in commands:
        text = command.help
        subparsers.add_parser(command.name, help=text, description=text, module=command.module)
