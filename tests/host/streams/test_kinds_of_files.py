"""The command line reads each kind of file that users have, or refuses it with one message."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from file_cases import FILE_CASES, FileCase

from microshrub_host.base.errors import DataError
from microshrub_host.streams.open_stream import open_stream


@pytest.mark.parametrize("case", FILE_CASES, ids=lambda case: case.what)
def test_each_kind_of_file_is_read_or_refused(tmp_path: Path, case: FileCase) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.data)
    if case.words:
        with pytest.raises(DataError) as caught:
            open_stream(str(path))
        assert [word for word in case.words if word not in str(caught.value)] == []
        return
    stream = open_stream(str(path))
    text = " ".join(stream.notes)
    assert [word for word in case.notes if word not in text] == []
    if case.samples:
        assert stream.samples == case.samples
        assert len(stream.class_names) == 2


def test_files_of_installed_libraries_are_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet, feather = map(pytest.importorskip, ("pyarrow.parquet", "pyarrow.feather"))
    scipy_io = pytest.importorskip("scipy.io")

    x = [i % 7 / 2 for i in range(40)]
    y = ["ab"[i % 2] for i in range(40)]
    table = pa.table({"x": x, "z": [None, *range(39)], "y": y})
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, tmp_path / "t.feather")
    for name in ("t.parquet", "t.feather"):
        stream = open_stream(tmp_path / name)
        assert stream.feature_names == ("x", "z")
        assert stream.values[:, 0].tolist() == x
        assert np.isnan(stream.values[0, 1])
    scipy_io.savemat(tmp_path / "t.mat", {"X": np.array([x, x]).T, "y": np.arange(40) % 2})
    assert open_stream(tmp_path / "t.mat").class_names == ("0", "1")


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_the_index_of_a_pandas_frame_is_not_the_class(tmp_path: Path, name: str) -> None:
    """The file has the index after the columns: the numbers of drawn rows, or a time."""
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    parquet, feather = map(pytest.importorskip, ("pyarrow.parquet", "pyarrow.feather"))
    frame = pd.DataFrame({"x": np.arange(80) % 7 / 2, "y": ["walk", "rest"] * 40})
    for index, features in ((None, ("x",)), ("at", ("at", "x"))):
        drawn = frame.sample(40, random_state=1).rename_axis(index)
        table = pa.Table.from_pandas(drawn)
        write = parquet.write_table if name == "t.parquet" else feather.write_feather
        write(table, tmp_path / name)
        stream = open_stream(tmp_path / name)
        assert stream.feature_names == features
        assert stream.class_names == ("rest", "walk")
        assert stream.values[:, -1].tolist() == drawn["x"].tolist()
        assert ("has no name" in " ".join(stream.notes)) is (index is None)


def test_arrays_that_cannot_be_the_classes_are_refused_or_not_read(tmp_path: Path) -> None:
    rows = np.arange(160.0).reshape(40, 4) % 3
    path = tmp_path / "a.npz"
    np.savez(path, X=rows, y=np.arange(39) % 2)
    with pytest.raises(DataError, match=r"y has 39 values, and X has 40 rows"):
        open_stream(path)
    np.savez(path, X=rows, y=np.array(["walk", "rest"] * 20, dtype=object))
    with pytest.raises(DataError, match=r"a\.npz: y holds Python objects.*astype\(str\)"):
        open_stream(path)
    np.save(tmp_path / "a.npy", rows.astype(object))
    with pytest.raises(DataError, match=r"a\.npy: the array holds Python objects"):
        open_stream(tmp_path / "a.npy")
    np.savez(path, X=rows, names=np.array(["a", "b", "c", "class"]))
    stream = open_stream(path)
    assert stream.feature_names == ("c1", "c2", "c3")
    assert "not read: names" in " ".join(stream.notes)


def test_an_excel_sheet_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows have a date, a number and a text; empty rows and columns around the data
    are ignored.
    """
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Series 7"])
    book.active.append([])
    book.active.append(["when", "x", "y", None])
    for i in range(40):
        book.active.append([datetime(2026, 2, 1, 10, i), i % 7 / 4 if i else None, "ab"[i % 2]])
        if i % 10 == 0:
            book.active.append([])
    book.create_sheet().append(["other"])
    book.save(tmp_path / "t.xlsx")
    stream = open_stream(tmp_path / "t.xlsx")
    assert stream.samples == 40
    assert stream.feature_names == ("x",)
    assert np.isnan(stream.values[0, 0])
    assert stream.values[1:, 0].tolist() == [i % 7 / 4 for i in range(1, 40)]
    text = " ".join(stream.notes)
    assert "column when is left out" in text
    assert "the first of 2 sheets" in text
    assert "1 of text (line 1)" in text
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataError, match=r"openpyxl.*pip install 'microshrub\[files\]'"):
        open_stream(tmp_path / "t.xlsx")


