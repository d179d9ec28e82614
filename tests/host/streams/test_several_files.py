"""Several files and folders as one stream: the class is a column, or in each recording's name."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.base.errors import DataError
from microshrub_host.streams.named_files import classes_in_names
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream


def readings(rows: int, header: str = "ax,ay\n", step: int = 3) -> str:
    return header + "".join(f"{i * step % 50},{-i % 9}.5\n" for i in range(rows))


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def labels(stream: Stream) -> list[str]:
    return [stream.class_names[label] for label in stream.labels]


def test_the_class_may_be_in_the_name_of_each_file(tmp_path: Path) -> None:
    names = {"fist_1.csv": 7, "rest_2.csv": 5, "fist_10.csv": 4}
    put(tmp_path, {name: readings(rows) for name, rows in names.items()})
    stream = open_stream(tmp_path)
    assert labels(stream) == 7 * ["fist"] + 4 * ["fist"] + 5 * ["rest"]
    assert stream.feature_names == ("ax", "ay")
    assert stream.groups is not None
    assert stream.groups.tolist() == 7 * [0] + 4 * [1] + 5 * [2]
    assert stream.starts == (7, 11)
    assert "fist (2 files), rest (1 file)" in " ".join(stream.notes)


@pytest.mark.parametrize("cell", ["1", "red"])  # read in blocks, or cell by cell
def test_shuffled_samples_keep_their_file(tmp_path: Path, cell: str) -> None:
    text = f"x,z\n{cell},1\n" + f"{cell},2\n" * 9
    put(tmp_path, {"a.csv": text, "b.csv": text})
    stream = open_stream(tmp_path, shuffle=3, limit=7, label_from="name")
    assert stream.groups is not None
    assert stream.samples == 7
    assert stream.groups.tolist() == stream.labels.tolist()


def test_files_have_the_order_of_the_command_line(tmp_path: Path) -> None:
    put(tmp_path, {"b.csv": readings(3), "a.csv": readings(2)})
    stream = open_stream([tmp_path / "b.csv", str(tmp_path / "a.csv")])
    assert labels(stream) == 3 * ["b"] + 2 * ["a"]


def test_a_column_may_hold_the_class(tmp_path: Path) -> None:
    text = "x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(6))
    put(tmp_path, {"monday.csv": text, "tuesday.csv": text})
    stream = open_stream(tmp_path)
    assert labels(stream) == list("ab" * 6)
    assert stream.group_name == "file"
    assert len(set((stream.groups if stream.groups is not None else np.zeros(1)).tolist())) == 2


@pytest.mark.parametrize(
    ("names", "way"),
    [
        (["fist/1.csv", "fist/2.csv", "rest/1.csv"], None),
        (["fist/a.csv", "fist/b.csv", "rest/c.csv"], None),
        (["fist/fist.csv", "rest/rest.csv"], None),
        (["monday/fist_1.csv", "tuesday/fist.csv", "monday/rest.csv"], "name"),
        (["fist/walk.csv", "fist/run.csv", "rest/walk.csv"], "folder"),
        (["fist.1x2.csv", "rest.csv"], None),
        (["01_fist.csv", "2026-01-02_fist.csv", "rest (2).csv"], None),
    ],
)
def test_the_class_may_be_in_the_name_or_the_folder(
    tmp_path: Path, names: list[str], way: str | None
) -> None:
    put(tmp_path, {name: readings(3) for name in names})
    assert open_stream(tmp_path, label_from=way).class_names == ("fist", "rest")


def test_numbers_in_names_are_classes_only_if_no_texts_differ() -> None:
    assert classes_in_names(["g1.csv", "g2.csv"], "name") == ["g1", "g2"]
    assert classes_in_names(["g1.csv", "g2.csv", "r.csv"], "name") == ["g", "g", "r"]
    assert classes_in_names(["g1.csv", "g2.csv", "r.csv"], "file") == ["g1", "g2", "r"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"mon/fist.csv": "", "mon/rest.csv": "", "tue/fist.csv": "", "tue/rest.csv": ""},
         ["--label-from name", "--label-from folder"]),
        ({"a.csv": "x,on\n1,0\n2,1\n", "b.csv": "x,on\n3,1\n"}, ["--label on", "--label-from"]),
        ({"a.csv": readings(3), "b.csv": readings(3, "ax,az\n")}, ["lacks ay", "--drop ay az"]),
        ({"a.csv": readings(3), "b.csv": "1,2,3\n3,4,5\n5,6,7\n"}, ["b.csv 3"]),
        ({"a.csv": readings(3), "b.csv": "ax,ay\n1,2\n1\n"}, ["b.csv, line 3", "2 cells"]),
        ({"a.csv": readings(3), "b.csv": "ax,ay\n"}, ["b.csv has"]),
        ({"a.csv": "x,z\n1.5 g,1\n2.5 g,2\n", "b.csv": "x,z\n15 mg,1\n25 mg,3\n"},
         ["unit", "b.csv"]),
        ({"a.csv": readings(3), "b.csv": "@relation r\n@data\n"}, ["b.csv", "ARFF", "alone"]),
        ({"readme.md": "x"}, ["without a data file"]),
    ],
)  # fmt: skip
def test_files_that_do_not_fit_are_refused_with_advice(
    tmp_path: Path, files: dict[str, str], words: list[str]
) -> None:
    put(tmp_path, {name: text or readings(3) for name, text in files.items()})
    with pytest.raises(DataError) as caught:
        open_stream(tmp_path)
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_repeated_file_and_a_pipe_are_refused(tmp_path: Path) -> None:
    put(tmp_path, {"a.csv": readings(3)})
    for others in ("a.csv", "-"):
        with pytest.raises(DataError):
            open_stream([tmp_path / "a.csv", str(tmp_path / others) if others != "-" else "-"])


def test_an_error_in_a_cell_names_its_file_and_line(tmp_path: Path) -> None:
    put(tmp_path, {"a.csv": readings(3), "b.csv": readings(3) + "\n5,off\n"})
    with pytest.raises(DataError, match=r"b\.csv, line 6, column ay"):
        open_stream(tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_no_row_is_lost(tmp_path: Path, seed: int) -> None:
    """The files have several formats, headers or none, and columns in different orders."""
    draw = random.Random(seed)
    wanted: dict[str, list[list[float]]] = {}
    lost, usual = 0, [0, 1, 2]  # the order of the first file's columns
    for place in range(draw.randint(2, 6)):
        name = f"{draw.choice(['fist', 'rest'] if place > 1 else [['fist'], ['rest']][place])}"
        rows = [[round(draw.uniform(-9, 9), 2) for _ in "xyz"] for _ in range(draw.randint(5, 60))]
        wanted.setdefault(name, []).extend(rows)
        order = draw.sample([0, 1, 2], 3)
        columns = ["x", "y", "z"]
        file_format = draw.choice(["csv", "bare", "semicolons", "json", "pairs", "boot"])
        usual = usual if place or file_format == "json" else order
        lines = [",".join(columns[at] for at in order)]
        lines += [",".join(f"{row[at]:.2f}" for at in order) for row in rows]
        text = "\n".join(lines) + "\n"
        if file_format == "bare" and place:
            text = "".join(",".join(f"{row[at]:.2f}" for at in usual) + "\n" for row in rows)
        elif file_format == "semicolons":
            text = text.replace(",", ";").replace(".", ",")
        elif file_format == "json":
            text = json.dumps([dict(zip(columns, row, strict=True)) for row in rows])
        elif file_format == "pairs":
            pairs = [[f"{columns[at]}: {row[at]:.2f}" for at in order] for row in rows]
            text = "\n".join(map(", ".join, pairs)) + "\n"
        elif file_format == "boot":
            where = draw.randint(1, len(lines) - 1)
            lines.insert(where, "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)")
            text, lost = "\n".join(lines) + "\n", lost + 1
        (tmp_path / f"{name}_{place}.{'json' if file_format == 'json' else 'csv'}").write_text(
            text
        )
    stream = open_stream(tmp_path, columns=["x", "y", "z"])
    assert stream.samples == sum(map(len, wanted.values()))
    for label, name in enumerate(stream.class_names):
        rows_of_label = stream.values[stream.labels == label]
        order = [stream.feature_names.index(each) for each in "xyz"]
        assert sorted(rows_of_label[:, order].tolist()) == sorted(wanted[name])
    assert (f"{lost} line" in " ".join(stream.notes)) == bool(lost)


def test_a_target_may_come_from_several_files(tmp_path: Path) -> None:
    put(tmp_path, {"a.csv": readings(9), "b.csv": readings(8)})
    stream = open_numbers(tmp_path, target="ay")
    assert stream.samples == 17
    assert "one after the other" in " ".join(stream.notes)


@pytest.mark.parametrize(
    ("rows", "limit", "expected"),
    [
        ((9, 9, 9), 9, [3, 3, 3]),
        ((9, 9, 9), 8, [3, 3, 2]),
        ((2, 9, 9), 9, [2, 4, 3]),
        ((9, 9), 2, [1, 1]),
        ((9, 9, 9), 1, [1, 1, 1]),  # at least one of each
        ((4, 4), 20, [4, 4]),
        ((900, 250, 900), 1200, [400, 250, 550]),  # a file's length is known after reading it
    ],
)
def test_a_limit_takes_a_share_of_each_file(
    tmp_path: Path, rows: tuple[int, ...], limit: int, expected: list[int]
) -> None:
    put(tmp_path, {f"{'ab'[at % 2]}_{at}.csv": readings(each) for at, each in enumerate(rows)})
    files = sorted(tmp_path.iterdir(), key=lambda path: path.stem[-1])
    stream = open_stream(files, limit=limit)
    assert stream.groups is not None
    assert np.bincount(stream.groups).tolist() == expected


def test_a_limit_stops_the_reading(tmp_path: Path) -> None:
    text = "x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(6))
    put(tmp_path, {"1.csv": text, "2.csv": text + "broken\n"})
    assert open_stream(tmp_path, limit=8).samples == 8


WIDE = [[10 * row + value for value in range(6)] for row in range(8)]


@pytest.mark.parametrize(
    ("words", "header", "first"),
    [
        (["axes=2"], "", [[0, 1], [2, 3], [4, 5]]),
        (["axes=2", "order=axes"], "", [[0, 3], [1, 4], [2, 5]]),
        (["axes=2"], "ax0,ay0,ax1,ay1,ax2,ay2,y\n", [[0, 1], [2, 3], [4, 5]]),
        (["axes=2"], "ax0,ax1,ax2,ay0,ay1,ay2,y\n", [[0, 3], [1, 4], [2, 5]]),
        ([], "", [[0], [1], [2], [3], [4], [5]]),
    ],
)
def test_wide_rows_are_windows(
    tmp_path: Path, words: list[str], header: str, first: list[list[int]]
) -> None:
    rows = [",".join(map(str, row)) + f",{'ab'[at // 4]}\n" for at, row in enumerate(WIDE)]
    path = tmp_path / "wide.csv"
    path.write_text(header + "".join(rows))
    stream = open_stream(path, wide=words)
    assert stream.values[: len(first)].tolist() == first
    assert stream.readings == len(first)
    assert stream.starts == tuple(len(first) * row for row in range(1, 8))
    assert labels(stream) == 4 * len(first) * ["a"] + 4 * len(first) * ["b"]
    assert stream.group_name == "recording"
    if header and len(words) == 1:
        assert stream.feature_names == ("ax", "ay")


def test_wide_files_may_have_one_class_each(tmp_path: Path) -> None:
    text = "".join(",".join(map(str, row)) + "\n" for row in WIDE)
    put(tmp_path, {"a_1.csv": text, "b_1.csv": text})
    stream = open_stream(tmp_path, wide=["axes=3"])
    assert labels(stream) == 16 * ["a"] + 16 * ["b"]
    assert stream.feature_names == ("v1", "v2", "v3")
    put(tmp_path, {"a_2.csv": text, "b_2.csv": text})
    assert open_stream(tmp_path, wide=["axes=3"]).group_name == "file"
    few = open_stream(tmp_path, wide=["axes=3"], limit=12)  # whole recordings, as many per class
    assert few.groups is not None
    assert np.bincount(few.groups).tolist() == [4, 4, 2, 2]
    with pytest.raises(DataError, match="axes=N"):
        open_stream(tmp_path, wide=["axes=4"])
