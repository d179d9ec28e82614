"""The error message for every source that cannot be read as a stream. ARFF is in test_arff.py."""

import csv
import gzip
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streams_support import complaint

from microshrub_host.streams import data_files
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.text_lines import LONGEST_LINE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["t.csv is empty"]),
        ("\n \n\n", ["t.csv is empty"]),
        ('""\n', ["t.csv is empty"]),
        ("a,b,y\n", ["no samples"]),
        ("a,b,y\n\n\n", ["no samples"]),
        ("a,,y\n1,2,0\n", ["line 1", "column 2 has no name"]),
        ("a,b,a\n1,2,0\n", ["line 1", "two columns are named a"]),
        ("y\n0\n1\n", ["0 feature columns"]),
        ("a/b/y\n0/1/2\n", ["0 feature columns", "separated by commas"]),
        ("a,b,y\n1,2,0\n1,2\n", ["line 3", "3 cells expected", "2 found"]),
        ("a,b,y\n1,2,0\n\n1,2,0,4\n", ["line 4", "3 cells expected", "4 found"]),
        ('a,b,y\n"1\n\n",2,0\n1,2\n', ["line 5"]),
        ('a,b,y\n1,"2,0\n1,2,0\n', ["line 2", "cannot be read", 'stray "']),
        ("a,b,y\n1,2,0\n1,two,1\n", ["line 3", "column b", "'two' is text"]),
        ("a,b,y\n1,x,0\n1,2,1\n", ["line 2", "column b", "'x'"]),
        ("a,b,y\n1,1_000,0\n1,2,1\n", ["line 2", "column b", "'1_000'"]),
        ("a,b,y\n1,inf,0\n1,2,1\n", ["line 2", "column b", "infinite"]),
        ("a,b,y\n1,2,0\n1,-1e999,1\n", ["line 3", "column b", "infinite"]),
        ('a,b,y\n"1,500",2,0\n"2,500",3,1\n', ["line 2", "column a", "decimal comma", "1.500"]),
        ("a,b,y\n1,2,0\n1,2,\n", ["line 3", "column y", "class is missing"]),
        ("a,b,y\n1,2,0\n1,2,NA\n", ["line 3", "column y", "class is missing"]),
        ("a,b,y\n1,2,0\n1,2,0\n", ["column y", "only class is 0"]),
        ("a,y\n" + "".join(f"1,{i}\n" for i in range(257)), ["257 classes", "256", "--label"]),
        (",".join(f"c{i}" for i in range(258)) + "\n", ["257 feature columns", "256"]),
        (b"a,y\n1,0\n\x81\xfe,1\n", ["line 3", "UTF-8"]),
        ("a,y\n1,0\n".encode("utf-16-le"), ["line 1", "zero byte", "UTF-16"]),
        (b"a,y\r1,0\r\x81,1\r", ["line 1", "UTF-8"]),
        (b"a,y\r1,0\rone,1\r", ["line 3", "column a", "'one' is text"]),
    ],
)
def test_bad_files_are_refused(put, text, words):
    message = complaint(put(text))
    assert "t.csv" in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "first",
    [
        "5.1,3,walk",
        "5,-3,walk",
        "1e3,3,walk",
        "5,+3,walk",
        "0.0,,walk",
        "0.0,0.0,walk",
        "7,7,walk",
    ],
)
def test_a_file_without_a_header_loses_no_sample(put, first):
    source = put(f"{first}\n1,2,sit\n3,4,walk\n")
    for stream in (open_stream(source), open_stream(source, header=False)):
        assert stream.feature_names == ("c1", "c2")
        assert len(stream.labels) == 3
    assert "first row is a sample" in " ".join(open_stream(source).notes)


def test_a_header_with_some_numbers_is_refused(put):
    message = complaint(put("time,3.5,walk\n1,2,sit\n3,4,walk\n"))
    assert "t.csv, line 1: 3.5" in message
    assert "--no-header" in message


def test_a_label_without_a_header_has_a_numbered_name(put):
    source = put("1.5,y,2\n1,walk,2\n3,sit,4\n")
    assert "no column y" in complaint(source, label="y")
    assert len(open_stream(source, label="c2").labels) == 3


TRACED = """
import sys, tracemalloc
from microshrub_host import UserError, open_stream
open_stream(sys.argv[2])  # imports all that reads a file, and may have to compile it
before = tracemalloc.get_traced_memory()[0]
tracemalloc.reset_peak()
try:
    open_stream(sys.argv[1])
except UserError as error:
    print(error)
print(tracemalloc.get_traced_memory()[1] - before)
"""


