"""A file is read completely or refused: pipes, line ends, files that change."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import FileIO
from pathlib import Path

import numpy as np
import pytest
from streams_support import complaint

from microshrub_host.base.errors import DataError
from microshrub_host.streams import csv_blocks, data_files
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.open_stream import open_stream

ROWS = 20_000  # more than a pipe or a block of pyarrow holds
HEAD = "x,z,y\n"


def table(rows: int = ROWS, end: str = "\n") -> str:
    return HEAD + "".join(f"{i},{i / 7:.3f},{'abc'[i * i % 3]}{end}" for i in range(rows))


@contextmanager
def pipe(data: bytes) -> Iterator[str]:
    """Yield the name of a pipe that delivers these bytes."""
    out, into = os.pipe()

    def write() -> None:
        with open(into, "wb") as file:
            try:
                file.write(data)
            except BrokenPipeError:
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield f"/dev/fd/{out}"
    finally:
        os.close(out)
        writer.join()


def cli(*words: str, shell: str) -> str:
    """Return the output of a command that gets its data from a shell command."""
    program = f"{sys.executable} -m microshrub_tools.cli.main"
    done = subprocess.run(
        ["bash", "-c", shell.replace("microshrub", f"{program} {' '.join(words)}")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# Pipes


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("odd", ["", "x,0,a\n"])
def test_a_pipe_is_read_whole(put, packed: bool, odd: str) -> None:
    text = table().replace(HEAD, f"x,z,y\n{odd and '1,,a' + chr(10)}")
    whole = open_stream(put(text))
    with pipe(gzip.compress(text.encode()) if packed else text.encode()) as name:
        stream = open_stream(name)
    assert stream.samples == ROWS + bool(odd)
    assert np.array_equal(stream.values, whole.values, equal_nan=True)
    assert stream.labels.tolist() == whole.labels.tolist()
    assert stream.name == name


def test_a_pipe_of_regression_data_is_read_whole(put) -> None:
    with pipe(table().encode()) as name:
        stream = open_numbers(name, target="z", drop=["y"])
    assert np.array_equal(
        stream.columns, open_numbers(put(table()), target="z", drop=["y"]).columns
    )


def test_a_limit_stops_the_reading_of_a_pipe() -> None:
    """The pipe stays open, and sends nothing more."""
    out, into = os.pipe()
    os.write(into, table(100).encode())
    try:
        assert open_stream(f"/dev/fd/{out}", limit=100).samples == 100
    finally:
        os.close(out)
        os.close(into)


def test_an_arff_file_may_come_through_a_pipe() -> None:
    text = "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a\n2,b\n"
    with pipe(text.encode()) as name:
        assert open_stream(name).values[:, 0].tolist() == [1, 2]


def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    fifo = tmp_path / "f.csv"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=(table(),))
    writer.start()
    stream = open_stream(str(fifo))
    writer.join()
    assert stream.samples == ROWS


def test_the_command_line_reads_pipes(put) -> None:
    source = put(table(3000))
    model = ["--model", "shrub", "--window", "8", "--trees", "2", "--depth", "2"]
    lines = [
        cli(*words, *model, shell=shell)
        for words, shell in (
            (("simulate", source), "microshrub"),
            (("simulate", "-"), f"cat {source} | microshrub"),
            (("simulate", "-"), f"microshrub < {source}"),
            (("simulate", "/dev/stdin"), f"cat {source} | microshrub"),
            (("simulate", f"<(cat {source})"), "microshrub"),
        )
    ]
    accuracies = {text.partition("accuracy")[2].split()[0] for text in lines}
    assert len(accuracies) == 1
    assert all("3,000 samples" in text for text in lines)


def test_features_of_a_pipe_are_compared_by_parity(tmp_path: Path) -> None:
    rows = "".join(f"{i % 50},{i % 3},{'ab'[i // 60 % 2]}\n" for i in range(240))
    source = tmp_path / "t.csv"
    source.write_text("x,z,y\n" + rows)
    words = ["parity", "-", "--features", "window=8", "hop=4", "--warmup", "16"]
    assert "same features: 59 samples" in cli(*words, shell=f"cat {source} | microshrub")
    words += ["--drop", "y", "--target", "x_mean", "--every", "20"]
    assert "make the same features" in cli(*words, shell=f"cat {source} | microshrub")


def test_a_closed_standard_input_is_refused() -> None:
    command = f"{sys.executable} -m microshrub_tools.cli.main simulate - <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode
    assert "standard input is closed" in done.stderr


def full_disk(**_: object) -> FileIO:
    return FileIO("/dev/full", "r+")


def test_a_full_disk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", full_disk)
    with pipe(table().encode()) as name:
        assert "cannot be kept in" in complaint(name)


# Line ends


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("blocks", [True, False])
def test_mixed_line_ends_are_read(
    put, seed: int, blocks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    rows = 300 if seed else 40 * ROWS  # more than a block
    ends = draw.sample(["\n", "\r", "\r\n"], draw.choice((2, 3)))
    lines = [f"{i},{i % 7},{'abc'[i * i % 3]}" for i in range(rows)]
    source = put(HEAD + "".join(line + draw.choice(ends) for line in lines))
    if not blocks and rows > 300:
        return
    if blocks:
        monkeypatch.setattr(data_files, "fill", None)
    else:
        monkeypatch.setattr(csv_blocks, "blocks", refuse)
    stream = open_stream(source)
    assert stream.values[:, 0].tolist() == list(range(rows))
    assert open_stream(source, limit=77).values[:, 0].tolist() == list(range(77))


def refuse(*_: object) -> None:
    raise csv_blocks.UnsureError("not now")


def test_a_regression_file_may_have_two_kinds_of_line_ends(put) -> None:
    rows = "".join(f"{i},{i % 7}{chr(13) if i % 3 else chr(10)}" for i in range(1500))
    stream = open_numbers(put("x,z\n" + rows), target="z")
    assert stream.columns[:, 0].tolist() == list(range(1500))


def test_a_wrong_count_of_lines_loses_no_row(put, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are not left out, even if a bug makes the count of lines wrong."""
    source = put(table(500))
    for wrong in (-100, 100):
        count = csv_blocks.count_lines
        with monkeypatch.context() as patch:
            patch.setattr(csv_blocks, "count_lines", lambda *a, c=count, w=wrong: c(*a) + w)
            assert open_stream(source).samples == 500


