"""The help of the command line: complete, and correct about permitted values."""

from __future__ import annotations

import argparse
import re
from typing import Any

import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.cli import options
from microshrub_host.cli.plain_parser import CommandParser
from microshrub_host.library import loader
from microshrub_host.library.learners import (
    MODELS,
    REGRESSORS,
    check_parameters,
    defaults,
    option,
    options_of,
    options_text,
    specification,
)
from microshrub_tools.cli import main

COMMANDS = ("simulate", "budget", "parity", "compare", "dev soak", "micropython")


def subparser(name: str) -> CommandParser:
    """Return the parser of one subcommand."""
    parser: Any = main.parser()
    for word in name.split():
        actions = parser._actions
        subparsers = next(a for a in actions if isinstance(a, argparse._SubParsersAction))
        parser = subparsers.choices[word]
        parser.fill()
    assert isinstance(parser, CommandParser)
    return parser


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_help_with_its_default(command: str) -> None:
    parser = subparser(command)
    text = parser.full_help()
    for action in parser._actions:
        if action.help == argparse.SUPPRESS:  # it exists to be refused with a message
            continue
        assert action.help, action.dest
        if action.option_strings and action.dest not in ("help", "help_all"):
            assert re.search("default|required", action.help), action.dest
    if command not in ("micropython", "budget"):
        assert "ImageSegments" in text
        assert "agrawal_a" in text


@pytest.mark.parametrize("command", ["simulate", "budget"])
def test_the_boards_are_listed(command: str) -> None:
    text = subparser(command).full_help()
    assert all(name in text for name in board_files.names())
    assert "rpi_pico" in text


@pytest.mark.parametrize("model", [*MODELS, *REGRESSORS])
def test_every_parameter_of_a_learner_is_described(model: str) -> None:
    assert [row.name for row in options_of(model).values() if not row.help] == []


@pytest.mark.parametrize("model", MODELS)
def test_the_values_in_the_help_are_permitted(model: str) -> None:
    actions = [a for a in subparser("simulate")._actions if a.option_strings]
    shown = {a.option_strings[-1]: a.metavar for a in actions}
    for name, default in defaults(model).items():
        if isinstance(default, str):
            words = str(shown[option(name)]).strip("{}").split(",")
            assert default in words
            works = []
            for word in words:
                try:
                    check_parameters(model, {"features": 2, "classes": 2, name: word})
                    works.append(word)
                except UserError as error:
                    allowed = re.search(r"one of (.*), not", str(error))
                    assert allowed is not None
            assert len(works) >= 2
            with pytest.raises(UserError, match=f"--{name} has to be one of") as refusal:
                check_parameters(model, {"features": 2, "classes": 2, name: "?"})
            assert set(str(refusal.value).split(" of ")[1].split(", not")[0].split(", ")) == set(
                works
            )


def test_boolean_parameters_are_switches() -> None:
    switches = {name: v for name, v in defaults("hoeffding").items() if isinstance(v, bool)}
    assert switches == {"adaptive": True, "boost": False}
    assert not any(isinstance(value, bool) for value in defaults("shrub").values())
    parse = main.parser().parse_args
    for changes in ({}, {"adaptive": False}, {"boost": True}, {"boost": True, "adaptive": False}):
        given = options_text(changes).split()
        words = parse(["simulate", "synth:led_a", "--model", "hoeffding", *given])
        parameters = options.model_parameters(words)
        assert {name: parameters[name] for name in switches} == switches | changes
    for action in subparser("simulate")._actions:
        if action.option_strings and action.option_strings[0][2:] in switches:
            assert action.nargs == 0
            default = "on" if switches[action.option_strings[0][2:]] else "off"
            assert f"(default {default})" in str(action.help)


@pytest.mark.parametrize("name", ["adaptive", "boost"])
def test_a_switch_takes_no_value_and_belongs_to_a_model(name: str) -> None:
    parse = main.parser().parse_args
    with pytest.raises(SystemExit):
        parse(["simulate", "synth:led_a", "--model", "hoeffding", f"--{name}=True"])
    with pytest.raises(UserError, match=f"^--{name} .* --model thicket"):
        options.model_parameters(parse(["simulate", "synth:led_a", f"--{name}"]))


def test_balance_is_short_for_a_model() -> None:
    parse = main.parser().parse_args
    words = parse(["simulate", "synth:led_a", "--balance", "--costs", "1,2,30"])
    assert words.model == "balanced"
    assert options.model_parameters(words)["costs"] == (1, 2, 30)
    assert options_text({"costs": (1, 2, 30)}) == "--costs 1,2,30"
    for wrong in (["--balance", "--model", "shrub"], ["--balance", "--costs", "1,x"]):
        with pytest.raises(SystemExit):
            parse(["simulate", "synth:led_a", *wrong])


def test_two_options_that_conflict_are_named_as_options() -> None:
    parameters = {"features": 2, "classes": 2, "lambda_min": 7.0}
    with pytest.raises(UserError, match=r"^--lambda-min .* lambda_max, not 7"):
        check_parameters("hoeffding", parameters)


def test_an_option_that_two_models_share_has_both_defaults() -> None:
    text = " ".join(subparser("simulate").full_help().split())
    assert "(default proba); hoeffding:" in text
    assert "(default nba)" in text


def test_an_error_has_its_facts_as_fields() -> None:
    library = loader.load("python")
    with pytest.raises(library.learner.ParameterError) as refusal:
        library.ShrubEnsemble(3, 2, window=1)
    assert refusal.value.args == ("window", "a whole number of 2..1024", 1)
    assert str(refusal.value) == "{} has to be {}, not {}".format(*refusal.value.args)
    assert isinstance(refusal.value, ValueError)


def test_only_options_are_named_as_options() -> None:
    with pytest.raises(UserError, match=r"^--max-features has to be"):
        check_parameters("shrub", {"features": 2, "classes": 2, "max_features": 3})
    with pytest.raises(UserError, match=r"^classes has to be"):
        check_parameters("shrub", {"features": 2, "classes": 1})


class TestSpecification:
    def test_given_parameters_keep_their_values_and_others_have_defaults(self) -> None:
        model, settings = specification(" hoeffding policy=efdt  depth=10 tie_threshold=0.1")
        assert model == "hoeffding"
        given = {"policy": "efdt", "depth": 10, "tie_threshold": 0.1}
        assert settings == defaults("hoeffding") | given

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "the model '' is unknown"),
            ("schrub", "Did you mean shrub"),
            ("shrub dept=3", "dept is not a parameter of shrub. Did you mean depth"),
            ("shrub policy=efdt", "policy is not a parameter of shrub"),
            ("shrub depth", "depth has no value; write depth="),
            ("shrub depth=deep", "depth has to be a whole number, not 'deep'"),
        ],
    )
    def test_wrong_specifications_are_refused(self, text: str, message: str) -> None:
        with pytest.raises(UserError) as refusal:
            specification(text)
        assert message in str(refusal.value)
