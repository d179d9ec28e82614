"""A board's reaction to a packet: before it is taught, with samples too far away, cut short."""

from __future__ import annotations

import io
import json
import random
from array import array
from collections.abc import Callable
from typing import Any

import pytest
from packet_receiver import group_config
from packet_replay import packet_of, replayed
from packet_support import NAMES, rows_of

from microshrub_host.library import loader

OTHERS = 1  # the class of the packet
LONGEST = 400  # most steps for a packet
ORIGIN = "attic"


class Peer:
    """The application of a board on this PC; it can be taught."""

    def __init__(self, library: Any, config: dict[str, Any]) -> None:
        device = library.device
        data = json.dumps(config | {"checkpoint": None}).encode()
        self.app = device.application.Application(device.config.Configuration(data))
        self.app.sharing.step()

    def teach(self, rows: list[tuple[Any, int]]) -> None:
        for row, label in rows:
            self.app.values[:] = array("i", row.tolist())
            self.app.sample(label)

    def turns(self, data: bytes, most: int = LONGEST) -> list[str]:
        """Receive a packet, run up to `most` steps, and return the messages about the packet."""
        sharing = self.app.sharing
        key = int.from_bytes(data[-4:], "little") & 0x3FFFFFFF
        messages = []
        for _ in range(most):
            if sharing.is_new(key) and not sharing.is_busy:
                sharing.take(key, data, 0, len(data), OTHERS, ORIGIN)
            self.app.seconds += 1
            sharing.step()
            messages += [sharing.message.decode()] if sharing.message else []
            sharing.message = b""
        return messages

    def saved(self) -> bytes:
        file = io.BytesIO()
        for part in self.app.parts:
            part.write(file)
        return file.getvalue()

    def restore(self, saved: bytes) -> None:
        file = io.BytesIO(saved)
        for part in self.app.parts:
            part.read(file)


def config_of(name: str) -> dict[str, Any]:
    datagrams = {"by": "udp", "port": 1, "to": ["127.0.0.1", 2]}
    return group_config(name, (), NAMES, datagrams=datagrams)


def rows(count: int, spread: int = 1, seed: int = 7) -> list[tuple[Any, int]]:
    """Return samples of the first class, closer to each other by a factor of `spread`."""
    made = [(row // spread, 0) for row in rows_of(0, count, seed)]
    random.Random(1).shuffle(made)
    return made


def peer(taught: list[tuple[Any, int]]) -> Peer:
    made = Peer(loader.load(loader.fastest()), config_of("kitchen"))
    made.teach(taught)
    return made


QUIET = """
import gc
from microshrub.device.config import Configuration
from microshrub.device.application import Application

app = Application(Configuration(%r))
used = [0, 0, 0]

def hear(count):
    for k in range(count):
        app.sharing.is_new(12345)
        app.sharing.is_busy
        app.sharing.step()

hear(5)
gc.collect()
gc.disable()
for k in range(3):
    used[k] = gc.mem_alloc()
    hear(500)
print(used[2] - used[1])
"""


def test_a_packet_that_is_received_again_and_again_allocates_nothing(
    run_micropython: Callable[[str], str],
) -> None:
    data = json.dumps(config_of("kitchen") | {"checkpoint": None}).encode()
    assert run_micropython(QUIET % data).split()[-1] == "0"


@pytest.mark.parametrize("taught", [16, 40], ids=["as soon as it can", "later"])
def test_a_power_cut_in_any_step_changes_nothing(taught: int) -> None:
    data = packet_of(OTHERS, ORIGIN, most=min(taught, 20))
    whole = replayed(config_of("kitchen"), rows(taught), data)
    first = peer(rows(taught))
    for cut in range(200):
        second = peer([])
        second.restore(first.saved())
        second.turns(data)
        assert second.app.state_crc32() == whole, cut
        first.turns(data, 1)
    assert first.app.state_crc32() == whole, "more steps have to be cut"


@pytest.mark.parametrize("seed", [7, 8, 9])
@pytest.mark.parametrize("taught", [0, 1, 2, 12])
def test_a_board_that_first_receives_a_packet_learns_it_once_it_is_taught(
    taught: int, seed: int
) -> None:
    """Compared with the board's first few samples, all others' samples would be too far away."""
    board, data = peer(rows(taught, seed=seed)), packet_of(OTHERS, ORIGIN)
    assert board.turns(data) == []
    board.teach(rows(40 - taught, seed=seed))
    words = f"walk of {ORIGIN}: "
    assert board.turns(data) == [words + "20 samples are to be learned", words + "learned"]


@pytest.mark.parametrize("seed", [7, 8, 9])
@pytest.mark.parametrize("cut", [False, True], ids=["", "through a power cut"])
def test_samples_that_are_too_far_away_are_evaluated_again_when_ranges_have_grown(
    cut: bool, seed: int
) -> None:
    """One sensor lies still and the other moves; "too far away" is reported once."""
    board, data = peer(rows(40, 300, seed)), packet_of(OTHERS, ORIGIN)
    words = f"walk of {ORIGIN}: "
    assert board.turns(data) == [words + "too far away"]
    if cut:
        saved = board.saved()
        board = peer([])
        board.restore(saved)
    board.teach(rows(400, seed=seed))
    assert board.turns(data)[-1] == words + "learned"
