"""`microshrub mqtt forget`: all that a broker has kept of a board goes."""

from __future__ import annotations

import argparse

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console
from microshrub_host.base.text import count

from ..board import house_messages
from ..board.program_house import check_name, host_and_port, password
from ..link.broker import Broker
from .network_options import add_broker_options, ask_password

_SECONDS = 0.5  # within which a broker tells what it has kept


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("name", metavar="NAME", help="the --name of the board")
    add_broker_options(parser, required=True)


def run(arguments: argparse.Namespace) -> int:
    """Remove what is retained; 1 if there is nothing."""
    check_name(arguments.name)
    host, port = host_and_port(arguments.mqtt, tls=arguments.mqtt_ca is not None)
    user = arguments.mqtt_user or ""
    if arguments.mqtt_password_file and not user:
        raise UserError("--mqtt-password-file needs --mqtt-user")
    secret = password(arguments.mqtt_password_file, user, "the broker's password", ask_password)
    topics = house_messages.topics(arguments.name)
    with Broker(host, port, user, secret, arguments.mqtt_ca) as broker:
        broker.subscribe(*topics)
        kept = set()
        while came := broker.receive(_SECONDS):
            if came.retained:
                kept.add(came.topic)
        for topic in sorted(kept):
            broker.publish(topic, b"", retain=True)
    if not kept:
        console.say(f"The broker at {host} has nothing of a board called {arguments.name}.")
        return 1
    console.say(f"{arguments.name} is removed: {count(len(kept), 'message')} at {host}.")
    return 0
