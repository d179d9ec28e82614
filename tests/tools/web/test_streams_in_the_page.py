"""The page reads CSV and ARFF files like the simulator: numbers, labels and names are equal."""

from __future__ import annotations

import base64
import math
import random
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import FILE_CASES
from node_support import run_in_node

from microshrub_host import open_stream
from microshrub_host.base.errors import DataError
from microshrub_host.streams.units import Scale
from microshrub_tools.cli.main import main

PROGRAM = """
import { readFileSync } from "node:fs";
import { readStream, unitOf, rawOf } from "./bundle.mjs";
const given = JSON.parse(readFileSync(0, "utf8"));
const number = (value) => (value === null ? NaN : value);
const columns = given.columns.map((column) => Float64Array.from(column, number));
const CHUNK = given.chunk ?? 1 << 16;
class Slow extends Blob { // it comes in pieces of any size
  constructor(bytes) {
    super([bytes]);
    this.bytes = bytes;
  }
  stream() {
    const { bytes } = this;
    let at = 0;
    return new ReadableStream({
      pull(to) {
        if (at >= bytes.length) return to.close();
        to.enqueue(bytes.slice(at, (at += CHUNK)));
      },
    });
  }
}
async function read([name, base64]) {
  const file = new Slow(new Uint8Array(Buffer.from(base64, "base64")));
  let s;
  const shares = [];
  try {
    const progress = (share) => shares.push(share);
    s = await readStream(name, file, { progress });
  } catch (error) {
    return { refused: error.message };
  }
  const { featureNames, classNames, units, rows, labels, twoValued, notes } = s;
  const facts = { featureNames, classNames, units, twoValued, notes, shares };
  return { ...facts, rows: [...rows], labels: [...labels] };
}
const streams = [];
for (const file of given.files) streams.push(await read(file));
const raw = columns.map((column) => {
  const unit = unitOf(column);
  return { unit, rows: [...column].map((value) => rawOf(value, unit)) };
});
process.stdout.write(JSON.stringify({ streams, raw }));
"""


def in_node(folder: Path, given: dict[str, Any]) -> Any:
    """Return the result of the page's own code."""
    given = {"columns": [], "files": [], **given}
    exports = {"streams/stream": "readStream", "streams/units": "unitOf, rawOf"}
    return run_in_node(folder, PROGRAM, exports, given)


def columns() -> list[list[float]]:
    """Return columns with decimals, time stamps, tiny and huge numbers, gaps, outliers."""
    rng = random.Random(7)
    results = []
    for _ in range(1500):
        size = 10.0 ** rng.randint(-12, 14)
        offset = rng.choice([0.0, 0.0, 1e9, -273.15, rng.uniform(-1e6, 1e6)])
        digits = rng.choice([0, 1, 2, 4, 17])
        column = [
            round(rng.gauss(offset, size), digits) for _ in range(rng.choice([1, 2, 40, 300]))
        ]
        if rng.random() < 0.3:
            column[rng.randrange(len(column))] = math.nan
        if rng.random() < 0.2:
            column[rng.randrange(len(column))] = rng.choice([1e308, -1e308, 1e20, 1e-290])
        results.append(column)
    results += [[math.nan, math.nan], [0.0, -0.0], [0.5, 1.5, 2.5], [1e22, 3e22], [30.0, 10.0]]
    return results


