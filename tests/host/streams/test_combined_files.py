"""Random files with several irregularities: each line is a sample, or a note mentions it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.streams.open_stream import open_stream

BOOT = ["ets Jun  8 2016 00:22:57", "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)"]
NOISE = [[*BOOT], ["MPY: soft reboot", ">>> import main"], ["Connecting to WiFi ..."]]


@dataclass
class Made:
    """A file, and the stream that the file has to become."""

    text: str
    values: list[list[float]]
    labels: list[str]
    other_lines: int  # lines that are not samples
    names: list[str] | None


def of_cells(draw: random.Random, separator: str, comma: bool) -> Callable[[float], str]:
    """Return a function that formats the numbers of a column."""
    forms = [lambda v: f"{v:.2f}", lambda v: f"{v:.2f}", lambda v: f"{v:.4e}"]
    if separator != " ":
        forms += [lambda v: f"{v:.2f} V", lambda v: f"{v:.2f}g"]
    if separator in ",;\t":
        forms += [lambda v: f"[{v:.2f}]"]
    form = draw.choice(forms)
    return (lambda v: form(v).replace(".", ",")) if comma else form


def made(seed: int) -> Made:
    draw = random.Random(seed)
    rows, columns = draw.randint(60, 500), draw.randint(2, 5)
    pairs = draw.random() < 0.25
    separator = " " if pairs else draw.choice([",", ",", ";", "\t", " "])
    comma = separator in ";\t" and draw.random() < 0.5
    has_header = not pairs and draw.random() < 0.7
    names = [f"v{place}" for place in range(columns)]
    cells = [of_cells(draw, separator, comma) for _ in names]
    values = [[round(draw.uniform(-90, 90), 2) for _ in names] for _ in range(rows)]
    labels = [draw.choice(["walk", "rest", "run"]) for _ in range(rows)]
    dated = not pairs and separator != " " and draw.random() < 0.3
    clocked, coloured = draw.random() < 0.2, draw.random() < 0.2
    ends = ";" if separator == "," and not clocked and draw.random() < 0.3 else ""
    header = separator.join([*["when"] * dated, *names, "label"])
    lines, other_lines = [header] * has_header, 0
    for place, (row, label) in enumerate(zip(values, labels, strict=True)):
        written = [cell(value) for cell, value in zip(cells, row, strict=True)]
        if pairs:
            written = [f"{name}:{value}" for name, value in zip(names, written, strict=True)]
        date = [f"2026-02-01 {place // 60:02}:{place % 60:02}:00"] * dated
        lines.append(
            separator.join([*date, *written, f"label:{label}" if pairs else label]) + ends
        )
        if draw.random() < 0.02 and place > 3:
            noise = list(draw.choice(NOISE))
            noise += [header] * (has_header and draw.random() < 0.5)
            lines += noise
            other_lines += len(noise)
    if clocked:
        lines = [f"12:{i // 60 % 60:02}:{i % 60:02}.250 -> {line}" for i, line in enumerate(lines)]
    if coloured:
        lines = [f"\x1b[0;32m{line}\x1b[0m" for line in lines]
    end = draw.choice(["\n", "\r\n"])
    text = "".join(line + end for line in lines)
    return Made(text, values, labels, other_lines, names if has_header or pairs else None)


@pytest.mark.parametrize(
    "seed", [*range(30), 1010, 1069]
)  # a clock before each header; as many words as cells
def test_no_line_is_lost_without_a_note(tmp_path: Path, seed: int) -> None:
    wanted = made(seed)
    path = tmp_path / "t.txt"
    path.write_bytes(wanted.text.encode())
    stream = open_stream(path)
    assert np.allclose(stream.values, wanted.values, atol=1e-9, rtol=1e-3)
    assert [stream.class_names[label] for label in stream.labels] == wanted.labels
    if wanted.names:
        assert list(stream.feature_names) == wanted.names
    match = re.search(r"(\d+) lines? left out", " ".join(stream.notes))
    assert int(match[1] if match else 0) == wanted.other_lines
