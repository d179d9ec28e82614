"""Boards that teach each other over a broker: programs on a real 32-bit MicroPython, and mosquitto
on loopback. Each board is taught some of three classes, and learns the others from other boards.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import Device, connected, put_device
from mqtt_support import PASSWORD, USER, Mosquitto, fast, needs_broker
from packet_receiver import GROUP, TAUGHT, PacketPeer, group_config
from packet_replay import Taught, packet_of, replayed
from packet_support import CLASSES, NAMES, Board, far_away, sealed
from patience import PATIENCE, wait_until

from microshrub_host.library import loader
from microshrub_tools.board import discovery_messages
from microshrub_tools.board.mqtt_packet_store import TOPIC, MqttPacketStore
from microshrub_tools.link.broker import Broker
from microshrub_tools.link.messages import (
    CHECKPOINT,
)

pytestmark = needs_broker


def settings(port: int, name: str, shared: tuple[int, ...]) -> dict[str, Any]:
    mqtt = {"host": "127.0.0.1", "port": port, "name": name, "settle": [3, 230], "events": 8}
    return group_config(name, shared, NAMES, mqtt=mqtt)


class Peer(PacketPeer):
    """A board, with its messages at the broker about packets."""

    def __init__(
        self, command: tuple[str, ...], folder: Path, config: dict[str, Any], **pace: int
    ) -> None:
        folder.mkdir()
        self.folder, self.config = folder, config
        self.name = config["mqtt"]["name"]
        put_device(folder, config)
        (folder / "main.py").write_text(fast(16, **pace))
        messages = discovery_messages.messages(config, config["learner"], "1.0")
        data = discovery_messages.packed(config, messages, config["class_names"])
        (folder / "discovery.bin").write_bytes(data)
        (folder / "secrets.json").write_text(json.dumps({"mqtt": [USER, PASSWORD]}))
        self.line = Broker("127.0.0.1", config["mqtt"]["port"], USER, PASSWORD)
        self.line.subscribe(f"microshrub/{self.name}/message", f"microshrub/{self.name}/status")
        self.messages: list[str] = []
        self.device = Device(command, folder, "256k")

    def until(self, *words: str) -> None:
        """Wait until each of these words was in a message, however long it takes."""
        end = time.monotonic() + PATIENCE
        while not all(any(word in message for message in self.messages) for word in words):
            assert time.monotonic() < end, (self.name, words, self.messages)
            came = self.line.receive(1.0)
            if came:
                self.messages.append(came.data.decode())

    def teach(self, *labels: int, count: int = TAUGHT, seed: int = 0) -> Taught:
        """Teach the board samples of its own; the default seed is the length of its name."""
        return super().teach(*labels, count=count, seed=seed or len(self.name))


Put = Callable[..., Peer]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    made = Mosquitto(tmp_path / "broker")
    yield made
    made.stop()


@pytest.fixture
def put(micropython_command: tuple[str, ...], tmp_path: Path, broker: Mosquitto) -> Iterator[Put]:
    made: list[Peer] = []

    def put(name: str, *shared: int, **pace: int) -> Peer:
        config = settings(broker.port, name, shared)
        made.append(Peer(micropython_command, tmp_path / name, config, **pace))
        return made[-1]

    yield put
    for each in made:
        each.device.close()


def test_three_boards_learn_each_others_classes(put: Put) -> None:
    boards = [put(name, k) for k, name in enumerate(("kitchen", "attic", "hall"))]
    for k, board in enumerate(boards):
        board.teach(k)
    for k, board in enumerate(boards):
        others = [(CLASSES[c], boards[c].name) for c in range(3) if c != k]
        board.until(*(f"{name} of {origin}: learned" for name, origin in others))
    for board in boards:
        assert min(board.right(c) for c in range(3)) > 0.9, board.name


@pytest.fixture
def store(broker: Mosquitto) -> Iterator[MqttPacketStore]:
    with Broker("127.0.0.1", broker.port, USER, PASSWORD) as line:
        yield MqttPacketStore(line, GROUP)


def test_a_packet_is_learned_with_the_bits_of_a_pc(put: Put, store: MqttPacketStore) -> None:
    board = put("kitchen")
    rows = board.teach(0)
    packets = [packet_of(1, "attic"), packet_of(2, "hall")]
    for data, words in zip(packets, ("walk of attic", "run of hall"), strict=True):
        store.publish([data])
        board.until(f"{words}: 20 samples are to be learned", f"{words}: learned")
    assert board.fingerprint() == replayed(board.config, rows, *packets)
    assert min(board.right(c) for c in range(3)) > 0.9
    assert not store.of("kitchen").packets, "nobody has chosen a class that may leave it"


def test_a_power_cut_during_a_packet_changes_nothing(put: Put, store: MqttPacketStore) -> None:
    board = put("kitchen", idle=1600)  # slow enough to be cut
    rows = board.teach(0)
    data = packet_of(1, "attic")
    store.publish([data])
    board.until("20 samples are to be learned")
    time.sleep(0.3)
    with connected(board.device) as link:
        link.ask(CHECKPOINT)
    board.device.kill()
    board.device.start()
    board.until("walk of attic: learned")
    assert board.fingerprint() == replayed(board.config, rows, data)


def test_no_more_samples_are_learned_from_others_than_were_taught(
    put: Put, store: MqttPacketStore
) -> None:
    board = put("kitchen")
    rows = board.teach(0, count=16)
    data = packet_of(1, "attic")
    store.publish([data])
    board.until("20 samples are to be learned")
    expected = replayed(board.config, rows, data, most=16)
    wait_until(lambda: board.fingerprint() == expected)
    waits = Broker("127.0.0.1", board.config["mqtt"]["port"], USER, PASSWORD)
    waits.subscribe("microshrub/kitchen/state")
    for _ in range(3):  # two minutes of board time
        assert waits.receive(PATIENCE)
    assert not any("learned" in message and "to be" not in message for message in board.messages)
    assert board.fingerprint() == expected
    board.teach(0, count=16)
    board.until("walk of attic: learned")


def test_a_broker_that_has_lost_its_data_gets_the_packets_again(
    put: Put, broker: Mosquitto
) -> None:
    kitchen = put("kitchen", 0)
    kitchen.teach(0)
    kitchen.until("rest of kitchen: it is sent")
    broker.stop()
    broker.start()
    end = time.monotonic() + PATIENCE
    with Broker("127.0.0.1", broker.port, USER, PASSWORD) as line:
        while not MqttPacketStore(line, GROUP).of("kitchen").packets:
            assert time.monotonic() < end
    attic = put("attic")
    attic.teach(1)
    attic.until("rest of kitchen: learned")


def test_an_invalid_packet_changes_nothing_and_is_reported_once(
    put: Put, broker: Mosquitto
) -> None:
    board = put("kitchen")
    rows = board.teach(0, 1)
    whole = packet_of(2, "attic")
    library = loader.load(loader.fastest())
    other = Board(library, (30, 30, 30), feature_names=("x", "y", "u"))
    dice = random.Random(5)
    bad = {
        "cut": whole[:-9],
        "junk": dice.randbytes(300),
        "huge": whole * 200,
        "moved": whole,
        "units": bytes(other.sharing.collect("units", ("run",))),
        "many": packet_of(2, "many", 30),
        "mixed": mixed_up("mixed"),
        "far": bytes(far_away(library).sharing.collect("far", ("run",))),
        "forged": sealed(forged_length(whole)),
    }
    with Broker("127.0.0.1", broker.port, USER, PASSWORD) as line:
        for name, data in bad.items():
            line.publish(f"{TOPIC}/{GROUP}/run/{name}", data, retain=True)
        board.until(*(f"run of {name}: " for name in bad))
        assert board.fingerprint() == replayed(board.config, rows)
        line.publish(f"{TOPIC}/{GROUP}/run/attic", whole, retain=True)
    board.until("run of attic: learned")
    assert board.fingerprint() == replayed(board.config, rows, whole)
    for name in bad:
        assert sum(message.startswith(f"run of {name}: ") for message in board.messages) == 1


def mixed_up(origin: str) -> bytes:
    """Return a packet with the samples of another class."""
    library = loader.load(loader.fastest())
    names = ("run", "walk", "rest")
    board = Board(library, (40, 40, 40), class_names=names)
    return bytes(board.sharing.collect(origin, ("run",)))


def forged_length(data: bytes) -> bytes:
    """Return a packet that claims to have more features."""
    at = 5 + 1 + data[5]
    return data[:at] + b"\xff\x00" + data[at + 2 :]
