"""`microshrub mqtt`: the messages of boards at an MQTT broker."""

from __future__ import annotations

import argparse

from microshrub_host.cli.plain_parser import Command, add_commands

COMMANDS = (
    Command(
        "forget",
        "Remove a board from the broker, and so from Home Assistant.",
        "microshrub_tools.cli.mqtt_forget",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    add_commands(parser, COMMANDS)
