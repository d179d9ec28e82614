"""`microshrub share export`: samples of a saved model, or of a board, as packets for others."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console, messages
from microshrub_host.base.text import count
from microshrub_host.cli.parsed import check_at_least_one, whole_number
from microshrub_host.models import shared_samples
from microshrub_host.models.shared_samples import MOST, Sharer

from ..board.board_sharing import board_model
from ..board.mqtt_packet_store import MOST_BOARDS, MOST_BYTES, MOST_SAMPLES
from .share_broker import DEFAULT_ORIGIN, add_store, check_store, open_store, origin_name
from .share_files import (
    MODEL,
    PACKET_START,
    add_board,
    add_classes,
    add_output,
    check_known,
    check_output,
    chosen_classes,
    write,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Write samples that a thicket holds to a packet, from which other models learn, or "
        "publish them at an MQTT broker. Only classes that you name leave the model: by default "
        "none does. A board's program is stopped meanwhile, and continues afterwards."
    )
    parser.add_argument("model", metavar="MODEL", type=Path, nargs="?", help=MODEL)
    add_classes(parser, "the model")
    parser.add_argument(
        "--most",
        type=whole_number,
        default=MOST,
        metavar="N",
        help=f"the most samples of each class (default {MOST})",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        help=f"the name of the samples' owner (default: {DEFAULT_ORIGIN}, or `board` for a "
        "board without a name)",
    )
    add_board(parser, "take the samples from")
    add_output(parser, "the packet to write (required without --mqtt)")
    add_store(
        parser,
        "In place of --output: publish a retained packet of each class, of at most "
        f"{MOST_SAMPLES} samples and {MOST_BYTES:,} bytes; for each class, a group has the "
        f"packets of at most {MOST_BOARDS} boards.",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the packet, or publish one for each class; return 1 if a class had enough packets."""
    check_at_least_one(most=arguments.most)
    check_store(arguments)
    path: Path | None = arguments.model
    if (path is None) == (arguments.port is None):
        raise UserError("give either MODEL or --port of a board")
    if arguments.mqtt is not None:
        if arguments.output is not None or arguments.force:
            raise UserError("give either --output or --mqtt")
        return _publish(arguments)
    check_output(arguments, PACKET_START, {"MODEL": path} if path else {})
    with _sharer(arguments) as (sharer, name):
        wanted = _wanted(arguments, sharer)
        origin = arguments.name or name or "board"
        data = sharer.collect(origin, wanted, arguments.most)
    write(arguments, data, f", {count(len(wanted), 'class')} of {origin}")
    return 0


def _publish(arguments: argparse.Namespace) -> int:
    with open_store(arguments) as store:
        with _sharer(arguments) as (sharer, name):
            origin = origin_name(arguments, name)
            wanted = _wanted(arguments, sharer)
            packets = [sharer.collect(origin, (each,), arguments.most) for each in wanted]
        full = store.publish(packets)
    for each in full:
        messages.say(
            f"{each}: {MOST_BOARDS} other boards of {arguments.group} have published it, which is "
            "enough; `share forget --mqtt` withdraws a board's"
        )
    given = [each for each in wanted if each not in full]
    if given:
        size = sum(len(data) for each, data in zip(wanted, packets, strict=True) if each in given)
        console.say(
            f"published to the group {arguments.group} at {arguments.mqtt}: "
            f"{', '.join(given)} of {origin}, "
            f"{size:,} bytes"
        )
    return int(bool(full))


@contextlib.contextmanager
def _sharer(arguments: argparse.Namespace) -> Iterator[tuple[Sharer, str | None]]:
    """Yield the model's or the board's Sharer, and its name."""
    path: Path | None = arguments.model
    if path is not None:
        yield shared_samples.sharer(path), path.stem
        return
    with board_model(arguments.port, arguments.key) as board:
        yield board.sharer, board.name


def _wanted(arguments: argparse.Namespace, sharer: Sharer) -> tuple[str, ...]:
    if not arguments.classes:
        raise UserError(
            "--classes is missing: nothing leaves a model that nobody chose. The classes are: "
            f"{', '.join(sharer.classes)}"
        )
    if arguments.classes != "all":
        chosen = chosen_classes(arguments.classes)
        check_known(chosen, sharer.classes)
        return chosen
    result = sharer.held()
    if not result:
        raise UserError(f"{sharer.whose}: it has no samples yet")
    return result