def test_a_line_without_end_takes_little_memory(put):
    source = put(b"a,y\n1,0\n2,1\n" + b"7" * (LONGEST_LINE * 64), "t.csv.gz")
    # in a process of its own: here, other threads may allocate when tracing begins
    good = put("a,y\n1,0\n2,1\n", "good.csv.gz")
    command = [sys.executable, "-X", "tracemalloc", "-c", TRACED, str(source), str(good)]
    message, peak = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert re.search("line 4: .* 1,048,576 bytes", message)
    assert int(peak) < 16 * LONGEST_LINE  # of 64 times as much


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_an_endless_file_of_zeros_is_refused():
    assert "line 1: a zero byte" in complaint("/dev/zero")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_file_may_be_longer_than_the_longest_line(put, ends):
    rows = [f"{i},{i / 7!r},{'ab'[i % 2]}" for i in range(60_000)]
    stream = open_stream(put(ends.join(["x,z,y", *rows])))
    assert stream.values[:, 0].tolist() == list(range(60_000))


@pytest.mark.parametrize("limit", [0, 1 << 31, 10**23])
def test_wrong_limits_are_refused(put, limit):
    for source in (put("a,y\n1,0\n2,1\n"), "synth:agrawal_a"):
        message = complaint(source, limit=limit)
        assert f"--limit is {limit}; " in message
        assert "1 to 2,147,483,647" in message


# Texts that are not categories


def table_of(cells):
    return "ts,y\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells))


@pytest.mark.parametrize(
    ("cells", "count", "rows"),
    [
        ([f"2024-01-01 {i:02}h" for i in range(60)], 60, 60),
        ([f"2024-01-01 00:{i:03}" for i in range(999)], 65, 65),
        ([f"1_{i:03}" for i in range(17)], 17, 17),
        (["?"] * 20 + [f"id{i}" for i in range(17)], 17, 37),
        (["a"] * 16 + [f"id{i}" for i in range(17)], 18, 33),
        (["a", "b"] * 200 + [f"0x{i}" for i in range(63)], 65, 463),
        (["a", "b"] * 200 + list(range(63)), 65, 463),
    ],
)
def test_texts_that_are_not_categories_are_refused(put, cells, count, rows):
    message = complaint(put(table_of(cells)))
    assert f"column ts holds {count} different texts in the first {rows} rows" in message
    assert "--drop ts" in message


def test_only_kept_rows_and_the_warmup_count_for_texts(put):
    source = put(table_of([f"id{i}" for i in range(20)] * 5))
    assert re.search("20 different .* 39 rows", complaint(source, warmup=39))
    assert len(open_stream(source, warmup=40).labels) == 100
    assert len(open_stream(source, limit=16).labels) == 16


def test_text_after_the_warm_up_in_a_numeric_column_is_refused(put):
    source = put("a,y\n" + "1,0\n1,1\n" * 200 + "off,1\n")
    message = complaint(source)
    assert "line 402, column a: 'off'" in message


@pytest.mark.parametrize("count", [1, 256])
def test_the_most_features_and_classes_are_accepted(put, count):
    header = ",".join(f"c{i}" for i in range(count)) + ",y\n"
    rows = "".join("1," * count + f"{i}\n" for i in range(max(count, 2)))
    stream = open_stream(put(header + rows))
    assert stream.values.shape == (max(count, 2), count)
    assert stream.labels.tolist() == list(range(max(count, 2)))


def test_a_misspelt_file_name_gets_a_suggestion(tmp_path):
    (tmp_path / "gestures.csv").write_text("a,y\n1,2\n")
    assert f"Did you mean {tmp_path / 'gestures.csv'}?" in complaint(tmp_path / "gesture.csv")


def test_a_missing_file_is_reported(tmp_path):
    assert "no file" in complaint(str(tmp_path / "gone.csv"))
    assert "no file" in complaint("elec:csv")


@pytest.mark.parametrize("source", ["", "  "])
def test_an_empty_file_name_is_reported(source):
    assert "No file was named" in complaint(source)


@pytest.mark.parametrize("source", ["https://x/y.csv", "HTTP://x/y.csv.gz", "s3://x/y.arff"])
def test_a_url_is_refused(source):
    assert f"{source} is a URL" in complaint(source)


@pytest.mark.parametrize(
    ("source", "meant"),
    [
        ("River:ImageSegments", "river:ImageSegments"),
        ("SYNTH:sea_a", "synth:sea_a"),
        ("synth:SEA_A", "sea_a"),
        ("river:PHISHING", "Phishing"),
    ],
)
def test_wrong_capitals_get_a_suggestion(source, meant):
    assert f"Did you mean {meant}?" in complaint(source)


def test_a_file_may_be_named_like_a_stream(put, tmp_path, monkeypatch):
    put("a,y\n1,0\n2,1\n", "River:x.csv")
    monkeypatch.chdir(tmp_path)
    assert len(open_stream("River:x.csv").labels) == 2


def test_a_folder_without_recordings_is_refused(tmp_path):
    assert "is a folder" in complaint(str(tmp_path))


def test_a_file_that_is_not_gzip_is_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_text("a,y\n1,0\n2,1\n")
    assert "not a gzip file" in complaint(str(path))


