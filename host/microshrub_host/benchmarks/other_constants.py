"""What Thicket's constants are worth: each of them with other values, on many streams.

A changed copy of the device library takes the library's place in a process of its own, and is
compiled there as the library always is.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..base.text import count
from ..base.worker_process import Apart, Ended, Send, wait_for_any
from ..compare.field_set import thicket
from ..compare.runner import compare_here
from ..engines import library_files
from ..engines.learners import DEFAULT
from ..evaluation import prequential
from ..render.markdown import markdown_table
from .family_members import WARMUP
from .known_streams import STREAMS


@dataclass(frozen=True)
class Choice:
    """A place in Thicket's sources, and what else could stand there."""

    words: str  # of the other value
    file: str  # in the library's folder thicket/
    chosen: str
    other: str


AS_IT_IS = Choice("as it is", "shares.py", "", "")
CHOICES = (
    AS_IT_IS,
    Choice("members weighed by exp(30 a), not exp(60 a)", "mixing.py",
           "_SHARPNESS = const(60)", "_SHARPNESS = const(30)"),
    Choice("members weighed by exp(120 a)", "mixing.py",
           "_SHARPNESS = const(60)", "_SHARPNESS = const(120)"),
    Choice("members judged by 64 samples, not 256", "mixing.py",
           "_MEMORY = const(8)", "_MEMORY = const(6)"),
    Choice("members judged by 1,024 samples", "mixing.py",
           "_MEMORY = const(8)", "_MEMORY = const(10)"),
    Choice("trees judged by 64 samples, not 256", "votes.py",
           "_MEMORY = const(8)", "_MEMORY = const(6)"),
    Choice("trees judged by 1,024 samples", "votes.py",
           "_MEMORY = const(8)", "_MEMORY = const(10)"),
    Choice("leaves that do not go on learning", "votes.py",
           "_LEAF_RATE = const(8)", "_LEAF_RATE = const(0)"),
    Choice("leaves that learn by 1/64, not 1/32", "votes.py",
           "_LEAF_RATE = const(8)", "_LEAF_RATE = const(4)"),
    Choice("leaves that learn by 1/16", "votes.py",
           "_LEAF_RATE = const(8)", "_LEAF_RATE = const(16)"),
    Choice("3 looks at the window a sample while a tree grows, not 6", "trees.py",
           "_PASSES = const(6)", "_PASSES = const(3)"),
    Choice("12 looks at the window a sample", "trees.py",
           "_PASSES = const(6)", "_PASSES = const(12)"),
    Choice("3 neighbours, not 5", "thicket.py", "_K = const(5)", "_K = const(3)"),
    Choice("9 neighbours", "thicket.py", "_K = const(5)", "_K = const(9)"),
    Choice("neighbours that search a 14th of the bytes, not a 7th", "shares.py",
           "limit // (7 * features)", "limit // (14 * features)"),
    Choice("neighbours that search a third of the bytes", "shares.py",
           "limit // (7 * features)", "limit // (3 * features)"),
    Choice("softmax regression within a sixth of the bytes, not a third", "shares.py",
           "limit // 3:", "limit // 6:"),
    Choice("fast shrubs within a 24th of the bytes, not a sixth", "shares.py",
           "limit // 6:", "limit // 24:"),
    Choice("fast shrubs with a window of 6, not 12", "shares.py", "window=12", "window=6"),
    Choice("fast shrubs with a window of 24", "shares.py", "window=12", "window=24"),
    Choice("a window of at most 512 samples, not 1,024", "shares.py",
           "_MOST = const(1024)", "_MOST = const(512)"),
    Choice("half as many trees", "shares.py", "4 + window // 32", "2 + window // 64"),
    Choice("twice as many trees", "shares.py", "4 + window // 32", "8 + window // 16"),
    Choice("half as many leaves", "shares.py",
           "min(max(window // 8, 4), 96)", "min(max(window // 16, 4), 48)"),
    Choice("twice as many leaves, at most 128", "shares.py",
           "min(max(window // 8, 4), 96)", "min(max(window // 4, 4), 128)"),
    Choice("a tree every 32 samples, not 64", "shares.py",
           "min(max(window // 4, 4), 64)", "min(max(window // 8, 4), 32)"),
    Choice("a tree every 128 samples", "shares.py",
           "min(max(window // 4, 4), 64)", "min(max(window // 2, 4), 128)"),
)  # fmt: skip

