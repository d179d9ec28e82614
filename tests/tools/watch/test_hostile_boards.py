"""Boards with invalid messages: monitor and record show them, or end with one line."""

from __future__ import annotations

import re
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hostile_board import (
    ANOMALY,
    CLASS,
    COUNTS,
    DONE,
    GOOD,
    QUERY,
    STATE,
    class_state,
    hostile,
    observed,
)
from script_support import output_in_time, run

from microshrub_host.base.terminal import Terminal
from microshrub_host.base.text import shown
from microshrub_tools.cli.monitor import view
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch import history
from microshrub_tools.watch.device_watch import Watch
from microshrub_tools.watch.history import History, Moment

NAMES = {"class_names": ["walk", "rest"], "feature_names": ["x", "y"]}
WORDS = "the board says what cannot be: "
STATUS_WORDS = list(struct.unpack("<18i", GOOD["status"][1]))


def status(**words: int) -> dict[str, tuple[int, bytes]]:
    places = {"samples": 0, "heap_used": 6, "drift": 8}
    changed = STATUS_WORDS.copy()
    for name, value in words.items():
        changed[places[name]] = value
    return {"status": (STATE, struct.pack("<18i", *changed))}


# The board, and the message about it; "": the board can be used anyway
BOARDS: dict[str, tuple[dict[str, Any], str]] = {
    "a good one": ({"config": NAMES, "seen": observed()}, ""),
    "predicts class 200": ({"seen": observed(label=200)}, "class 200 of 2"),
    "has seen class 200": ({"seen": observed(known=200)}, "class 200 of 2"),
    "has seen class 65534": ({"seen": observed(known=65534)}, "class 65534 of 2"),
    "other features": ({"seen": observed(), "features": 9}, "2 values of 9 features"),
    "no classes": ({"classes": 0}, "it has 0 classes"),
    "65,535 classes": ({"classes": 65535}, "it has 65535 classes"),
    "no features": ({"features": 0, "seen": observed()}, "it has no features"),
    "numbers' column 99": (
        {"config": {"regression": {"column": 99}}, "classes": 1, "seen": observed(0, 65535)},
        "",
    ),
    "numbers that are none": ({"config": {"regression": 7}, "classes": 1}, ""),
    "numbers' column -1": ({"config": {"regression": {"column": -1}}, "classes": 1}, ""),
    "units of -400": (
        {
            "config": NAMES | {"units": [[0, -400], [0, 400]], "regression": {"column": 0}},
            "classes": 1, "seen": observed(0, 65535),
        },
        "",
    ),
    "an endless offset": (
        {"config": {"units": [[int("9" * 4000), 0], [1e400, 2]]}, "seen": observed()}, "",
    ),
    "nested JSON": ({"config": b"[" * 40_000 + b"]" * 20_000}, ""),
    "a list for JSON": ({"config": b"[1]"}, ""),
    "no JSON": ({"config": b"\xff\xfe{"}, ""),
    "half a character": (
        {"config": b'{"class_names": ["\\ud800", "b"], "feature_names": ["\\udfff", "y"],'
         b' "program": "\\ud800"}', "seen": observed()},
        "",
    ),
    "names that are none": ({"config": {"class_names": [1, None]}, "seen": observed()}, ""),
    "a class that stands for 200": (
        {"config": NAMES | {"spare_classes": {"classes": 1}},
         "answers": {"classes": (CLASS, class_state(0, 200))}},
        "class 200 of 2",
    ),
    "a class for all": (
        {"config": NAMES | {"spare_classes": {"classes": 1}},
         "answers": {"classes": (CLASS, class_state(0, 0))}},
        "class 0 where 1 was asked for",
    ),
    "done instead of a class": (
        {"config": {"spare_classes": {"classes": 1}}, "answers": {"classes": (DONE, b"")}},
        "Done where ClassState was asked for",
    ),
}  # fmt: skip
MONITORED: dict[str, tuple[dict[str, Any], str]] = BOARDS | {
    "done instead of a status": ({"answers": {"status": (DONE, b"")}}, "Done where DeviceStatus"),
    "fewer samples than none": ({"answers": status(samples=-1)}, "-1 in its status"),
    "a negative heap": ({"answers": status(heap_used=-5)}, "-5 in its heap"),
    "drift 77": ({"answers": status(drift=77)}, ""),
    "a query about class 99": (
        {"config": NAMES | {"queries": {"share": 1}},
         "answers": {"queries": (QUERY, struct.pack("<5i", 7, 99, 3, 100, 2))}},
        "class 99 of 2",
    ),
    "a query about class -7": (
        {"config": NAMES | {"queries": {"share": 1}},
         "answers": {"queries": (QUERY, struct.pack("<5i", 7, -7, 3, 100, 2))}},
        "class -7 of 2",
    ),
    "done instead of a query": (
        {"config": {"queries": 1}, "answers": {"queries": (DONE, b"")}}, "Done where Query",
    ),
    "anomalies below none": (
        {
            "config": {"anomaly": 1},
            "answers": {"anomaly": (ANOMALY, struct.pack("<3i", 1, 2, -3))},
        },
        "-3 in anomalies",
    ),
}  # fmt: skip


