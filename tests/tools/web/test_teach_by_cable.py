"""A board on a cable is the sensor for teaching the page: it sends its readings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import Browser
from cable_support import (
    AXES,
    MOTION,
    STATUS,
    Gesturing,
    begun,
    bridged,
    check_alone,
    gesturing,
    motion_program,
    open_page,
    pulled_cable,
    put,
    recognised,
    samples_of,
    teach,
)
from device_support import put_device
from line_support import Cable, Ends
from playground_support import choose, take
from program_support import number_program
from serial_support import serial_port
from teach_support import ask_in_vain, begin, crc, end, name, press
from test_accessibility import AXE, findings
from test_languages import CUT

from microshrub_host import load_model, open_stream, simulate
from microshrub_tools import Sensor, build

SENSOR = Sensor.mpu6050(scl=1, sda=0, rate=50)
CARDS = "document.querySelectorAll('#cards li').length"
STATUS_TEXT = f"{STATUS}.textContent"


@pytest.fixture
def board(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Gesturing]:
    with gesturing(micropython_command, tmp_path) as gesturing_board:
        yield gesturing_board


def simulated(page: Browser, folder: Path) -> int:
    """Return the checksum of the simulator for the project that the page saves."""
    project = folder / "gestures.mshrub"
    take(page, "take-gestures", project)
    return simulate(open_stream(str(project)), bytes=16384).state_crc32


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize("via", ["bridge", "WebSerial"])
def test_gestures_of_a_board_are_learned_with_the_simulators_bits(
    page: Browser, board: Gesturing, tmp_path: Path, via: str
) -> None:
    with (
        bridged(board.port) as bridge,
        serial_port(page, f"ws://localhost:{bridge.port}/bridge?token={bridge.token}"),
    ):
        there = bridge.address if via == "bridge" else bridge.address.partition("#")[0]
        begun(page, there, "across, up, rest")
        axes = "[...document.querySelectorAll('.axes b')].map((each) => each.textContent)"
        assert page.run(axes) == list(AXES)
        assert page.run("document.querySelector('.axes').textContent").endswith(
            "50 readings a second"
        )
        for text in ("across", "up", "rest"):
            teach(page, board, text)
        press(page, "only predict")
        for text in ("up", "rest", "across"):
            answers = recognised(page, board, text)
            assert answers.count(text) >= 0.8 * len(answers), answers
        shown = end(page)
        assert page.run(CARDS) == 3
        assert simulated(page, tmp_path) == shown
        file = load_model(tmp_path / "gestures.mshrub").file
        assert file.extraction.channels == AXES
        assert file.extraction.rate == 50


@pytest.mark.usefixtures("address")
def test_a_model_taught_by_a_board_recognises_alone_on_that_board(
    page: Browser, board: Gesturing, tmp_path: Path
) -> None:
    with bridged(board.port) as bridge:
        begun(page, bridge.address)
        for text in ("across", "up"):
            teach(page, board, text)
        shown = end(page)
        project = tmp_path / "gestures.mshrub"
        take(page, "take-gestures", project)
        open_page(page, bridge.address)
        page.give_file("#project", project)
        assert crc(page) == shown
        assert page.run("document.querySelector('#gestures-sensor').value") == "own"
        put(page, "gestures-flash")
        config = json.loads((board.flash / "microshrub.0001" / "config.json").read_text())
        made = build(project, "rpi_pico", sensor=SENSOR, output=tmp_path / "made").folder
        assert config == json.loads((made / "config.json").read_text())
        ask_in_vain(page)
        assert "makes features of its readings" in page.run(STATUS_TEXT)
    check_alone(board, "across", "up")


@pytest.mark.usefixtures("address")
def test_after_a_pulled_cable_nothing_is_lost(
    page: Browser, board: Gesturing, tmp_path: Path
) -> None:
    with pulled_cable(tmp_path, board.port) as (cable, bridge):
        begun(page, bridge.address)
        teach(page, board, "across")
        page.run(
            "texts = []; new MutationObserver(() => texts.push(" + STATUS_TEXT + ")).observe("
            f"{STATUS}, {{childList: true}}); void 0"
        )
        press(page, "up")
        board.play("up")
        cable.pull()
        page.wait("texts.some((text) => text.startsWith('The board is back. It learns up'))")
        assert page.run("texts.some((text) => text.includes('What was taught is kept'))")
        page.wait(f"{samples_of('up')} >= 24")
        assert page.run(samples_of("across")) >= 24
        shown = end(page)
        assert simulated(page, tmp_path) == shown


@pytest.mark.usefixtures("address")
def test_a_missing_board_ends_the_recording_and_go_on_continues_it(
    page: Browser, board: Gesturing, tmp_path: Path
) -> None:
    with pulled_cable(tmp_path, board.port) as (cable, bridge):
        begun(page, bridge.address)
        teach(page, board, "across")
        cable.stop()
        page.wait(f"{STATUS_TEXT}.includes('Plug it in again')")
        page.run("real = performance.now.bind(performance);"
                 "performance.now = () => real() + 120000; void 0")  # fmt: skip
        page.wait(f"{STATUS_TEXT}.includes('press Go on')")
        assert crc(page) == simulated(page, tmp_path)
        assert page.run(CARDS) == 1
        with Cable(tmp_path / "port", Ends(board.port)):
            begin(page)
            teach(page, board, "up")
            assert page.run(samples_of("across")) >= 24
            shown = end(page)
            assert simulated(page, tmp_path) == shown


@pytest.mark.usefixtures("address")
def test_a_board_continues_after_a_power_cut(page: Browser, board: Gesturing) -> None:
    with bridged(board.port) as bridge:
        begun(page, bridge.address)
        teach(page, board, "across")
        board.board.cut_power()
        teach(page, board, "up")
        assert page.run(samples_of("across")) >= 24


@pytest.mark.usefixtures("address")
def test_a_boards_project_continues_only_with_such_a_board(
    page: Browser, board: Gesturing, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    project = tmp_path / "gestures.mshrub"
    with bridged(board.port) as bridge:
        begun(page, bridge.address)
        teach(page, board, "across")
        before = end(page)
        take(page, "take-gestures", project)
        open_page(page, bridge.address)
        page.give_file("#project", project)
        assert crc(page) == before
        begin(page)
        teach(page, board, "up")
        assert end(page) != before
    other = motion_program(sensor=MOTION | {"rate": 100})
    with (
        gesturing(micropython_command, tmp_path / "other", other) as another,
        bridged(another.port) as bridge,
    ):
        open_page(page, bridge.address)
        page.give_file("#project", project)
        assert crc(page) == before
        ask_in_vain(page)
        assert "ax, ay, az, gx, gy, gz, 50 a" in page.run(STATUS_TEXT)
        assert crc(page) == before


@pytest.mark.usefixtures("address")
def test_analog_pins_are_centred(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    pins = {"kind": "adc", "pins": [26, 27], "rate": 100}
    config = motion_program(sensor=pins, feature_names=["left", "right"])
    with gesturing(micropython_command, tmp_path, config) as board, bridged(board.port) as bridge:
        begun(page, bridge.address)
        for text in ("across", "up"):
            teach(page, board, text, 12)
        shown = end(page)
        assert simulated(page, tmp_path) == shown
        extraction = load_model(tmp_path / "gestures.mshrub").file.extraction
        assert extraction.channels == ("left", "right")
        assert extraction.rate == 100
        options = extraction.options
        assert (options["window"], options["hop"], options["zero"]) == (64, 16, [32768, 32768])


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sensor": {"kind": "serial"}}, "has no sensor"),
        ({"sensor": MOTION | {"rate": "1/300"}}, "a reading every 300 seconds"),
        (
            {
                "extraction": {
                    "window": 1, "hop": 1, "zero": [0] * 6, "filters": [], "statistics": [],
                    "bands": [], "plain": [],
                },
            },
            "makes features of its readings",
        ),
    ],
)  # fmt: skip
def test_a_program_without_readings_is_reported(
    page: Browser,
    micropython_command: tuple[str, ...],
    tmp_path: Path,
    fields: dict[str, Any],
    message: str,
) -> None:
    program = motion_program(**fields)
    with gesturing(micropython_command, tmp_path, program) as board:
        assert message in refused(page, board.port)


def refused(page: Browser, port: str) -> str:
    """Return the page's error for the board at that port, which cannot teach the page."""
    with bridged(port) as bridge:
        open_page(page, bridge.address)
        ask_in_vain(page)
        assert not page.run("document.querySelector('#source').disabled")
        return str(page.run(STATUS_TEXT))


