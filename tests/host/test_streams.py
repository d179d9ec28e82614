"""Files as streams: what is read, and what is said about every file that cannot be read."""

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

from microshrub_host import tables
from microshrub_host.streams import DataError, open_stream

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
NAN = float("nan")

ARFF = """% a comment
@relation rooms
@attribute 'room temp' numeric
@attribute light {dim, 'very bright', dark}
@attribute who {Zürich,Bern,Basel}

@data
% another one
1.5,dark,Bern

?,'very bright',Zürich
3,?,Bern
"""


@pytest.fixture
def put(tmp_path):
    def put(text, name="t.csv"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return put


def complaint(source, **arguments):
    with pytest.raises(DataError) as caught:
        open_stream(source, **arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    return message


# What is read


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV.GZ"])
def test_plain_and_gzip(put, name):
    if name == "T.CSV.GZ":
        source = put(gzip.compress(b"a,b,y\n1,2,no\n3,4.5,yes\n"), name)
    else:
        source = put("a,b,y\n1,2,no\n3,4.5,yes\n", name)
    stream = open_stream(source)
    assert stream.name == name
    assert stream.feature_names == ("a", "b")
    assert stream.class_names == ("no", "yes")
    assert stream.values.dtype == np.float64
    assert stream.values.tolist() == [[1, 2], [3, 4.5]]
    assert stream.labels.dtype == np.uint8
    assert stream.labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    "text",
    [
        "a;b;y\n1;2;0\n3;4;1\n",
        "a\tb\ty\n1\t2\t0\n3\t4\t1\n",
        "\ufeffa,b,y\r\n1,2,0\r\n3,4,1",
        '\n  \n"a", "b",y\n\n1, "2",0\n   \n3 ,4, 1\n\n',
        '"a","b","y"\n"1","2","0"\n"3","4","1"\n',
    ],
)
def test_dialects(put, text):
    stream = open_stream(put(text))
    assert stream.feature_names == ("a", "b")
    assert stream.values.tolist() == [[1, 2], [3, 4]]
    assert stream.labels.tolist() == [0, 1]


def test_header_with_delimiters_in_quotes(put):
    assert open_stream(put('"a;b;c",y\n1,0\n2,1\n')).feature_names == ("a;b;c",)


@pytest.mark.parametrize("cell", ["", " ", "nan", "NaN", "NA", "?", '""'])
def test_missing_cells_stay_nan(put, cell):
    stream = open_stream(put(f"a,b,y\n{cell},2,0\n3,{cell},1\n"))
    np.testing.assert_array_equal(stream.values, [[NAN, 2], [3, NAN]])


def test_a_column_of_missing_cells(put):
    assert np.isnan(open_stream(put("a,b,y\n,1,0\n,2,1\n")).values[:, 0]).all()


def test_label_column_by_name(put):
    stream = open_stream(put("a,y,b\n1,n,3\n2,p,4\n"), label="y")
    assert stream.feature_names == ("a", "b")
    assert stream.values.tolist() == [[1, 3], [2, 4]]
    assert stream.class_names == ("n", "p")


def test_text_features_are_codes_in_order_of_appearance(put):
    stream = open_stream(put("a,y\nred,0\n,1\nblue,0\nred,1\ngreen,0\n7,0\n7,1\n"), warmup=3)
    np.testing.assert_array_equal(stream.values[:, 0], [0, NAN, 1, 0, 2, 3, 3])


def test_codes_follow_the_shuffle(put):
    source = put("a,y\n" + "".join(f"t{i % 7},{i % 2}\n" for i in range(50)))
    codes = open_stream(source, shuffle=3).values[:, 0]
    first = [codes.tolist().index(code) for code in range(7)]
    assert first == sorted(first)


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["10", "9", "-1"], ("-1", "9", "10")),
        (["b", "a", "c"], ("a", "b", "c")),
        (["10", "9", "x"], ("10", "9", "x")),
    ],
)
def test_class_order(put, cells, order):
    stream = open_stream(put("a,y\n" + "".join(f"1,{cell}\n" for cell in cells)))
    assert stream.class_names == order
    assert [order[label] for label in stream.labels] == cells


