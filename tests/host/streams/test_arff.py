"""ARFF files as streams: their headers declare types that have to be inferred for CSV files."""

import numpy as np
import pytest
from streams_support import complaint

from microshrub_host.streams.open_stream import open_stream

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


@pytest.mark.parametrize("name", ["t.arff", "t.arff.gz"])
def test_an_arff_file_is_read(put, name):
    stream = open_stream(put(ARFF, name), warmup=1)
    assert stream.feature_names == ("room temp", "light")
    assert stream.class_names == ("Zürich", "Bern", "Basel")
    np.testing.assert_array_equal(stream.values, [[1.5, 2], [NAN, 1], [3, NAN]])
    assert stream.labels.tolist() == [1, 0, 1]
    assert len(open_stream(put(ARFF, name), limit=2).labels) == 2


def test_the_label_of_an_arff_file_may_be_named(put):
    text = ARFF.replace("3,?,Bern", "3,dim,Bern")
    stream = open_stream(put(text, "t.arff"), label="light")
    assert stream.class_names == ("dim", "very bright", "dark")
    assert stream.labels.tolist() == [2, 1, 0]
    assert stream.values[:, 1].tolist() == [1, 0, 1]


def test_nominal_numbers_are_codes(put):
    text = "@relation r\n@attribute d {5,6,7}\n@attribute y {1,0}\n@data\n7,0\n5,1\n"
    stream = open_stream(put(text, "t.arff"))
    assert stream.values.tolist() == [[2], [0]]
    assert stream.class_names == ("1", "0")


def test_declared_values_are_never_missing(put):
    text = "@relation r\n@attribute d {none,-}\n@attribute y {walk,none}\n@data\n-,none\n?,walk\n"
    stream = open_stream(put(text, "t.arff"))
    np.testing.assert_array_equal(stream.values, [[1], [NAN]])
    assert stream.labels.tolist() == [1, 0]


def test_tabs_and_double_quotes_are_read(put):
    text = '@relation r\n@attribute a real\n@attribute y {"p q",r}\n@data\n1\t"p q"\n2\tr\n'
    stream = open_stream(put(text, "t.arff"))
    assert stream.class_names == ("p q", "r")
    assert stream.labels.tolist() == [0, 1]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n\r"])
def test_any_line_ends_are_read(put, end):
    assert open_stream(put(ARFF.replace("\n", end), "t.arff")).labels.tolist() == [1, 0, 1]


# Error messages


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("@data", "", ["no @data"]),
        ("numeric", "String", ["attribute 'room temp' is of type string", "--drop 'room temp'"]),
        ("numeric", "date 'yyyy'", ["type date"]),
        ("numeric", "relational", ["type relational"]),
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
def test_bad_arff_files_are_refused(put, old, new, words):
    message = complaint(put(ARFF.replace(old, new), "t.arff"))
    for word in ["t.arff", *words]:
        assert word in message


def test_too_many_declared_values_are_refused(put):
    def arff(count):
        values = ",".join(f"v{i}" for i in range(count))
        rows = "".join(f"v{i},{i % 2}\n" for i in range(count))
        text = f"@relation r\n@attribute d {{{values}}}\n@attribute y {{0,1}}\n@data\n{rows}"
        return put(text, "t.arff")

    assert open_stream(arff(256)).values[:, 0].tolist() == list(range(256))
    message = complaint(arff(257))
    assert "column d: 257 values" in message
    assert "256" in message
