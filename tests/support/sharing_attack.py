"""Messages to a board of a group that learns packets: forged, altered, cut, in another unit.

    python tests/support/sharing_attack.py --messages 100000 --seed 1

The board's program runs on this PC: it evaluates and learns messages in its turns. No message may
stop it, and no learned packet may spoil the classes that the board was taught itself. The power
may be cut at any time.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import struct
import sys
from array import array
from collections import Counter
from typing import Any

from device_support import configuration
from packet_attack import altered
from packet_support import CLASSES, NAMES, UNITS, Board, far_away, rows_of
from share_attack import forged

from microshrub_host.library import loader

GROUP = "rooms"
TAUGHT = (0, 1)  # the board's own classes; it learns the third one from others
EACH = 60  # samples of each class
RIGHT = 0.9  # the share of other samples that it has to predict right
_CUT = 0.002  # probability of a power cut in each turn with a packet


class Peer:
    """A board's application on the PC, taught by its own sensor, and its sharing."""

    def __init__(self) -> None:
        self.library = loader.load(loader.fastest())
        config = configuration(
            "Thicket", {"features": 3, "classes": 3, "bytes": 8192},
            class_names=list(CLASSES), feature_names=list(NAMES), units=[list(u) for u in UNITS],
            warmup=None, **self.settings(),
        )  # fmt: skip
        self.config = json.dumps(config).encode()
        self.start()
        rows = [(row, c) for c in TAUGHT for row in rows_of(c, EACH, 5)]
        random.Random(1).shuffle(rows)
        for row, label in rows:
            self.app.values[:] = array("i", row.tolist())
            self.app.sample(label)
        self.turn()
        self.taught = self.saved()

    def settings(self) -> dict[str, Any]:
        """Return the fields of config.json for sharing."""
        mqtt = {"host": "h", "port": 1883, "name": "peer", "settle": [3, 230], "events": 8}
        return {"share": {"group": GROUP, "name": "peer", "classes": []}, "mqtt": mqtt}

    def start(self) -> None:
        """Start as after a reset, with nothing learned."""
        device = self.library.device
        self.messages: list[str] = []
        self.app = device.application.Application(device.config.Configuration(self.config))
        self.sharing = device.sharing_mqtt.SharingMqtt(self.app, GROUP, self.say)

    def say(self, words: str) -> None:
        self.messages.append(words)

    def saved(self) -> list[bytes]:
        """Return the states of a checkpoint."""
        return [bytes(part.save()) for part in self.app.parts]

    def known(self) -> bytes:
        """Return the learned state."""
        return bytes(self.app.learner.save()) + bytes(self.app.quantizer.save())

    def restore(self, states: list[bytes]) -> None:
        """Start with a checkpoint."""
        self.start()
        for part, state in zip(self.app.parts, states, strict=True):
            part.load(state)

    def turn(self) -> None:
        """Pass a second, and run the program's turn."""
        self.app.seconds += 1
        self.app.sharing.step()
        if self.app.sharing.message:
            self.say(bytes(self.app.sharing.message).decode())
            self.app.sharing.message = b""

    def take(self, topic: bytes, data: bytes) -> None:
        """Take a message as the client passes it on: bytes beyond the buffer are cut off."""
        body = (struct.pack(">H", len(topic)) + topic + data)[: self.sharing.kept]
        start = 2 + len(topic)
        size = start + len(data)
        self.sharing.take(bytearray(body), start, min(size, len(body)), size, 1)

    def right(self, label: int) -> float:
        """Return the share of other samples of a class that are predicted right."""
        count = 0
        for row in rows_of(label, 40, 99):
            self.app.values[:] = array("i", row.tolist())
            count += self.app.sample(-1) == label
        return count / 40


def packets() -> list[tuple[str, str, bytes]]:
    """Return names, classes and bytes of packets: from three boards that know all classes, and
    from one whose values are a thousand times as large.
    """
    library = loader.load(loader.fastest())
    boards = {f"board{seed}": Board(library, (40, 40, 40), seed) for seed in range(3)}
    boards["wrong"] = far_away(library)
    return [
        (name, each, bytes(board.sharing.collect(name, (each,))))
        for name, board in boards.items()
        for each in (CLASSES if name != "wrong" else CLASSES[2:])
    ]


def message(dice: random.Random, whole: list[tuple[str, str, bytes]]) -> tuple[bytes, bytes]:
    """Return a topic and its message."""
    origin, name, data = dice.choice(whole)
    if dice.random() < 0.9:
        data = altered(data, dice) if dice.random() < 0.7 else forged(dice, data)
    if dice.random() < 0.2:
        origin = dice.choice(("board0", "board1", "x" * 40, "", "a/b"))
        name = dice.choice((*CLASSES, "nothing", "%ff"))
    return f"microshrub-packet/{GROUP}/{name}/{origin}".encode(), data


def one(
    peer: Peer, dice: random.Random, whole: list[tuple[str, str, bytes]], counts: Counter[str]
) -> None:
    """Send one message, and run all turns that it needs."""
    before = peer.known()
    peer.messages.clear()
    peer.take(*message(dice, whole))
    while peer.app.sharing.is_busy:
        peer.turn()
        if dice.random() < _CUT:
            peer.restore(peer.saved())  # the broker's retained message brings the rest again
            counts["power cuts"] += 1
    peer.turn()
    if peer.known() == before:
        counts["refused"] += 1
        return
    counts["learned"] += 1
    assert min(peer.right(c) for c in TAUGHT) >= RIGHT, peer.messages
    peer.restore(peer.taught)


def main() -> int:
    """Run the attack; raises an exception if anything was spoiled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    dice = random.Random(arguments.seed)
    peer, whole, counts = Peer(), packets(), Counter[str]()
    gc.freeze()  # the program collects after each message
    for _ in range(arguments.messages):
        one(peer, dice, whole, counts)
    text = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))
    print(f"{arguments.messages:,} passed: {text}; nothing of its own was spoiled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