@pytest.mark.parametrize("classes", [["c", "b", "a"], "c,b,a", ("c", " b", "a ")])
def test_declared_classes_set_the_order(put, classes):
    stream = open_stream(put("x,y\n1,a\n2,b\n3,a\n"), classes=classes, warmup=1)
    assert stream.class_names == ("c", "b", "a")
    assert stream.labels.tolist() == [2, 1, 2]


def test_limit_reads_no_further(put):
    source = put(b"a,y\n1,0\n2,1\nragged\n\xff\xff\n")
    assert len(open_stream(source, limit=2).labels) == 2
    assert "line 4" in complaint(source, limit=3)


def test_only_kept_samples_count(put):
    order = np.random.default_rng(5).permutation(120).tolist()
    rows = ["text,other"] * 60 + ["inf,"] * 60
    for row in order[:40]:
        rows[row] = f"{row},{row % 2}"
    source = put("a,y\n" + "\n".join(rows))
    stream = open_stream(source, shuffle=5, limit=40)
    assert stream.values[:, 0].tolist() == order[:40]
    assert stream.class_names == ("0", "1")
    message = complaint(source, shuffle=5, limit=41)
    assert f"line {order[40] + 2}" in message


def test_shuffle_is_a_permutation_then_a_cut(put):
    source = put("a,y\n" + "".join(f"{i},{i % 3}\n" for i in range(300)))
    whole = open_stream(source, shuffle=7)
    order = np.random.default_rng(7).permutation(300)
    assert whole.values[:, 0].tolist() == order.tolist()
    assert whole.labels.tolist() == (order % 3).tolist()
    assert open_stream(source, shuffle=7, limit=40).values.tolist() == whole.values[:40].tolist()


def test_a_class_may_be_late_if_the_warmup_holds_it(put):
    source = put("a,y\n" + "1,0\n" * 299 + "1,1\n")
    assert "--warmup 300" in complaint(source)
    assert open_stream(source, warmup=300).class_names == ("0", "1")
    assert open_stream(source, warmup=5000).class_names == ("0", "1")


def test_progress_is_of_bytes_and_ends_at_the_whole(put):
    source = put("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(5000)))
    seen = []
    open_stream(source, progress=lambda done, total: seen.append((done, total)))
    assert len(seen) >= 5
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {total for _, total in seen} == {Path(source).stat().st_size}
    assert seen[-1][0] == seen[-1][1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
            st.floats(allow_nan=False, allow_infinity=False),
            st.sampled_from(["up", "down, fast", 'a "b"']),
        ),
        min_size=1,
    )
)
def test_any_numbers_come_back_exactly(put, rows):
    def cell(value):
        return "" if value is None else repr(value)

    quoted = [(cell(a), cell(b), '"' + c.replace('"', '""') + '"') for a, b, c in rows]
    text = "a,b,y\n" + "".join(",".join(row) + "\n" for row in quoted)
    classes = ["up", "down, fast", 'a "b"']
    stream = open_stream(put(text), classes=classes)
    expected = [[NAN if a is None else a, b] for a, b, _ in rows]
    np.testing.assert_array_equal(stream.values, expected)
    assert [classes[label] for label in stream.labels] == [c for _, _, c in rows]