def test_recordings_in_an_array_get_a_command_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An array of three dimensions becomes a wide file: two steps to classes."""
    monkeypatch.chdir(tmp_path)
    cube = np.arange(40 * 6 * 3).reshape(40, 6, 3) % 17 / 4
    np.savez("my windows.npz", X=cube, y=np.arange(40) % 2)
    with pytest.raises(DataError, match=r"40 .* 6 readings .* 3") as caught:
        open_stream("my windows.npz")
    message = str(caught.value)
    match = re.search(r"(python -c .*); then learn it: (microshrub .*)$", message)
    assert match
    subprocess.run([sys.executable, *shlex.split(match[1])[1:]], check=True)
    words = shlex.split(match[2])
    assert words[1:4] == ["simulate", "my windows.csv", "--wide"]
    stream = open_stream(words[2], wide=words[4:])
    assert stream.class_names == ("0", "1")
    assert np.allclose(stream.values, cube.reshape(-1, 3))


def test_units_give_the_clocks_resolution(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for unit, step in (("s", 0.02), ("ms", 20), ("µs", 20_000), ("ns", 20_000_000)):
        rows = "".join(f"{i * step:.12g},{i % 7},{'ab'[i % 2]}\n" for i in range(40))
        path.write_text(f"time,ax,y\n{unit},m/s²,\n{rows}", encoding="utf-8")
        stream = open_stream(path, columns=["time", "ax", "y"])
        assert np.allclose(stream.values[:, 0], 20.0 * np.arange(40)), unit


def test_texts_below_the_header_that_recur_are_not_units(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "x,on,y\n?,off,a\n" + "".join(f"{i % 7},off,{'ab'[i % 2]}\n" for i in range(9))
    )
    stream = open_stream(path)
    assert stream.samples == 10
    assert np.isnan(stream.values[0, 0])


def test_messages_of_several_topics_become_columns(tmp_path: Path) -> None:
    lines = [
        f'room/{i % 2} {{"v": {{"t": {i % 5}, "w": {i % 3}}}, "on": {i % 2}}}' for i in range(20)
    ]
    path = tmp_path / "t.log"
    path.write_text("\n".join(["connected", *lines[:9], "room/1 offline", *lines[9:]]))
    stream = open_stream(path)
    assert stream.feature_names == ("topic", "v.t", "v.w")
    assert stream.samples == 20
    assert any("2 of text (the first is line 1)" in note for note in stream.notes)


def test_messages_of_single_values_get_a_command_whose_output_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    values = [f"home/temp {20 + i % 5}\nhome/fan {'on' if i % 2 else 'off'}" for i in range(20)]
    path.write_text("\n".join(values))
    with pytest.raises(DataError, match="MQTT messages of one value") as caught:
        open_stream(path)
    match = re.search(r"echo ([\w,]+); mosquitto_sub -t 'home/#' -F '(.*?)'", str(caught.value))
    assert match
    lines = [match[1]]
    for i, value in enumerate("\n".join(values).splitlines()):
        parts = {"%I": f"2026-01-01T00:{i:02}:00+0100", "%t": value.split()[0]}
        parts["%p"] = value.split()[1]
        lines.append(re.sub(r"%\w", lambda placeholder: parts[placeholder[0]], match[2]))  # noqa: B023
    path.write_text("\n".join(lines))
    stream = open_stream(path)
    assert stream.class_names == ("off", "on")
    assert stream.feature_names == ("home/temp",)
    paths = [f"of/{i}.png {'cat' if i % 2 else 'dog'}" for i in range(20)]  # no topic recurs
    path.write_text("\n".join(paths))
    with pytest.raises(DataError, match=r"^(?!.*MQTT)"):
        open_stream(path)


def test_points_of_the_line_protocol_are_read(tmp_path: Path) -> None:
    """The points have escapes, all kinds of fields, a point without a field,
    and times in seconds.
    """
    lines = [
        rf"my\ room,on\,off=a\=b,floor={i % 2} t={i % 5}.5,n={i}i,u=3u,ok={'tF'[i % 2]},"
        rf'say="a, \"b\" {i % 2}" {1700000000 + i}'
        for i in range(20)
    ]
    lines[7] = lines[7].replace("t=2.5,", "")
    path = tmp_path / "t.txt"
    path.write_text("\n".join(lines))
    stream = open_stream(path, columns=["time", "floor", "t", "n", "u", "ok", "say"])
    assert stream.class_names == ('a, "b" 0', 'a, "b" 1')
    assert np.allclose(np.diff(stream.values[:, 0]), 1000)
    assert np.isnan(stream.values[7, 2])
    assert stream.values[8, 2] == 3.5
    assert stream.values[:, 3].tolist() == list(range(20))
    assert not any("left out:" in note for note in stream.notes)


def test_a_limit_works_for_all_kinds_of_files(tmp_path: Path) -> None:
    for case in FILE_CASES:
        if case.samples > 20:
            path = tmp_path / case.name
            path.write_bytes(case.data)
            assert open_stream(path, limit=17).samples == 17, case.what
