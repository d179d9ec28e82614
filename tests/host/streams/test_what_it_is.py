"""Files that are not a CSV file of numbers, and their error messages."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from streams_support import complaint

from microshrub_host.base.errors import DataError, UserError
from microshrub_host.base.text import share_of_samples
from microshrub_host.streams import csv_blocks
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.source_file import unreadable_kind

TEXT = b"x,y\n" + b"".join(b"%d,%d\n" % (i % 7, i % 2) for i in range(50))


def zipped(*names: str, packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", packed) as file:
        for name in names:
            file.writestr(name, TEXT)
    return data.getvalue()


def opendocument() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("content.xml", "<x/>")
    return data.getvalue()


def tar() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        file.addfile(tarfile.TarInfo("t.csv"), io.BytesIO())
    return data.getvalue()


def sqlite(folder: Path) -> bytes:
    with sqlite3.connect(folder / "t.db") as base:
        base.execute("create table t (x)")
    return (folder / "t.db").read_bytes()


# `put` packs files whose names end in .gz
FILES: dict[str, tuple[bytes | Callable[[Path], bytes], list[str]]] = {
    "t.xlsx": (
        zipped("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"),
        ["an Excel workbook", "as CSV in UTF-8"],
    ),
    "t.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), ["an old Excel workbook"]),
    "t.ods": (opendocument(), ["an OpenDocument file", "as CSV"]),
    "t.zip": (zipped("t.csv"), ["a zip archive", "Unpack it"]),
    "t.mshrub": (zipped("config.json", packed=zipfile.ZIP_STORED), ["a model", "--model"]),
    "t.parquet": (b"PAR1" + bytes(90), ["a Parquet file", "read_parquet", "to_csv", "t.csv"]),
    "t.feather": (b"ARROW1\0\0" + bytes(90), ["read_feather"]),
    "t.h5": (b"\x89HDF\r\n\x1a\n" + bytes(90), ["HDF5"]),
    "t.npy": (b"\x93NUMPY\x01\0v\0{", ["NumPy", "savetxt"]),
    "t.pkl": (b"\x80\x05\x95\n" + bytes(90), ["pickle"]),
    "t.db": (sqlite, ["SQLite"]),
    "t.csv.bz2": (bz2.compress(TEXT), ["bzip2", "Unpack it"]),
    "t.csv.xz": (lzma.compress(TEXT), ["xz", "Unpack it"]),
    "t.tar": (tar(), ["an archive"]),
    "t.tar.gz": (tar(), ["an archive"]),
    "t.csv.gz": (gzip.compress(TEXT), ["twice"]),
    "t.json": (b'[{"x": 1', ["JSON", "first value"]),
    "t.html": (b"\n<!DOCTYPE html><html>", ["a web page", "Download the data"]),
    "t.pdf": (b"%PDF-1.7\n1,2\n", ["a PDF"]),
    "t.png": (b"\x89PNG\r\n\x1a\n" + bytes(90), ["a picture"]),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("called", ["", "data.csv"])
def test_files_that_are_not_csv_are_named(put, tmp_path: Path, name: str, called: str) -> None:
    """The file's name does not matter."""
    made, words = FILES[name]
    data = made if isinstance(made, bytes) else made(tmp_path)
    packed = ".gz" * (bool(called) and name.endswith(".gz"))
    message = complaint(put(data, called + packed or name))
    assert message.startswith(f"{called + packed or name} is ")
    for word in words:
        assert (word in message) or (word == "t.csv" and called)


def test_a_workbook_through_a_pipe_is_named() -> None:
    made, _ = FILES["t.xlsx"]
    assert isinstance(made, bytes)
    out, into = os.pipe()
    os.write(into, made)
    os.close(into)
    try:
        assert "an Excel workbook" in complaint(f"/dev/fd/{out}")
    finally:
        os.close(out)


def test_files_that_begin_like_others_are_read(put) -> None:
    for head in ("PK,y", "BZh,y", "{x},y", "[x],y", "<x>,y", "MATLAB,y", "PAR,y"):
        assert open_stream(put(head + "\n1,a\n2,b\n")).samples == 2


def test_a_gzip_file_with_another_name_is_read(put) -> None:
    assert open_stream(put(gzip.compress(TEXT))).samples == 50


