"""`microshrub share`: models and boards teach each other with files of a few samples."""

from __future__ import annotations

import argparse

from microshrub_host.cli.plain_parser import Command, add_commands

COMMANDS = (
    Command(
        "export",
        "Write samples of the classes that you name to a packet.",
        "microshrub_tools.cli.share_export",
    ),
    Command(
        "import",
        "Let a model or a board judge others' packets, and learn what it lacks.",
        "microshrub_tools.cli.share_import",
    ),
    Command(
        "exchange",
        "Have boards teach each other what they lack, once or every so often.",
        "microshrub_tools.cli.share_exchange",
    ),
    Command(
        "forget",
        "Remove what a model or a board learned from a packet.",
        "microshrub_tools.cli.share_forget",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    add_commands(parser, COMMANDS)
