"""Many simulated boards and one real MQTT broker: the boards' messages, and the broker's load.

The boards run in real MicroPythons, many in each, see many_boards.py; the packets come from a
thicket that has learned an example.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np

from microshrub_host.base import child_process
from microshrub_host.base.errors import UserError
from microshrub_host.base.micropython_binary import find_or_fetch
from microshrub_host.base.terminal import messages
from microshrub_host.evaluation import prequential
from microshrub_host.library import library_files
from microshrub_host.models import model_files, shared_samples
from microshrub_host.reports.markdown import markdown_table
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.worlds.table import world
from microshrub_tools.board import discovery_messages
from microshrub_tools.board.mqtt_packet_store import (
    MOST_BOARDS,
    MOST_BYTES,
    TOPIC,
    MqttPacketStore,
)
from microshrub_tools.board.pc_board import SCRIPTS
from microshrub_tools.board.program_mqtt import MESSAGES
from microshrub_tools.link.broker import Broker, Message

from .local_broker import LocalBroker, version

EXAMPLE = "room"
_BYTES = 16384


def example_packets(folder: Path) -> dict[str, bytes]:
    """Return a packet of each class of the example, as `microshrub share export` writes it."""
    data, saved = folder / f"{EXAMPLE}.csv", folder / f"{EXAMPLE}.mshrub"
    data.write_text(world(EXAMPLE).csv())
    stream = open_stream(str(data))
    shape = {"features": len(stream.feature_names), "classes": len(stream.class_names)}
    result = prequential.evaluate(stream, "thicket", {**shape, "bytes": _BYTES})
    model_files.write(saved, model_files.of_run(result, stream))
    sharer, most = shared_samples.sharer(saved), shared_samples.MOST
    return {name: sharer.collect(EXAMPLE, [name], most) for name in stream.class_names}


_MOST = 250  # boards in one MicroPython
_HEAP = "16m"
DAY = 86_400  # seconds


@dataclass(frozen=True)
class Fleet:
    """Boards of one kind: their number, the names of their classes,
    and the class changes in a day.
    """

    boards: int
    classes: tuple[str, ...]
    changes: int

    @property
    def names(self) -> list[str]:
        """The names of the boards."""
        return [f"board-{number:05}" for number in range(self.boards)]


@dataclass(frozen=True)
class Traffic:
    """Traffic on the boards' connections: bytes, and the packets that boards sent."""

    sent: int
    received: int
    states: int
    events: int
    packets: int
    begun: int  # bytes that boards sent before their first state
    begins: int  # connections that were opened

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(*(a + b for a, b in zip(self._all(), other._all(), strict=True)))

    def _all(self) -> tuple[int, ...]:
        return (
            self.sent, self.received, self.states, self.events, self.packets, self.begun,
            self.begins,
        )  # fmt: skip


NOTHING = Traffic(0, 0, 0, 0, 0, 0, 0)


class BoardPrograms:
    """The MicroPythons of a fleet that uses the broker at a port; files are in `folder`."""

    def __init__(self, fleet: Fleet, port: int, folder: Path) -> None:
        self._fleet = fleet
        self._folder = folder
        self._command = find_or_fetch(messages.say).command
        self._firsts = range(0, fleet.boards, _MOST)
        self._read = dict.fromkeys(self._firsts, 0)  # bytes read from each file of times
        self._pool = ThreadPoolExecutor(len(self._firsts))
        self._processes: list[subprocess.Popen[Any]] = []
        try:
            for first in self._firsts:
                self._processes.append(self._start(first, port))
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> BoardPrograms:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._pool.shutdown()

    def go_on(self, seconds: int, microseconds: int) -> list[Future[Traffic]]:
        """Let all boards run for at least this many seconds."""
        line = f"{seconds} {microseconds}\n"
        return [self._pool.submit(_ask, process, line) for process in self._processes]

    def times(self) -> dict[int, list[int]]:
        """Return each board's times of sending a state since the last call, in microseconds."""
        sent: dict[int, list[int]] = {}
        for first in self._firsts:
            with (self._folder / f"sent-{first}").open("rb") as file:
                file.seek(self._read[first])
                data = file.read()
            self._read[first] += len(data)
            for line in data.splitlines():
                number, at = line.split()
                sent.setdefault(int(number), []).append(int(at))
        return sent

    def _start(self, first: int, port: int) -> subprocess.Popen[Any]:
        fleet = self._fleet
        names = fleet.names[first : first + _MOST]
        for name in names:
            (self._folder / f"{name}-{MESSAGES}").write_bytes(discovery(name, fleet.classes))
        plan = {
            "library": str(library_files.folder().parent),
            "folder": str(self._folder),
            "port": port,
            "boards": names,
            "first": first,
            "all": fleet.boards,
            "classes": fleet.classes,
            "period": DAY // fleet.changes,
            "found": 2,  # for Home Assistant: the discovery message, and its status
        }
        path = self._folder / f"plan-{first}.json"
        path.write_text(json.dumps(plan))
        program = SCRIPTS / "many_boards.py"
        command: list[str | Path] = [*self._command, "-X", f"heapsize={_HEAP}", program, path]
        pipe = subprocess.PIPE
        return child_process.start(command, stdin=pipe, stdout=pipe, text=True)


