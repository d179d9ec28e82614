"""Datagrams to a board of a group: altered, cut, random and old ones, in any order.

    python tests/support/datagram_attack.py --datagrams 100000 --seed 1

The board's program runs on this PC, and receives the datagrams from a carrier. A datagram that is
not signed with the group's key changes no bit. Old datagrams of the group do no harm: the board
learns only the samples of packets of the group, and still knows its own classes. The power may be
cut at any time.
"""

from __future__ import annotations

import argparse
import gc
import random
import struct
import sys
from collections import Counter
from typing import Any

from datagram_air import KEY, altered, datagram, parts_of
from packet_attack import altered as altered_packet
from packet_support import CLASSES
from sharing_attack import GROUP, RIGHT, TAUGHT, Peer, packets

_CUT = 0.001  # probability of a power cut
_FRESH = 0.01  # probability that a board of the group sends a packet, whole or with gaps
_LEFT = 0.05  # probability that a datagram of the packet is lost


class Carrier:
    """A carrier that puts each received datagram into `body`, as every carrier does."""

    is_open = True

    def __init__(self) -> None:
        self.body = bytearray(250)
        self.size = 0

    def take(self) -> int:
        size, self.size = self.size, 0
        return size

    def give(self, datagram: bytes) -> None:
        assert len(datagram) == 250

    def close(self) -> None:
        """Do nothing, as nothing is open."""

    def come(self, data: bytes) -> None:
        """Receive data; cut off bytes beyond the buffer, as the socket does."""
        self.size = min(len(data), len(self.body))
        self.body[: self.size] = data[: self.size]


class Listener(Peer):
    """A board that shares by datagrams."""

    def settings(self) -> dict[str, Any]:
        return {
            "share": {"group": GROUP, "name": "peer", "classes": [0]},
            "datagrams": {"by": "udp", "port": 1, "to": ["h", 1]},
        }

    def start(self) -> None:
        device = self.library.device
        self.messages: list[str] = []
        self.app = device.application.Application(device.config.Configuration(self.config))
        self.carrier = Carrier()
        made = device.sharing_datagrams.SharingDatagrams
        self.sharing = made(self.app, bytearray(KEY), self.carrier, self.say)
        device.companions.join(self.app, self.sharing)
        self.milliseconds = 0

    def turn(self) -> None:
        """Pass a second, and run the program's turn."""
        self.milliseconds += 1000
        self.app.tick(self.milliseconds)

    def hear(self, data: bytes) -> None:
        """Receive a datagram in the same second."""
        self.carrier.come(data)
        self.app.tick(self.milliseconds)

    def heard(self) -> tuple[object, ...]:
        """Return the state that datagrams of the group may change."""
        sharing = self.sharing
        return (
            sharing._incoming_key,
            sharing._missing,
            sharing._heard,
            bytes(sharing._asked),
            bytes(sharing._incoming),
        )


def signed(dice: random.Random, whole: list[tuple[str, str, bytes]]) -> list[bytes]:
    """Return the datagrams of a packet from a board of the group; the packet may be invalid."""
    _, name, data = dice.choice(whole)
    if dice.random() < 0.5:
        data = altered_packet(data, dice)
    if dice.random() < 0.1:
        head = struct.pack("<IHH", dice.getrandbits(30), dice.getrandbits(16), dice.getrandbits(9))
        return [datagram(dice.randrange(4), dice.choice(CLASSES), head, dice.randbytes(218))]
    return [each for each in parts_of(data, name) if dice.random() > _LEFT]


def main() -> int:
    """Attack; raises an exception if any state was spoiled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datagrams", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    dice = random.Random(arguments.seed)
    peer, whole, counts = Listener(), packets(), Counter[str]()
    heard = [each for _, name, data in whole for each in parts_of(data, name)]
    gc.freeze()  # the program collects after each packet
    for _ in range(arguments.datagrams):
        old = dice.choice(heard)
        if dice.random() < _FRESH:
            datagram = signed(dice, whole)
            for each in datagram:
                peer.hear(each)
            heard = (heard + datagram)[-200:]
            counts["of the group"] += len(datagram)
        elif (bad := altered(old, dice))[:250] == old or dice.random() < 0.1:
            peer.hear(old)  # a carrier cuts off all bytes behind a datagram
            counts["repeated"] += 1
        else:
            is_busy = peer.app.sharing.is_busy  # then the board may be learning at the same time
            before = peer.heard(), is_busy or peer.known()
            peer.hear(bad)
            assert (peer.heard(), is_busy or peer.known()) == before
            counts["forged"] += 1
        if dice.random() < 0.1:
            peer.turn()
        if dice.random() < _CUT:
            assert min(peer.right(c) for c in TAUGHT) >= RIGHT, peer.messages
            peer.restore(peer.taught if dice.random() < 0.2 else peer.saved())
            counts["power cuts"] += 1
    text = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))
    print(f"{arguments.datagrams:,} passed: {text}; nothing of its own was spoiled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
