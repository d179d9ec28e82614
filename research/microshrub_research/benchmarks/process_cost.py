"""Processor time and memory of a whole process of `microshrub simulate` on this PC.

Each run is a process of its own, as a user starts it. Its time is its user and system time, with
those of its child processes such as a C compiler; its memory is its own peak, without children.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from microshrub_host.base import child_process
from microshrub_host.base.errors import UserError
from microshrub_host.library import c_kernels

FEATURES = 20  # of the files that are made
SHRUB = ("--model", "shrub", "--window", "16", "--trees", "4", "--depth", "4")
TARGET = ("--target", "x0")  # of regression streams, in the files that are made
LINEAR = ("--model", "linear-regressor")
_AT_ONCE = 50_000  # rows of a file that are made in one step
_LOOK = 0.02  # seconds between two readings of the memory

Progress = Callable[[str], None]


@dataclass(frozen=True)
class ProcessCost:
    """The cost of one kind of run: medians of its repetitions."""

    data: str  # the file, and --target if it is a regression stream
    engine: str
    cold: bool  # with an empty cache: the kernels are compiled
    seconds: float  # of processor time in total
    learning: float  # elapsed while the model predicts and learns
    megabytes: float | None  # None where the system does not report it


def engines() -> list[str]:
    """Return the engines that compile kernels and have a compiler on this machine."""
    return ["c", "llvm"] if c_kernels.works() else ["llvm"]


def write_file(path: Path, rows: int) -> None:
    """Write a CSV file of `rows` rows: 20 numbers with five decimals and one of two classes."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    rng = np.random.default_rng(1)
    names = [*(f"x{place}" for place in range(FEATURES)), "class"]
    schema = pa.schema([(name, pa.float64()) for name in names[:-1]] + [("class", pa.int8())])
    with pa_csv.CSVWriter(path, schema) as file:
        for at in range(0, rows, _AT_ONCE):
            count = min(_AT_ONCE, rows - at)
            numbers = rng.normal(size=(FEATURES, count)).round(5)
            noise = rng.random(count) < 0.1
            labels = (2 * numbers[0] + numbers[1] > 0) ^ noise
            columns = [*map(pa.array, numbers), pa.array(labels.astype(np.int8))]
            file.write_batch(pa.record_batch(columns, schema=schema))


def measure(
    data: Path,
    folder: Path,
    repeats: int,
    *,
    cold: bool = False,
    numbers: bool = False,
    progress: Progress,
) -> Iterator[ProcessCost]:
    """Yield the costs with each engine; with `cold`, also those with an empty cache.

    With `numbers`, the target is one of the columns, not the class. Temporary files are in
    `folder`.
    """
    name = " ".join([data.name, *(TARGET if numbers else ())])
    for engine in engines():
        warm = folder / f"warm-{engine}"  # a cache
        few = folder / f"few-{engine}{'-numbers' * numbers}.csv"
        if not few.exists():  # the kernels are not in the cache
            write_file(few, 500)
            _run(few, engine, warm, folder / "result.json", numbers)
        result: dict[bool, list[tuple[float, float, float | None]]] = {}
        for number in range(repeats):
            for is_cold in (True, False) if cold else (False,):
                progress(f"{name}, {engine}, {'cold' if is_cold else 'warm'}")
                cache = folder / f"cold-{engine}-{number}" if is_cold else warm
                one = _run(data, engine, cache, folder / "result.json", numbers)
                result.setdefault(is_cold, []).append(one)
        for is_cold, runs in result.items():
            seconds, learning, memory = zip(*runs, strict=True)
            known = [size for size in memory if size is not None]
            yield ProcessCost(
                name,
                engine,
                is_cold,
                statistics.median(seconds),
                statistics.median(learning),
                statistics.median(known) if known else None,
            )


def _run(
    data: Path, engine: str, cache: Path, result: Path, numbers: bool
) -> tuple[float, float, float | None]:
    """Return the processor seconds, the seconds in the kernels,
    and the megabytes of one process.
    """
    if sys.platform == "win32" or not hasattr(os, "wait4"):
        raise UserError("this system does not tell what a process took; Linux and macOS do")
    program = Path(sys.executable).with_name("microshrub")
    learner = (*TARGET, *LINEAR) if numbers else SHRUB
    words = ["simulate", str(data), *learner, "--engine", engine, "--json", str(result), "--force"]
    process = child_process.start(
        [str(program), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "MICROSHRUB_CACHE": str(cache)},
    )
    most = None
    while True:
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done:
            break
        most = _most_memory(process.pid) or most
        time.sleep(_LOOK)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise UserError(f"microshrub {' '.join(words)} failed; run it to see why")
    learning = float(json.loads(result.read_text())["seconds"])
    return usage.ru_utime + usage.ru_stime, learning, most


def _most_memory(process: int) -> float | None:
    """Return the peak memory of a process so far, in megabytes;
    None on systems other than Linux.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    sizes = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(sizes[0]) / 1024 if sizes else None


def page(costs: Sequence[ProcessCost], repeats: int, command: str) -> str:
    """Return the page in Markdown."""
    rows = [
        f"| {cost.data} | {cost.engine} | {'cold' if cost.cold else 'warm'} | {cost.seconds:.2f} "
        f"| {cost.learning:.3f} | {'-' if cost.megabytes is None else f'{cost.megabytes:.0f}'} |"
        for cost in costs
    ]
    measured = "run once" if repeats == 1 else f"the median of {repeats} runs"
    return "\n".join([_HEAD.format(command=command, measured=measured), *rows, ""])


_HEAD = f"""\
# What a process takes on a PC

Made by `{{command}}`; do not edit it by hand. Each row is
`microshrub simulate DATA {" ".join(SHRUB)} --engine ENGINE`,
or, with a target, `microshrub simulate DATA {" ".join((*TARGET, *LINEAR))} --engine ENGINE`,
{{measured}}. CPU is the processor time of the whole process and of what it
starts, kernels the seconds in which the model predicts and learns. Cold means that the cache
is empty, so that the kernels are compiled; warm, that they are there. Memory is the most that the
process had at once, in MB of 1024 * 1024 bytes. A file rows-N has N rows of {FEATURES} numbers and
a class.

| data | engine | cache | CPU, s | kernels, s | memory, MB |
| --- | --- | --- | ---: | ---: | ---: |"""
