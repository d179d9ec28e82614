"""Boards that teach each other without a broker: programs on a real 32-bit MicroPython, and UDP
on loopback in bad weather. ESP-NOW carries the same datagrams, but there is no radio here.
"""

from __future__ import annotations

import functools
import itertools
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from datagram_air import LONG_NAMES, Air, Weather, datagram, parts_of, put_board, settings
from device_support import Device, connected
from packet_receiver import PacketPeer
from packet_replay import packet_of as packet_with
from packet_replay import replayed
from packet_support import CLASSES
from patience import PATIENCE

from microshrub_tools.link.messages import (
    CHECKPOINT,
)

BAD = Weather(lost=0.3, twice=0.1, late=0.2, altered=0.2, old=0.2)
packet_of = functools.partial(packet_with, names=LONG_NAMES)
OTHER_KEY = b"k" * 32


class Peer(PacketPeer):
    """A board in the air."""

    def __init__(self, device: Device, config: dict[str, Any]) -> None:
        self.device, self.config = device, config

    def until(self, wanted: int, say: Callable[[], None] = lambda: None) -> None:
        """Wait until the board's model has that CRC32; meanwhile, call say() repeatedly."""
        wait(lambda: self.fingerprint() == wanted, say)


def wait(is_so: Callable[[], bool], say: Callable[[], None] = lambda: None) -> None:
    """Wait until a condition holds, however long it takes; call say() about every second."""
    end = time.monotonic() + PATIENCE
    for turn in itertools.count():
        if is_so():
            return
        assert time.monotonic() < end
        if turn % 5 == 4:
            say()
        time.sleep(0.2)


Put = Callable[..., Peer]


@pytest.fixture
def air() -> Iterator[Air]:
    made = Air(Weather())
    yield made
    made.close()


@pytest.fixture
def put(micropython_command: tuple[str, ...], tmp_path: Path, air: Air) -> Iterator[Put]:
    made: list[Peer] = []

    def put(name: str, *shared: int, **more: Any) -> Peer:
        config = settings(air, name, shared)
        made.append(Peer(put_board(micropython_command, tmp_path / name, config, **more), config))
        return made[-1]

    yield put
    for each in made:
        each.device.close()


@pytest.mark.parametrize("weather", [Weather(), BAD], ids=["fair", "bad"])
def test_three_boards_learn_each_others_classes(put: Put, air: Air, weather: Weather) -> None:
    air.weather = weather
    boards = [put(name, k) for k, name in enumerate(("kitchen", "attic", "hall"))]
    for k, board in enumerate(boards):
        board.teach(k)
    wait(lambda: min(board.right(c) for board in boards for c in range(3)) > 0.9)
    assert {len(each) for each in air.heard} == {250}


def test_datagrams_are_learned_with_the_bits_of_a_pc(put: Put, air: Air) -> None:
    """Parts come in any order, some twice, some damaged, some signed with another key."""
    board = put("kitchen")
    rows = board.teach(0)
    first, second = packet_of(1, "attic"), packet_of(2, "hall")
    dice = random.Random(3)
    parts = parts_of(first, "walk")
    assert len(parts) > 1
    damaged = [each[:-1] + bytes((each[-1] ^ 1,)) for each in parts_of(second, "run")]
    foreign = parts_of(second, "run", OTHER_KEY)
    sent = [*parts, *parts, *damaged, *foreign, parts[0][:100], parts[1] + b"x", b""]
    dice.shuffle(sent)
    for each in (*sent, *parts):  # a datagram behind a short one is lost
        air.say(each)
        time.sleep(0.02)
    taught = replayed(board.config, rows, first)
    board.until(taught)
    for each in parts_of(second, "run"):
        air.say(each)
    board.until(replayed(board.config, rows, first, second))
    for each in sent:  # all datagrams again
        air.say(each)
        time.sleep(0.02)
    time.sleep(1)
    assert board.fingerprint() == replayed(board.config, rows, first, second)


