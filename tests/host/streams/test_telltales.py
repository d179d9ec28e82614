"""Columns that reveal the label cause a note, with both readers; other columns do not."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from microshrub_host.streams import csv_blocks, stored_values
from microshrub_host.streams.open_regression_stream import open_numbers
from microshrub_host.streams.open_stream import open_stream

RISES, TELLS = "only rises", "tells the class nearly one to one"


def refuse(*_: object) -> None:
    raise csv_blocks.UnsureError("not now")


def noted(source: str, **options: object) -> dict[str, str]:
    """Return the notes that suggest a column to drop, by column."""
    notes = open_stream(source, **options).notes
    notes_of_columns = [note for note in notes if "--drop" in note]
    return {note.split("--drop ")[1].split(" leaves it out")[0]: note for note in notes_of_columns}


def table(rows: int = 400, **columns: list) -> str:
    draw = random.Random(3)
    columns = {"x": [f"{draw.gauss(0, 9):.2f}" for _ in range(rows)], **columns}
    lines = zip(*columns.values(), strict=True)
    return ",".join(columns) + "\n" + "".join(",".join(map(str, line)) + "\n" for line in lines)


def labels(rows: int = 400) -> list[str]:
    draw = random.Random(5)
    return [draw.choice("abc") for _ in range(rows)]


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("shuffle", [None, 4])
def test_a_row_number_causes_a_note(put, blocks: bool, shuffle: int | None, monkeypatch) -> None:
    """The order of the file counts, not that of the stream."""
    if not blocks:
        monkeypatch.setattr(csv_blocks, "blocks", refuse)
    source = put(table(v=list(range(400)), y=sorted(labels())))
    notes = noted(source, shuffle=shuffle)
    assert list(notes) == ["v"]
    assert f"t.csv: the column v {RISES}." in notes["v"]
    assert noted(source, shuffle=shuffle, drop=["v"]) == {}
    assert noted(source, shuffle=shuffle, columns=["v", "x"]) == {}


def test_a_column_that_rises_slowly_causes_a_note(put) -> None:
    """A clock in seconds does, also with gaps; one with a step back or with few steps does not."""
    seconds = [i // 9 for i in range(400)]
    gaps = ["" if i % 5 == 0 else s for i, s in enumerate(seconds)]
    back = [*seconds[:300], 0, *seconds[301:]]
    steps = [i // 40 for i in range(400)]
    notes = noted(put(table(s=seconds, g=gaps, b=back, f=steps, e=[""] * 400, y=labels())))
    assert list(notes) == ["s", "g"]


@pytest.mark.parametrize("shuffle", [None, 4])
def test_a_column_that_only_falls_causes_a_note(put, shuffle: int | None) -> None:
    down = [400 - i // 9 for i in range(400)]
    back = [*down[:300], 500, *down[301:]]
    source = put(table(v=down, b=back, y=sorted(labels())))
    notes = noted(source, shuffle=shuffle)
    assert list(notes) == ["v"]
    assert "the column v only falls." in notes["v"]


def test_a_rising_column_is_recognised_across_parts(put, monkeypatch) -> None:
    monkeypatch.setattr("microshrub_host.streams.label_leakage.PART", 64)
    monkeypatch.setattr("microshrub_host.streams.label_leakage._FIRST", 10)
    monkeypatch.setattr(stored_values, "IN_MEMORY", 1000)
    late = [*range(390), 1, *range(391, 400)]
    y = labels()
    source = put(table(v=list(range(400)), late=late, copy=["abc".index(c) for c in y], y=y))
    assert isinstance(open_stream(source).values, np.memmap)
    assert list(noted(source)) == ["v", "copy"]


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "uuid", "sample_id", "sampleId", "Unnamed: 0", "index", "row", "Row No",
     "timestamp", "time_s", "Time (s)", "date", "datetime", "seq", "rownames", "unix_time",
     "record number"],
)  # fmt: skip
def test_names_of_clocks_rows_and_identifiers_cause_a_note(put, name: str) -> None:
    draw = random.Random(2)
    column = [draw.randrange(9) for _ in range(400)]
    notes = list(noted(put(table(**{name: column, "y": labels()}))).values())
    assert len(notes) == 1
    assert f"the column {name} is named like a" in notes[0]


@pytest.mark.parametrize(
    "name",
    ["humid", "grid", "temperature", "period", "day", "hour", "timeout", "width", "acid", "note",
     "sound", "rowing", "idle_share", "x1", "lifetime value", "tsunami", "valid"],
)  # fmt: skip
def test_names_of_measurements_cause_no_note(put, name: str) -> None:
    draw = random.Random(2)
    column = [draw.randrange(9) for _ in range(400)]
    assert noted(put(table(**{name: column, "y": labels()}))) == {}


def test_a_copy_of_the_class_causes_a_note(put) -> None:
    y = labels()
    draw = random.Random(1)
    slips = ["abc".index(c) if draw.random() < 0.97 else 7 for c in y]
    noisy = ["abc".index(c) if draw.random() < 0.8 else 7 for c in y]
    texts = [f"is {c}" for c in y]
    half = ["abc".index(c) // 2 for c in y]
    notes = noted(put(table(slips=slips, noisy=noisy, texts=texts, half=half, y=y)))
    assert list(notes) == ["slips", "texts"]
    assert all(TELLS in note for note in notes.values())


def test_a_copy_of_the_class_in_a_sorted_file_causes_a_note(put) -> None:
    y = sorted(labels())
    notes = noted(put(table(copy=["abc".index(c) for c in y], y=y)))
    assert list(notes) == ["copy"]


def test_a_constant_column_does_not_reveal_a_rare_class(put) -> None:
    y = ["a"] * 396 + ["b"] * 4
    flag = [0] * 400
    assert noted(put(table(flag=flag, y=y))) == {}


@pytest.mark.parametrize("classes", ["ab", "abcd"])
def test_a_constant_column_causes_no_note_with_balanced_classes(put, classes: str) -> None:
    """A user trains equally many samples of each class;
    a value that all classes share is no copy.
    """
    y = [c for c in classes for _ in range(50)]
    rows = len(y)
    columns = {"flag": [0] * rows, "turns": [i % 2 for i in range(rows)]}
    assert noted(put(table(rows, **columns, y=y))) == {}


def test_a_rising_column_causes_a_note_for_regression(put) -> None:
    """The target may rise, as it is the column to predict."""
    source = put(table(v=list(range(400)), w=[k * k for k in range(400)]))
    (note,) = open_numbers(source, target="w").notes
    assert f"the column v {RISES}" in note
    assert open_numbers(source, target="w", drop=["v"]).notes == ()


def test_the_target_in_another_unit_causes_a_note(put) -> None:
    """There is no note for a forecast, where the present target may be known."""
    draw = random.Random(1)
    celsius = [20 + draw.gauss(0, 3) for _ in range(2000)]
    near = [c + draw.gauss(0, 0.3) for c in celsius]
    fahrenheit: list[float | str] = [round(1e6 + c * 1.8, 2) for c in celsius]
    fahrenheit[7] = ""
    falls = [-c for c in celsius]
    still = [5] * 2000
    source = put(
        table(2000, near=near, fahrenheit=fahrenheit, falls=falls, still=still, celsius=celsius)
    )
    notes = open_numbers(source, target="celsius").notes
    assert [re.findall(r"the column (\w+) is the target", note) for note in notes] == [
        ["fahrenheit"], ["falls"],
    ]  # fmt: skip
    assert open_numbers(source, target="celsius", drop=["fahrenheit", "falls"]).notes == ()
    assert open_numbers(source, target="celsius", horizon=1).notes == ()


def test_huge_or_few_numbers_are_not_copies(put) -> None:
    draw = random.Random(1)
    huge = [1e200 * draw.random() for _ in range(100)]
    small = [draw.random() for _ in range(100)]
    notes = open_numbers(put(table(100, huge=huge, small=small)), target="small").notes
    assert not any("is the target" in note for note in notes)
    few = put(table(3, a=[1, 2, 3], b=[2, 4, 6]))
    assert not any("is the target" in note for note in open_numbers(few, target="b").notes)
