"""A learning board sends the names of its classes and features, also with text output."""

from __future__ import annotations

import csv
import json
import signal
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import Device, configuration, put_device
from script_support import SERVER, run, spawn

from microshrub_tools.link.board_names import names_of, numbers_only, read_configuration
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import Welcome
from microshrub_tools.link.serial_line import SerialLine

# Two analog pins, and a button that is pressed now and then
BOARD = """
from microshrub.device.hardware import Hardware
from microshrub.device.program import main

class Input:
    def __init__(self, pin):
        self.pin, self.at = pin, 0
    def read_u16(self):
        self.at += 1
        return self.pin * 1000 + self.at % 100
    def value(self):
        self.at += 1
        return self.at // 20 % 2

class Board(Hardware):
    def adc(self, pin):
        return Input(pin)
    def button(self, pin):
        return Input(pin)

main(Board())
"""
# The same board with a link that has no request for the configuration
OLD_BOARD = (
    """
from microshrub.device import link, service

class OldLink(link.Link):
    def _apply(self, kind, n, sequence):
        super()._apply(99 if kind == 11 else kind, n, sequence)

service.Link = OldLink
"""
    + BOARD
)
CLASSES = ["at rest", "walk, fast"]
FEATURES = ["x axis", "ÿ"]
Start = Callable[..., str]


def config(**fields: Any) -> dict[str, Any]:
    return configuration(
        "ShrubEnsemble",
        {"features": 2, "classes": 2, "window": 8, "trees": 2, "step": 1.0},
        class_names=CLASSES,
        feature_names=FEATURES,
        sensor={"kind": "adc", "pins": [26, 27], "rate": 200},
        label_pin={"pin": 15, "pressed": 1, "released": 0},
        warmup=4,
        **fields,
    )


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    """A function that starts a board with that configuration and returns its port."""
    devices = []

    def start(main: str = BOARD, **fields: Any) -> str:
        folder = tmp_path / f"board{len(devices)}"
        folder.mkdir()
        put_device(folder, config(**fields))
        (folder / "main.py").write_text(main)
        devices.append(Device(micropython_command, folder, "192k"))
        return devices[-1].port

    yield start
    for device in devices:
        device.close()


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.mark.parametrize("text", [False, True])
def test_record_writes_the_names(
    text: bool, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This also holds with text, which has class numbers: --append adds no further classes."""
    monkeypatch.setattr("microshrub_tools.watch.readings._LISTEN", 0.5)
    file = tmp_path / "walk.csv"
    file.write_text('x axis,ÿ,label\n1,2,at rest\n1,2,"walk, fast"\n')
    words = ["record", "--port", start(text=text), "-o", file, "--limit", 60]
    assert run(*words, "--append") == 0
    rows = rows_of(file)
    assert len(rows) == 62
    assert {row["label"] for row in rows} == set(CLASSES)
    assert all(26000 <= int(row["x axis"]) < 26100 for row in rows[2:])
    assert all(27000 <= int(row["ÿ"]) < 27100 for row in rows[2:])


@pytest.mark.parametrize("text", [False, True])
def test_a_board_without_the_request_for_names_is_recorded_with_numbers(
    text: bool, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("microshrub_tools.watch.readings._LISTEN", 0.5)
    file = tmp_path / "numbers.csv"
    assert run("record", "--port", start(OLD_BOARD, text=text), "-o", file, "--limit", 60) == 0
    assert {tuple(row) for row in rows_of(file)} == {("x0", "x1", "label")}
    assert {row["label"] for row in rows_of(file)} == {"0", "1"}


@pytest.mark.parametrize("old", [False, True])
def test_monitor_shows_the_names(old: bool, start: Start) -> None:
    with spawn("monitor", "--port", start(OLD_BOARD) if old else start()) as process:
        assert process.stdout
        wanted = "predicted 0 " if old else "predicted at rest "
        assert any(wanted in line for line in process.stdout)
        process.send_signal(signal.SIGINT)


def test_a_configuration_of_many_frames_arrives_complete(start: Start) -> None:
    units = [[-5, 2], [1000, -3]]
    with HostLink(SerialLine(start(units=units, program="n" * 3000))) as link:
        welcome = link.connect()
        whole = read_configuration(link, welcome)
        names = names_of(whole, welcome)
        forged = Welcome(8, welcome.configuration_hash ^ 1, 2, 2, 64, 1)
        assert read_configuration(link, forged) == {}
    assert whole["units"] == [(-5, 2), (1000, -3)]  # complete, as it has its CRC32
    assert (names.classes, names.features) == (tuple(CLASSES), tuple(FEATURES))
    assert [names.value(0, raw) for raw in (0, 123, -1)] == ["-5.00", "-3.77", "-5.01"]
    assert [names.value(1, raw) for raw in (0, 7)] == [1000, 8000]


@pytest.mark.parametrize(
    "fields",
    [
        {"class_names": ["one"], "feature_names": [1, 2], "units": [[0, 0]]},
        {"class_names": None, "feature_names": "xy", "units": [[0], ["a", 1e9]]},
        {"class_names": {}, "units": [[0, 10**9], [0.5, True]]},
    ],
)
def test_an_invalid_name_becomes_a_number(
    fields: dict[str, Any], device: Callable[[str], str]
) -> None:
    """Another program may send anything."""
    text = json.dumps(fields).encode()
    method = f"""
    def read_text(self, at, buffer):
        buffer[: len({text!r}) - at] = {text!r}[at:]
        return len({text!r}) - at
"""
    script = SERVER.replace("hash = 2, 3, 77\n", f"hash = 2, 3, {zlib.crc32(text)}\n{method}")
    with HostLink(SerialLine(device(script))) as link:
        welcome = link.connect()
        config = read_configuration(link, welcome)
        assert names_of(config, welcome) == numbers_only(welcome)
