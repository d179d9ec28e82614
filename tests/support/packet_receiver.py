"""A board of a group that shares packets, and methods to teach and query it in tests."""

from __future__ import annotations

import random
from typing import Any

from device_support import Device, configuration, connected
from packet_replay import Taught
from packet_support import CLASSES, UNITS, rows_of

from microshrub_tools.link.messages import FINGERPRINT, Fingerprint, Prediction, sample

GROUP = "rooms"
TAUGHT = 40  # samples that a board is taught of each class


def group_config(
    name: str, shared: tuple[int, ...], features: tuple[str, ...], **network: Any
) -> dict[str, Any]:
    """Return the config.json of a board of the group; `network` has its fields for the network."""
    return configuration(
        "Thicket",
        {"features": 3, "classes": 3, "bytes": 8192},
        class_names=list(CLASSES),
        feature_names=list(features),
        units=[list(unit) for unit in UNITS],
        warmup=None,
        checkpoint={"path": "checkpoint", "seconds": 240},
        share={"group": GROUP, "name": name, "classes": list(shared)},
        **network,
    )


class PacketPeer:
    """A board that a test teaches over its link."""

    device: Device

    def teach(self, *labels: int, count: int = TAUGHT, seed: int = 7) -> Taught:
        """Teach `count` samples of each of these classes; return the samples."""
        rows = [(row, c) for c in labels for row in rows_of(c, count, seed)]
        random.Random(1).shuffle(rows)
        with connected(self.device) as link:
            for row, label in rows:
                link.ask(sample(row.tolist(), label))
        return rows

    def right(self, label: int) -> float:
        """Return the share of other samples of a class that are predicted right."""
        rows = rows_of(label, 25, 99)
        with connected(self.device) as link:
            answers = [link.ask(sample(row.tolist())) for row in rows]
        assert all(isinstance(each, Prediction) for each in answers)
        return sum(each.label == label for each in answers) / len(answers)  # type: ignore[union-attr]

    def fingerprint(self) -> int:
        """Return the CRC32 of the board's model."""
        with connected(self.device) as link:
            answer = link.ask(FINGERPRINT)
        assert isinstance(answer, Fingerprint)
        return answer.crc32
