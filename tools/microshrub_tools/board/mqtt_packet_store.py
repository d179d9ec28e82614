"""The sample packets of a group of boards, retained by an MQTT broker.

    microshrub-packet/GROUP/CLASS/BOARD     a packet of samples of that class, retained

A group is the boards with the same features. The name of a class is percent-encoded, as it may
have a slash. Any client of the broker may send anything: each message is checked, and the model
that learns from a packet judges its samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader

from ..link.broker import Broker, Message

TOPIC = "microshrub-packet"
MOST_BYTES = 32768  # bytes of a packet
MOST_SAMPLES = 100  # samples of a packet: the time to judge them grows with their square
MOST_BOARDS = 8  # boards of a group that have packets of one class
_SHOWN = 100  # letters of a topic that are printed


@dataclass(frozen=True)
class Published:
    """The packets of other boards by topic, and an error message for each packet refused.

    `left` are the names of classes with packets of more boards than are taken.
    """

    packets: Mapping[str, Any]
    refused: tuple[str, ...]
    left: tuple[str, ...]


class MqttPacketStore:
    """A group's packets at an open broker."""

    def __init__(self, broker: Broker, group: str) -> None:
        self._broker = broker
        self._group = group

    def publish(self, packets: Iterable[bytes]) -> list[str]:
        """Publish packets, each of one class and one origin, in place of earlier ones.

        Returns the names of classes that enough other boards have published. Raises UserError if a
        packet is too long, or if the broker does not keep it.
        """
        given: dict[str, bytes] = {}
        for data in packets:
            packet = _packet(data)
            name = packet.class_names[0]
            check_limits(f"the packet of {name}", data, packet.samples)
            given[self.topic(name, packet.origin)] = data
        there = {message.topic for message in self._kept("+", "+")}
        full = [topic for topic in given if self._others(topic, there) >= MOST_BOARDS]
        for topic in full:
            del given[topic]
        for topic, data in given.items():
            self._broker.publish(topic, data, retain=True)
        messages = self._broker.retained(*given) if given else ()
        kept = {message.topic: message.data for message in messages}
        for topic, data in given.items():
            if kept.get(topic) != data:
                raise UserError(
                    f"the broker does not keep what was published at {topic}: may this user "
                    f"write to {TOPIC}/# and read it?"
                )
        return [unquote(topic.split("/")[2]) for topic in full]

    def fetch(self, left_out: str) -> Published:
        """Fetch the packets of all boards but one, for a class those of the first MOST_BOARDS."""
        there = (m for m in self._kept("+", "+") if m.topic.split("/")[3] != left_out)
        every = self._read_all(there)
        counts: Counter[str] = Counter()
        result = {}
        for topic, packet in every.packets.items():
            name = packet.class_names[0]
            counts[name] += 1
            if counts[name] <= MOST_BOARDS:
                result[topic] = packet
        left = tuple(name for name in counts if counts[name] > MOST_BOARDS)
        return Published(result, every.refused, left)

    def of(self, origin: str) -> Published:
        """Fetch the packets of one board."""
        return self._read_all(self._kept("+", origin))

    def withdraw(self, origin: str) -> list[str]:
        """Remove all packets of a board; return the names of their classes."""
        topics = sorted(message.topic for message in self._kept("+", origin))
        for topic in topics:
            self._broker.publish(topic, b"", retain=True)
        return [unquote(topic.split("/")[2]) for topic in topics]

    def topic(self, name: str, board: str) -> str:
        """Return the topic of the packet of a class and a board."""
        return f"{TOPIC}/{self._group}/{quote(name, safe='')}/{board}"

    def _kept(self, name: str, board: str) -> Iterable[Message]:
        return self._broker.retained(f"{TOPIC}/{self._group}/{name}/{board}")

    def _read_all(self, messages: Iterable[Message]) -> Published:
        result: dict[str, Any] = {}
        refused = []
        for message in sorted(messages, key=lambda each: each.topic):
            try:
                result[message.topic] = self._read(message)
            except UserError as error:
                refused.append(f"{message.topic[:_SHOWN]} is refused: {error}")
        return Published(result, tuple(refused), ())

    def _others(self, topic: str, there: Iterable[str]) -> int:
        """Return how many other boards have published a packet of the class."""
        return sum(
            each != topic and each.rpartition("/")[0] == topic.rpartition("/")[0] for each in there
        )

    def _read(self, message: Message) -> Any:
        """Return the packet in a message. Raises UserError for a packet that may not be there."""
        check_limits("it", message.data, 0)
        packet = _packet(message.data)
        check_limits("it", message.data, packet.samples)
        if len(packet.class_names) != 1 or packet.samples == 0:
            raise UserError("it is not of one class, with samples")
        name = packet.class_names[0]
        if self.topic(name, packet.origin) != message.topic:
            raise UserError(f"it says that it has {name} of {packet.origin}")
        return packet


def check_limits(what: str, data: bytes, samples: int) -> None:
    """Raise UserError for a packet that is too large for a broker."""
    if len(data) > MOST_BYTES:
        raise UserError(f"{what} has more than {MOST_BYTES:,} bytes")
    if samples > MOST_SAMPLES:
        raise UserError(f"{what} has {samples:,} samples, and {MOST_SAMPLES} is the most")


def _packet(data: bytes) -> Any:
    try:
        return loader.load("python").SamplePacket(data)
    except ValueError as error:
        raise UserError(str(error)) from None
