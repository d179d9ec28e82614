"""Where a board has too little room for the page's program, it says what `build` makes of it."""

from __future__ import annotations

import io
import re
import shlex
import zipfile
from pathlib import Path

import pytest
from browser_support import Browser
from node_support import run_in_node
from playground_support import choose, take
from teach_support import end, taught

from microshrub_host.boards import board_files
from microshrub_tools.board.program_sensors import sensors
from microshrub_tools.board.program_switches import COLOURS
from microshrub_tools.cli.main import main

COMMAND = "document.querySelector('#gestures-build')?.textContent"
SAID = "document.querySelector('#gestures-take p.bad')?.textContent"


def numbers(pattern: str, said: str) -> list[int]:
    return [int(found.replace(",", "")) for found in re.findall(pattern, said)]


@pytest.mark.parametrize("board", ["rpi_pico_w", "esp32c3"])
def test_the_command_that_is_said_makes_a_program_that_fits(
    held: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    board: str,
) -> None:
    """It is the page's program, but for its library, and takes what the page says."""
    taught(held, seconds=2)
    end(held)
    assert held.run(COMMAND) is None
    choose(held, "gestures-board", board)
    choose(held, "switch-kind", "pixel")
    choose(held, "switch-0", "orange")
    said = held.run(SAID)
    command = shlex.split(held.run(COMMAND))
    take(held, "take-gestures", tmp_path / "gestures.mshrub")
    packed = take(held, "gestures-take-program", tmp_path / f"microshrub-{board}.zip")
    monkeypatch.chdir(tmp_path)
    assert main(command[1:]) == 0
    told = capsys.readouterr().out
    assert "It fits" in told
    taken = sum(numbers(r"([0-9,]+) bytes for the (?:imported|model)", told))
    assert numbers(r"its program takes about ([0-9,]+)", said) == pytest.approx([taken], rel=0.05)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for file in ("config.json", "learner.state", "quantizer.state"):
            built = (tmp_path / f"microshrub-{board}" / file).read_bytes()
            assert archive.read(file) == built, file


@pytest.mark.parametrize(
    "words",
    [
        [("adxl345", "scl=7", "sda=6", "i2c=1", "hz=200", "rate=150")],
        [("dht22", "pin=20", "rate=1/5")],
        [("mpu6050", "scl=1", "sda=0", "rate=50", "fifo=yes"), ("adc", "pins=26,28", "rate=10")],
    ],
)
def test_the_command_has_the_sensors_and_what_classes_switch(
    tmp_path: Path, words: list[tuple[str, ...]]
) -> None:
    board = board_files.load("rpi_pico_w")
    config = sensors(words, board).config
    target = {
        "board": {"key": board.key},
        "sensor": config,
        "switches": [[16, [18, *COLOURS["red"]]], [[15, 880]], [[18, 1, 2, 255]]],
    }
    source = """
import { buildCommand } from "./bundle.mjs";
import { readFileSync } from "node:fs";
const { target, classNames, colours } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(buildCommand("page.mshrub", { classNames }, target, colours)));
"""
    told = {"target": target, "classNames": ["it's on", "off", "a b"], "colours": COLOURS}
    command = run_in_node(tmp_path, source, {"build_command": "buildCommand"}, told)
    rest = shlex.split(command)
    at = rest.index("--switch")
    assert rest[at + 1 :] == ["it's on=16+18:red", "off=15:880Hz", "a b=18:0102ff"]
    given = " ".join(rest[rest.index("--sensor") : at]).split("--sensor ")[1:]
    assert sensors([tuple(each.split()) for each in given], board).config == config
