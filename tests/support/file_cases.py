"""Files as people have them, with the messages of the command line and of the page for each.

A case is a name, the bytes, and words that must be in both messages. Without words, both read the
file, with equal results. A file that only the command line reads has the words of the page's
refusal.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class FileCase:
    """One file. `notes` are words of the notes about a file that is read.

    `page`: words of the page's refusal of a file that the command line reads as `samples` samples.
    """

    what: str
    data: bytes
    words: tuple[str, ...] = ()
    name: str = "t.csv"
    notes: tuple[str, ...] = ()
    page: tuple[str, ...] = ()
    samples: int = 0


def _log(
    what: str,
    text: str | bytes,
    samples: int,
    notes: tuple[str, ...],
    *page: str,
    name: str = "t.csv",
) -> FileCase:
    """Return a file that both read; with `page`, one that only the command line reads."""
    data = text if isinstance(text, bytes) else text.encode()
    return FileCase(what, data, (), name, notes, page, samples)


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
    """Return rows of a column x with these cells, and of classes."""
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


_COMMAND = "`microshrub look t"  # in the page's refusal of a file that a command reads
_FIRST = "the first row is a sample as the others are"
_BOOT = (
    "ets Jun  8 2016 00:22:57\n\nrst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)\n"
    "configsip: 0, SPIWP:0xee\nload:0x3fff0030,len:1184\n"
)
_PROMPT = """\
MPY: soft reboot
MicroPython v1.25.0 on 2025-04-15; Raspberry Pi Pico with RP2040
Type "help()" for more information.
>>> import main
"""
_PLAIN = _rows("1", "2.5", "-3e2", "")
_LONG = "x,y\n" + "".join(f"{i * 7919 % 10007},{'ab'[i % 2]}\n" for i in range(9000))
_WIDE = ",".join(f"c{i}" for i in range(300))

_FILES = (
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
    _log("no header", "1.5,2,walk\n2.5,3,sit\n", 2, (_FIRST,), "1.5 is a number", _COMMAND),
    _log("no header, numbers only", "1,2,0\n1,2,1\n", 2, (_FIRST,), "only numbers", _COMMAND),
    _log("no header, a class alone is text", "5,-3,walk\n1,2,sit\n", 2, (_FIRST,),
         "-3 is a number", _COMMAND),
    _log("no header, whole numbers", "5,6,walk\n1,2,sit\n3,4,walk\n", 3, (_FIRST,),
         "5 is a number", _COMMAND),
    _log("a column of classes alone", "5,6\n7,8\n", 2, (_FIRST,), "only numbers", _COMMAND),
    _case("a nameless column", ",x,y\n0,1,a\n1,2,b\n", "line 1: column 1 has no name"),
    _case("a name thrice, another twice", "x,x,z,z,x,y\n0,1,1,1,1,a\n1,2,3,3,3,b\n",
          "3 columns are named x (1, 2, 5)", "two columns are named z (3, 4)"),
    _case("the class first, a measurement last", "activity,ax,ay\n" + "".join(
        f"{'ab'[i // 9 % 2]},{i % 7},{i * 37 % 101 / 8}\n" for i in range(90)),
        "column ay: its 90 classes are all numbers", "another column holds the class", "activity"),
    _case("a name twice", "x,x,y\n0,1,a\n1,2,b\n", "line 1: two columns are named x"),
    _log("decimal comma", _rows("1,5", "2,5").replace(",a", ";a").replace(",b", ";b")
         .replace("x,y", "x;y"), 20, ("column x: decimal commas",)),
    _case("thousands", _rows('"1,000"', '"2,000"'), "thousands", "Write 1000 or 1.000"),
    _log("three decimals", _rows('"0,125"', '"1,250"'), 20, ("column x: decimal commas",)),
    _case("a row of units", "time,ax,ay,class\ns,g,m/s^2,\n" + "".join(
        f"{i / 50},{i % 7 / 4},{i % 5},{'ab'[i % 2]}\n" for i in range(40)),
        notes=("1 of units (line 2)", "column time is left out")),
    _case("a row of units in brackets", "ax;ay;class\n[g];[m/s²];[-]\n" + "".join(
        f"{i % 7 / 4};{i % 5};{'ab'[i % 2]}\n" for i in range(5)),
        notes=("1 of units (line 2)",)),
    _log("millions", _rows('"1,000,000"', '"2,000,000"'), 20, ("thousands are taken out",)),
    _log("thousands apart", _rows("1 000", "2 500"), 20, ("thousands are set apart",)),
    _log("thousands and apostrophes", _rows("1'000.5", "2'500.5"), 20, ("set apart",)),
    _log("thousands and no-break spaces", _rows("1\u00a0000", "-2\u202f500"), 20,
         ("set apart",)),
    _case("thousands beside a text", _rows(*["1 000"] * 20, "off", times=21), "Write 1000 or"),
    _log("units", _rows("1.0 g", "2.0 g"), 20, ("column x: the unit g is taken off",)),
    _log("percent", _rows("1%", "2%"), 20, ("the unit % is taken off",)),
    _case("one unit", _rows("1", "2", "3 g"), "line 4, column x", "Write 3,"),
    _case("a stray text", _rows("1", "2", "off"), "line 4, column x: 'off' is text"),
    _log("time stamps", "when,x,y\n" + "".join(
        f"2024-01-01 00:{i:02},{i % 3},{'ab'[i % 2]}\n" for i in range(40)), 40,
        ("column when is left out",)),
    _case("an infinite number", _rows("1", "inf"), "line 3, column x: an infinite number"),
    _case("UTF-16", _PLAIN.encode("utf-16")),
    _case("UTF-16, the other one", b"\xfe\xff" + _PLAIN.encode("utf-16-be")),
    _case("UTF-16 without a mark", _PLAIN.encode("utf-16-le"), "a zero byte", "UTF-8"),
    _log("a degree sign of Windows", _rows("1", "2").replace("x,", "x (°C),").encode("cp1252"), 20,
         ("line 1 is not UTF-8, so it is read as Windows-1252",)),
    _log("a line in UTF-8 and one of Windows", b"x,y\n" + "".join(
        f"{i % 7},{'böse' if i % 2 else 'güt'}\n" for i in range(40)).encode().replace(
        "güt".encode(), "güt".encode("cp1252")), 40, ("line 2 is not UTF-8",)),
    _case("bytes that no text has", _rows("1", "2").replace(",b", ",b\x81s").encode("latin-1"),
          "not UTF-8"),
    _case("a missing class", "x,y\n1,a\n2,\n", "line 3, column y: the class is missing"),
    _case("one class", "x,y\n1,a\n2,a\n", "column y: the only class is a"),
    _case("many classes", "x,y\n" + "".join(f"1,{i}\n" for i in range(300)),
          "column y: the column has 300 classes and 256 is the most"),
    _case("a cell too few", "x,z,y\n1,2,a\n1,b\n", "line 3: 3 cells expected", "2 found"),
    _case("a cell too many", "x,y\n1,a\n1,2,b\n", "line 3: 2 cells expected", "3 found"),
    _case("one column", "y\na\nb\n", "0 feature columns"),
    _case("many columns", f"{_WIDE}\n", "299 feature columns"),
    _log("a comment above", "# made by me\nx,y\n1,a\n2,b\n", 2, ("1 of text (line 1)",)),
    _case("a header that is a comment", "# x,y\n1,a\n2,b\n", "line 1 begins with #", "header"),
    _log("a comment between", "x,y\n1,a\n# noon\n2,b\n", 2, ("1 of text (line 3)",)),
    _log("a word to Excel", "sep=;\nx;y;z\n1;4;a\n2;5;b\n", 2, ("1 of text (line 1)",)),
    _case("a stray quote", 'x,y\n1,a\n2,"b\n3,a\n', "ine 3", "cannot be read", 'stray "'),
    _case("nothing", "", "row per sample"),
    _case("a header alone", "x,y\n", "row per sample"),
    _case("a workbook", _workbook(), "is an Excel workbook, not CSV", "as CSV in UTF-8"),
    _case("a workbook by its name", _workbook(), "t.xlsx is an Excel workbook", name="t.xlsx"),
    _case("a zip archive", _zip(), "is a zip archive, not CSV. Unpack it"),
    _case("Parquet", b"PAR1" + bytes(90), "is a Parquet file, not CSV. Save it as CSV"),
    _case("a web page", "<!doctype html>\n<html>", "is a web page"),
    _case("JSON that is cut", '[{"x": 1', "is a JSON file"),
    _case("no gzip", _PLAIN, "is not a gzip file", name="t.csv.gz"),
    _case("half a gzip file", gzip.compress(_LONG.encode(), mtime=0)[:5000],
          "cut short", name="t.csv.gz"),
    _case("ARFF of texts", "@relation r\n@attribute x string\n@attribute y {a,b}\n@data\nu,a\n",
          "attribute x is of type string", name="t.arff"),
    _case("ARFF without data", "@relation r\n@attribute x numeric\n", "no @data line",
          name="t.arff"),
)  # fmt: skip

_AS_PEOPLE_HAVE_THEM = (
    _log("boot messages", _BOOT + _rows("1", "2"), 20, ("4 of a board that starts",)),
    _log(
        "more lines of text than samples",
        "WiFi: connecting\nWiFi: ok\nready\nI2C: 2 devices\nsensor found\nlogging\n"
        "ax,ay,label\n1,2.5,a\n3,4.5,b\n5,6.5,a\n",
        3,
        ("6 of text (the first is line 1)",),
    ),
    _log(
        "boot messages between",
        _rows("1", "2") + _BOOT + _rows("3", "4")[4:],
        40,
        ("4 of a board that starts (the first is line 22)",),
    ),
    _log(
        "the header again", _rows("1", "2") * 3, 60, ("2 the header again (the first is line 22",)
    ),
    _log(
        "a line cut in half by a reset",
        "x,z,y\n1,2,a\n2,3,b\n7,5\n" + _BOOT + "3,4,a\n4,5,b\n",
        4,
        ("1 cut in half (line 4)", "4 of a board that starts"),
    ),
    _log("MicroPython's prompt", _PROMPT + _rows("1", "2"), 20, ("4 of MicroPython's prompt",)),
    _log(
        "colours",
        "".join(f"\x1b[32m{line}\x1b[0m\n" for line in _rows("1", "2").splitlines()),
        20,
        (),
    ),
    _log(
        "a serial monitor's clock",
        "".join(
            f"12:03:{i // 10:02}.{i % 10}00 -> ax: {i % 7}, ay: {-i % 5}, y: {'ab'[i % 2]}\n"
            for i in range(40)
        ),
        40,
        ("column time is left out", "names and values"),
        _COMMAND,
    ),
    _log(
        "names and values",
        "".join(f"ax:{i % 7} ay:{-i % 5} label:{'ab'[i % 2]}\n" for i in range(40)),
        40,
        ("the lines are names and values",),
        _COMMAND,
    ),
    _log(
        "names, values and units",
        "".join(
            f"Temp: {20 + i % 7 / 10} C  Hum: {40 + i % 9} %  on: {'ab'[i % 2]}\n"
            for i in range(40)
        ),
        40,
        ("column Temp: the unit C", "column Hum: the unit %"),
        _COMMAND,
    ),
    _log(
        "blanks",
        "".join(f"  {i % 7 / 8:.4e}  {-i % 5}.5  {i % 2}\n" for i in range(40)),
        40,
        ("separated by blanks", "the columns are called c1 to c3"),
        _COMMAND,
    ),
    _log(
        "LibSVM",
        "".join(f"{'+-'[i % 2]}1 1:0.{i % 9} {3 + i % 2}:2.5 \n" for i in range(40)),
        40,
        ("the lines are LibSVM",),
        _COMMAND,
    ),
    _log(
        "semicolons at the ends",
        "".join(f"{i % 7},{-i % 5}.25,{'ab'[i % 2]};\n" for i in range(40)),
        40,
        ("each semicolon ends a row",),
        _COMMAND,
    ),
    _log(
        "the number of each line, and bars",
        "".join(f"{i}: {i % 7}.5, {-i % 5}.25 | 0.{i % 3}, {'ab'[i % 2]}\n" for i in range(40)),
        40,
        ("commas and bars", "the number in front of each line is left out"),
        _COMMAND,
    ),
    _log(
        "brackets",
        "".join(f"[{i % 7}.5, {-i % 5}.25],{'ab'[i % 2]}\n" for i in range(40)),
        40,
        ("column c1: [ is taken off", "column c2: ] is taken off"),
        _COMMAND,
    ),
    _log(
        "tuples with a class behind them",
        "".join(f"({i % 7 - 3.5:.3f}, {-i % 5}.25, {i % 3}) {'ab'[i % 2]}\n" for i in range(90)),
        90,
        ("separated by brackets, commas and blanks",),
        _COMMAND,
    ),
    _log(
        "dictionaries as Python prints them",
        "".join(f"{{'ax': {i % 7}.5, 'on': '{'ab'[i % 2]}'}}\n" for i in range(40)),
        40,
        ("the lines are names and values",),
        _COMMAND,
    ),
    _log(
        "a spreadsheet from Germany",
        "\ufeffDatum;Temperatur;Zustand\r\n"
        + "".join(
            f"01.02.2026 10:{i:02};{20 + i % 7},5;{'an' if i % 2 else 'aus'}\r\n"
            for i in range(40)
        ),
        40,
        ("column Datum is left out", "column Temperatur: decimal commas"),
    ),
    _log(
        "units of whole numbers", _rows(*(f"{500 + i}mV" for i in range(20))), 20, ("the unit mV",)
    ),
    _case(
        "no measurement",
        "s,x,t,y\n" + "".join(f"s{i},{i % 7},k|{i},{'ab'[i % 2]}\n" for i in range(40)),
        "column s holds 40",
    ),
)


def _records(count: int = 40) -> list[dict[str, object]]:
    return [
        {"t": 20 * i * i % 97, "acc": {"x": i % 7, "y": -i % 5}, "state": "ab"[i % 2]}
        for i in range(count)
    ]


def _lists(count: int) -> list[list[object]]:
    return [[i % 7 / 4, -i % 5, "ab"[i % 2]] for i in range(count)]


def _influx() -> str:
    """Return an annotated CSV, one series after the other; the text's first value comes late."""
    lines = [
        "#group,false,false,true,false,true,true",
        "#datatype,string,long,dateTime:RFC3339,double,string,string",
        "#default,_result,,,,,",
        ",result,table,_time,_value,_field,_measurement",
    ]
    lines += [f",,0,2026-01-01T00:{i:02}:00Z,{20 + i % 7},temp,room" for i in range(40)]
    lines += [f",,1,2026-01-01T00:{i:02}:00Z,{50 - i % 3},hum,room" for i in range(40)]
    lines += [f",,2,2026-01-01T00:{i:02}:00Z,{'ab'[i // 4 % 2]},state,room" for i in range(2, 40)]
    return "\n".join(lines) + "\n"