# Mean accuracies in percent over the seeds, by stream and size
Accuracies = Mapping[tuple[str, int], float]


@dataclass(frozen=True)
class ChoiceRuns:
    """What is run for each choice."""

    streams: Sequence[str]
    sizes: Sequence[int]
    seeds: int
    data: Path | None
    limit: int | None
    seconds: int


def changed_library(choice: Choice, folder: Path) -> None:
    """Write the library with that choice into a folder; raises ValueError if it has no place."""
    top = folder / library_files.PACKAGE
    shutil.copytree(library_files.folder(), top, ignore=shutil.ignore_patterns("__pycache__"))
    path = top / "thicket" / choice.file
    text = path.read_text(encoding="utf-8")
    if choice.chosen and text.count(choice.chosen) != 1:
        raise ValueError(f"{choice.file} does not have {choice.chosen!r} once")
    path.write_text(text.replace(choice.chosen, choice.other), encoding="utf-8")


def measure(choice: Choice, task: ChoiceRuns) -> Accuracies:
    """Run a thicket of each size on each stream, with that choice.

    Raises UserError if a run fails, or takes longer than it may.
    """
    with tempfile.TemporaryDirectory(prefix="microshrub-") as folder:
        changed_library(choice, Path(folder))
        work = Apart(_learn, folder, task, limit=task.seconds)
        try:
            return dict(_sent(work))
        except Ended as reason:
            raise UserError(f"{choice.words}: {reason}") from None
        finally:
            work.close()


def _sent(work: Apart) -> Iterator[tuple[tuple[str, int], float]]:
    while True:
        wait_for_any([work])
        found = work.receive()
        if found is None:
            continue
        if found == ():
            return
        yield found


def _learn(send: Send, folder: str, task: ChoiceRuns) -> None:
    """In a process of its own, which has not loaded the library yet: that of the folder."""
    sys.path.insert(0, folder)
    if not library_files.folder().is_relative_to(folder):
        raise RuntimeError("the library was loaded before")
    prequential.compile_kernels(DEFAULT, {})
    for name in task.streams:
        stream = STREAMS[name].open(name, task.data, task.limit)
        for size in task.sizes:
            how: dict[str, Any] = {"warmup": WARMUP, "limit": task.seconds}
            cells = [
                compare_here(thicket(size, seed), stream, **how) for seed in range(task.seeds)
            ]
            found = [cell.accuracy for cell in cells if cell.accuracy is not None]
            if len(found) < len(cells):
                raise RuntimeError(next(cell.failure for cell in cells if cell.failure))
            send(((name, size), statistics.fmean(found)))
    send(())


def markdown(found: Mapping[Choice, Accuracies], command: str, seeds: int) -> str:
    """The page; found begins with AS_IT_IS."""
    usual = found[AS_IT_IS]
    streams = list(dict.fromkeys(name for name, _ in usual))
    sizes = list(dict.fromkeys(size for _, size in usual))
    rows = []
    for choice, accuracies in found.items():
        if choice is AS_IT_IS:
            continue
        row = [choice.words]
        for size in sizes:
            lost = {name: usual[name, size] - accuracies[name, size] for name in streams}
            worst = max(lost, key=lambda name: lost[name])
            best = min(lost, key=lambda name: lost[name])
            row += [f"{statistics.fmean(lost.values()):+.2f}"]
            row += [f"{lost[worst]:+.2f} {worst}", f"{lost[best]:+.2f} {best}"]
        rows.append(row)
    head = ["another choice"]
    for size in sizes:
        head += [f"{size >> 10} KB: points lost", "most", "least"]
    means = ", ".join(
        f"{statistics.fmean(usual[name, size] for name in streams):.2f} % within {size >> 10} KB"
        for size in sizes
    )
    about = (
        f"Made by `{command}`; do not edit it by hand. One constant of Thicket at a time has "
        f"another value. Points of prequential accuracy that this loses (+) or gains (-) in the "
        f"mean of {', '.join(streams)}, and where it loses most and least; {count(seeds, 'seed')}."
        f" As it is, Thicket has {means}."
    )
    return (
        "\n\n".join(["# What Thicket's constants are worth", about, markdown_table(head, rows)])
        + "\n"
    )