def _ask(process: subprocess.Popen[Any], line: str) -> Traffic:
    assert process.stdin
    assert process.stdout
    process.stdin.write(line)
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise UserError("the MicroPython of the boards has stopped")
    counts = json.loads(line)
    packets = {int(first): count for first, count in counts["packets"].items()}
    events = sum(count for first, count in packets.items() if first >> 4 == 3 and first & 2)
    return Traffic(
        counts["sent"], counts["received"], counts["states"], events, sum(packets.values()),
        counts["begun"], counts["begins"],
    )  # fmt: skip


def _config(name: str) -> dict[str, Any]:
    """Return a board's configuration: with a sensor and a drift alarm."""
    return {"mqtt": {"name": name}, "sensor": {"kind": "adc"}, "alarm": {"detector": "adwin"}}


def discovery(name: str, classes: Sequence[str]) -> bytes:
    """Return the file of a board's first messages, as `build` makes it."""
    config = _config(name)
    first_messages = discovery_messages.messages(config, "Thicket", library_files.version())
    return discovery_messages.packed(config, first_messages, classes)


GROUP = "rooms"
_BEGIN = 180  # seconds in which all boards start one after the other, and send discovery messages
_BEGIN_SPEED = 30
_SILENCE = 5.0  # seconds without a message, after which no more are expected
_WINDOW = 400  # messages in flight, at most
_SECOND = 1_000_000  # microseconds

Times = np.ndarray[tuple[int], np.dtype[np.int64]]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Carried:
    """The messages that the broker delivered to a subscriber.

    published     messages that were sent to its topics
    came          messages that it received
    seconds       from the first message to the last
    delays        microseconds from sending a state to its receipt, of all states
    memory        of the broker afterwards, in bytes; None on systems other than Linux
    processor     the broker's processor time in seconds; None on systems other than Linux
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
        """Messages received per second."""
        return self.came / max(self.seconds, 1e-9)


@dataclass(frozen=True)
class MqttLoad:
    """The results of all measurements.

    minutes       of the boards' time, which ran `speed` times as fast
    empty, open_  the broker's memory before the first board and with all boards, in bytes
    begun, lived  the traffic while the boards started, and in those minutes
    carried       the messages of `lived`
    flood         as many states as boards sent, as fast as they can be sent and received
    packets       bytes of each class's packet
    kept          bytes of packets that the broker retained and gave to another client
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
    packets: Mapping[str, int]
    kept: int


