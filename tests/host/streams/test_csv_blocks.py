"""pyarrow and the row-by-row reader give the same streams."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.base.errors import DataError
from microshrub_host.evaluation.prequential import evaluate
from microshrub_host.streams import csv_blocks, data_files, stored_values
from microshrub_host.streams.csv_blocks import UnsureError
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stored_values import let_go
from microshrub_host.streams.stream import Stream

CELLS = (
    *(
        "1",
        "-2.5",
        "+3",
        ".5",
        "7.",
        "1e3",
        "-1E-2",
        " 4 ",
        "0012",
        "1e400",
        "1_000",
        "0x10",
        "inf",
    ),
    *(
        "Infinity",
        "NaN",
        "NAN",
        "nan",
        "",
        "?",
        "NA",
        "None",
        "text",
        "1,5",
        "\t3",
        "٣",
        "1 2",
        "--1",
    ),
    *('"2"', '" 4"', '"NA"', '""', '"1"2', '"5', '"1,5"', '"4\n"'),
)
LABELS = (
    *("a", " b", "b ", '"c"', "NA", "", "c, d", "ä", '"c, d"', '" b"', '"a"b', '"a"', 'a"b'),
    *('"a ""b"""', '"#a"', '"a\nb"', '"NA"', '"', '"",""', '"a,"b'),
)
HEADS = ("x,y,class\n", "\nx,y,class\n", '"x","y","class"\n', "x;y;class\n", "\ufeffx,y,class\n")


def both(source: str, monkeypatch: pytest.MonkeyPatch, **options: object) -> list[object]:
    """Return the file's stream or error with pyarrow, and without."""
    results: list[object] = []
    for allowed in (True, False):
        with monkeypatch.context() as patch:
            if not allowed:
                patch.setattr(csv_blocks, "read", refuse)
            try:
                results.append(open_stream(source, warmup=8, **options))
            except DataError as error:
                results.append(str(error))
    return results


def refuse(*_: object) -> None:
    raise UnsureError("not now")


def assert_same(one: object, other: object) -> None:
    if not isinstance(one, Stream) or not isinstance(other, Stream):
        assert one == other
        return
    assert np.array_equal(one.values, other.values, equal_nan=True)
    assert one.labels.tolist() == other.labels.tolist()
    for name in ("name", "feature_names", "class_names", "notes"):
        assert getattr(one, name) == getattr(other, name)
    assert one.scale.units() == other.scale.units()


@pytest.mark.parametrize("seed", range(120))
def test_any_file_is_read_as_by_the_row_by_row_reader(
    seed: int, put, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    odd = draw.choice((0, 0, 0.02, 0.2))
    head = draw.choice(HEADS) if odd else HEADS[0]
    between, end = (";" if ";" in head else ","), draw.choice(("\n", "\n", "\r\n"))

    def cell() -> str:
        return draw.choice(CELLS) if draw.random() < odd else f"{draw.gauss(5, 40):.3f}"

    quoted = draw.random() < 0.5

    def label() -> str:
        usual = draw.choice(("a", "b", "c"))
        return draw.choice(LABELS) if draw.random() < odd else f'"{usual}"' if quoted else usual

    rows = [between.join((cell(), cell(), label())) for _ in range(40)]
    if draw.random() < odd:
        rows[draw.randrange(40)] += draw.choice((between, "\n", " \n \n", between + "1"))
    text = head.replace("\n", end) + end.join(rows) + draw.choice(("", end))
    options = draw.choice(({}, {"limit": 11}, {"shuffle": 3}, {"shuffle": 1, "limit": 9}))
    options |= draw.choice(({}, {"label": "y"}, {"classes": "a,b"}))
    name = draw.choice(("t.csv", "t.csv.gz"))
    assert_same(*both(put(text, name), monkeypatch, **options))


def test_plain_files_are_read_by_pyarrow(put, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"{i}.25,,{'ab'[i % 2]}\n" for i in range(50))
    source = put("x,y,class\n" + rows)
    monkeypatch.setattr(data_files, "fill", refuse)
    stream = open_stream(source)
    assert stream.values[:2, 0].tolist() == [0.25, 1.25]
    assert np.isnan(stream.values[:, 1]).all()


@pytest.mark.parametrize("chunk", [1 << 20, 7])
def test_quoted_cells_are_read_by_pyarrow(
    put, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """As R writes all texts, and other programs all cells."""
    monkeypatch.setattr(csv_blocks, "_CHUNK", chunk)
    monkeypatch.setattr(data_files, "fill", refuse)
    for mark, end in (("", "\n"), ('"', "\r\n"), ('"', "")):
        rows = [f'{mark}{i}.25{mark},{mark}{mark},"{"ab"[i % 2]}, c"' for i in range(50)]
        stream = open_stream(put('"x","y","class"\n' + "\n".join(rows) + end))
        assert stream.values[:2, 0].tolist() == [0.25, 1.25]
        assert np.isnan(stream.values[:, 1]).all()
        assert stream.class_names == ("a, c", "b, c")


@pytest.mark.parametrize("odd", ['"a"b', '"a,"b', 'a"', ' "a"', '"a" ', '"a""b"', '"a\nb"', '"a'])
def test_other_quotation_marks_are_left_to_the_row_by_row_reader(
    put, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    source = put(f'x,y\n1,a\n2,b\n3,{odd}\n4,"b"\n')
    assert_same(*both(source, monkeypatch))
    monkeypatch.setattr(data_files, "fill", refuse)
    with pytest.raises(UnsureError):
        open_stream(source)


def test_a_long_stream_is_stored_in_a_file(put, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"{i}.5,{i % 7},{'ab'[i % 2]}\n" for i in range(3000))
    source = put("x,y,class\n" + rows)
    in_memory = open_stream(source)
    model = {"features": 2, "classes": 2, "window": 8, "trees": 2, "depth": 2}
    learned = evaluate(in_memory, "shrub", model)
    monkeypatch.setattr(stored_values, "IN_MEMORY", 1000)
    monkeypatch.setattr(stored_values, "COLUMN_IN_MEMORY", 1000)
    in_file = open_stream(source)
    assert isinstance(in_file.values, np.memmap)
    assert isinstance(in_file.labels, np.memmap)
    assert_same(in_memory, in_file)
    let_go(in_file.values)
    let_go(in_file.labels)
    assert_same(in_memory, in_file)
    again = evaluate(in_file, "shrub", model)
    assert isinstance(again.right, np.memmap)
    assert (again.right == learned.right).all()
    assert (again.state_crc32, again.running_average_accuracy, again.label_agreement) == (
        learned.state_crc32,
        learned.running_average_accuracy,
        learned.label_agreement,
    )


def test_a_full_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_values, "cache_folder", lambda name: tmp_path)
    with pytest.raises(DataError, match="cannot be kept in"):
        stored_values.Room(1 << 44, 1)


def test_a_disk_that_writes_only_a_part_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_values, "cache_folder", lambda name: tmp_path)
    monkeypatch.setattr(stored_values, "IN_MEMORY", 100)
    numbers = np.arange(50.0)
    with stored_values.Room(50, 2) as room:
        room.write(0, 1, numbers)
        monkeypatch.setattr("os.pwrite", lambda file, data, place: len(data))  # numbers, not bytes
        with pytest.raises(DataError, match=r"800 bytes for 50 samples.* full"):
            room.write(0, 0, numbers)
    assert room.values[:, 1].tolist() == numbers.tolist()
    assert not room.values[:, 0].any()
    assert not list(tmp_path.iterdir())