@pytest.mark.usefixtures("address")
def test_a_forecast_an_old_program_and_a_missing_one_have_different_messages(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    files = number_program("linear-regressor", 1, 90).files()
    old, blank = tmp_path / "old", tmp_path / "blank"
    with gesturing(micropython_command, tmp_path, files=files) as board:
        assert "predicts a number" in refused(page, board.port)
    (old / "flash").mkdir(parents=True)
    put_device(old / "flash", motion_program(), compiled=False)
    answers = old / "flash" / "lib" / "microshrub" / "device" / "link.py"
    answers.write_text(answers.read_text().replace("const(11)", "const(99)"))
    with Gesturing(micropython_command, old).board as board:
        assert "too old" in refused(page, board.port)
    (blank / "flash").mkdir(parents=True)
    with Gesturing(micropython_command, blank).board as board:
        message = refused(page, board.port)
    assert "No program of microshrub answers" in message
    assert "A new board" in message


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize("language", ["en", "de"])
def test_all_messages_about_a_board_are_accessible(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path, language: str
) -> None:
    """axe-core finds no violation, and no text is cut off, with a blank board as well."""
    (tmp_path / "blank" / "flash").mkdir(parents=True)
    there = f"/?lang={language}#"
    with gesturing(micropython_command, tmp_path) as board, bridged(board.port) as bridge:
        open_page(page, bridge.address.replace("/#", there))
        page.run("document.querySelector('#learn-me').click()")
        page.wait("document.querySelector('.axes').textContent.includes('50 ')")
        assert page.run("document.querySelector('#readings').hidden")
        check_looks(page)
    blank = Gesturing(micropython_command, tmp_path / "blank")
    with blank.board, bridged(blank.port) as bridge:
        open_page(page, bridge.address.replace("/#", there))
        ask_in_vain(page)
        for sensor in ("mpu6050", "adc", "bme280", "clamp", "soil_probe"):
            choose(page, "readings-sensor", sensor)
            check_looks(page)


def check_looks(page: Browser) -> None:
    for width in (360, 1280):
        page.look(width)
        assert page.run("document.documentElement.scrollWidth") <= width
        assert page.run(CUT) == []
        assert not AXE.exists() or not findings(page)


@pytest.mark.usefixtures("address")
def test_a_blank_board_gets_a_program_that_sends_its_readings(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "flash").mkdir()
    board = Gesturing(micropython_command, tmp_path)
    with board.board, bridged(board.port) as bridge:
        open_page(page, bridge.address)
        name(page, "across, up")
        ask_in_vain(page)
        put(page, "readings-flash")
        config = json.loads((board.flash / "microshrub.0001" / "config.json").read_text())
        assert config["class_names"] == ["across", "up"]
        assert "extraction" not in config
        begin(page)
        assert page.run("document.querySelector('#readings').hidden")
        for text in ("across", "up"):
            teach(page, board, text)
        shown = end(page)
        assert simulated(page, tmp_path) == shown
