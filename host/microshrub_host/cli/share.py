"""`microshrub share`: saved models teach each other by files of a few samples."""

from __future__ import annotations

import argparse

from .command_table import Command, add_commands

COMMANDS = (
    Command(
        "export",
        "Write samples of the classes that you name to a parcel.",
        "microshrub_host.cli.share_export",
    ),
    Command(
        "import",
        "Have a model judge parcels of others, and learn what it lacks.",
        "microshrub_host.cli.share_import",
    ),
    Command(
        "forget",
        "Take out of a model again what it learned of a parcel.",
        "microshrub_host.cli.share_forget",
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    add_commands(parser, COMMANDS)
