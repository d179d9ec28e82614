"""Checks that the engines hold the same bits, or finds where they begin to differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from ..engines.interface import Engine, Labels
from ..streams.units import Raw
from .prequential import fit

Starter = Callable[[], Engine]


@dataclass(frozen=True)
class Step:
    """The model's hash on each engine after some samples."""

    samples: int
    crcs: dict[str, int]


@dataclass(frozen=True)
class Difference:
    """The first sample after which two engines differ, and the first buffer that differs."""

    sample: int
    buffer: str
    engines: tuple[str, str]
    index: int
    values: tuple[int, int]

    def __str__(self) -> str:
        one, other = self.engines
        return (
            f"{one} and {other} differ from sample {self.sample:,}: {self.buffer}[{self.index}] "
            f"is {self.values[0]} and {self.values[1]}"
        )


Buffers = list[tuple[str, str, bytes]]


def check(
    starters: Mapping[str, Starter], rows: Raw, labels: Labels, *, warmup: int, every: int
) -> Iterator[Step | Difference]:
    """Run all engines side by side; yields a Step every so many samples.

    labels is NO_LABELS for rows of numbers, which have their target in a column.

    Where they differ, the last thing it yields is the Difference, found by running them again up
    to the last block in which they agreed and from there sample by sample.
    """
    with ExitStack() as stack:
        running = _start(stack, starters, rows[:warmup])
        for at in range(0, len(rows), every):
            for engine in running.values():
                engine.run(rows[at : at + every], labels[at : at + every])
            found = {name: engine.buffers() for name, engine in running.items()}
            crcs = {name: engine.status().state_crc32 for name, engine in running.items()}
            yield Step(min(at + every, len(rows)), crcs)
            if _first_difference(found) is not None:
                yield _locate(starters, rows, labels, warmup, at)
                return


def _start(stack: ExitStack, starters: Mapping[str, Starter], rows: Raw) -> dict[str, Engine]:
    running = {name: stack.enter_context(start()) for name, start in starters.items()}
    for engine in running.values():
        fit(engine, rows, len(rows))  # with no rows, ranges grow
    return running


def _locate(
    starters: Mapping[str, Starter], rows: Raw, labels: Labels, warmup: int, agreed: int
) -> Difference:
    with ExitStack() as stack:
        running = _start(stack, starters, rows[:warmup])
        if agreed:
            for engine in running.values():
                engine.run(rows[:agreed], labels[:agreed])
        for at in range(agreed, len(rows)):
            for engine in running.values():
                engine.run(rows[at : at + 1], labels[at : at + 1])
            difference = _first_difference({n: e.buffers() for n, e in running.items()})
            if difference is not None:
                return Difference(at + 1, *difference)
    raise RuntimeError("the engines differed in a block of samples but not one by one")


def _first_difference(
    found: dict[str, Buffers],
) -> tuple[str, tuple[str, str], int, tuple[int, int]] | None:
    names: Sequence[str] = list(found)
    first = found[names[0]]
    for name in names[1:]:
        for (buffer, typecode, one), (_, _, other) in zip(first, found[name], strict=True):
            if one != other:
                a, b = memoryview(one).cast(typecode), memoryview(other).cast(typecode)  # type: ignore[call-overload]
                index = next(i for i in range(len(a)) if a[i] != b[i])
                return buffer, (names[0], name), index, (a[index], b[index])
    return None
