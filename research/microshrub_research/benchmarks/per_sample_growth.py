"""Does time per sample grow?

A stream is run over and over on the engine llvm. The last blocks before each of several points
are then run again and again, in turns and from the same states, so that their median times hardly
depend on other programs of the machine. The python engine takes over the state at each point, and
counts the lines of the device library that it executes for the next samples. The count is exact:
the same state and samples give the same lines.
"""

from __future__ import annotations

import statistics
import sys
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from microshrub_host.library import library_files, loader
from microshrub_host.library.learners import MODELS
from microshrub_host.simulation.session import Session
from microshrub_host.streams.stream import Stream

POINTS = (10_000, 100_000, 1_000_000)
WINDOW = 200  # samples whose lines are counted
_BLOCK = 5000  # samples that are timed, at most
_REPEATS = 15
_STRIDE = 10_000  # samples between two updates of the progress

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class SampleCost:
    """The cost of a sample after `samples` others."""

    samples: int
    nanoseconds: float  # of one sample on the engine llvm, the median of repeated blocks
    lines: Sequence[int]  # of the device library, for each sample of the window
    progress: dict[str, int]  # the model's figures on its state


class Endless:
    """A stream repeated without end: raw rows as array('i') and labels as a bytearray."""

    def __init__(self, stream: Stream) -> None:
        self.rows = stream.raw_rows().astype(np.int32)
        self.labels = stream.labels

    def cut(self, begin: int, end: int) -> tuple[array[int], bytearray]:
        """Return the samples begin to end - 1."""
        at = np.arange(begin, end) % len(self.rows)
        rows = array("i")
        rows.frombytes(self.rows[at].tobytes())
        return rows, bytearray(self.labels[at].tobytes())


def state_of(session: Session) -> list[bytes]:
    """Return the whole state of a session."""
    return [part.save() for part in (session.quantizer, session.model, session.metrics)]


def restore(session: Session, state: Sequence[bytes]) -> None:
    """Restore the state of another session of the same configuration, on any engine."""
    for part, data in zip((session.quantizer, session.model, session.metrics), state, strict=True):
        part.load(data)


class counting_lines:  # noqa: N801  (used as a with statement)
    """A context in which `lines` counts the lines of the device library that are executed."""

    def __init__(self) -> None:
        self.lines = 0
        self._folder = str(library_files.folder() / "_")[:-1]

    def __enter__(self) -> counting_lines:
        self._before = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _enter(self, frame: FrameType, event: str, arg: object) -> Any:
        return self._line if frame.f_code.co_filename.startswith(self._folder) else None

    def _line(self, frame: FrameType, event: str, arg: object) -> Any:
        self.lines += event == "line"
        return self._line


def count_lines(session: Session, endless: Endless, begin: int, samples: int) -> list[int]:
    """Count the lines that a session of the python engine executes for each of the next samples.

    The session learns the samples: encoding, predicting, learning and counting the accuracy.
    """
    result = []
    for at in range(begin, begin + samples):
        rows, labels = endless.cut(at, at + 1)
        with counting_lines() as counted:
            session.run(rows, labels)
        result.append(counted.lines)
    return result


@dataclass(frozen=True)
class Block:
    """The samples begin to end - 1 of a stream, and the state before the first of them."""

    begin: int
    end: int
    state: Sequence[bytes]

    def run(self, session: Session, endless: Endless) -> float:
        """Let a session learn the block from its state; return nanoseconds per sample."""
        restore(session, self.state)
        rows, labels = endless.cut(self.begin, self.end)
        started = time.perf_counter_ns()
        session.run(rows, labels)
        return (time.perf_counter_ns() - started) / (self.end - self.begin)


def blocks_before(
    session: Session, endless: Endless, points: Sequence[int], progress: Progress
) -> list[Block]:
    """Learn up to the last point; return the last block before each point."""
    result, done = [], 0
    for point in points:
        begin = max(done, point - min(_BLOCK, points[0] // 2))
        for at in range(done, begin, _STRIDE):
            session.run(*endless.cut(at, min(at + _STRIDE, begin)))
            progress(at, 2 * points[-1])  # the other half: time_blocks, count_lines
        result.append(Block(begin, point, state_of(session)))
        session.run(*endless.cut(begin, point))
        done = point
    return result


def time_blocks(session: Session, endless: Endless, blocks: Sequence[Block]) -> list[float]:
    """Return the median nanoseconds per sample of each block;
    blocks take turns to share any noise.
    """
    rounds = [[block.run(session, endless) for block in blocks] for _ in range(_REPEATS)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def measure(
    stream: Stream,
    model: str,
    parameters: Mapping[str, Any],
    points: Sequence[int],
    *,
    warmup: int = 256,
    progress: Progress = lambda done, total: None,
) -> list[SampleCost]:
    """Return the costs at each of the points, which are ascending numbers of samples from 2 on."""
    endless = Endless(stream)
    fast, exact = (
        Session(loader.load(engine), MODELS[model], parameters) for engine in ("llvm", "python")
    )
    fast.observe(endless.cut(0, min(warmup, len(stream.labels)))[0])
    fast.freeze()
    blocks = blocks_before(fast, endless, points, progress)
    times = time_blocks(fast, endless, blocks)
    result: list[SampleCost] = []
    for block, nanoseconds in zip(blocks, times, strict=True):
        progress(len(points) + len(result), 2 * len(points))
        block.run(fast, endless)
        restore(exact, state_of(fast))
        lines = count_lines(exact, endless, block.end, WINDOW)
        result.append(SampleCost(block.end, nanoseconds, lines, fast.model.progress()))
    progress(1, 1)
    return result