def check(words: str, code: int, output: str) -> None:
    """Check the exit code and the single line of the message; no escape, no traceback."""
    assert code == (2 if words else 0), output
    assert "\x1b" not in output
    assert "Traceback" not in output
    if words:
        assert f"microshrub: {WORDS}{words}" in output


@pytest.mark.parametrize("name", MONITORED)
def test_monitor(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board, words = MONITORED[name]
    with hostile(**board) as port:
        code = run("monitor", "--port", port, "--seconds", 1.5, "--plot", tmp_path / "a.png")
    read = capsys.readouterr()
    check(words, code, read.out + read.err)


@pytest.mark.parametrize("name", [name for name, (board, _) in BOARDS.items() if "seen" in board])
def test_record(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("microshrub_tools.watch.readings._LISTEN", 0.2)
    board, words = BOARDS[name]
    with hostile(**board) as port:
        code = run("record", "--port", port, "-o", tmp_path / "a.csv", "--limit", 5)
    read = capsys.readouterr()
    check(words, code, read.out + read.err)
    if not words:
        assert (tmp_path / "a.csv").read_text().count("\n") == 6


@pytest.mark.parametrize("counts", [(), (1,), (1, 2, 3), (1, -2), tuple(range(40))])
def test_the_confusion_matrix_has_its_shape_or_is_not_shown(counts: tuple[int, ...]) -> None:
    answers = {"confusion": (COUNTS, struct.pack(f"<{len(counts)}i", *counts))}
    with hostile(NAMES, answers=answers) as port, HostLink(SerialLine(port)) as link:
        watch = Watch(link)
        if len(counts) > 2 or -2 in counts:
            with pytest.raises(Exception, match="what cannot be"):
                watch.ask(matrix=True)
            return
        watch.ask(matrix=True)
        assert watch.confusion == ([(1, 1), (1, 1)] if counts else [])
        terminal = Terminal()
        terminal.print(view(watch))


ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b31m\u202ewalk\b\r"


def test_escapes_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {
        "class_names": [ESCAPES, "rest"], "feature_names": [ESCAPES, "y"], "program": ESCAPES,
    }  # fmt: skip
    text = f"microshrub: {ESCAPES}\n".encode()
    with hostile(config, seen=observed(0, 0), text=text) as port:
        output: list[str] = []

        def watched(seconds: float) -> str:
            assert run("monitor", "--port", port, "--seconds", seconds) == 0
            read = capsys.readouterr()
            output[:] = read.out, read.err
            return read.out

        predicted = "predicted ]0;title[2J31mwalk"
        assert predicted in output_in_time(watched, re.escape(predicted))
        with HostLink(SerialLine(port)) as link:
            watch = Watch(link)
            watch.ask(matrix=True)
            terminal = Terminal()
            with terminal.capture() as shown_there:
                terminal.print(view(watch))
    for text_there in (*output, shown_there.get()):
        assert text_there
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\b"} & set(text_there)
    lines = shown_there.get().splitlines()
    assert len({len(line) for line in lines if "│" in line[:1]}) <= 2  # the boxes are straight


def test_escapes_of_a_file_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a\x1b[31mb.csv"
    rows = "".join(f"{k},{k % 3},{ESCAPES if k % 2 else 'no'}\n" for k in range(300))
    file.write_bytes(f'"{ESCAPES}",y,label\n{rows}'.replace("\r", "").encode())
    words = ["simulate", file, "--engine", "python", "--model", "shrub"]
    assert run(*words) == 0
    first = capsys.readouterr()
    assert run(*words, "--target", "no\x1b[5mcolumn") == 2
    assert run("simulate", tmp_path / "none\x1b[31m.csv") == 2
    last = capsys.readouterr()
    for output in (first.out, first.err, last.out, last.err):
        assert "\x1b" not in output
        assert "\x07" not in output
    assert "]0;title" in first.out  # shown, but not obeyed
    assert "[2J" not in first.out  # removed, like colours, when the file is read


def test_ordinary_text_is_shown_unchanged() -> None:
    text = "Zürich 東京 \N{PARTY POPPER} a\tb\n\u00a0c"
    assert shown(text) == text
    assert shown(ESCAPES) == "]0;title[2J31mwalk"


def test_a_day_of_watching_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_MOMENTS", 64)
    kept = History()
    status: Any = object()
    for second in range(86_400):
        kept.note(Moment(float(second), status))
    moments = [moment.seconds for moment in kept.moments]
    assert len(moments) <= 66
    assert (moments[0], moments[-1]) == (0, 86_399)
    gaps = {after - before for before, after in pairwise(moments[:-1])}
    assert len(gaps) == 1
