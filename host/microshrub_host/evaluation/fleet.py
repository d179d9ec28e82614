"""A fleet of boards that each lack some classes of a stream, and teach each other by packets.

Whole stretches of the stream, a fifth of the samples, are held out, and every board predicts them;
see stretches.py. The other stretches are dealt out to the boards. Each board lacks some classes
and learns half of its rows. Then it sends a packet of each class that it knows, and receives
packets of each class that it lacks, from at most three boards, until one packet of that class was
of use. It learns one received sample after each row of its second half. Each board is compared
with two others: one with the same rows and no exchange, and one that lacks no class.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..library import library_files, loader
from ..simulation import fleet_board
from ..simulation.micropython_engine import PipedProgram
from ..streams.stream import Stream
from ..streams.units import Raw
from . import holdout
from .stretches import Draw

Do = Callable[[str, bytes], bytes]


@contextmanager
def board(engine: str) -> Iterator[Do]:
    """Return a function that runs the commands of fleet_board.py on the engine with that name."""
    if engine != "micropython":
        yield fleet_board.FleetBoard(loader.load(engine)).do
        return
    words = [fleet_board.__file__, str(library_files.folder().parent)]
    with closing(PipedProgram(words, heap="16m")) as program:
        yield lambda letter, body: program.ask(letter.encode(), body)


_FEWEST = 20  # rows of a stream, four of which are held out
_LEAST = 200  # rows of a board; if there are fewer for each, boards share rows
_TRIES = 3  # packets of a class that a board checks, at most
_ASKED = 2000  # held-out rows, at most


@dataclass(frozen=True)
class FleetPlan:
    """The settings of a simulation; each of its tasks is a board, by number."""

    rows: Raw = field(repr=False)
    labels: NDArray[np.uint8] = field(repr=False)
    draw: Draw = field(repr=False)
    by: str  # kind of stretches held out: runs, groups or blocks of time
    features: tuple[str, ...]
    units: tuple[tuple[int, int], ...]
    classes: tuple[str, ...]
    boards: int
    lacking: int  # classes that each board lacks
    exchange: int  # samples of a class in a packet, at most
    bytes: int
    seed: int
    engine: str

    @property
    def asked(self) -> NDArray[np.intp]:
        """The rows that all boards predict: held-out rows of classes that are learned, too."""
        rows = np.flatnonzero(holdout.predictable(self.draw, self.labels))
        return rows[:: -(-len(rows) // _ASKED) or 1]

    def lacks(self, number: int) -> list[int]:
        """Return the classes that a board lacks; board by board, the next in a random order."""
        order = np.random.default_rng((self.seed, 1)).permutation(len(self.classes))
        first = number * self.lacking
        return [int(order[(first + k) % len(order)]) for k in range(self.lacking)]

    def rows_of(self, number: int) -> NDArray[np.intp]:
        """Return the rows that a board learns."""
        rows = self.dealt(number)
        return rows[~np.isin(self.labels[rows], self.lacks(number))]

    def dealt(self, number: int) -> NDArray[np.intp]:
        """Return the rows that a board would learn if it lacked no class."""
        rows = np.flatnonzero(self.draw.learned)
        if len(rows) // self.boards >= _LEAST:
            rows = rows[number :: self.boards]
        else:
            first = number * len(rows) // self.boards
            rows = rows[(first + np.arange(min(_LEAST, len(rows)))) % len(rows)]
        return rows


@dataclass(frozen=True)
class Half:
    """A board before the exchange: its state, its packets, and its accuracies without exchange."""

    state: bytes = field(repr=False)
    packets: dict[int, bytes] = field(repr=False)  # by class
    alone: float  # balanced accuracy in percent, after all rows of the board
    whole: float  # the same if the board lacked no class


@dataclass(frozen=True)
class Met:
    """A board at the end of the simulation."""

    number: int
    alone: float  # balanced accuracies in percent, as in Half
    whole: float
    together: float  # the same after the exchange
    sent: int  # bytes of the packets sent
    received: int  # bytes of the packets checked
    looked: int  # packets checked
    taken: int  # packets with samples that the board took
    learned: int  # samples taken from packets
    state: bytes = field(repr=False)


def plan(stream: Stream, **wanted: Any) -> FleetPlan:
    """Return the plan of a fleet over a stream; `wanted` has FleetPlan's other fields.

    Raises UserError for a stream with so few rows or stretches that none can be held out.
    """
    known = holdout.held_out(stream, whole=True)
    if known is None or len(stream.labels) < _FEWEST:
        raise UserError(f"{stream.name} has {len(stream.labels)} rows: a fleet takes {_FEWEST}")
    draw = next(holdout.draws(known.stretches, wanted["seed"]), None)
    if draw is None or not holdout.predictable(draw, known.labels).any():
        raise UserError(
            f"{stream.name} has one stretch of each class, so none is left to ask about: record "
            "each class twice or more"
        )
    return FleetPlan(
        rows=known.rows,
        labels=known.labels,
        draw=draw,
        by=known.stretches.by,
        features=stream.feature_names,
        units=tuple(stream.scale.units()),
        classes=stream.class_names,
        **wanted,
    )


def first_half(plan: FleetPlan, number: int) -> Half:
    """Run a board up to the exchange, and then without an exchange to the end."""
    rows = plan.rows_of(number)
    with _begun(plan) as do:
        _learn(do, plan, rows[: len(rows) // 2])
        state = do("S", b"")
        packets = {}
        for c in sorted(set(plan.labels[rows[: len(rows) // 2]].tolist())):
            wanted = {"origin": f"board {number}", "class": plan.classes[c], "most": plan.exchange}
            packets[c] = do("G", json.dumps(wanted).encode())
        _learn(do, plan, rows[len(rows) // 2 :])
        do("E", b"")
        alone = _balanced(do, plan)
    return Half(state, packets, alone, _whole(plan, number) if plan.lacking else alone)


def _whole(plan: FleetPlan, number: int) -> float:
    """Return the balanced accuracy, in percent, of a board that lacks no class."""
    with _begun(plan) as do:
        _learn(do, plan, plan.dealt(number))
        do("E", b"")
        return _balanced(do, plan)


def second_half(plan: FleetPlan, task: tuple[int, Half, list[list[bytes]]]) -> Met:
    """Run a board from the exchange on; the task has its number, its Half, and its offers()."""
    number, half, offers = task
    rows = plan.rows_of(number)
    received = looked = taken = learned = 0
    with _begun(plan) as do:
        do("L", half.state)
        for packets in offers:
            for packet in packets:
                received += len(packet)
                looked += 1
                samples = int.from_bytes(do("T", packet), "little")
                learned += samples
                taken += samples > 0
                if samples:
                    break
        _learn(do, plan, rows[len(rows) // 2 :])
        do("E", b"")
        together = _balanced(do, plan)
        sent = sum(map(len, half.packets.values()))
        state = do("S", b"")
    accuracies = half.alone, half.whole, together
    return Met(number, *accuracies, sent, received, looked, taken, learned, state)


def offers(plan: FleetPlan, number: int, halves: dict[int, Half]) -> list[list[bytes]]:
    """Return up to _TRIES packets of other boards, in a random order, for each class.

    The classes are the ones that the board lacks, or all classes if it lacks none.
    """
    dice = np.random.default_rng((plan.seed, 2, number))
    others = [int(b) for b in dice.permutation(plan.boards)[: 8 * _TRIES] if b != number]
    wanted = plan.lacks(number) or range(len(plan.classes))
    return [
        [halves[b].packets[c] for b in others if c in halves[b].packets][:_TRIES] for c in wanted
    ]


Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


def run(plan: FleetPlan, spread: Spread) -> list[Met]:
    """Run all boards, and return them by number.

    spread(work, tasks) yields the result of work(task) for each task, in any order.

    A task of None means that another task has to finish first.
    """
    halves: dict[int, Half] = {}

    def tasks() -> Iterator[Any]:
        yield from range(plan.boards)
        while len(halves) < plan.boards:
            yield None
        yield from ((b, halves[b], offers(plan, b, halves)) for b in range(plan.boards))

    boards: list[Met] = []
    for done in spread(partial(_half, plan), tasks()):
        if isinstance(done, Met):
            boards.append(done)
        else:
            number, halves[number] = done
    return sorted(boards, key=lambda met: met.number)


def _half(
    plan: FleetPlan, task: int | tuple[int, Half, list[list[bytes]]]
) -> tuple[int, Half] | Met:
    """Run a board's first half, given its number, or its second half."""
    return (task, first_half(plan, task)) if isinstance(task, int) else second_half(plan, task)


@contextmanager
def _begun(plan: FleetPlan) -> Iterator[Do]:
    """Start a new board, and close it in the end."""
    shape = {"features": len(plan.features), "classes": len(plan.classes)}
    config: dict[str, Any] = {"parameters": {**shape, "bytes": plan.bytes}}
    config["features"] = plan.features
    config |= {"units": plan.units, "classes": plan.classes}
    with board(plan.engine) as do:
        do("C", json.dumps(config).encode())
        yield do


def _learn(do: Do, plan: FleetPlan, which: NDArray[np.intp]) -> None:
    labels = plan.labels[which]
    rows = plan.rows[which].astype("<i4").tobytes()
    do("R", len(labels).to_bytes(4, "little") + rows + labels.tobytes())


def _balanced(do: Do, plan: FleetPlan) -> float:
    """Return the mean recall, in percent, of the classes of the held-out rows."""
    asked = plan.asked
    predictions = np.frombuffer(do("P", plan.rows[asked].astype("<i4").tobytes()), dtype=np.uint8)
    truth = plan.labels[asked]
    recalls = [np.mean(predictions[truth == c] == c) for c in np.unique(truth)]
    return float(100 * np.mean(recalls))
