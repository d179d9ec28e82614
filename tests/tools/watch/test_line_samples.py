"""A board's printed lines become a recording: rows, names and values, also after resets."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from script_support import Device, run

from microshrub_tools.watch.line_samples import LineSamples, Reading

BOOT = "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)"
PROMPT = "MicroPython v1.25.0 on 2025-04-15; Raspberry Pi Pico with RP2040"


def taken(lines: list[str]) -> tuple[list[Reading], dict[str, int]]:
    samples = LineSamples()
    readings = [reading for line in lines for reading in samples.take(line)]
    return readings, samples.skipped.counts


@pytest.mark.parametrize(
    ("line", "names", "values", "label"),
    [
        ("ax: 1, ay: -2", ("ax", "ay"), (1, -2), None),
        ("ax=1.50 ay=-2", ("ax", "ay"), ("1.50", -2), None),
        ("12:03:04.123 -> Temp: 21.5 C  Hum: 40 %", ("Temp", "Hum"), ("21.5", 40), None),
        ("\x1b[32max: 1, label: walk\x1b[0m", ("ax",), (1,), "walk"),
        ("1,2.5,walk", ("c1", "c2"), (1, "2.5"), "walk"),
        ("1;2", ("c1", "c2"), (1, 2), None),
        ("1\t-2e3", ("c1", "c2"), (1, "-2e3"), None),
        ("  3 4 5", ("c1", "c2", "c3"), (3, 4, 5), None),
        ("17", ("c1",), (17,), None),
    ],
)
def test_forms_of_printed_lines(
    line: str, names: tuple[str, ...], values: tuple[object, ...], label: str | None
) -> None:
    samples, left_out = taken([PROMPT, line, line, BOOT, line])
    assert [(each.names, each.values, each.label) for each in samples] == [
        (names, values, label)
    ] * 3
    assert sum(left_out.values()) == 2


def test_a_header_names_the_columns_and_is_repeated_after_a_reset() -> None:
    rows = ["ax,ay,label", "1,2,0", "3,4,1", "5", BOOT, "ax,ay,label", "6,7,1"]
    samples, left_out = taken(rows)
    assert [(each.values, each.label) for each in samples] == [((1, 2), "0"), ((3, 4), "1"),
                                                             ((6, 7), "1")]  # fmt: skip
    assert {each.names for each in samples} == {("ax", "ay")}
    assert sum(left_out.values()) == len(rows) - len(samples)


def test_each_line_is_a_sample_or_reported() -> None:
    lines = [
        PROMPT,
        "Connecting to WiFi ...",
        "1.5,2",
        "3.5,4",
        "a text, and 7",
        "5.5,6",
        "9 mg,1",
    ]
    samples, left_out = taken(lines)
    assert len(samples) + sum(left_out.values()) == len(lines)
    assert [each.values for each in samples] == [("1.5", 2), ("3.5", 4), ("5.5", 6)]


def test_record_over_a_port(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A board prints rows, is reset, and continues: no row is lost."""
    program = f"""
import time
n = 0
while True:
    if n % 40 == 0:
        print("7.5")
        print({BOOT!r})
        print({PROMPT!r})
        print("ax,ay,label")
    print("%.2f,%d,%s" % (n / 4, -n, "ab"[n % 2]))
    n += 1
    time.sleep_ms(1)
"""
    file = tmp_path / "log.csv"
    assert run("record", "--port", device(program), "-o", file, "--limit", 120) == 0
    with file.open(newline="") as lines:
        header, *rows = csv.reader(lines)
    assert len(header) == 3
    begin = -int(rows[0][1])
    numbers = range(begin, begin + 120)
    assert rows == [[f"{n / 4:.2f}", str(-n), "ab"[n % 2]] for n in numbers]
    err = capsys.readouterr().err
    assert "not samples skipped" in err
    assert "of a board that starts" in err
