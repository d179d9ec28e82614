"""Boards that teach each other: one round of exchange of the classes that the others lack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader
from microshrub_host.models.shared_samples import MOST, Sharer

from .board_sharing import board_model
from .mqtt_packet_store import MqttPacketStore
from .program_mqtt import check_name

SILENT = ("well known", "learned of others")  # outcomes that are not reported in every round
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Way:
    """How to reach a board: its port, its key if it is on the network, and its name.

    name    None: the name in the board's program
    """

    port: str
    key: Any
    name: str | None


@dataclass(frozen=True)
class Visited:
    """A board as it was when the round began: a copy of its model for sharing, and its packets."""

    way: Way
    name: str
    sharer: Sharer
    packets: tuple[bytes, ...]


@dataclass(frozen=True)
class Offered:
    """A class of one board that another board was offered: see shared_samples.Taken."""

    receiver: str
    sender: str
    name: str
    what: str
    samples: int
    learned: int


def visit(ways: Sequence[Way], wanted: Sequence[str], tell: Tell, *, named: bool) -> list[Visited]:
    """Collect the boards' packets of the wanted classes, or of all classes if none is wanted.

    tell() reports a board that is offline or cannot share. `named`: each board needs a name of its
    own.
    """
    result: list[Visited] = []
    for number, way in enumerate(ways, 1):
        try:
            with board_model(way.port, way.key) as board:
                board.check_keeps()
                name = way.name or board.name or f"board{number}"
                if named and name == f"board{number}":
                    raise UserError("the broker needs a name for it: --port NAME=PORT")
                check_name(name)
                if name in {each.name for each in result}:
                    raise UserError(f"another board is called {name}, too: --port NAME=PORT")
                sharer = board.sharer
                held = sharer.held()
                chosen = [each for each in held if not wanted or each in wanted]
                packets = tuple(sharer.collect(name, (each,), MOST) for each in chosen)
            result.append(Visited(way, name, sharer, packets))
        except UserError as error:
            tell(f"{way.port} is skipped: {error}")
    return result


def at_broker(store: MqttPacketStore, visited: Sequence[Visited], tell: Tell) -> dict[str, Any]:
    """Publish the boards' packets, and fetch the packets of boards that were not visited."""
    for each in visited:
        for name in store.publish(each.packets):
            tell(f"{name} of {each.name} is not published: enough boards have")
    published = store.fetch("")
    for sentence in published.refused:
        tell(sentence)
    visited_names = {each.name for each in visited}
    return {
        topic: packet
        for topic, packet in published.packets.items()
        if packet.origin not in visited_names
    }


def teach(
    visited: Sequence[Visited], more: Mapping[str, Any], tell: Tell
) -> tuple[list[Offered], list[str]]:
    """Have each board learn the classes that it lacks, from the others' packets and from `more`.

    Only boards that lack something are stopped again. Returns the outcome for each class that was
    offered, and the names of boards that can no longer be reached.
    """
    library: Any = loader.load("python")
    offers = {
        f"{packet.class_names[0]} of {each.name}": packet
        for each in visited
        for packet in map(library.SamplePacket, each.packets)
    }
    lessons: list[Offered] = []
    gone: list[str] = []
    for each in visited:
        mine = {
            where: packet
            for where, packet in _sorted({**offers, **more})
            if packet.origin != each.name
        }
        try:
            result, refused = each.sharer.take_lacking(mine)  # on the copy
            if each.sharer.sharing.waiting:
                with board_model(each.way.port, each.way.key) as board:
                    result, refused = board.sharer.take_lacking(mine)
                    board.put_back()
        except UserError as error:
            tell(f"{each.way.port} is skipped: {error}")
            gone.append(each.name)
            continue
        for sentence in refused:
            tell(f"{each.name} cannot learn {sentence}")
        lessons += [
            Offered(
                each.name, outcome.origin, taken.name, taken.what, taken.samples, taken.learned
            )
            for outcome in result
            for taken in outcome.classes
        ]
    return lessons, gone


def _sorted(packets: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Sort packets by class, and then by origin."""
    return sorted(packets.items(), key=lambda pair: (pair[1].class_names[0], pair[1].origin))