CSV = (
    "a,b,class\n1,2,x\n3,4,y\n",
    '\ufeff"a ";b;c\r\n 1.5 ;?;"x ""y"" z"\r\n\r\n 2.5; ;"u;v"\r\n1.5;7;w\r\n',
    "a\tb\tlabel\nred\t1e3\t10\nblue\t-.5\t9\n\t5.\t10\nred\tNaN\t-2\n",
    "t,v,on\n1700000000,0.1,1\n1700000060,0.25,0\n1700000120,0.3,1\n",
    "a,class\n1,\U0001f600\n2,\uff5e\n0,b\n1,B\n",
    "a,b,class\n0,1,0\n1,1,+1\n0,1,007\n",
    "a,b,class\n0,1e308,x\n1,-1e20,y\n" + "0,0.5,x\n1,0.25,y\n" * 20,
    "a,class\n" + "0,x\n1,y\n" * 130 + "1,late\n",
    "age,level=0,level=1,class\n31,0,1,a\n42,1,0,b\n",
    "level=0,level=1,class\n0,1,a\n1,0,b\n",
)
HEAD = "% of rooms\n@relation rooms\n"
ROOMS = (
    HEAD
    + """@attribute 'room temp' numeric
@ATTRIBUTE light {dim, 'very bright', dark}
  @attribute "of_two" {1,0}
@attribute where_it's INTEGER
@attribute who {Zürich,Bern,Basel,none}

@data
% another one
1.5,dark,1,3,Bern

?,'very bright',0, -2 ,Zürich
3,?,?,NA,none
"""
)
ARFF = (
    ROOMS,
    ROOMS.replace("\n", "\r\n"),
    ROOMS.replace("\n", "\r"),
    "@relation r\n@attribute d {5,6,7}\n@attribute y {1,0}\n@data\n7,0\n5,1\n",
    "@relation r\n@attribute d {none,-}\n@attribute y {walk,none}\n@data\n-,none\n?,walk\n",
    '@relation r\n@attribute a real\n@attribute y {"p q",r}\n@data\n1\t"p q"\n2\tr\n',
    "@relation r\n@attribute a real\n@attribute y numeric\n@data\n1e3,10\n2,9\n.5,10\n",
    "@relation r\n@attribute a {'b c',\"d\"}\n@attribute 'it''s' {x,y}\n@data\n'b c',x\nd,y\n",
    "\ufeff@relation r\n@attribute a real\n@attribute y {x,y}\n@data\n1e308,x\n2,y\n"
    + "3,x\n" * 200,
)
BAD = [
    ("@data", ""),
    ("numeric", "String"),
    ("numeric", "date 'yyyy'"),
    ("numeric", "relational"),
    ("numeric", "blob"),
    ("'room temp'", "light"),
    ("1.5,dark", "warm,dark"),
    ("1.5,dark", "1.5,drak"),
    ("1.5,dark", "1.5"),
    ("?,'very", "1,?,'very"),
    ("'very bright',0", "'very bright'x,0"),
    ("NA,none", "3,?"),
    ("NA,none", "3,Brn"),
    ("1.5,dark,1,3,Bern", "{0 1.5}"),
    ("{dim, 'very bright', dark}", "{}"),
]


def test_raw_integers_and_units_match_the_simulators(tmp_path: Path) -> None:
    made = columns()
    cells = [[None if math.isnan(value) else value for value in column] for column in made]
    raw = in_node(tmp_path, {"columns": cells})["raw"]
    for column, page in zip(made, raw, strict=True):
        values = np.array(column).reshape(-1, 1)
        scale = Scale.fit(values)
        (offset, digits) = scale.units()[0]
        assert page["unit"] == {"offset": offset, "digits": digits}, column[:5]
        assert page["rows"] == scale.apply(values)[:, 0].tolist(), column[:5]


def as_the_simulator(page: dict[str, Any], path: Path) -> None:
    stream = open_stream(str(path))
    assert "refused" not in page, page
    assert tuple(page["featureNames"]) == stream.feature_names
    assert tuple(page["classNames"]) == stream.class_names
    assert page["labels"] == stream.labels.tolist()
    assert page["rows"] == stream.scale.apply(stream.values).ravel().tolist()
    early = stream.values[:256]
    two = [len(np.unique(c[~np.isnan(c)])) == 2 for c in early.T]
    assert page["twoValued"] == [f for f, yes in enumerate(two) if yes]


def packed(files: Iterable[tuple[str, str | bytes]]) -> list[tuple[str, str]]:
    """Return the files in a form for JSON."""
    contents = ((name, text.encode() if isinstance(text, str) else text) for name, text in files)
    return [(name, base64.b64encode(data).decode()) for name, data in contents]


