"""A fleet and a broker, measured: what boards send, and what the broker carries."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

import numpy as np

from microshrub_host.base.errors import UserError

from ..board.parcel_store import TOPIC, ParcelStore
from ..link.broker import Broker, Message
from .board_programs import NOTHING, BoardPrograms, Fleet, Traffic
from .local_broker import LocalBroker

GROUP = "rooms"
_BEGIN = 180  # seconds in which all boards begin, one after the other, and tell how they are found
_BEGIN_SPEED = 30
_SILENCE = 5.0  # seconds after which nothing more comes
_WINDOW = 400  # messages under way, at most
_SECOND = 1_000_000  # microseconds

Times = np.ndarray[tuple[int], np.dtype[np.int64]]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Carried:
    """What the broker carried to a listener.

    published     messages that were sent at its topics, and
    came          how many of them it received
    seconds       from the first message to the last
    delays        microseconds from sending a state to its receipt, of all states
    memory        of the broker afterwards, bytes, and
    processor     seconds that it took; None where Linux does not tell
    """

    published: int
    came: int
    seconds: float
    delays: Times
    memory: int | None
    processor: float | None

    @property
    def lost(self) -> int:
        """Messages that were sent and not received."""
        return self.published - self.came

    @property
    def rate(self) -> float:
        """Messages a second that came."""
        return self.came / max(self.seconds, 1e-9)


@dataclass(frozen=True)
class HouseLoad:
    """All that was measured.

    minutes       that boards lived, `speed` times as fast as time
    empty, open_  the broker's memory before the first board and with all of them there, bytes
    begun, lived  what went over the boards' lines while they began, and in those minutes
    carried       of what lived
    flood         of as many states as boards sent, as fast as they can be sent and heard
    parcels       bytes of each class's parcel
    kept          bytes of them that the broker had retained and gave to who asked
    """

    fleet: Fleet
    minutes: int
    speed: int
    empty: int | None
    open_: int | None
    begun: Traffic
    lived: Traffic
    carried: Carried
    flood: Carried
    parcels: Mapping[str, int]
    kept: int


def measure(
    fleet: Fleet, minutes: int, speed: int, parcels: Mapping[str, bytes], folder: Path, tell: Tell
) -> HouseLoad:
    """Start a broker and the boards, and let them live for so many minutes.

    Raises UserError where there is no mosquitto.
    """
    with LocalBroker(folder, 2 * fleet.boards) as broker:
        empty = broker.memory()
        with BoardPrograms(fleet, broker.port, folder) as programs:
            tell("the boards begin")
            begun = _all(programs.go_on(_BEGIN, _SECOND // _BEGIN_SPEED))
            programs.times()
            if begun.begins != fleet.boards:
                raise UserError(f"{begun.begins:,} of {fleet.boards:,} boards reached the broker")
            open_ = broker.memory()
            kept = _share(broker, parcels)
            with _listener(broker) as listener:
                tell(f"{minutes} minutes pass {speed} times as fast")
                lived, carried, last = _live(broker, programs, listener, minutes, speed)
        tell("states as fast as they go")
        flood = flooded(broker, last, max(1, lived.states // fleet.boards))
    sizes = {name: len(data) for name, data in parcels.items()}
    return HouseLoad(
        fleet, minutes, speed, empty, open_, begun, lived, carried, flood, sizes, kept
    )


def _all(futures: Sequence[Future[Traffic]]) -> Traffic:
    return sum((future.result() for future in futures), NOTHING)


def _share(broker: LocalBroker, parcels: Mapping[str, bytes]) -> int:
    """Give the broker a group's parcels twice; returns the bytes that somebody else then gets."""
    with Broker("127.0.0.1", broker.port) as giver:
        for _ in range(2):  # the second one takes the place of the first
            ParcelStore(giver, GROUP).publish(parcels.values())
    with Broker("127.0.0.1", broker.port) as taker:
        return sum(len(message.data) for message in taker.retained(f"{TOPIC}/{GROUP}/#"))


def _listener(broker: LocalBroker) -> Broker:
    """Somebody who hears all states and events, and has heard what was retained."""
    listener = Broker("127.0.0.1", broker.port)
    listener.subscribe("microshrub/+/state", "microshrub/+/event")
    while listener.receive(0.5):
        pass
    return listener


def _live(
    broker: LocalBroker, programs: BoardPrograms, listener: Broker, minutes: int, speed: int
) -> tuple[Traffic, Carried, dict[str, bytes]]:
    """What went over the lines, what was carried of it, and the last state of each topic."""
    before = broker.processor_seconds()
    futures = programs.go_on(60 * minutes, _SECOND // speed)
    states: dict[int, list[int]] = {}
    found: dict[str, bytes] = {}
    came = last = 0
    heard = time.monotonic()
    while True:
        message = listener.receive(0.05)
        if message:
            last, heard = _now(), time.monotonic()
            came += 1
            if message.topic.endswith("/state"):
                found[message.topic] = message.data
                states.setdefault(_number(message.topic), []).append(last)
        elif all(future.done() for future in futures):
            lived = _all(futures)
            if came >= lived.states + lived.events or time.monotonic() - heard > _SILENCE:
                break
    processor = _since(before, broker.processor_seconds())
    sent = programs.times()
    first = min((times[0] for times in sent.values()), default=last)
    delays = _delays(sent, states)
    seconds = (last - first) / _SECOND
    told = lived.states + lived.events
    return lived, Carried(told, came, seconds, delays, broker.memory(), processor), found


def flooded(broker: LocalBroker, states: Mapping[str, bytes], rounds: int) -> Carried:
    """What the broker carries if each board tells its state so many times without a pause.

    No more than _WINDOW messages are under way, as the broker drops what a listener is late for.
    """
    before = broker.processor_seconds()
    sent: dict[int, list[int]] = {}
    came: dict[int, list[int]] = {}
    under_way = 0
    with ExitStack() as stack:
        lines = [
            (topic, data, stack.enter_context(Broker("127.0.0.1", broker.port)))
            for topic, data in states.items()
        ]
        listener = stack.enter_context(_listener(broker))
        first = last = _now()
        for topic, data, line in chain.from_iterable(repeat(lines, rounds)):
            sent.setdefault(_number(topic), []).append(_now())
            line.publish_once(topic, data, retain=True)
            under_way += 1
            while under_way >= _WINDOW and (message := listener.receive(_SILENCE)):
                last = _hear(came, message)
                under_way -= 1
        while under_way and (message := listener.receive(_SILENCE)):
            last = _hear(came, message)
            under_way -= 1
        memory, after = broker.memory(), broker.processor_seconds()
    told = rounds * len(states)
    seconds = (last - first) / _SECOND
    delays = _delays(sent, came)
    return Carried(told, told - under_way, seconds, delays, memory, _since(before, after))


def _hear(came: dict[int, list[int]], message: Message) -> int:
    now = _now()
    came.setdefault(_number(message.topic), []).append(now)
    return now


def _number(topic: str) -> int:
    """Of the board whose topic that is."""
    return int(topic.split("/")[1].rpartition("-")[2])


def _now() -> int:
    """Microseconds, as boards tell them."""
    return time.time_ns() // 1000


def _since(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _delays(sent: Mapping[int, list[int]], came: Mapping[int, list[int]]) -> Times:
    """Of the states of the boards that lost none, as those of a board come in their order."""
    pairs = ((times, came.get(board, [])) for board, times in sent.items())
    found = [np.subtract(b, a) for a, b in pairs if len(a) == len(b)]
    return np.concatenate(found).astype(np.int64) if found else np.zeros(0, np.int64)
