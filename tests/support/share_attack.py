"""Invalid messages at the topics of a group's packets: each is refused, valid packets are taken.

    python tests/support/share_attack.py --messages 100000 --seed 1

A real mosquitto keeps forged, cut, oversized, altered and moved packets, and a few valid ones. A
client that fetches the group's packets gets the valid ones, and a message about each other one.
"""

from __future__ import annotations

import argparse
import random
import string
import sys
import tempfile
from pathlib import Path
from typing import Any

from packet_attack import altered
from packet_support import NAMES, UNITS, Board

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader
from microshrub_host.models.shared_samples import Sharer
from microshrub_research.benchmarks import local_broker
from microshrub_research.benchmarks.local_broker import LocalBroker
from microshrub_tools.board.mqtt_packet_store import MOST_BYTES, MqttPacketStore
from microshrub_tools.link.broker import Broker

CLASSES = ("rest", "walk", "run")
ROUND = 400  # messages kept at once: mosquitto sends at most 1,000 to a new subscriber


def forged(dice: random.Random, whole: bytes) -> bytes:
    """Return an invalid packet for this topic, made from another board's packet."""
    change = dice.randrange(6)
    if change == 0:
        return dice.randbytes(dice.choice((1, 20, 300)))
    if change == 1:
        return whole[: dice.randrange(1, len(whole))]
    if change == 2:
        return whole * dice.choice((2, 1 + MOST_BYTES // len(whole), 200_000 // len(whole)))
    if change == 3:
        return whole
    if change == 4:
        return "".join(dice.choices(string.printable, k=40)).encode()
    return altered(whole, dice) or b"\0"


def whole_packets(library: Any) -> dict[str, list[bytes]]:
    """Return packets of three boards that know all classes."""
    return {
        name: [
            bytes(Board(library, (30, 30, 30), seed).sharing.collect(name, (each,)))
            for each in CLASSES
        ]
        for seed, name in enumerate(("attic", "hall", "kitchen"))
    }


def one_round(line: Broker, packets: dict[str, list[bytes]], dice: random.Random) -> None:
    """Have the broker keep a round of messages, and fetch the group's packets."""
    store = MqttPacketStore(line, f"group{dice.randrange(1 << 30)}")
    right = [data for name in ("attic", "hall") for data in packets[name]]
    assert not store.publish(right)
    wrong = [store.topic(dice.choice(CLASSES), f"board{number}") for number in range(ROUND)]
    for topic in wrong:
        line.publish_once(topic, forged(dice, dice.choice(packets["kitchen"])), retain=True)
    fetched = store.fetch("kitchen")
    assert len(fetched.packets) == len(right), "a whole packet was not taken"
    assert len(fetched.refused) == ROUND, "a message was taken, or nothing was said of it"
    assert all(reason.isprintable() and len(reason) < 400 for reason in fetched.refused)
    peer = Board(loader.load(loader.fastest()), (40, 40, 0), seed=9)
    outcomes, _ = Sharer("", peer.sharing, NAMES, UNITS, CLASSES).take_lacking(fetched.packets)
    assert len(outcomes) == len(right)
    assert peer.learn_all() == 20
    for topic in (*wrong, *fetched.packets):
        line.publish_once(topic, b"", retain=True)


def main() -> int:
    """Run the attack; raises an exception if an invalid message was taken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=4 * ROUND)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    try:
        local_broker.version()
    except UserError as error:
        print(f"0 passed, left out: {error}")
        return 0
    dice = random.Random(arguments.seed)
    rounds = -(-arguments.messages // ROUND)
    packets = whole_packets(loader.load(loader.fastest()))
    with tempfile.TemporaryDirectory() as name, LocalBroker(Path(name), 4) as broker:
        for _ in range(rounds):
            with Broker("127.0.0.1", broker.port) as line:
                one_round(line, packets, dice)
    print(f"{rounds * ROUND:,} passed: each was refused, and all whole packets were taken")
    return 0


if __name__ == "__main__":
    sys.exit(main())
