"""The memory for reading a file does not grow with the file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CELLS = 10
ROW = ",".join(f"{place * 991 % 7919 / 8:.3f}" for place in range(CELLS))
BOOT = "ets Jun  8 2016 00:22:57\nrst:0x1 (POWERON_RESET)\n"
GROWTH = 4 << 20  # bytes by which the peak may grow at random
TRIES = 3  # tries to stay below: sometimes more blocks are in memory at once
READ = """
import re, sys, threading
from microshrub_host.streams import csv_blocks, stored_values
from microshrub_host.streams.open_stream import open_stream

for name in ("IN_MEMORY", "COLUMN_IN_MEMORY", "_KEPT"):  # what is more lies in a file
    setattr(stored_values, name, 1 << 15)
csv_blocks._BLOCK_BYTES = 1 << 15  # of which the reader keeps some dozens
most, ended = 0, threading.Event()

def watch():  # pages of a file are not counted: the system takes them back when it needs room
    global most
    while not ended.wait(0.002):
        with open("/proc/self/status") as file:
            most = max(most, 1024 * int(re.search("RssAnon:\\s*(\\d+)", file.read())[1]))

watcher = threading.Thread(target=watch)
watcher.start()
try:
    samples = open_stream(sys.argv[1:]).samples
finally:
    ended.set()
print(samples, most)
"""


def plain(rows: int) -> Iterator[str]:
    yield ",".join(f"x{place}" for place in range(CELLS)) + ",y\n"
    for place in range(rows):
        yield f"{ROW},{'ab'[place % 2]}\n"


def log(rows: int) -> Iterator[str]:
    """Yield lines with a monitor's clock and units, and the output of a boot every 1,000 lines."""
    for place in range(rows):
        if place % 1000 == 0:
            yield BOOT
        yield f"12:{place // 60 % 60:02}:{place % 60:02}.250 -> {ROW} g,{'ab'[place % 2]}\n"


def german(rows: int) -> Iterator[str]:
    yield from (line.replace(",", ";").replace(".", ",") for line in plain(rows))


def peak(folder: Path, lines_of: Callable[[int], Iterator[str]], rows: int, files: int) -> int:
    """Return the peak memory of a separate process in bytes."""
    paths = [folder / f"{name}.csv" for name in range(files)]
    for path in paths:
        with path.open("w") as file:
            file.writelines(lines_of(rows // files))
    done = subprocess.run([sys.executable, "-c", READ, *map(str, paths)], capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    samples, memory = map(int, done.stdout.split())
    assert samples == rows
    return memory


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is in memory")
@pytest.mark.parametrize(
    ("lines_of", "rows", "files"),
    [(plain, 140_000, 1), (log, 24_000, 1), (german, 24_000, 1), (plain, 60_000, 3)],
)
def test_four_times_the_file_takes_no_more_memory(
    tmp_path: Path, lines_of: Callable[[int], Iterator[str]], rows: int, files: int
) -> None:
    """The files grow from 10 to 40 MB, cleaned ones from 2 to 7, and several files from 4 to 18.

    On a busy PC, the reader may have all of three shorter files in memory at once.
    """
    most = peak(tmp_path, lines_of, rows, files) + GROWTH
    assert any(peak(tmp_path, lines_of, 4 * rows, files) < most for _ in range(TRIES))
