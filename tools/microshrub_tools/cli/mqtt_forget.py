"""`microshrub mqtt forget`: removes all messages of a board that a broker retains."""

from __future__ import annotations

import argparse

from microshrub_host.base.terminal import console
from microshrub_host.base.text import count

from ..board import discovery_messages
from ..board.program_mqtt import check_name
from .network_options import add_broker_options, open_broker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("name", metavar="NAME", help="the --name of the board")
    add_broker_options(parser, required=True)


def run(arguments: argparse.Namespace) -> int:
    """Remove the retained messages; return 1 if there are none."""
    check_name(arguments.name)
    topics = discovery_messages.topics(arguments.name)
    with open_broker(arguments) as broker:
        kept = {message.topic for message in broker.retained(*topics)}
        for topic in sorted(kept):
            broker.publish(topic, b"", retain=True)
    if not kept:
        console.say(
            f"The broker at {arguments.mqtt} has nothing of a board called {arguments.name}."
        )
        return 1
    console.say(f"{arguments.name} is removed: {count(len(kept), 'message')} at {arguments.mqtt}.")
    return 0