# Files that change


def add(path: Path) -> None:
    with path.open("a") as file:
        file.write("1,2,a\n")


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def replace(path: Path) -> None:
    new = path.with_name("new")
    new.write_text(path.read_text().replace("a\n", "e\n"))
    os.utime(new, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    new.replace(path)


def write(path: Path) -> None:
    text = path.read_text().replace("a\n", "e\n")
    os.utime(path, (0, 0))
    path.write_text(text)


@pytest.mark.parametrize("change", [add, cut, replace, write, Path.unlink])
@pytest.mark.parametrize("odd", ["", "1,text,a\n"])
@pytest.mark.parametrize("numbers", [False, True])
def test_a_file_that_changes_is_refused(
    put, change: Callable[[Path], None], odd: str, numbers: bool
) -> None:
    path = Path(put(table(60_000) + odd))
    done: list[int] = []

    def progress(at: int, whole: int) -> None:
        if not done:
            done.append(at)
            change(path)

    open_it = partial(open_numbers, target="z", drop=["y"]) if numbers else open_stream
    with pytest.raises(DataError, match=r"t\.csv was changed"):
        open_it(str(path), progress=progress)
    assert done


# Columns


def test_very_many_columns_are_refused_at_once(put) -> None:
    names = ",".join(f"c{i}" for i in range(65_536))
    source = put(names + "\n" + (",".join(["1"] * 65_536) + "\n") * 30)
    message = complaint(source)
    assert "65,535 feature columns" in message
    assert len(message) < 400
    assert len(complaint(source, label="d1")) < 1000
    stream = open_stream(source, columns=["c7", "c9"], classes="1,2")
    assert (stream.feature_names, stream.samples) == (("c7", "c9"), 30)
