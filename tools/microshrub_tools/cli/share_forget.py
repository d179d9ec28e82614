"""`microshrub share forget`: removes the samples of packets from a saved model or a board."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import console
from microshrub_host.base.text import count
from microshrub_host.models import model_files, shared_samples

from ..board.board_sharing import board_model
from ..board.program_mqtt import check_name
from .share_broker import add_store, check_store, open_store, tell_left_out
from .share_files import add_board, add_output, add_taught, taught_files, write


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Remove the samples of a packet, or all samples that came from a board (--origin), from a "
        "thicket. The trees that have grown on these samples count little as soon as newer trees "
        "have grown. A board does not record which samples of a packet it took, so all of the "
        "packet's samples are looked for. With --mqtt and neither MODEL nor --port, a board's "
        "packets are removed from the broker."
    )
    add_taught(parser, "the PACKET of `share export`; none with --origin")
    add_board(parser, "remove the samples from")
    add_output(parser, "the model to write; an existing model is replaced (required with MODEL)")
    add_store(parser, "Also look for what the broker has of --origin now, by its packets.")
    parser.add_argument(
        "--origin",
        metavar="NAME",
        help="remove all samples that came from this board, in place of PACKET (required with "
        "--mqtt)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Forget, and write the model; return 1 if a broker has no packets to forget."""
    check_store(arguments)
    if arguments.mqtt is not None and arguments.origin is not None:
        check_name(arguments.origin, "--origin")
    if arguments.mqtt is None and arguments.origin is not None:
        return _forget(arguments, taught_files(arguments)[0], [])
    if arguments.mqtt is None:
        path, paths = taught_files(arguments)
        if len(paths) != 1:
            raise UserError("give one PACKET: each is forgotten by a command of its own")
        return _forget(arguments, path, [shared_samples.read_packet(paths[0])])
    if arguments.origin is None:
        raise UserError("--mqtt needs --origin NAME, whose packets they are")
    if arguments.files or arguments.port is not None:
        return _forget_published(arguments)
    if arguments.output is not None:
        raise UserError("give MODEL, which is written to --output without the samples")
    with open_store(arguments) as store:
        gone = store.withdraw(arguments.origin)
    if not gone:
        return _nothing(arguments)
    removed = f"{', '.join(gone)} of {arguments.origin}"
    console.say(f"removed from the group {arguments.group} at {arguments.mqtt}: {removed}")
    return 0


def _forget_published(arguments: argparse.Namespace) -> int:
    path = taught_files(arguments)[0]
    with open_store(arguments) as store:
        result = store.of(arguments.origin)
    tell_left_out(result)
    return _forget(arguments, path, list(result.packets.values()))


def _nothing(arguments: argparse.Namespace) -> int:
    console.say(
        f"{arguments.mqtt} has no packets of {arguments.origin} in the group {arguments.group}."
    )
    return 1


def _forget(arguments: argparse.Namespace, path: Path | None, packets: Sequence[Any]) -> int:
    if path is not None:
        model, gone = shared_samples.without(path, packets, arguments.origin)
        write(arguments, model_files.packed(model), f", without {count(gone, 'sample')}")
        return 0
    with board_model(arguments.port, arguments.key) as board:
        board.check_keeps()
        gone = board.sharer.forget(packets, arguments.origin)
        if gone:
            board.put_back()
    origin = arguments.origin or packets[0].origin
    console.say(f"The board goes on without {count(gone, 'sample')} of {origin}.")
    return 0