# Comments, and Excel's lines above the header


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# made, by, me\n1,2,a\n", ["line 1 begins with #"]),
        ("#x,z,y\n1,2,a\n", ["line 1 begins with #", "header, take the # away"]),
        ("x,z,y\nu,v,a\n# u, v, b\nu,v,b\n", ["line 3 begins with #"]),
        ("x,z,y\n1,2,a\n#,3\n2,3,b\n", ["line 3 begins with #"]),
    ],
)
def test_lines_that_are_not_rows_are_refused(put, text: str, words: list[str]) -> None:
    message = complaint(put(text))
    for word in words:
        assert word in message


def test_a_cell_that_looks_like_a_comment_is_read(put) -> None:
    assert open_stream(put("#,z,y\n1,2,a\n2,3,b\n")).feature_names == ("#", "z")
    colours = open_stream(put("c,z,y\n#f00,2,a\n#0f0,3,b\n"))
    assert colours.values[:, 0].tolist() == [0, 1]


def test_a_comment_is_not_a_class(put, monkeypatch: pytest.MonkeyPatch) -> None:
    source = put("y,x,z\na,1,2\n# b,3,4\nb,1,2\n")
    assert "line 3 begins with #" in complaint(source, label="y")


# Formatted numbers


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (['"1,000,000"', '"2,500,000"'], [1e6, 2.5e6]),
        (['"1,000.5"', '"2,500.5"'], [1000.5, 2500.5]),
        (['"1.000,5"', '"2.500,5"'], [1000.5, 2500.5]),
        (['"1,5"', '"2,25"'], [1.5, 2.25]),
        (["1 000", "2 500"], [1000, 2500]),
        (["999", "2\u00a0500"], [999, 2500]),
        (["1\u202f000", "2\u2019500"], [1000, 2500]),
        (["1.0 g", "2.0 g"], [1, 2]),
        (["1.0g", "2.5g"], [1, 2.5]),
        (["-1 m/s²", "2 m/s²"], [-1, 2]),
        (["45%", "12 %"], [45, 12]),
        (["21 °C", "22 °C"], [21, 22]),
        (['"21,5 °C"', '"22,5 °C"'], [21.5, 22.5]),
        (["(1.5)", "(2.5)"], [1.5, 2.5]),
        (["T: 1.5", "T: 2.5"], [1.5, 2.5]),
    ],
)
def test_formatted_numbers_are_read(put, cells: list[str], numbers: list[float]) -> None:
    rows = "".join(f"{cell},{'ab'[i % 2]}\n" for i, cell in enumerate(cells * 3))
    stream = open_stream(put("x,y\n" + rows))
    assert stream.values[:, 0].tolist() == numbers * 3
    assert [note for note in stream.notes if "column x: " in note]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (['"1,000"', '"2,500"'], ["thousands, or a decimal comma", "Write 1000 or 1.000"]),
        (["1", '"2,500"'], ["line 3", "Write 2500 or 2.500"]),
        (["21", "22 °C"], ["line 3", "Write 22,"]),
        (["1.5 g", "2.5 kg"], ["line 2", "'1.5 g' is a number with a unit"]),
    ],
)
def test_ambiguous_numbers_are_refused(put, cells: list[str], words: list[str]) -> None:
    """Two formats fit, or none fits all numbers."""
    rows = "".join(f"{cell},{'ab'[i % 2]}\n" for i, cell in enumerate(cells * 3))
    message = complaint(put("x,y\n" + rows))
    for word in ("column x", "rest of the file", *words):
        assert word in message
    assert "--drop" not in message