# What is said about the rest


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
        ("1,2,0\n1,2,1\n", ["line 1", "Add a row of column names"]),
        ("y\n0\n1\n", ["0 feature columns"]),
        ("a b y\n0 1 2\n", ["0 feature columns", "separated by commas"]),
        ("a,b,y\n1,2,0\n1,2\n", ["line 3", "3 cells expected", "2 found"]),
        ("a,b,y\n1,2,0\n\n1,2,0,4\n", ["line 4", "3 cells expected", "4 found"]),
        ('a,b,y\n"1\n\n",2,0\n1,2\n', ["line 5"]),
        ('a,b,y\n1,"2,0\n1,2,0\n', ["line 2", "cannot be read", 'stray "']),
        ("a,b,y\n1,2,0\n1,two,1\n", ["line 3", "column b", "'two' is text"]),
        ("a,b,y\n1,x,0\n1,2,1\n", ["line 2", "column b", "'x'"]),
        ("a,b,y\n1,1_000,0\n1,2,1\n", ["line 2", "column b", "'1_000'"]),
        ("a,b,y\n1,inf,0\n1,2,1\n", ["line 2", "column b", "infinite"]),
        ("a,b,y\n1,2,0\n1,-1e999,1\n", ["line 3", "column b", "infinite"]),
        ("a;b;y\n1,5;2;0\n2,5;3;1\n", ["line 2", "column a", "decimal comma", "1.5"]),
        ("a,b,y\n1,2,0\n1,2,\n", ["line 3", "column y", "class is missing"]),
        ("a,b,y\n1,2,0\n1,2,NA\n", ["line 3", "column y", "class is missing"]),
        ("a,b,y\n1,2,0\n1,2,0\n", ["column y", "only class is 0"]),
        ("a,y\n" + "".join(f"1,{i}\n" for i in range(257)), ["257 classes", "256", "--label"]),
        (",".join(f"c{i}" for i in range(258)) + "\n", ["257 feature columns", "256"]),
        (b"a,y\n1,0\n\xff\xfe,1\n", ["line 3", "UTF-8"]),
        ("a,y\n1,0\n".encode("utf-16"), ["line 1", "UTF-8"]),
    ],
)
def test_bad_files(put, text, words):
    message = complaint(put(text))
    assert "t.csv" in message
    for word in words:
        assert word in message


def test_text_after_the_warmup_in_a_column_of_numbers(put):
    source = put("a,y\n" + "1,0\n1,1\n" * 200 + "off,1\n")
    message = complaint(source)
    assert "t.csv, line 402, column a: 'off' is text" in message


@pytest.mark.parametrize("count", [1, 256])
def test_as_many_features_and_classes_as_fit(put, count):
    header = ",".join(f"c{i}" for i in range(count)) + ",y\n"
    rows = "".join("1," * count + f"{i}\n" for i in range(max(count, 2)))
    stream = open_stream(put(header + rows))
    assert stream.values.shape == (max(count, 2), count)
    assert stream.labels.tolist() == list(range(max(count, 2)))


def test_no_such_file(tmp_path):
    assert "no file" in complaint(str(tmp_path / "gone.csv"))
    assert "no file" in complaint("elec:csv")


def test_a_folder(tmp_path):
    assert "is a folder" in complaint(str(tmp_path))


def test_not_gzip(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_text("a,y\n1,0\n2,1\n")
    assert "not a gzip file" in complaint(str(path))


def test_gzip_cut_short_or_damaged(tmp_path):
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


def test_unknown_label_column(put):
    message = complaint(put("temp,light,room\n1,2,a\n2,3,b\n"), label="rom")
    assert "Did you mean room?" in message
    assert "temp, light, room" in message


def test_late_class_names_both_remedies(put):
    rows = ["1,walk"] * 2 + ["1,sit"] * 3 + ["1,up stairs", "1,sit", "1,run"]
    source = put("a,y\n" + "\n".join(rows))
    message = complaint(source, warmup=4)
    assert "line 7, column y: class up stairs" in message
    assert "--warmup 8 or --classes 'run,sit,up stairs,walk'" in message
    assert len(open_stream(source, warmup=8).class_names) == 4
    assert len(open_stream(source, warmup=1, classes="run,sit,up stairs,walk").labels) == 8


def test_undeclared_class(put):
    message = complaint(put("a,y\n1,0\n1,1\n1,2\n"), classes=["0", "1"])
    assert "line 4, column y: class 2 is not declared" in message
    assert "--classes 0,1,2" in message


@pytest.mark.parametrize("blank", ["", " "])
def test_classes_with_commas_and_quotes_in_one_string(put, blank):
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
def test_remedy_is_quoted_for_the_shell(put, known, new, option):
    cells = ['"' + name.replace('"', '""') + '"' for name in [*known, new]]
    source = put("x,y\n" + "".join(f"1,{cell}\n" for cell in cells))
    message = complaint(source, classes=known)
    assert message.endswith(f"Or use {option}")


letters = st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from(" ,")
names = st.text(letters).map(str.strip).filter(lambda name: name not in tables.MISSING)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(names, min_size=2, max_size=6, unique=True))
def test_remedy_pasted_into_a_shell_is_taken(tmp_path, known):
    source = tmp_path / "t.csv"
    with source.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["x", "y"], *([1, name] for name in known)])
    message = complaint(str(source), warmup=1)
    (classes,) = shlex.split(re.split("--classes[ =]", message)[-1])
    stream = open_stream(str(source), warmup=1, classes=classes)
    assert [stream.class_names[label] for label in stream.labels] == known


