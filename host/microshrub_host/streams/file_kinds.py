"""What a file is that is no CSV or ARFF file, and how to make one of it, by how it begins."""

from __future__ import annotations

import re
import shlex

LOOKED_AT = 4096  # bytes
_SHEET = "Save the sheet that has the samples as CSV in UTF-8 (File, Save As), and name that file."
_UNPACK = "Unpack it, and name the CSV or ARFF file in it."
_MODEL = "Models are named with --model; DATA is a CSV or ARFF file."
_EXPORT = "Export the table as CSV in UTF-8, and name that file."

# How a file begins, what that is, and what to do about it
KINDS: tuple[tuple[bytes, str, str], ...] = (
    (rb"PK\x03\x04.{26}config\.json", "a model that `simulate --save` wrote", _MODEL),
    (rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis", "an OpenDocument file", _SHEET),
    (rb"PK\x03\x04.*(xl/|\[Content_Types\]\.xml|_rels/)", "an Excel workbook", _SHEET),
    (rb"PK(\x03\x04|\x05\x06|\x07\x08)", "a zip archive", _UNPACK),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook", _SHEET),
    (rb"PAR1", "a Parquet file", "read_parquet"),
    (rb"ARROW1|FEA1", "an Arrow or Feather file", "read_feather"),
    (rb"\x89HDF\r\n", "an HDF5 file", "read_hdf"),
    (rb"\x80[\x02-\x05]", "a Python pickle", "read_pickle"),
    (rb"\x93NUMPY", "a NumPy array", "Write it as CSV with numpy.savetxt, with a header."),
    (rb"MATLAB 5\.0", "a MATLAB file", _EXPORT),
    (rb"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (rb"\x1f\x8b", "packed with gzip twice", "Unpack it once."),
    (rb"BZh[1-9]", "packed with bzip2", _UNPACK),
    (rb"\xfd7zXZ\x00", "packed with xz", _UNPACK),
    (rb"\x28\xb5\x2f\xfd", "packed with zstd", _UNPACK),
    (rb"7z\xbc\xaf\x27\x1c|Rar!\x1a|.{257}ustar", "an archive", _UNPACK),
    (rb"%PDF-", "a PDF", _EXPORT),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", "a picture", "Name a CSV or ARFF file."),
    (rb"\s*<(!doctype html|html)", "a web page", "Download the data itself, and name that file."),
    (rb"\s*<\?xml", "an XML file", _EXPORT),
    (rb"\s*(\{\s*(\"|\}|$)|\[\s*[\[{])", "a JSON file", "read_json"),
)


def told_kind(name: str, start: bytes) -> str:
    """In words what a file of that name is, which begins so, and what to do; "": it may be text.

    start is of LOOKED_AT bytes, or the whole file.
    """
    for pattern, what, remedy in KINDS:
        if re.match(pattern, start.removeprefix(b"\xef\xbb\xbf"), re.DOTALL | re.IGNORECASE):
            if remedy.startswith("read_"):
                target = re.sub(r"\.\w+$", "", name) + ".csv"
                remedy = _pandas(remedy, name, target)
            return f"{name} is {what}, not CSV. {remedy}"
    return ""


def _pandas(reader: str, name: str, target: str) -> str:
    code = f"import pandas; pandas.{reader}({name!r}).to_csv({target!r}, index=False)"
    return f"Save it as CSV, with pandas for example: python -c {shlex.quote(code)}"