def test_a_board_sends_only_named_classes_and_only_after_a_request(put: Put, air: Air) -> None:
    board = put("kitchen", 1)
    board.teach(0, 1)
    parts = len(parts_of(packet_of(1, "kitchen"), "walk"))
    wait(lambda: len(_parts(air, "walk")) == 3 * parts)
    for name in CLASSES:
        air.say(datagram(2, name, bytes(8)))
    wait(lambda: len(_parts(air, "walk")) == 6 * parts)
    time.sleep(1)
    assert not _parts(air, "rest")
    assert not _parts(air, "run")
    assert len(_parts(air, "walk")) == 6 * parts


def _parts(air: Air, name: str) -> list[bytes]:
    """Return the datagrams that were sent of a class."""
    head = datagram(1, name, bytes(8))[:8]
    return [each for each in air.heard if each.startswith(head)]


def test_a_power_cut_during_a_packet_changes_nothing(put: Put, air: Air) -> None:
    board = put("kitchen", idle=1600)  # slow enough to be cut
    rows = board.teach(0)
    packet = packet_of(1, "attic")
    whole = replayed(board.config, rows, packet)

    def say() -> None:
        for each in parts_of(packet, "walk"):
            air.say(each)

    untaught = board.fingerprint()
    say()
    wait(lambda: board.fingerprint() != untaught, say)
    with connected(board.device) as link:
        link.ask(CHECKPOINT)
    board.device.kill()
    board.device.start()
    board.until(whole, say)  # received once its network is up


def test_a_board_that_starts_late_requests_packets(put: Put) -> None:
    kitchen = put("kitchen", 0)
    kitchen.teach(0)
    time.sleep(3)
    attic = put("attic", 1)
    attic.teach(1)
    wait(lambda: attic.right(0) > 0.9)


def test_the_radio_is_called_as_micropython_documents_it(
    micropython_command: tuple[str, ...], tmp_path: Path, air: Air
) -> None:
    """The module espnow is a simulation without a radio."""
    boards = []
    for k, name in enumerate(("kitchen", "attic")):
        config = settings(air, name, (k,))
        port = config["datagrams"]["port"]
        config["datagrams"] = {"by": "espnow", "channel": 6}
        device = put_board(micropython_command, tmp_path / name, config, radio=(port, air.port))
        boards.append(Peer(device, config))
    for k, board in enumerate(boards):
        board.teach(k)
    wait(lambda: min(board.right(c) for board in boards for c in range(2)) > 0.9)
    for board in boards:
        board.device.close()


def test_another_group_neither_teaches_nor_learns(put: Put, air: Air) -> None:
    kitchen, neighbour = put("kitchen", 0), put("neighbour", 1, key=OTHER_KEY)
    rows = kitchen.teach(0)
    others = neighbour.teach(1)
    for name in ("rest", "walk"):
        wait(lambda name=name: len(_parts(air, name)) >= 3)  # type: ignore[misc]
    time.sleep(1)
    assert kitchen.fingerprint() == replayed(kitchen.config, rows)
    assert neighbour.fingerprint() == replayed(neighbour.config, others)


QUIET = """
import gc
from microshrub.device.sharing_datagrams import SharingDatagrams
from microshrub.device.networking import UdpCarrier

class Quiet:
    room, classes, class_names, name, allowed = 631, 3, ("a", "b", "c"), "kitchen", b"\\0\\1"
    message, is_busy = b"", False
    def step(self):
        pass
    def is_due(self, label):
        return False
    is_sent = is_due
    def held(self, label):
        return 20

class App:
    sharing, restart, seconds = Quiet(), False, 0

class Wifi:
    def joined(self):
        return True

app = App()
sharing = SharingDatagrams(app, bytearray(32), UdpCarrier(Wifi(), %d, ("127.0.0.1", 9)), print)

def ticks(count):
    for k in range(count):
        app.seconds = k & 1023
        sharing.turn(k, 1)

ticks(10)
gc.collect()
gc.disable()
used = [0, 0, 0]
for k in range(3):
    used[k] = gc.mem_alloc()
    ticks(1000)
print(used[2] - used[1], sharing._carrier.is_open)
"""


def test_without_datagrams_nothing_is_allocated(
    run_micropython: Callable[[str], str], air: Air
) -> None:
    assert run_micropython(QUIET % air.new_port()).split()[-2:] == ["0", "True"]
