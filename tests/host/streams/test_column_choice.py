"""`--columns` and `--drop`: the learned columns, with both readers, and refused choices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from streams_support import complaint

from microshrub_host.base.errors import DataError
from microshrub_host.streams import csv_blocks
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.open_stream import open_stream

HEAD = "when,x,note,z,y\n"
ROWS = "".join(f"2024-01-{i:02},{i},text {i},{i * 2},{'ab'[i % 2]}\n" for i in range(1, 29))


def refuse(*_: object) -> None:
    raise csv_blocks.UnsureError("not now")


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("packed", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ({"drop": ["when", "note"]}, ("x", "z")),
        ({"drop": ["note", "when", "x"]}, ("z",)),
        ({"columns": ["z", "x"]}, ("x", "z")),
        ({"columns": ["z", "y"]}, ("z",)),
        ({"columns": ["y"], "label": "x", "drop": None}, ("y",)),
    ],
)
def test_the_chosen_columns_are_learned(
    put, blocks: bool, packed: str, choice: dict, names: tuple, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = put(HEAD + ROWS, packed)
    if not blocks:
        monkeypatch.setattr(csv_blocks, "blocks", refuse)
    stream = open_stream(source, **choice)
    assert stream.feature_names == names
    values = {"x": range(1, 29), "z": range(2, 58, 2)}
    for place, name in enumerate(names):
        if name != "y":
            assert stream.values[:, place].tolist() == list(values[name])


def test_a_cell_of_a_dropped_column_may_have_a_line_break(put) -> None:
    """The line break must not start another row."""
    rows = '1,0,"x\n3,4,y"\n' + "".join(f"{i},{i % 2},n\n" for i in range(20))
    stream = open_stream(put("a,b,c\n" + rows), label="b", drop=["c"])
    assert stream.values[:, 0].tolist() == [1, *range(20)]


def test_a_comment_before_a_dropped_column_is_not_a_row(put) -> None:
    rows = "".join(f"n,{i % 9},{'ab'[i % 2]}\n" for i in range(20))
    source = put("note,x,y\n" + rows + "# noon,1,a\n" + rows)
    assert "line 22 begins with #" in complaint(source, drop=["note"])


def test_columns_of_a_regression_stream_can_be_chosen(put) -> None:
    source = put(HEAD + ROWS)
    for choice in ({"drop": ["when", "note", "y"]}, {"columns": ["x"]}):
        stream = open_numbers(source, target="z", **choice)
        assert stream.column_names == ("x", "z")
        assert stream.columns[:, stream.place].tolist() == list(range(2, 58, 2))
    stream = open_numbers(source, target="x", columns=["z"])
    assert (stream.column_names, stream.place) == (("x", "z"), 0)


def test_columns_of_a_file_without_a_header_can_be_chosen(put) -> None:
    source = put(ROWS)
    stream = open_stream(source, header=False, drop=["c1", "c3"])
    assert stream.feature_names == ("c2", "c4")


def test_attributes_of_an_arff_file_can_be_chosen(put) -> None:
    head = "@relation r\n@attribute t date 'yyyy'\n@attribute s string\n@attribute x numeric\n"
    source = put(head + "@attribute y {a,b}\n@data\n2020,'q',1,a\n2021,w,2,b\n", "t.arff")
    assert "--drop t." in complaint(source)
    for choice in ({"drop": ["t", "s"]}, {"columns": ["x"]}):
        assert open_stream(source, **choice).values[:, 0].tolist() == [1, 2]


def test_columns_of_generated_streams_can_be_chosen() -> None:
    whole = open_stream("synth:sea_a", limit=50)
    stream = open_stream("synth:sea_a", limit=50, drop=[whole.feature_names[1]])
    assert stream.feature_names == (whole.feature_names[0], *whole.feature_names[2:])
    assert np.array_equal(stream.values, np.delete(whole.values, 1, axis=1))
    numbers = open_numbers("synth:mv", limit=50)
    kept = open_numbers("synth:mv", limit=50, columns=numbers.column_names[2:4])
    assert kept.column_names == (*numbers.column_names[2:4], "target")
    assert np.array_equal(kept.columns, numbers.columns[:, [2, 3, -1]])


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"drop": ["X"]}, ["no column X", "--drop", "Did you mean x?"]),
        ({"columns": ["q"]}, ["no column q", "--columns"]),
        ({"columns": ["x"], "drop": ["z"]}, ["--columns", "--drop", "one of the two"]),
        ({"drop": ["y"]}, ["--drop names y", "--label"]),
        ({"drop": ["when", "note", "x", "z"]}, ["0 feature columns"]),
        ({"columns": ["y"]}, ["0 feature columns"]),
        ({"columns": []}, ["0 feature columns"]),
    ],
)
def test_impossible_choices_are_refused(put, choice: dict, words: list[str]) -> None:
    message = complaint(put(HEAD + ROWS), **choice)
    for word in words:
        assert word in message


def test_a_column_without_a_name_can_be_dropped(put) -> None:
    source = put(",x,y\n" + "".join(f"{i},{i},{'ab'[i % 2]}\n" for i in range(9)))
    assert "column 1 has no name" in complaint(source)
    assert "--drop ''" in complaint(source)
    for choice in ({"drop": [""]}, {"columns": ["x"]}):
        assert open_stream(source, **choice).feature_names == ("x",)


def test_two_columns_with_the_name_of_the_class_are_refused(put) -> None:
    source = put("y,x,y\n" + "".join(f"c{i},{i},{'ab'[i % 2]}\n" for i in range(9)))
    assert "two columns are named y" in complaint(source)
    assert open_stream(source, columns=["x"]).class_names == ("a", "b")
    assert "two columns are named y" in complaint(source, columns=["x"], label="y")


# The times that `record` writes


def test_the_times_of_record_are_left_out(put) -> None:
    source = put("time,x,label\n" + "".join(f"{i * 20},{i % 9},{'ab'[i % 2]}\n" for i in range(9)))
    stream = open_stream(source)
    assert stream.feature_names == ("x",)
    (note,) = stream.notes
    assert "column time is left out" in note
    assert open_stream(source, columns=["time", "x"]).feature_names == ("time", "x")
    assert open_stream(source, drop=["x"]).feature_names == ("time",)
    numbers = open_numbers(source, target="x", drop=["label", "time"], horizon=1)
    assert numbers.column_names == ("x",)


def test_times_that_are_no_clock_are_learned(put) -> None:
    rows = "".join(f"{i * 7 % 5},{i % 9}\n" for i in range(30))
    assert open_numbers(put("time,x\n" + rows), target="x").column_names == ("time", "x")
    assert open_stream(put("x,time,y\n1,2,a\n2,3,b\n")).feature_names == ("x", "time")
    assert open_stream(put("time,x,y\na,2,1\nb,3,2\n"), label="time").feature_names == ("x", "y")


# A series of one column


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_series_of_one_column_is_read(put, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "value\n" + "\n".join(str(i % 7) for i in range(50)) + end
    for blocks in (True, False):
        if not blocks:
            monkeypatch.setattr(csv_blocks, "blocks", refuse)
        stream = open_numbers(put(text), target="value", horizon=1, lags=6)
        assert stream.feature_names == ("value now", *(f"value {i} before" for i in range(1, 6)))
        assert stream.values.shape == (49, 6)
        assert stream.targets.tolist() == [i % 7 for i in range(1, 50)]


def test_an_empty_line_in_a_series_is_refused(put) -> None:
    lines = ["value", *map(str, range(9))]
    gap = "\n".join([*lines[:4], "", *lines[4:]])
    with pytest.raises(DataError, match="line 5 is empty"):
        open_numbers(put(gap), target="value", horizon=1)
    stream = open_numbers(put(gap.replace("\n\n", "\nNA\n")), target="value", horizon=1)
    assert np.isnan(stream.columns[3, 0])
    trailing = put("\n".join(lines) + "\n\n\n")
    assert len(open_numbers(trailing, target="value", horizon=1).columns) == 9


def test_a_series_without_a_horizon_has_nothing_to_learn_from(put) -> None:
    with pytest.raises(DataError, match=r"0 feature columns.*--horizon"):
        open_numbers(put("value\n1\n2\n"), target="value")


def test_both_readers_agree_on_all_choices_of_three_columns(
    put, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyarrow and the row-by-row reader give the same stream for each choice."""
    source = put("a,b,c,d\n" + "".join(f"{i},{i * 3 % 7},{i % 2},{i % 5}\n" for i in range(30)))
    labels = (None, "a", "c")
    for label, size in itertools.product(labels, (1, 2)):
        for drop in itertools.combinations("abcd", size):
            results = []
            for blocks in (True, False):
                with monkeypatch.context() as patch:
                    if not blocks:
                        patch.setattr(csv_blocks, "blocks", refuse)
                    try:
                        stream = open_stream(source, label=label, drop=drop)
                        results.append((stream.values.tolist(), stream.labels.tolist()))
                    except DataError as error:
                        results.append(str(error))
            assert results[0] == results[1]
