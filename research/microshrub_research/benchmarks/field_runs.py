"""The runs behind the field's table: ours with several seeds each, the others once.

With a folder for results, each cell is written to the folder as soon as it is measured, and is not
measured again: a table that takes hours can be stopped and continued.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from microshrub_host.base.side_by_side import Progress as TaskProgress
from microshrub_host.base.side_by_side import side_by_side
from microshrub_host.base.versions import version_of, versions
from microshrub_host.streams.stream import Stream

from ..compare.comparison_runner import Cell, compare, compare_here
from ..compare.contender import Contender
from ..compare.our_learners import model_bytes
from ..papers.kept_results import KeptResults
from .family_members import WARMUP
from .field import Score

_PEERS = ("river", "capymoa")  # packages whose versions are part of the results' head

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Field:
    """The learners that run on each stream, and their time limit."""

    ours: Mapping[str, Sequence[Contender]]  # ours by name, one for each seed
    peers: Sequence[Contender]
    seconds: int  # for one learner on one stream
    jobs: int = 1  # runs at the same time

    def check(self, stream: Stream) -> None:
        """Raise UserError if one of ours cannot learn the stream."""
        for contenders in self.ours.values():
            model_bytes(contenders[0], stream, WARMUP)


def keeping(folder: Path | None, limit: int | None) -> AbstractContextManager[KeptResults | None]:
    """Open the folder for results; without a folder, the context's value is None.

    Raises UserError if the folder has cells of another limit, or of other versions.
    """
    if folder is None:
        return nullcontext()
    head = {"experiment": "field", "--limit": limit, **versions()}
    return KeptResults(folder, head | {name: version_of(name) for name in _PEERS}, "--keep")


def run_field(
    field: Field, name: str, stream: Stream, kept: KeptResults | None, progress: Progress
) -> dict[str, Score]:
    """Run all learners on one stream, and return their scores by name."""
    cells = _Cells(name, kept, field.seconds)
    our_runs = [(one, seed) for seeds in field.ours.values() for seed, one in enumerate(seeds)]
    left = [(one, seed) for one, seed in our_runs if not cells.has(one.name, seed)]
    peers = [peer for peer in field.peers if not cells.has(peer.name)]
    total = len(our_runs) + len(field.peers)
    done = total - len(left) - len(peers)
    tasks = [contender for contender, _ in left]
    learn = partial(_alone, stream, field.seconds)
    result = side_by_side(learn, tasks, jobs=field.jobs, progress=lambda *_: None)
    for (contender, seed), cell in zip(left, result, strict=True):
        cells.add(cell, seed)
        done += 1
        progress(done, total, contender.name)
    for cell in compare(peers, stream, jobs=field.jobs, limit=field.seconds):
        cells.add(cell)
        done += 1
        progress(done, total, cell.name)
    ours = {
        name: Score([cells.of(name, seed) for seed in range(len(seeds))])
        for name, seeds in field.ours.items()
    }
    return ours | {peer.name: Score([cells.of(peer.name)]) for peer in field.peers}


def _alone(stream: Stream, seconds: int, contender: Contender, _: TaskProgress) -> Cell:
    """Measure the cell of one of ours."""
    return compare_here(contender, stream, limit=seconds)


class _Cells:
    """The cells of one stream, with the cells of earlier runs."""

    def __init__(self, stream: str, kept: KeptResults | None, seconds: int) -> None:
        self._stream, self._kept, self._seconds = stream, kept, seconds
        self._cells: dict[tuple[str, int], Cell] = {}
        for record in kept.records if kept else ():
            cell = Cell(**record["cell"])
            in_time = not cell.failure or (cell.timed_out and record["limit"] >= seconds)
            if record["on"] == stream and in_time:
                self._cells[cell.name, record["seed"]] = cell

    def has(self, name: str, seed: int = 0) -> bool:
        """Return whether a cell is known; a failure is not, unless it is a timeout
        after at least this time limit.
        """
        return (name, seed) in self._cells

    def add(self, cell: Cell, seed: int = 0) -> None:
        """Add a cell; if there is a folder for results,
        the cell is on the disk when this returns.
        """
        plain = replace(cell, curve=(), sizes=(), shapes=())  # the table has none of these fields
        self._cells[plain.name, seed] = plain
        if self._kept:
            record = {"on": self._stream, "seed": seed, "limit": self._seconds}
            self._kept.append(record | {"cell": dataclasses.asdict(plain)})

    def of(self, name: str, seed: int = 0) -> Cell:
        return self._cells[name, seed]
