"""`microshrub dev`: tests of microshrub itself, for hours if need be."""

from __future__ import annotations

import argparse

from microshrub_host.cli.plain_parser import Command, add_commands

_TOOLS = "microshrub_tools.cli"
COMMANDS = (
    Command("soak", "Check that a learner's memory and time do not grow.", f"{_TOOLS}.soak"),
    Command(
        "fuzz-link", "Test the link over a line that damages everything.", f"{_TOOLS}.fuzz_link"
    ),
    Command(
        "fuzz-states",
        "Check that damaged states are refused, or do no harm.",
        f"{_TOOLS}.fuzz_states",
    ),
    Command(
        "simulate-year",
        "Let a simulated device live through a year of power cuts.",
        f"{_TOOLS}.simulate_year",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    add_commands(parser, COMMANDS)
