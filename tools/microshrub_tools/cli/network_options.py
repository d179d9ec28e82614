"""Options of a board on a network and of an MQTT broker, and the prompt for a password."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.cli.parsed import whole_number

from ..board.discovery_messages import WHOLE_DEVICES
from ..board.program_mqtt import BROKER_PASSWORD, EVENTS, SETTLE, host_and_port, password
from ..link.broker import Broker
from ..link.tcp_line import PORT


def add_broker_options(group: argparse._ActionsContainer, *, required: bool = False) -> None:
    """Add the options of the broker."""
    group.add_argument(
        "--mqtt",
        metavar="HOST[:PORT]",
        required=required,
        help="the MQTT broker to report to" + (" (required)" if required else " (default: none)"),
    )
    group.add_argument(
        "--mqtt-user",
        metavar="NAME",
        help="the user at the broker (default: none, without a password)",
    )
    group.add_argument(
        "--mqtt-password-file",
        metavar="FILE",
        type=Path,
        help="a file whose first line is that user's password (default: it is asked for)",
    )
    group.add_argument(
        "--mqtt-ca",
        metavar="FILE",
        type=Path,
        help="use TLS, and trust a broker whose identity this certificate proves (default: no "
        "TLS)",
    )


def add_network_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a program on a network."""
    group = parser.add_argument_group("options of a board in a network")
    group.add_argument(
        "--wifi",
        metavar="SSID",
        help="the wireless network to join (default: the board joins a network by itself)",
    )
    group.add_argument(
        "--wifi-password-file",
        metavar="FILE",
        type=Path,
        help="a file whose first line is the network's password (default: it is asked for)",
    )
    group.add_argument(
        "--tcp",
        metavar="PORT",
        nargs="?",
        type=whole_number,
        const=PORT,
        help="let your PC in over Wi-Fi, at this port; whoever has the key may speak to the board "
        f"(default: off; {PORT} without a number)",
    )
    group.add_argument(
        "--key",
        metavar="FILE",
        type=Path,
        help="the file of the key for --tcp, which is made if there is none (default: FOLDER.key, "
        "beside the folder of --output)",
    )
    group = parser.add_argument_group(
        "options of a board in a house",
        "See docs/how-to/home-assistant.md, and docs/how-to/boards-that-share.md for --share.",
    )
    add_broker_options(group)
    group.add_argument(
        "--name",
        metavar="NAME",
        help="the board's name at the broker, and in its group (required with --mqtt)",
    )
    group.add_argument(
        "--share",
        nargs="+",
        metavar=("GROUP", "NAME=VALUE"),
        help="learn from the packets that other boards of the group have published at the broker, "
        "as `share import --group` does; classes=walk,run or classes=all: publish samples of "
        "these classes for them; by=udp or, between ESP32s, by=espnow: without a broker, with the "
        "group's key in key=FILE, port=N or channel=N (default: share nothing)",
    )
    group.add_argument(
        "--settle",
        nargs="+",
        metavar=("N", "P%"),
        help="report a different class once it was predicted N times in a row, or once with a "
        f"confidence of P% (default {' '.join(SETTLE)})".replace("%", "%%"),
    )
    group.add_argument(
        "--events",
        type=whole_number,
        metavar="N",
        help="events that are kept while the broker cannot be reached, 10 bytes each "
        f"(default {EVENTS})",
    )
    group.add_argument(
        "--home-assistant",
        metavar="VERSION",
        help="the version of Home Assistant, such as 2024.3, if it is older than "
        f"{'.'.join(map(str, WHOLE_DEVICES))}: each entity is then announced by itself",
    )


def open_broker(arguments: argparse.Namespace) -> Broker:
    """Connect to the broker of the options, with a password if needed. Raises UserError."""
    host, port = host_and_port(arguments.mqtt, tls=arguments.mqtt_ca is not None)
    user = arguments.mqtt_user or ""
    if arguments.mqtt_password_file and not user:
        raise UserError("--mqtt-password-file needs --mqtt-user")
    secret = password(arguments.mqtt_password_file, user, BROKER_PASSWORD, ask_password)
    return Broker(host, port, user, secret, arguments.mqtt_ca)


def ask_password(words: str, flag: str) -> str:
    """Prompt for a password, without showing it. Raises UserError without a terminal."""
    if not sys.stdin.isatty():
        raise UserError(
            f"{words} is missing, and there is no terminal to ask for it: put it into a file, and "
            f"name that with {flag}"
        )
    return getpass.getpass(f"{words[0].upper()}{words[1:]}: ")