def measure(
    fleet: Fleet, minutes: int, speed: int, packets: Mapping[str, bytes], folder: Path, tell: Tell
) -> MqttLoad:
    """Start a broker and the boards, and let the boards run for this many minutes.

    Raises UserError if there is no mosquitto.
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
            kept = _share(broker, packets)
            with _listener(broker) as listener:
                tell(f"{minutes} minutes pass {speed} times as fast")
                lived, carried, last = _live(broker, programs, listener, minutes, speed)
        tell("states as fast as they go")
        flood = flooded(broker, last, max(1, lived.states // fleet.boards))
    sizes = {name: len(data) for name, data in packets.items()}
    return MqttLoad(fleet, minutes, speed, empty, open_, begun, lived, carried, flood, sizes, kept)


def _all(futures: Sequence[Future[Traffic]]) -> Traffic:
    return sum((future.result() for future in futures), NOTHING)


def _share(broker: LocalBroker, packets: Mapping[str, bytes]) -> int:
    """Publish a group's packets twice; return the bytes of packets that another
    client then receives.
    """
    with Broker("127.0.0.1", broker.port) as giver:
        for _ in range(2):  # the second packet of a class replaces the first
            MqttPacketStore(giver, GROUP).publish(packets.values())
    with Broker("127.0.0.1", broker.port) as taker:
        return sum(len(message.data) for message in taker.retained(f"{TOPIC}/{GROUP}/#"))


def _listener(broker: LocalBroker) -> Broker:
    """Return a subscriber to all states and events that has already received the retained ones."""
    listener = Broker("127.0.0.1", broker.port)
    listener.subscribe("microshrub/+/state", "microshrub/+/event")
    while listener.receive(0.5):
        pass
    return listener


def _live(
    broker: LocalBroker, programs: BoardPrograms, listener: Broker, minutes: int, speed: int
) -> tuple[Traffic, Carried, dict[str, bytes]]:
    """Return the traffic, the delivered messages, and the last state of each topic."""
    before = broker.processor_seconds()
    futures = programs.go_on(60 * minutes, _SECOND // speed)
    states: dict[int, list[int]] = {}
    last_states: dict[str, bytes] = {}
    came = last = 0
    heard = time.monotonic()
    while True:
        message = listener.receive(0.05)
        if message:
            last, heard = _now(), time.monotonic()
            came += 1
            if message.topic.endswith("/state"):
                last_states[message.topic] = message.data
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
    published = lived.states + lived.events
    return (
        lived,
        Carried(published, came, seconds, delays, broker.memory(), processor),
        last_states,
    )


def flooded(broker: LocalBroker, states: Mapping[str, bytes], rounds: int) -> Carried:
    """Measure the delivery if each board sends its state `rounds` times without a pause.

    At most _WINDOW messages are in flight, as the broker drops messages for a subscriber that is
    late.
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
    published = rounds * len(states)
    seconds = (last - first) / _SECOND
    delays = _delays(sent, came)
    return Carried(
        published, published - under_way, seconds, delays, memory, _since(before, after)
    )


def _hear(came: dict[int, list[int]], message: Message) -> int:
    now = _now()
    came.setdefault(_number(message.topic), []).append(now)
    return now


def _number(topic: str) -> int:
    """Return the number of the board with this topic."""
    return int(topic.split("/")[1].rpartition("-")[2])


def _now() -> int:
    """Return the time in microseconds, by the clock of the boards."""
    return time.time_ns() // 1000