def test_start_up_loads_no_scipy():
    code = "import sys, microshrub_host.tables; print('scipy' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(Path(tables.__file__).parents[1])}
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
def test_bad_arguments(put, arguments, word):
    assert word in complaint(put("a,y\n1,a\n2,b\n"), **arguments)


# ARFF


@pytest.mark.parametrize("name", ["t.arff", "t.arff.gz"])
def test_arff(put, name):
    stream = open_stream(put(ARFF, name), warmup=1)
    assert stream.feature_names == ("room temp", "light")
    assert stream.class_names == ("Zürich", "Bern", "Basel")
    np.testing.assert_array_equal(stream.values, [[1.5, 2], [NAN, 1], [3, NAN]])
    assert stream.labels.tolist() == [1, 0, 1]
    assert len(open_stream(put(ARFF, name), limit=2).labels) == 2


def test_arff_label_by_name(put):
    text = ARFF.replace("3,?,Bern", "3,dim,Bern")
    stream = open_stream(put(text, "t.arff"), label="light")
    assert stream.class_names == ("dim", "very bright", "dark")
    assert stream.labels.tolist() == [2, 1, 0]
    assert stream.values[:, 1].tolist() == [1, 0, 1]


def test_arff_nominal_numbers_are_codes(put):
    text = "@relation r\n@attribute d {5,6,7}\n@attribute y {1,0}\n@data\n7,0\n5,1\n"
    stream = open_stream(put(text, "t.arff"))
    assert stream.values.tolist() == [[2], [0]]
    assert stream.class_names == ("1", "0")


def test_arff_tabs_and_double_quotes(put):
    text = '@relation r\n@attribute a real\n@attribute y {"p q",r}\n@data\n1\t"p q"\n2\tr\n'
    stream = open_stream(put(text, "t.arff"))
    assert stream.class_names == ("p q", "r")
    assert stream.labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("@data", "", ["no @data"]),
        ("numeric", "string", ["header cannot be read"]),
        ("numeric", "date 'yyyy'", ["type date"]),
        ("numeric", "blob", ["header cannot be read"]),
        ("'room temp'", "light", ["header cannot be read"]),
        ("1.5,dark", "warm,dark", ["line 9", "column room temp", "'warm' is text"]),
        ("1.5,dark", "1.5,drak", ["line 9", "column light", "Did you mean dark?"]),
        ("1.5,dark", "1.5", ["line 9", "3 cells expected"]),
        ("?,'very", "1,?,'very", ["line 11", "4 found"]),
        ("3,?,Bern", "3,?,?", ["line 12", "class is missing"]),
        ("3,?,Bern", "3,?,Brn", ["line 12", "class Brn is not declared"]),
        ("1.5,dark,Bern", "{0 1.5}", ["line 9", "sparse"]),
    ],
)
def test_bad_arff(put, old, new, words):
    message = complaint(put(ARFF.replace(old, new), "t.arff"))
    for word in ["t.arff", *words]:
        assert word in message


# The recordings


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared recordings are not here")
@pytest.mark.parametrize(
    ("name", "classes", "shape", "missing"),
    [
        ("elec", None, (45312, 14), 0),
        ("weather", None, (18159, 8), 0),
        ("occupancy", None, (20560, 5), 0),
        ("roomocc", "0,1,2,3", (10129, 16), 386),
        ("wisdm", "0,1,2,3,4,5", (5418, 42), 0),
    ],
)
def test_shared_recordings(name, classes, shape, missing):
    stream = open_stream(str(SHARED / f"{name}.csv.gz"), classes=classes)
    assert stream.values.shape == shape
    assert np.isnan(stream.values).sum() == missing
    assert len(stream.class_names) == (2 if classes is None else len(classes.split(",")))
