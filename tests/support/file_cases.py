"""Files as people have them, and what is said of each: by the command line and by the page.

A case is a name, the bytes, and the words that both say; no words: both read it, and equally.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import dataclass


@dataclass(frozen=True)
class FileCase:
    """One file. `notes` are words in what is noted of it, where it is read."""

    what: str
    data: bytes
    words: tuple[str, ...] = ()
    name: str = "t.csv"
    notes: tuple[str, ...] = ()


def _case(
    what: str,
    text: str | bytes,
    *words: str,
    name: str = "t.csv",
    notes: tuple[str, ...] = (),
) -> FileCase:
    data = text if isinstance(text, bytes) else text.encode()
    return FileCase(what, data, words, name, notes)


def _rows(*cells: str, times: int = 20) -> str:
    """Rows of a column x with these cells, and of classes."""
    return "x,y\n" + "".join(f"{cells[i % len(cells)]},{'ab'[i % 2]}\n" for i in range(times))


def _workbook() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name in ("[Content_Types].xml", "xl/workbook.xml"):
            file.writestr(name, "<x/>")
    return data.getvalue()


def _zip() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("t.csv", _rows("1", "2"))
    return data.getvalue()


_PLAIN = _rows("1", "2.5", "-3e2", "")
_LONG = "x,y\n" + "".join(f"{i * 7919 % 10007},{'ab'[i % 2]}\n" for i in range(9000))
_WIDE = ",".join(f"c{i}" for i in range(300))

FILE_CASES = (
    _case("plain", _PLAIN),
    _case("packed", gzip.compress(_PLAIN.encode(), mtime=0), name="t.csv.gz"),
    _case("packed by another name", gzip.compress(_PLAIN.encode(), mtime=0)),
    _case("a mark of UTF-8", "\ufeff" + _PLAIN),
    _case("semicolons", _PLAIN.replace(",", ";")),
    _case("tabs", _PLAIN.replace(",", "\t")),
    _case("quotes", '"x","y"\n"1","a ""b"""\n"2","c,\nd"\n'),
    _case("CR LF", _PLAIN.replace("\n", "\r\n")),
    _case("CR", _PLAIN.replace("\n", "\r")),
    _case("line ends of all kinds", "x,y\n1,a\r2,b\r\n3,a\n\r4,b\r\r\n5,a"),
    _case("categories", _rows("red", "blue", "red", "")),
    _case("names of pandas", "0,1,2,class\n5,6,7,a\n1,2,3,b\n",
          notes=("line 1 was read as the header",)),
    _case("no header, texts only", "red,hot,a\nred,cold,b\nblue,hot,a\n",
          notes=("line 1 was read as the header",)),
    _case("the time of record", "time,x,label\n0,5,a\n20,7,b\n40,6,a\n",
          notes=("column time is left out",)),
    _case("alike classes", "x,y\n1,rest\n2,REST\n3,rest\n",
          notes=("line 3", "'rest', 'REST' differ only by case or spaces",)),
    _case("alike numbers", "x,y\n1,1\n2,1.0\n3,01\n4,2\n",
          notes=("line 4", "'1', '1.0', '01' differ only by how the number is written",)),
    _case("alike letters", "x,y\n1,caf\u00e9\n2,cafe\u0301\n3,tea\n",
          notes=("line 3", "differ only by how letters are encoded",)),
    _case("measurements as classes", "x,t\n" + "".join(f"1,{20 + i / 2}\n" for i in range(9)),
          notes=("line 2, column t: its 9 classes are all numbers", "--target")),
    _case("classes that are speeds", "x,t\n" + "".join(f"1,{i / 2}\n" for i in range(8))),
    _case("classes that are whole numbers", "x,t\n" + "".join(f"1,{i}\n" for i in range(33)),
          notes=("column t: its 33 classes are all numbers", "number itself")),
    _case("as many as letters", "x,t\n" + "".join(f"1,{i}\n" for i in range(26))),
    _case("a class with spaces behind it", "x,y\n1,rest\n2,walk\n3, rest\n4,rest \n5,rest  \n",
          notes=("line 5", "class rest has other spaces behind it here than before")),
    _case("the same in quotes", "x,y\n1,\"rest \"\n2,walk\n3,rest\n",
          notes=("line 4", "class rest has other spaces behind it here than before")),
    _case("the same spaces everywhere", "x , y \n1 , rest \n2 , walk \n3 , rest \n"),
    _case("a row's number in a sorted file", "v,y\n" + "".join(
        f"{i},{'ab'[i // 20]}\n" for i in range(40)), notes=("the column v only rises",)),
    _case("a row's number that counts down", "v,y\n" + "".join(
        f"{40 - i},{'ab'[i // 20]}\n" for i in range(40)), notes=("the column v only falls",)),
    _case("a few codes among texts", _rows("red", "12 345", "blue")),
    _case("a clock with gaps and a copy of the class", "Time (s),copy,y\n" + "".join(
        f"{'' if i % 5 == 1 else i // 2},{i * i % 3},{'ab'[i * i % 3]}\n" for i in range(60)),
        notes=("column Time (s) only rises and is named like a clock",
               "column copy tells the class nearly one to one")),
    _case("an identifier", "sampleId,y\n" + "".join(
        f"{i * 7 % 20},{'ab'[i % 2]}\n" for i in range(40)),
        notes=("column sampleId is named like an identifier",)),
    _case("measurements", "x,humid,grid,y\n" + "".join(
        f"{i * 7 % 60},{i * i % 11},{i % 3},{'ab'[i * i % 7 % 2]}\n" for i in range(60))),
    _case("ARFF", "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a\n2,b\n",
          name="t.arff"),
    _case("ARFF by another name",
          "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a\n2,b\n"),
    _case("no header", "1.5,2,walk\n2.5,3,sit\n", "line 1: 1.5 is a number", "header row"),
    _case("no header, numbers only", "1,2,0\n1,2,1\n", "line 1: only numbers", "column names"),
    _case("no header, a class alone is text", "5,-3,walk\n1,2,sit\n", "line 1: -3 is a number"),
    _case("a column of classes alone", "5,6\n7,8\n", "line 1: only numbers", "column names"),
    _case("a nameless column", ",x,y\n0,1,a\n1,2,b\n", "line 1: column 1 has no name"),
    _case("a name twice", "x,x,y\n0,1,a\n1,2,b\n", "line 1: two columns are named x"),
    _case("decimal comma", _rows("1,5", "2,5").replace(",a", ";a").replace(",b", ";b")
          .replace("x,y", "x;y"), "line 2, column x", "decimal comma", "Write 1.5"),
    _case("thousands", _rows('"1,000"', '"2,000"'), "thousands", "Write 1000 or 1.000"),
    _case("millions", _rows('"1,000,000"', '"2,000,000"'), "Write 1000000"),
    _case("thousands apart", _rows("1 000", "2 500"), "thousands set apart", "1000 or 1_000"),
    _case("thousands and apostrophes", _rows("1'000.5", "2'500.5"), "Write 1000.5 or 1_000.5"),
    _case("thousands and no-break spaces", _rows("1\u00a0000", "-2\u202f500"), "Write 1000 or"),
    _case("thousands beside a text", _rows(*["1 000"] * 20, "off", times=21), "Write 1000 or"),
    _case("units", _rows("1.0 g", "2.0 g"), "'1.0 g' is a number with a unit", "Write 1.0,"),
    _case("percent", _rows("1%", "2%"), "Write 1,"),
    _case("one unit", _rows("1", "2", "3 g"), "line 4, column x", "Write 3,"),
    _case("a stray text", _rows("1", "2", "off"), "line 4, column x: 'off' is text"),
    _case("time stamps", "when,x,y\n" + "".join(
        f"2024-01-01 00:{i:02},{i % 3},{'ab'[i % 2]}\n" for i in range(40)),
        "column when holds 40 different texts in the first 40 rows", "a date or an identifier"),
    _case("an infinite number", _rows("1", "inf"), "line 3, column x: an infinite number"),
    _case("UTF-16", _PLAIN.encode("utf-16"), "is UTF-16 text. Save the file in UTF-8"),
    _case("UTF-16, the other one", b"\xfe\xff" + _PLAIN.encode("utf-16-be"), "is UTF-16 text"),
    _case("UTF-16 without a mark", _PLAIN.encode("utf-16-le"), "a zero byte", "UTF-8"),
    _case("Latin 1", _rows("1", "2").replace(",b", ",bös").encode("latin-1"), "not UTF-8"),
    _case("a missing class", "x,y\n1,a\n2,\n", "line 3, column y: the class is missing"),
    _case("one class", "x,y\n1,a\n2,a\n", "column y: the only class is a"),
    _case("many classes", "x,y\n" + "".join(f"1,{i}\n" for i in range(300)),
          "column y: the column has 300 classes and 256 is the most"),
    _case("a cell too few", "x,z,y\n1,2,a\n1,b\n", "line 3: 3 cells expected", "2 found"),
    _case("a cell too many", "x,y\n1,a\n1,2,b\n", "line 3: 2 cells expected", "3 found"),
    _case("one column", "y\na\nb\n", "0 feature columns"),
    _case("many columns", f"{_WIDE}\n", "299 feature columns"),
    _case("a comment above", "# made by me\nx,y\n1,a\n2,b\n", "line 1 begins with #"),
    _case("a header that is a comment", "# x,y\n1,a\n2,b\n", "line 1 begins with #", "header"),
    _case("a comment between", "x,y\n1,a\n# noon\n2,b\n", "line 3 begins with #, as a comment"),
    _case("a word to Excel", "sep=;\nx;y\n1;a\n2;b\n", "line 1 is sep="),
    _case("a stray quote", 'x,y\n1,a\n2,"b\n3,a\n', "ine 3", "cannot be read", 'stray "'),
    _case("nothing", "", "row per sample"),
    _case("a header alone", "x,y\n", "row per sample"),
    _case("a workbook", _workbook(), "is an Excel workbook, not CSV", "as CSV in UTF-8"),
    _case("a workbook by its name", _workbook(), "t.xlsx is an Excel workbook", name="t.xlsx"),
    _case("a zip archive", _zip(), "is a zip archive, not CSV. Unpack it"),
    _case("Parquet", b"PAR1" + bytes(90), "is a Parquet file, not CSV. Save it as CSV"),
    _case("a web page", "<!doctype html>\n<html>", "is a web page"),
    _case("JSON", '[{"x": 1}]', "is a JSON file"),
    _case("no gzip", _PLAIN, "is not a gzip file", name="t.csv.gz"),
    _case("half a gzip file", gzip.compress(_LONG.encode(), mtime=0)[:5000],
          "cut short", name="t.csv.gz"),
    _case("ARFF of texts", "@relation r\n@attribute x string\n@attribute y {a,b}\n@data\nu,a\n",
          "attribute x is of type string", name="t.arff"),
    _case("ARFF without data", "@relation r\n@attribute x numeric\n", "no @data line",
          name="t.arff"),
)  # fmt: skip
