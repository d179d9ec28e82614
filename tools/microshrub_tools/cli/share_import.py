"""`microshrub share import`: a saved model, or a board, learns from packets of others."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from rich.table import Table

from microshrub_host.base.terminal import console, messages
from microshrub_host.models import model_files, shared_samples
from microshrub_host.models.shared_samples import PacketOutcome, Sharer

from ..board.board_sharing import board_model
from ..board.mqtt_packet_store import MOST_BOARDS, MqttPacketStore
from .share_broker import (
    DEFAULT_ORIGIN,
    add_store,
    check_store,
    open_store,
    origin_name,
    tell_left_out,
)
from .share_files import add_board, add_output, add_taught, taught_files, write

Teach = Callable[[Sharer, str | None], list[PacketOutcome]]  # with the learner's name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Let a thicket judge packets, and learn from them what it lacks. Samples that contradict "
        "those it holds are refused, and so are packets with other features. A board's program is "
        "stopped meanwhile, and continues with what was learned."
    )
    add_taught(parser, "one or more PACKETs of `share export`, but none with --mqtt")
    add_board(parser, "teach")
    add_output(parser, "the model to write; an existing model is replaced (required with MODEL)")
    add_store(
        parser,
        "In place of PACKET: take what other boards of the group have published, class by class "
        f"in the order of their names, at most {MOST_BOARDS}, until a packet is learned.",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="with --mqtt, the learner's name: packets of that name are left out "
        f"(default: {DEFAULT_ORIGIN})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Learn, print each class's outcome, and write the model; return 1 if there is no packet."""
    check_store(arguments)
    path, paths = taught_files(arguments)
    if arguments.mqtt is None:
        read = map(shared_samples.read_packet, paths)
        packets = {packet.key: packet for packet in read}.values()  # without duplicates
        return _learn(arguments, path, lambda sharer, _: [sharer.take(each) for each in packets])
    with open_store(arguments) as store:
        return _learn(arguments, path, lambda *who: _of_others(arguments, store, *who))


def _of_others(
    arguments: argparse.Namespace, store: MqttPacketStore, sharer: Sharer, name: str | None
) -> list[PacketOutcome]:
    """Teach the packets that others have published."""
    result = store.fetch(origin_name(arguments, name))
    tell_left_out(result)
    outcomes, refused = sharer.take_lacking(result.packets)
    for sentence in refused:
        messages.say(sentence)
    return sorted(outcomes, key=lambda each: each.origin)


def _learn(arguments: argparse.Namespace, path: Path | None, teach: Teach) -> int:
    learned = False
    if path is None:
        with board_model(arguments.port, arguments.key) as board:
            board.check_keeps()
            lessons = teach(board.sharer, board.name)
            learned = board.sharer.sharing.waiting > 0
            if learned:
                board.put_back()
    else:
        stem = path.stem
        model, lessons = shared_samples.taught(path, lambda sharer: teach(sharer, stem))
    tell(lessons)
    if not lessons:
        console.say(f"{arguments.mqtt} has no packets of others that {arguments.group} can learn.")
        return 1
    if path is not None:
        write(arguments, model_files.packed(model))
    elif learned:
        console.say("The board goes on with what it knows now.")
    else:
        console.say("The board goes on as before: it learned nothing.")
    return 0


def tell(lessons: list[PacketOutcome]) -> None:
    """Print the outcomes of packets, a table for each origin."""
    for origin, group in groupby(lessons, key=lambda each: each.origin):
        _tell(origin, list(group))


def _tell(origin: str, lessons: list[PacketOutcome]) -> None:
    table = Table("class", "samples", "learned", "", title=f"from {origin}")
    changes: dict[str, float] = {}
    for lesson in lessons:
        for taken in lesson.classes:
            what = "" if taken.what == "learned" else taken.what
            table.add_row(taken.name, str(taken.samples), str(taken.learned), what)
        for name, change in lesson.changes.items():
            changes[name] = max(change, changes.get(name, 0.0))
    console.print(table)
    if not changes:
        return
    changed = ", ".join(f"{name} {change:.3g}" for name, change in changes.items())
    if len(changes) > 6:
        worst = max(changes, key=lambda name: changes[name])
        changed = f"{worst} {changes[worst]:.3g}, the most of all features"
    console.say(f"values are moved by at most: {changed}")
