"""The help of the command line: complete, and what it says is allowed is allowed."""

from __future__ import annotations

import argparse
import re

import pytest

from microshrub_host import boards, options
from microshrub_host.errors import UserError
from microshrub_tools import cli

COMMANDS = ("simulate", "budget", "parity", "soak", "micropython")


def subparser(name: str) -> argparse.ArgumentParser:
    """The parser of one subcommand."""
    actions = cli.parser()._actions
    found = next(a for a in actions if isinstance(a, argparse._SubParsersAction))
    parser: argparse.ArgumentParser = found.choices[name]
    return parser


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_help_with_its_default(command: str) -> None:
    parser = subparser(command)
    text = parser.format_help()
    for action in parser._actions:
        assert action.help, action.dest
        if action.option_strings and action.dest != "help":
            assert re.search("default|required", action.help), action.dest
    if command not in ("micropython", "budget"):
        assert "ImageSegments" in text
        assert "agrawal_a" in text


@pytest.mark.parametrize("command", ["simulate", "budget"])
def test_the_boards_are_listed(command: str) -> None:
    text = subparser(command).format_help()
    assert all(name in text for name in boards.names())
    assert "rpi_pico" in text


@pytest.mark.parametrize("model", options.MODELS)
def test_the_words_in_the_help_are_allowed(model: str) -> None:
    shown = {a.dest: a.metavar for a in subparser("simulate")._actions}
    for name, default in options.defaults(model).items():
        if isinstance(default, str):
            words = str(shown[name]).strip("{}").split(",")
            assert default in words
            works = []
            for word in words:
                try:
                    options.check_parameters(model, {"features": 2, "classes": 2, name: word})
                    works.append(word)
                except UserError as error:
                    allowed = re.search(r"one of (.*), not", str(error))
                    assert allowed is not None
            assert len(works) >= 2
            with pytest.raises(UserError, match=f"--{name} has to be one of") as refusal:
                options.check_parameters(model, {"features": 2, "classes": 2, name: "?"})
            assert set(str(refusal.value).split(" of ")[1].split(", not")[0].split(", ")) == set(
                works
            )


def test_an_option_that_two_models_share_tells_both_defaults() -> None:
    text = " ".join(subparser("simulate").format_help().split())
    assert "(default proba); hoeffding:" in text
    assert "(default nba)" in text


def test_only_options_are_called_options() -> None:
    with pytest.raises(UserError, match=r"^--max-features has to be"):
        options.check_parameters("shrub", {"features": 2, "classes": 2, "max_features": 3})
    with pytest.raises(UserError, match=r"^classes has to be"):
        options.check_parameters("shrub", {"features": 2, "classes": 1})
