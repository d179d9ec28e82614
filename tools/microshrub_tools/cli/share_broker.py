"""Shared by the commands of `microshrub share`: a group's packets at an MQTT broker."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages

from ..board.mqtt_packet_store import MOST_BOARDS, MqttPacketStore, Published
from ..board.program_mqtt import check_name
from .network_options import add_broker_options, open_broker

DEFAULT_ORIGIN = "the name of MODEL, or the name given to `build --mqtt --name`"
_SHOWN = 20  # errors shown for refused messages
_ONLY = ("mqtt_user", "mqtt_password_file", "mqtt_ca", "group")


def add_store(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --group and the broker's options; `what` describes their use."""
    group = parser.add_argument_group("options of an MQTT broker", what)
    add_broker_options(group)
    group.add_argument(
        "--group",
        metavar="NAME",
        help="the boards that see the same features, such as rooms (required with --mqtt)",
    )


def check_store(arguments: argparse.Namespace) -> None:
    """Raise UserError for missing or useless options."""
    if arguments.mqtt is None:
        for name in _ONLY:
            if getattr(arguments, name, None) is not None:
                raise UserError(f"--{name.replace('_', '-')} needs --mqtt HOST")
    elif arguments.group is None:
        raise UserError("--mqtt needs --group NAME: packets are for boards of the same features")
    else:
        check_name(arguments.group, "--group")


@contextlib.contextmanager
def open_store(arguments: argparse.Namespace) -> Iterator[MqttPacketStore]:
    """Yield the group's packets. Raises UserError if the broker does not answer."""
    with open_broker(arguments) as broker:
        yield MqttPacketStore(broker, arguments.group)


def origin_name(arguments: argparse.Namespace, otherwise: str | None) -> str:
    """Return the name by which others know the samples' origin. Raises UserError without one."""
    name: str | None = arguments.name or otherwise
    if name is None:
        raise UserError("--mqtt needs --name NAME, by which others know whose samples they are")
    check_name(name)
    return name


def tell_left_out(published: Published) -> None:
    """Print the errors of refused packets, and the classes with too many packets."""
    for sentence in published.refused[:_SHOWN]:
        messages.say(sentence)
    if len(published.refused) > _SHOWN:
        messages.say(f"{len(published.refused) - _SHOWN:,} more messages are refused")
    for name in published.left:
        messages.say(
            f"{name}: more than {MOST_BOARDS} boards have published packets; the first "
            f"{MOST_BOARDS} by their names are taken"
        )