@pytest.mark.parametrize("chunk", [1, 7, 1 << 16])
def test_files_are_read_as_the_simulator_reads_them(tmp_path: Path, chunk: int) -> None:
    cases = [*(("t.csv", text) for text in CSV), *(("t.arff", text) for text in ARFF)]
    pages = in_node(tmp_path, {"files": packed(cases), "chunk": chunk})["streams"]
    for (name, text), page in zip(cases, pages, strict=True):
        path = tmp_path / name
        path.write_bytes(text.encode())
        as_the_simulator(page, path)


def test_the_page_refuses_the_files_that_the_simulator_refuses(tmp_path: Path) -> None:
    cases = [("t.arff", ROOMS.replace(old, new)) for old, new in BAD]
    pages = in_node(tmp_path, {"files": packed(cases)})["streams"]
    for (name, text), page in zip(cases, pages, strict=True):
        path = tmp_path / name
        path.write_bytes(text.encode())
        with pytest.raises(DataError):
            open_stream(str(path))
        assert page.get("refused"), text


@pytest.mark.parametrize("chunk", [1, 5, 1 << 16])
def test_the_page_and_the_command_line_agree(tmp_path: Path, chunk: int) -> None:
    """Both read the same bits of each file, or both refuse the file with the same message."""
    files = packed((case.name, case.data) for case in FILE_CASES)
    pages = in_node(tmp_path, {"files": files, "chunk": chunk})["streams"]
    for case, page in zip(FILE_CASES, pages, strict=True):
        path = tmp_path / case.name
        path.write_bytes(case.data)
        if case.page:
            assert "refused" in page, f"{case.what}: it is read"
            for word in case.page:
                assert word in page["refused"], case.what
        elif case.words:
            with pytest.raises(DataError) as caught:
                open_stream(str(path))
            for text in (str(caught.value), page.get("refused", f"{case.what}: it is read")):
                for word in case.words:
                    assert word in text, case.what
        else:
            as_the_simulator(page, path)
            for notes in (open_stream(str(path)).notes, page["notes"]):
                text = " ".join(notes)
                assert bool(text) == bool(case.notes), case.what
                for word in case.notes:
                    assert word in text, case.what


def test_the_command_that_the_page_suggests_makes_a_readable_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each format that only the command line reads, the converted file has the same rows."""
    monkeypatch.chdir(tmp_path)
    cases = [case for case in FILE_CASES if case.page]
    names = [f"t {at}{Path(case.name).suffix}" for at, case in enumerate(cases)]
    files = packed((name, case.data) for name, case in zip(names, cases, strict=True))
    copies, wanted = [], []
    for name, case, page in zip(
        names, cases, in_node(tmp_path, {"files": files})["streams"], strict=True
    ):
        Path(name).write_bytes(case.data)
        words = shlex.split(re.findall("`microshrub (.*?)`", page["refused"])[0])
        assert main(words) in (0, 1)
        copies.append((words[-1], Path(words[-1]).read_bytes()))
        wanted.append(open_stream(name))
    pages = in_node(tmp_path, {"files": packed(copies)})["streams"]
    for case, page, stream in zip(cases, pages, wanted, strict=True):
        assert page.get("rows") == stream.scale.apply(stream.values).ravel().tolist(), case.what
        assert page["labels"] == stream.labels.tolist()
        assert tuple(page["classNames"]) == stream.class_names


def test_the_progress_never_falls_and_ends_at_1(tmp_path: Path) -> None:
    """The progress never falls, during reading and during the search for units, and ends at 1."""
    text = "x,z,y\n" + "".join(f"{i % 99},{i % 7},{'ab'[i % 2]}\n" for i in range(20_000))
    (page,) = in_node(tmp_path, {"files": packed([("t.csv", text)]), "chunk": 5000})["streams"]
    assert len(page["labels"]) == 20_000
    assert page["shares"] == sorted(page["shares"])
    assert len(page["shares"]) > 20
    assert page["shares"][-1] == 1