def _home() -> str:
    """Return Home Assistant's CSV, in order of time."""
    lines = ["entity_id,state,last_changed"]
    for i in range(40):
        state = "unavailable" if i == 7 else str(20 + i % 7)
        lines.append(f"sensor.temp,{state},2026-01-01T00:{i:02}:01.5+00:00")
        lines.append(f"binary_sensor.on,{'ab'[i // 4 % 2]},2026-01-01T00:{i:02}:02.5+00:00")
    return "\n".join(lines) + "\n"


def _numpy(*arrays: np.ndarray[Any, Any]) -> bytes:
    data = io.BytesIO()
    if len(arrays) == 1:
        np.save(data, arrays[0])
    else:
        np.savez(data, X=arrays[0], y=arrays[1])
    return data.getvalue()


_ARRAY = np.array([[i % 7, i % 5 / 4, i % 2] for i in range(40)])
_OF_OTHER_PROGRAMS = (
    _log("JSON records", json.dumps(_records()), 40, ("the rows are JSON records",)),
    _log("JSON lines", "".join(json.dumps(r) + "\n" for r in _records()), 40,
         ("the rows are JSON records",)),
    _log("JSON lines with a cut", "".join(json.dumps(r) + "\n" for r in _records(20))
         + '{"t": 3, "acc": {"x"\n' + "".join(json.dumps(r) + "\n" for r in _records(20)), 40,
         ("1 cut in half (record 21)",)),
    _log("JSON lists with names, twice", "".join(json.dumps(r) + "\n" for r in (
         ["x", "z", "y"], *_lists(20), ["x", "z", "y"], *_lists(20))), 40,
         ("1 the header again (record 22)",)),
    _log("JSON records, and a line of names", "".join(json.dumps(r) + "\n" for r in (
         *_records(20), ["t", "acc.x", "acc.y", "state"], *_records(20))), 40,
         ("1 the header again (record 21)",)),
    _log("JSON columns", json.dumps({"x": [*range(40)], "z": [i % 7 for i in range(40)],
         "y": ["ab"[i % 2] for i in range(40)]}, indent=1), 40, ("JSON lists",)),
    _log("Edge Impulse's JSON", json.dumps({"protected": {"ver": "v1", "alg": "none"}, "payload": {
         "interval_ms": 62.5, "sensors": [{"name": "x", "units": "g"}, {"name": "on"}],
         "values": [[i % 7 / 4, i // 9 % 2] for i in range(40)]}}), 40, ("Edge Impulse's JSON",)),
    _log("JSON lines with a name that comes late", "".join(
         json.dumps({"x": i % 7, **({"z": 1} if i == 450 else {}), "y": "ab"[i % 2]}) + "\n"
         for i in range(500)), 500, ("1 value left out, called z",), _COMMAND),
    _log("InfluxDB's line protocol", "".join(
         f"room,floor=1 temp={20 + i % 7 / 4},hum={40 + i % 5}i,on={'tf'[i // 4 % 2]} "
         f"{1700000000 + i}000000000\n" for i in range(40)), 40,
         ("InfluxDB's line protocol", "column time is left out"), "line protocol", _COMMAND),
    _log("mosquitto_sub's messages", "".join(
         f"home/room {json.dumps(r)}\n" for r in _records()), 40,
         ("MQTT messages",), "MQTT messages", _COMMAND),
    _log("mosquitto_sub's messages with times, of two topics", "".join(
         f"2026-01-01T00:{i:02}:00+0100 room/{i % 2} {json.dumps(r)}\n"
         for i, r in enumerate(_records())), 40,
         ("MQTT messages", "column time is left out"), "MQTT messages", _COMMAND),
    _log("InfluxDB's annotated CSV", _influx(), 38,
         ("118 values of 3 series", "2 of a moment at which a text is not known"), _COMMAND),
    _log("Home Assistant's history", _home(), 79,
         ("80 values of 2 series", "1 of a moment at which"), _COMMAND),
    _log("a NumPy array", _numpy(_ARRAY), 40, ("a NumPy array",),
         "is a NumPy array", _COMMAND),
    _log("NumPy arrays X and y", _numpy(_ARRAY[:, :2], _ARRAY[:, 2].astype(int)), 40,
         ("NumPy array X, and the last column y",), _COMMAND, name="t.npz"),
)  # fmt: skip

FILE_CASES = (*_FILES, *_AS_PEOPLE_HAVE_THEM, *_OF_OTHER_PROGRAMS)
