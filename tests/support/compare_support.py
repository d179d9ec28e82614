"""Helpers for the tests of compare. The functions also run in worker processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from microshrub_host.base.worker_process import Send
from microshrub_host.streams.stream import Stream
from microshrub_research.compare import catalogue, moa_peers
from microshrub_research.compare.contender import Contender


def make_stream(samples: int, seed: int = 0, missing: bool = False) -> Stream:
    """Return samples of three features; the class depends on two of them, and changes half way."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(samples, 3))
    labels = (values[:, 0] > 0).astype(np.uint8) + (values[:, 1] > 0.5).astype(np.uint8)
    labels[samples // 2 :] = 2 - labels[samples // 2 :]
    if missing:
        values[::7, 2] = np.nan
    return Stream("made", values, labels, ("a", "b", "c"), ("x", "y", "z"))


class Odd:
    """A learner that predicts the first class for some samples and then fails as named."""

    def __init__(self, does: str) -> None:
        self._does = does
        self._blocks = 0

    def prepare(self, part: slice) -> int:
        return part.stop - part.start

    def run(self, samples: int) -> Sequence[int]:
        self._blocks += 1
        if self._blocks == 4:
            print("a word on the standard output")
            if self._does == "raises":
                raise ZeroDivisionError("it came to this")
            if self._does == "is killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if self._does == "leaves":
                os._exit(0)
            time.sleep(600)
        return [0] * samples

    def nbytes(self) -> None:
        pass

    def shape(self) -> None:
        pass


def start_odd(contender: Contender, stream: Stream, warmup: int) -> Any:
    """Start a contender as peers.start does, and an Odd for the system "odd"."""
    if contender.system == "odd":
        return Odd(contender.learner)
    return catalogue.start(contender, stream, warmup)


def run_all(send: Send, contenders: Sequence[Contender], stream: Stream) -> None:
    """Send (name, predictions, bytes) of each contender after the whole stream."""
    for contender in contenders:
        learner = catalogue.start(contender, stream, 256)
        result = learner.run(learner.prepare(slice(0, len(stream.labels))))
        send((contender.name, result, learner.nbytes()))


def run_with_labels(send: Send, contender: Contender, stream: Stream) -> None:
    """Send the predictions of MOA's own loop, with all labels given, and with a tenth."""
    values = catalogue.filled(stream.values, 256)
    every = stream.labels.astype(np.int16)
    for labels in (None, every, np.where(np.arange(len(every)) % 10, -1, every)):
        learner = moa_peers.start(contender.learner, contender.settings, values, stream, labels)
        send(list(learner.run(learner.prepare(slice(0, len(every))))))
