"""Files as streams: readable files. Refused ones are in test_bad_files.py."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streams_support import complaint
from tests_support import recording

from microshrub_host.evaluation import prequential
from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.units import Scale

NAN = float("nan")

# Readable files


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV.GZ"])
def test_plain_and_gzipped_files_are_read(put, name):
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
def test_dialects_of_csv_are_read(put, text):
    stream = open_stream(put(text))
    assert stream.feature_names == ("a", "b")
    assert stream.values.tolist() == [[1, 2], [3, 4]]
    assert stream.labels.tolist() == [0, 1]


def test_a_header_may_have_delimiters_in_quotes(put):
    assert open_stream(put('"a;b;c",y\n1,0\n2,1\n')).feature_names == ("a;b;c",)


@pytest.mark.parametrize(
    ("first", "second"),
    [("1,2,run", "5,6,walk"), ("red,big,y", "red,small,walk")],
)
def test_a_header_that_may_be_a_sample_gets_a_note(put, first, second):
    source = put(f"{first}\n{second}\n{second[:-4]}sit\n")
    (note,) = open_stream(source).notes
    assert re.match("t.csv, line 1 .* --no-header", note)
    stream = open_stream(source, header=False, warmup=3)
    assert (len(stream.labels), stream.notes) == (3, ())


def test_a_header_of_texts_above_texts_and_numbers_gets_no_note(put):
    assert open_stream(put("x,z,y\nred,2,walk\nblue,2,sit\n")).notes == ()


def test_a_file_without_a_header_may_have_a_label(put):
    stream = open_stream(put("walk,1,2\nsit,3,4\n"), header=False, label="c1")
    assert stream.feature_names == ("c2", "c3")
    assert stream.class_names == ("sit", "walk")
    arff = put("@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n", "t.arff")
    for source in ("synth:agrawal_a", "river:Phishing", arff):
        assert "--no-header is for" in complaint(source, header=False)


def test_an_extreme_number_gets_a_note(put):
    rows = [f"{i * 7 % 50 / 4},{i * 7 % 50},{i % 2}" for i in range(50)]
    rows[7] = "-1e308,7,0"
    (note,) = open_stream(put("\n".join(["x,z,y", *rows]))).notes
    assert re.fullmatch("t.csv, line 9, column x: -1e.308 .* a missing one.", note)
    rows = [f"{i * 7 % 300 / 4},{i * 7 % 300},{i % 2}" for i in range(300)]
    rows[7], rows[9] = "-1e308,7,0", "1e20,7,0"
    (note,) = open_stream(put("\n".join(["x,z,y", *rows]))).notes
    assert "1 more of its cells" in note


@pytest.mark.parametrize("at", [5, 150])  # within the warm-up, and after it
def test_an_extreme_number_does_no_harm(put, at):
    rows = [f"{i * 37 % 101},{int(i * 37 % 101 > 50)}" for i in range(400)]
    accuracies = []
    for cell in ("3", "1e308"):
        rows[at] = f"{cell},0"
        stream = open_stream(put("\n".join(["x,y", *rows])))
        shape = {"features": 1, "classes": 2}
        accuracies.append(prequential.evaluate(stream, "nearest", shape, warmup=64).accuracy)
    assert accuracies[1] > accuracies[0] - 1 > 85


@pytest.mark.filterwarnings("error")
def test_the_largest_numbers_cause_no_numpy_warnings(put):
    rows = [f"{(-1) ** i * 1.7e308},{i % 7},{i % 2}" for i in range(300)]
    stream = open_stream(put("\n".join(["x,z,y", *rows])))
    assert stream.labels.sum() == 150


def test_numeric_names_of_pandas_are_names(put):
    assert open_stream(put("0,1,2,class\n5,6,7,a\n1,2,3,b\n")).feature_names == ("0", "1", "2")
    assert open_stream(put("hour,20,y\n5,6,a\n1,2,b\n")).feature_names == ("hour", "20")
    assert open_stream(put("a,b,1.5\n5,6,a\n1,2,b\n")).feature_names == ("a", "b")  # a label
    assert open_stream(put("a,-1,b\n5,u,6\n1,v,2\n"), label="-1").class_names == ("u", "v")


@pytest.mark.parametrize("end", ["\r", "\r\r\n", "\n\r"])
def test_unusual_line_ends_are_read(put, end):
    source = put(end.join(["a,b,y", "1,2,0", '3,"4\r",1', ""]))
    assert open_stream(source).values.tolist() == [[1, 2], [3, 4]]
    assert len(open_stream(source, limit=1, classes="0,1").labels) == 1


MARKERS = ["", "?", "-", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "None", "none"]


@pytest.mark.parametrize("cell", [*MARKERS, " ", '""'])
def test_missing_cells_are_nan(put, cell):
    stream = open_stream(put(f"a,b,y\n{cell},2,0\n3,{cell},1\n"))
    np.testing.assert_array_equal(stream.values, [[NAN, 2], [3, NAN]])


def test_a_column_may_have_only_missing_cells(put):
    assert np.isnan(open_stream(put("a,b,y\n,1,0\n,2,1\n")).values[:, 0]).all()


def test_the_label_column_may_be_named(put):
    stream = open_stream(put("a,y,b\n1,n,3\n2,p,4\n"), label="y")
    assert stream.feature_names == ("a", "b")
    assert stream.values.tolist() == [[1, 3], [2, 4]]
    assert stream.class_names == ("n", "p")


def test_text_features_are_codes_in_order_of_appearance(put):
    stream = open_stream(put("a,y\nred,0\n,1\nblue,0\nred,1\ngreen,0\n7,0\n7,1\n"), warmup=3)
    np.testing.assert_array_equal(stream.values[:, 0], [0, NAN, 1, 0, 2, 3, 3])


def test_missing_cells_are_not_a_category(put):
    cells = ["red", *MARKERS[:-1], "blue", "none"]
    stream = open_stream(put("a,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells))))
    np.testing.assert_array_equal(stream.values[:, 0], [0] + [NAN] * 11 + [1, NAN])


def test_a_column_may_have_64_categories(put):
    cells = [f"t{i}" for i in range(64)] * 2
    stream = open_stream(put("a,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells))))
    assert stream.values[:, 0].tolist() == [*range(64), *range(64)]


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
def test_classes_are_sorted_as_numbers_or_texts(put, cells, order):
    stream = open_stream(put("a,y\n" + "".join(f"1,{cell}\n" for cell in cells)))
    assert stream.class_names == order
    assert [order[label] for label in stream.labels] == cells


@pytest.mark.parametrize("classes", [["c", "b", "a"], "c,b,a", ("c", " b", "a ")])
def test_declared_classes_set_the_order(put, classes):
    stream = open_stream(put("x,y\n1,a\n2,b\n3,a\n"), classes=classes, warmup=1)
    assert stream.class_names == ("c", "b", "a")
    assert stream.labels.tolist() == [2, 1, 2]


def test_a_limit_stops_the_reading(put):
    source = put(b"a,y\n1,0\n2,1\nragged\n\x81\n")
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


def test_a_shuffle_is_a_permutation_then_a_cut(put):
    source = put("a,y\n" + "".join(f"{i},{i % 3}\n" for i in range(300)))
    whole = open_stream(source, shuffle=7)
    order = np.random.default_rng(7).permutation(300)
    assert whole.values[:, 0].tolist() == order.tolist()
    assert whole.labels.tolist() == (order % 3).tolist()
    assert open_stream(source, shuffle=7, limit=40).values.tolist() == whole.values[:40].tolist()


def test_a_class_may_come_late(put):
    source = put("a,y\n" + "1,0\n" * 299 + "1,1\n")
    assert open_stream(source).class_names == ("0", "1")
    assert "line 301, column y: 1. " in open_stream(source).notes[0]
    assert open_stream(source, warmup=300).class_names == ("0", "1")
    assert open_stream(source, warmup=5000).class_names == ("0", "1")


def test_progress_counts_bytes_up_to_the_whole_file(put):
    source = put("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(5000)))
    seen = []
    open_stream(source, progress=lambda done, total: seen.append((done, total)))
    assert seen
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
def test_any_numbers_are_read_exactly(put, rows):
    def cell(value):
        return "" if value is None else repr(value)

    quoted = [(cell(a), cell(b), '"' + c.replace('"', '""') + '"') for a, b, c in rows]
    text = "a,b,y\n" + "".join(",".join(row) + "\n" for row in quoted)
    classes = ["up", "down, fast", 'a "b"']
    stream = open_stream(put(text), classes=classes)
    expected = np.array([[NAN if a is None else a, b] for a, b, _ in rows])
    scale = Scale.fit(expected)
    for place in range(2):  # another test covers numbers that are too large
        expected[scale.too_large(expected[:, place], place), place] = NAN
    np.testing.assert_array_equal(stream.values, expected)
    assert [classes[label] for label in stream.labels] == [c for _, _, c in rows]


# The recordings


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
def test_shared_recordings_are_read(name, classes, shape, missing):
    stream = open_stream(recording(name), classes=classes)
    assert stream.values.shape == shape
    assert np.isnan(stream.values).sum() == missing
    assert len(stream.class_names) == (2 if classes is None else len(classes.split(",")))