def _since(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _delays(sent: Mapping[int, list[int]], came: Mapping[int, list[int]]) -> Times:
    """Return the delays of states for boards that lost none; a board's states arrive in order."""
    pairs = ((times, came.get(board, [])) for board, times in sent.items())
    delays = [np.subtract(b, a) for a, b in pairs if len(a) == len(b)]
    return np.concatenate(delays).astype(np.int64) if delays else np.zeros(0, np.int64)


Row = tuple[str, str]
MANY = 10_000  # boards in the page's extrapolation


def day_rows(load: MqttLoad) -> list[Row]:
    """Return a table of a board's messages and bytes in a day, and of its first messages."""
    lived, begun = load.lived, load.begun
    return [
        ("states", f"{_daily(load, lived.states):,.0f}"),
        ("events", f"{_daily(load, lived.events):,.0f}"),
        ("pings and acknowledgements", f"{_daily(load, _rest(load)):,.0f}"),
        ("bytes that it sends", f"{_daily(load, lived.sent):,.0f}"),
        ("bytes that it receives", f"{_daily(load, lived.received):,.0f}"),
        ("bytes that it sends first, when a line opens", f"{begun.begun / begun.begins:,.0f}"),
    ]


def broker_rows(load: MqttLoad) -> list[Row]:
    """Return a table of the broker's memory, and of its packets."""
    boards = load.fleet.boards
    rows = [
        ("memory before the first board, MB", _megabytes(load.empty)),
        (f"with {boards:,} boards, MB", _megabytes(load.open_)),
        ("in the end, MB", _megabytes(load.flood.memory)),
    ]
    if load.empty is not None and load.open_ is not None:
        rows.append(("a board's share, KB", f"{(load.open_ - load.empty) / boards / 1024:.1f}"))
    return rows


def packet_rows(load: MqttLoad) -> list[Row]:
    """Return a table of the packets' sizes at the broker."""
    one = sum(load.packets.values())
    return [
        *((f"the packet of {name}, bytes", f"{size:,}") for name, size in load.packets.items()),
        ("retained after each was published twice, bytes", f"{load.kept:,}"),
        (f"of {MOST_BOARDS} boards, the most that a group has, bytes", f"{one * MOST_BOARDS:,}"),
    ]


CARRIED_HEAD = (
    "", "published", "lost", "messages a second", "delay, median, ms", "99th percentile, ms",
    "processor time a message, us",
)  # fmt: skip


def carried_rows(load: MqttLoad) -> list[tuple[str, ...]]:
    """Return a table of the broker's delivery at the boards' pace, and without a pause."""
    pace = f"boards, {load.speed} times as fast" if load.speed > 1 else "boards"
    return [_carried(pace, load.carried), _carried("states without a pause", load.flood)]


def _carried(name: str, carried: Carried) -> tuple[str, ...]:
    middle, late = _delay(carried, 50), _delay(carried, 99)
    processor = _processor(carried)
    microseconds = "-" if processor is None else f"{processor * 1e6:.0f}"
    return (
        name, f"{carried.published:,}", f"{carried.lost:,}", f"{carried.rate:,.0f}",
        middle, late, microseconds,
    )  # fmt: skip


def _delay(carried: Carried, percent: int) -> str:
    if not len(carried.delays):
        return "-"
    return f"{np.percentile(carried.delays, percent) / 1000:.1f}"


def _processor(carried: Carried) -> float | None:
    """Return the broker's processor time for a message, in seconds."""
    return carried.processor / carried.came if carried.processor and carried.came else None


def _daily(load: MqttLoad, count: int) -> float:
    """Return a count per board and day."""
    return count * DAY / (60 * load.minutes) / load.fleet.boards


def _rest(load: MqttLoad) -> int:
    """Return the number of packets without a message."""
    return load.lived.packets - load.lived.states - load.lived.events


def _megabytes(size: int | None) -> str:
    return "-" if size is None else f"{size / (1 << 20):.1f}"


def page(load: MqttLoad, command: str) -> str:
    """Return the page in Markdown."""
    boards, classes = load.fleet.boards, len(load.packets)
    daily = _daily(load, load.lived.states + load.lived.events)
    return (
        Path(__file__)
        .with_name("mqtt_load.md")
        .read_text(encoding="utf-8")
        .format(
            command=command,
            boards=f"{boards:,}",
            many=f"{MANY:,}",
            version=version(),
            minutes=load.minutes,
            speed=load.speed,
            changes=load.fleet.changes,
            day=markdown_table(("a board and day", "count"), day_rows(load)),
            messages=f"{MANY * daily / 1e6:,.1f}",
            a_second=f"{MANY * daily / DAY:,.0f}",
            megabytes=f"{MANY * _daily(load, load.lived.sent) / 1e6:,.0f}",
            carried=markdown_table(CARRIED_HEAD, carried_rows(load)),
            memory=markdown_table(("mosquitto", "memory"), broker_rows(load)),
            packets=markdown_table(("packets", "size"), packet_rows(load)),
            example=EXAMPLE,
            classes=classes,
            topic=TOPIC,
            group=GROUP,
            name=list(load.packets)[-1],
            most_boards=MOST_BOARDS,
            most_bytes=f"{MOST_BYTES:,}",
            flood=f"{load.flood.rate:,.0f}",
            times=f"{load.flood.rate / (MANY * daily / DAY):,.0f}",
            margin=_margin(load),
        )
    )


def _margin(load: MqttLoad) -> str:
    processor = _processor(load.carried)
    if processor is None:
        return ""
    daily = _daily(load, load.lived.states + load.lived.events)
    share = 100 * MANY * daily / DAY * processor
    return f" At the boards' pace, {MANY:,} boards take {share:.1f} % of one core of this PC."