def test_a_truncated_or_damaged_gzip_file_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{v},{i % 2}\n" for i, v in enumerate(rng.random(2000)))
    data = gzip.compress(("a,y\n" + rows).encode())
    path = tmp_path / "t.csv.gz"
    path.write_bytes(data[: len(data) // 2])
    assert "cut short" in complaint(str(path))
    assert len(open_stream(str(path), limit=10).labels) == 10
    path.write_bytes(data[:-8] + bytes(8))
    assert "damaged" in complaint(str(path))
    path.write_bytes(b"")
    assert "is empty" in complaint(str(path))


def test_an_unknown_label_column_is_refused(put):
    message = complaint(put("temp,light,room\n1,2,a\n2,3,b\n"), label="rom")
    assert "Did you mean room?" in message
    assert "temp, light, room" in message


@pytest.mark.parametrize("cell", ["none", "-", "null", "NA"])
def test_a_class_that_looks_like_a_missing_value_can_be_declared(put, cell):
    source = put(f"a,y\n1,walk\n2,{cell}\n")
    message = complaint(source)
    assert "line 3, column y: " in message
    assert re.search(f"if {cell} is a class, .* --classes", message)
    assert open_stream(source, classes=f"walk,{cell}").labels.tolist() == [0, 1]


def test_classes_that_come_late_cause_a_note(put):
    rows = ["1,walk"] * 2 + ["1,sit"] * 3 + ["1,up stairs", "1,sit", "1,run"]
    source = put("a,y\n" + "\n".join(rows))
    stream = open_stream(source, warmup=4)
    assert stream.class_names == ("run", "sit", "up stairs", "walk")
    (note,) = stream.notes
    assert "warm-up of 4 samples: " in note
    assert "7, column y: up stairs; " in note
    assert "line 9, column y: run. " in note
    assert note.endswith("--classes 'run,sit,up stairs,walk'")
    assert open_stream(source, warmup=8).notes == ()
    assert open_stream(source, warmup=1, classes="run,sit,up stairs,walk").notes == ()


def test_an_undeclared_class_is_refused(put):
    message = complaint(put("a,y\n1,0\n1,1\n1,2\n"), classes=["0", "1"])
    assert "4, column y: class 2 " in message
    assert "--classes 0,1,2" in message


@pytest.mark.parametrize("blank", ["", " "])
def test_classes_in_one_string_may_have_commas_and_quotes(put, blank):
    source = put('x,y\n1,"down, fast"\n2,up\n3,"a ""b"""\n')
    classes = f",{blank}".join(["up", '"down, fast"', '"a ""b"""'])
    stream = open_stream(source, classes=classes, warmup=1)
    assert stream.class_names == ("up", "down, fast", 'a "b"')
    assert stream.labels.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("known", "new", "option"),
    [
        (["a", "b, c"], "d", """--classes 'a,"b, c",d'"""),
        (["a", "it's"], "b, c", """--classes 'a,it'"'"'s,"b, c"'"""),
        (["a", 'say "b"'], "$c", '--classes \'a,"say ""b""",$c\''),
        (["-1", "0"], "1", "--classes=-1,0,1"),
    ],
)
def test_a_suggested_option_is_quoted_for_the_shell(put, known, new, option):
    cells = ['"' + name.replace('"', '""') + '"' for name in [*known, new]]
    source = put("x,y\n" + "".join(f"1,{cell}\n" for cell in cells))
    message = complaint(source, classes=known)
    assert message.endswith(f"Or use {option}")


letters = st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from(" ,")
names = st.text(letters).map(str.strip).filter(lambda name: name not in data_files.MISSING_CELLS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(names, min_size=2, max_size=6, unique=True))
def test_a_suggested_option_works_in_a_shell(tmp_path, known):
    source = tmp_path / "t.csv"
    with source.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["x", "y"], *([1, name] for name in known)])
    (note,) = (n for n in open_stream(str(source), warmup=1).notes if "--classes" in n)
    (classes,) = shlex.split(re.split("--classes[ =]", note)[-1])
    stream = open_stream(str(source), warmup=1, classes=classes)
    assert [stream.class_names[label] for label in stream.labels] == known


def test_importing_the_reader_loads_no_scipy():
    code = "import sys, microshrub_host.streams.data_files; print('scipy' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(Path(data_files.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"limit": 0}, "--limit"),
        ({"warmup": 0}, "--warmup"),
        ({"shuffle": -1}, "--shuffle"),
        ({"classes": ["a"]}, "--classes"),
        ({"classes": ["a", "a"]}, "--classes"),
        ({"classes": "a,,b"}, "--classes"),
        ({"classes": ""}, "names 0 classes"),
        ({"classes": 'a,"b'}, "double quotes"),
        ({"classes": 'a,"b" c'}, "double quotes"),
        ({"classes": [f"c{i}" for i in range(257)]}, "--classes"),
    ],
)
def test_bad_arguments_are_refused(put, arguments, word):
    assert word in complaint(put("a,y\n1,a\n2,b\n"), **arguments)