@pytest.mark.parametrize(
    ("cell", "words"),
    [("1,000", "Write 1000 or 1.000"), ("1.5 g", "Write 1.5, and the unit"), ("yes", "'yes'")],
)
def test_formatted_targets_are_refused(put, cell: str, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        open_numbers(put(f'x,y\n1,2\n2,"{cell}"\n'), target="y")
    assert "line 3, column y" in str(caught.value)
    assert "--target NAME takes another column" in str(caught.value)


@pytest.mark.parametrize("cells", [("1st", "2nd"), ("3G", "4G"), ("2 doors", "none at all")])
def test_texts_that_begin_with_a_number_are_categories(put, cells: tuple[str, str]) -> None:
    rows = "".join(f"{cell},{'ab'[i % 2]}\n" for i, cell in enumerate(cells * 3))
    assert open_stream(put("x,y\n" + rows)).values[:2, 0].tolist() == [0, 1]


def test_a_column_of_dates_is_a_clock(put) -> None:
    rows = "".join(f"2024-01-01 00:{i:02},{i % 7},{'ab'[i % 2]}\n" for i in range(60))
    source = put("when,x,y\n" + rows)
    stream = open_stream(source)
    assert stream.feature_names == ("x",)
    assert "column when is left out" in stream.notes[0]
    assert open_stream(source, drop=["when"]).feature_names == ("x",)
    assert open_stream(source, columns=["when"]).values[1, 0] == 1704067260000  # in milliseconds
    assert open_numbers(source, target="x", drop=["y"], horizon=1).column_names == ("x",)
    assert "--label" in complaint(source, label="when")
    last = put("x,y,when\n" + "".join(f"{i % 7},{'ab'[i % 2]},{i // 60:02}:{i % 60:02}:00\n"
                                      for i in range(90)))  # fmt: skip
    assert open_stream(last).class_names == ("a", "b")


def test_all_problems_are_reported_together(put) -> None:
    rows = "".join(f"s{i},{i % 7},k|{i},{i}\n" for i in range(300))
    message = complaint(put("s,x,a t,y\n" + rows))
    assert ": --drop s 'a t'" in message
    assert "300 classes" in message
    message = complaint(
        put("z,kind,x\n" + "".join(f"{i},{'ab'[i % 2]},{i}\n" for i in range(300)))
    )
    assert "Use --label kind" in message


# Classes


def test_classes_that_are_the_same_number_cause_a_note(put) -> None:
    """A spreadsheet writes 1 as 1.0 if the column has an empty cell."""
    names = ["1", "2", "1.0", "01", "+2", "10"]
    source = put("x,y\n" + "".join(f"{i},{name}\n" for i, name in enumerate(names)))
    ones, twos = open_stream(source).notes
    assert re.search(r"'1', '1\.0', '01' .* number .* 3 classes", ones)
    assert "'2', '+2' differ" in twos
    source = put("x,y\n1,Caf\u00e9\n2,Cafe\u0301\n3,rest\n")
    assert "how letters are encoded" in open_stream(source).notes[0]


@pytest.mark.parametrize("blocks", [True, False])
def test_classes_that_differ_by_case_or_spaces_cause_a_note(
    put, blocks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not blocks:
        monkeypatch.setattr(csv_blocks, "blocks", None)
        monkeypatch.setattr(csv_blocks, "read", refuse)
    names = ["rest", "walk", "REST", "rest ", "up stairs", "upstairs", "sit"]
    source = put("x,y\n" + "".join(f"{i},{name}\n" for i, name in enumerate(names)))
    spaced, one, other = open_stream(source).notes
    assert re.match("t.csv, line 5, column y: .* rest has other spaces", spaced)
    assert one.startswith("t.csv, line 4, column y: ")
    assert re.search("'rest', 'REST' .* 2 classes", one)
    assert "'up stairs', 'upstairs'" in other
    assert open_stream(source, classes="rest,REST,walk,up stairs,upstairs,sit").notes == (spaced,)


def refuse(*_: object) -> None:
    raise csv_blocks.UnsureError("not now")


# Shares


@pytest.mark.parametrize("text", ["10", "2.5", "100"])
def test_a_share_without_its_percent_sign_gets_a_suggestion(text: str) -> None:
    with pytest.raises(UserError, match=rf"'{text}'.*Did you mean {text}%\?"):
        share_of_samples(text, "--label-budget", "a label may be asked for")


@pytest.mark.parametrize("text", ["1000", "120%"])
def test_a_share_that_no_percent_sign_corrects_gets_no_suggestion(text: str) -> None:
    with pytest.raises(UserError, match=r"at most 1$"):
        share_of_samples(text, "--label-budget", "a label may be asked for")


def test_the_advice_does_not_overwrite_the_file() -> None:
    message = unreadable_kind("data.csv", b"PAR1" + bytes(90))
    assert "to_csv('\"'\"'data.csv" not in message
    assert "text-of-data.csv" in message
