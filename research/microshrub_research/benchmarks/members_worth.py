"""The worth of each member of a thicket: the accuracy without it, in the same run.

Mixing does not affect the members. So one thicket learns the stream, and the members' votes on
each sample are mixed once more without each member in turn, by the library's own kernels, with
separate accuracies and shares. The figures do not include what another use of a left-out member's
bytes would gain.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from microshrub_host.library import loader
from microshrub_host.reports.markdown import markdown_table
from microshrub_host.streams.stream import Stream

WHOLE = "all members"
_THICKET = 4  # the place of the thicket's own table among the kernels' tables
_STRIDE = 1000  # samples between two updates of the progress

Progress = Callable[[int, int], None]


class _Audience:
    """A mix of a thicket's members, without one of them."""

    def __init__(self, thicket: Any, left_out: int | None) -> None:
        home = sys.modules[type(thicket).__module__]
        self._kernels = sys.modules[f"{home.__name__.rpartition('.')[0]}.members"]
        self._left_out = left_out
        table = thicket._own_table()
        buffers = sys.modules[f"{home.__name__.partition('.')[0]}.buffers"]
        self._places = {name.partition(".")[2]: place for place, (name, _, _) in enumerate(table)}
        self._theirs = thicket._flat[: len(table)]
        self._buffers = tuple(buffers.allocate(typecode, length) for _, typecode, length in table)
        for mine, given in zip(self._buffers, self._theirs, strict=True):
            mine[:] = given
        self._table = buffers.address_table(self._buffers)
        mine = [
            self._table if t is thicket._addresses[_THICKET] else t for t in thicket._addresses
        ]
        self._tables = tuple(mine)
        self.right = 0

    def hear(self, label: int) -> None:
        """Mix the members' votes on this sample, and update the members' shares."""
        predicted = self._buffers[self._places["predictions"]]
        predicted[:] = self._theirs[self._places["predictions"]]
        if self._left_out is not None:
            predicted[self._left_out] = -1
        self.right += self._kernels.hear(self._tables) == label
        self._kernels.judge(self._table, label)


def measure(
    stream: Stream, size: int, seed: int, warmup: int, progress: Progress
) -> dict[str, float]:
    """Return accuracies in percent of a thicket of `size` bytes: with all members,
    and without each.
    """
    library = loader.load(loader.fastest())
    shape = {"features": stream.values.shape[1], "classes": len(stream.class_names)}
    thicket = library.Thicket(**shape, bytes=size, seed=seed)
    members = sys.modules[type(thicket).__module__].MEMBERS
    codes = _codes(library, stream, warmup)
    heard = {WHOLE: _Audience(thicket, None)}
    heard |= {name: _Audience(thicket, k) for k, name in enumerate(members)}
    x = array("H", bytes(2 * shape["features"]))
    for i, label in enumerate(stream.labels.tolist()):
        x[:] = array("H", codes[i].tobytes())
        thicket.predict_next(x)
        for audience in heard.values():
            audience.hear(label)
        thicket.learn(x, label)
        if i % _STRIDE == 0:
            progress(i, len(codes))
    return {name: 100 * one.right / len(codes) for name, one in heard.items()}


def _codes(library: Any, stream: Stream, warmup: int) -> Any:
    """Return the codes of the stream, shape (samples, features)."""
    raw = stream.raw_rows().astype(np.int32)
    quantizer = library.Quantizer(raw.shape[1])
    quantizer.observe(array("i", raw[:warmup].tobytes()))
    quantizer.freeze()
    codes = array("H", bytes(2 * raw.size))
    quantizer.encode(array("i", raw.tobytes()), codes)
    return np.frombuffer(codes, dtype=np.uint16).reshape(raw.shape)


def markdown(accuracies: Mapping[str, Mapping[str, float]], command: str) -> str:
    """Return the page; `accuracies` are by stream and by the member that is left out."""
    names: Sequence[str] = list(next(iter(accuracies.values())))
    rows = []
    for stream, scores in accuracies.items():
        lost = [scores[WHOLE] - scores[name] for name in names[1:]]
        rows.append([stream, f"{scores[WHOLE]:.2f}", *(f"{points:+.2f}" for points in lost)])
    columns = [
        [scores[WHOLE] - scores[name] for scores in accuracies.values()] for name in names[1:]
    ]
    whole = sum(scores[WHOLE] for scores in accuracies.values()) / len(accuracies)
    rows.append(["mean", f"{whole:.2f}", *(f"{sum(c) / len(c):+.2f}" for c in columns)])
    head = ["stream", WHOLE, *(f"{name} is worth" for name in names[1:])]
    about = (
        f"Made by `{command}`; do not edit it by hand. Prequential accuracy in percent with all "
        "members, and how many points of it would be lost if one of them was not heard."
    )
    title = "# What each member of a thicket is worth"
    return "\n\n".join([title, about, markdown_table(head, rows)]) + "\n"
