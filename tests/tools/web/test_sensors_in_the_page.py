"""The page supports every sensor of `build`: the same files, and the same messages."""

from __future__ import annotations

import io
import json
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from browser_support import Browser
from cable_support import Gesturing, bridged, check_alone, open_page, put, recognised, teach
from node_support import run_in_node
from playground_support import choose, crc_of_run, give_csv, set_option, take
from teach_support import ask_in_vain, begin, crc, end, name, press

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.programs import mpy
from microshrub_tools import Sensor, build
from microshrub_tools.board.custom_sensors import driver, drivers
from microshrub_tools.board.program_sensors import SENSORS, sensors
from microshrub_tools.web.page_boards import BOARDS
from microshrub_tools.web.page_sensors import sensor_data

AXES = "[...document.querySelectorAll('.axes b')].map((each) => each.textContent)"
STATES = ("learner.state", "quantizer.state")
CHOICES = "[...document.querySelector('#program-sensor').options].map((each) => each.value)"
WHY_NOT = "document.querySelector('#playground [role=alert]')?.textContent ?? ''"
TAUGHT_WHY_NOT = "document.querySelector('#gestures-take [role=alert]').textContent"
WIRES = "[...document.querySelectorAll('.wiring tbody tr')].map((row) => row.innerText)"


def learned(page: Browser, folder: Path, columns: int, board: str = "rpi_pico") -> Path:
    """Train a model in the page on whole numbers in `columns` columns; return its file."""
    names = ",".join(["temp\u00e9rature", *(f"x{i}" for i in range(1, columns))])
    rows = [
        ",".join(
            [*(str((7 + i) * k % 97) for i in range(columns)), "warm" if k % 3 else "k\u00fchl"]
        )
        for k in range(300)
    ]
    give_csv(page, folder / "sensor.csv", "\n".join([f"{names},class", *rows, ""]))
    page.wait("document.querySelector('#label').options.length")
    choose(page, "board", board)
    if board == "esp32":  # has little RAM for machine code
        choose(page, "learner", "gaussian")
    else:
        set_option(page, "bytes", 4096)
    crc_of_run(page)
    model = folder / "page.mshrub"
    take(page, "take-model", model)
    return model


def program(page: Browser, folder: Path, button: str, board: str) -> dict[str, bytes]:
    packed = take(page, button, folder / f"microshrub-{board}.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def check_same(files: dict[str, bytes], made: Path) -> None:
    """Check that config.json, states and drivers equal `build`'s, and no module is missing."""
    modules = [f"lib/{path.name}" for path in made.glob("lib/*.mpy")]
    for file in ("config.json", *STATES, *modules):
        assert files[file] == (made / file).read_bytes(), file
    alone = [file for file in files if file.startswith("lib/") and file.count("/") == 1]
    assert sorted(alone) == sorted(modules)
    imported = {path.relative_to(made).as_posix() for path in made.rglob("*.mpy")}
    assert imported <= files.keys()


@pytest.mark.parametrize(
    ("board", "sensor_name", "columns", "given", "sensor"),
    [
        ("rpi_pico", "bme280", 3, {}, Sensor.driver("bme280", scl=1, sda=0, rate=Fraction(1, 60))),
        (
            "esp32",
            "bme280",
            3,
            {"address": 119, "rate": 2},
            Sensor.driver("bme280", scl=22, sda=21, address=119, rate=2),
        ),
        (
            "rpi_pico",
            "dht22",
            2,
            {"rate": "1/5"},
            Sensor.driver("dht22", pin=20, rate=Fraction(1, 5)),
        ),
        (
            "rpi_pico",
            "soil_probe",
            1,
            {"wet": 23000},
            Sensor.driver("soil_probe", pin=26, wet=23000),
        ),
        (
            "rpi_pico",
            "adxl345",
            3,
            {"scl": 7, "sda": 6, "i2c": 1, "hz": 200, "rate": 150},
            Sensor.driver("adxl345", scl=7, sda=6, i2c=1, hz=200, rate=150),
        ),
        ("rpi_pico", "adc", 2, {"pins": "26, 28"}, Sensor.adc((26, 28))),
        ("rpi_pico", "mpu6050", 3, {}, Sensor.mpu6050(scl=1, sda=0, rate=50, axes=3)),
    ],
)
def test_the_files_match_those_of_build(
    playground: Browser,
    tmp_path: Path,
    board: str,
    sensor_name: str,
    columns: int,
    given: dict[str, Any],
    sensor: Sensor,
) -> None:
    model = learned(playground, tmp_path, columns, board)
    choose(playground, "program-sensor", sensor_name)
    for field, value in given.items():
        choose(playground, f"program-{field}", str(value))
    files = program(playground, tmp_path, "take-program", board)
    made = build(model, board, sensor=sensor, output=tmp_path / "made").folder
    check_same(files, made)
    assert (f"lib/{sensor_name}.mpy" in files) == (sensor_name in drivers())
    assert ("lib/microshrub/device/custom_sensor.mpy" in files) == (sensor_name in drivers())


@pytest.mark.parametrize(
    ("board", "columns", "kinds", "given", "several"),
    [
        (
            "rpi_pico",
            3,
            ("adc", "bh1750"),
            {"pins": "26,28", "second-rate": 5},
            [Sensor.adc((26, 28)), Sensor.driver("bh1750", scl=1, sda=0, rate=5)],
        ),
        (
            "rpi_pico_w",
            6,
            ("adxl345", "adxl345"),
            {"rate": 100, "second-address": 29, "second-rate": "1/2"},
            [
                Sensor.driver("adxl345", scl=1, sda=0, rate=100),
                Sensor.driver("adxl345", scl=1, sda=0, address=29, rate=Fraction(1, 2)),
            ],
        ),
        (
            "rpi_pico",
            5,
            ("mpu6050", "dht22"),
            {"axes": 3, "second-rate": "1/3"},
            [
                Sensor.mpu6050(scl=1, sda=0, rate=50, axes=3),
                Sensor.driver("dht22", pin=20, rate=Fraction(1, 3)),
            ],
        ),
    ],
)
def test_two_sensors_together_have_the_files_of_build(
    playground: Browser,
    tmp_path: Path,
    board: str,
    columns: int,
    kinds: tuple[str, str],
    given: dict[str, Any],
    several: list[Sensor],
) -> None:
    model = learned(playground, tmp_path, columns, board)
    for field, value in zip(("sensor", "second"), kinds, strict=True):
        choose(playground, f"program-{field}", value)
    for field, value in given.items():
        choose(playground, f"program-{field}", str(value))
    assert playground.run(WHY_NOT) == ""
    files = program(playground, tmp_path, "take-program", board)
    check_same(files, build(model, board, sensor=several, output=tmp_path / "made").folder)
    assert "lib/microshrub/device/combined_sensor.mpy" in files


@pytest.mark.parametrize(
    ("given", "several"),
    [
        (
            {"second-rate": 60},
            [Sensor.adc((26, 27)), Sensor.driver("bh1750", scl=1, sda=0, rate=60)],
        ),
        (
            {"second-scl": 27, "second-sda": 26},
            [Sensor.adc((26, 27)), Sensor.driver("bh1750", scl=27, sda=26, rate=1)],
        ),
        ({"pins": "26"}, [Sensor.adc((26,)), Sensor.driver("bh1750", scl=1, sda=0, rate=1)]),
    ],
)
def test_two_sensors_that_build_refuses_get_the_same_message(
    playground: Browser, tmp_path: Path, given: dict[str, Any], several: list[Sensor]
) -> None:
    model = learned(playground, tmp_path, 3)
    choose(playground, "program-sensor", "adc")
    choose(playground, "program-second", "bh1750")
    for field, value in {"pins": "26,27", "second-rate": 1, **given}.items():
        choose(playground, f"program-{field}", str(value))
    with pytest.raises(UserError) as caught:
        build(model, "rpi_pico", sensor=several, output=tmp_path / "made")
    result = playground.run(WHY_NOT)
    assert result
    assert str(caught.value).startswith(result)
    assert not playground.run("!!document.querySelector('#take-program')")
    choose(playground, "program-second", "none")
    choose(playground, "program-sensor", "adxl345")
    assert playground.run(WHY_NOT) == ""


def test_without_a_sensor_the_files_match_those_of_build(
    playground: Browser, tmp_path: Path
) -> None:
    model = learned(playground, tmp_path, 2)
    files = program(playground, tmp_path, "take-program", "rpi_pico")
    check_same(files, build(model, "rpi_pico", output=tmp_path / "made").folder)


def test_a_sensor_with_more_values_is_not_offered(playground: Browser, tmp_path: Path) -> None:
    learned(playground, tmp_path, 2)
    few = {each["key"] for each in sensor_data(50) if len(each["channels"]) in (1, 2)}
    assert set(playground.run(CHOICES)) == {"serial", "adc", *few}
    assert {"dht22", "ina219", "scd41", "bh1750"} <= few
    choose(playground, "program-sensor", "dht22")
    assert playground.run(WIRES)[-1].split("\t") == ["Sensor OUT", "GP20, pin 26"]
    choose(playground, "program-sensor", "ina219")
    assert playground.run(WIRES)[2].split("\t") == ["Sensor SCL", "GP1, pin 2"]


@pytest.mark.parametrize(
    ("sensor_name", "given", "sensor"),
    [
        ("ina219", {"scl": 3}, Sensor.driver("ina219", scl=3, sda=0)),
        ("ina219", {"scl": 0}, Sensor.driver("ina219", scl=0, sda=0)),
        ("ina219", {"scl": 77}, Sensor.driver("ina219", scl=77, sda=0)),
        ("dht22", {"pin": 30}, Sensor.driver("dht22", pin=30)),
        ("dht22", {"rate": 0}, Sensor.driver("dht22", pin=20, rate=0)),
        ("dht22", {"rate": 1}, Sensor.driver("dht22", pin=20, rate=1)),
        ("adc", {"rate": 2000}, Sensor.adc((26, 27), rate=2000)),
        ("adc", {"pins": "26,5"}, Sensor.adc((26, 5))),
        ("adc", {"pins": "27,27"}, None),
        ("adc", {"pins": "27"}, Sensor.adc((27,))),
    ],
)
def test_a_sensor_that_build_refuses_gets_the_same_message(
    playground: Browser,
    tmp_path: Path,
    sensor_name: str,
    given: dict[str, Any],
    sensor: Sensor | None,
) -> None:
    model = learned(playground, tmp_path, 2)
    choose(playground, "program-sensor", sensor_name)
    if sensor_name == "adc":
        choose(playground, "program-pins", "26,27")
    assert playground.run("!!document.querySelector('#take-program')")
    for field, value in given.items():
        choose(playground, f"program-{field}", str(value))
    if sensor is None:  # the same pin twice does no harm
        assert playground.run(WHY_NOT) == ""
        return
    with pytest.raises(UserError) as caught:
        build(model, "rpi_pico", sensor=sensor, output=tmp_path / "made")
    result = playground.run(WHY_NOT)
    assert result
    assert str(caught.value).startswith(result)
    for button in ("take-program", "flash"):
        assert not playground.run(f"!!document.querySelector('#{button}')")


@pytest.mark.usefixtures("address")
def test_an_accelerometer_with_a_driver_trains_the_page_and_then_predicts_alone(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    """The board is a real MicroPython with the chip's model on its bus."""
    (tmp_path / "flash").mkdir()
    board = Gesturing(micropython_command, tmp_path)
    project = tmp_path / "gestures.mshrub"
    sensor = Sensor.driver("adxl345", scl=17, sda=16, rate=50)
    with board.board:
        with bridged(board.port) as bridge:
            open_page(page, bridge.address)
            name(page, "across, up")
            ask_in_vain(page)
            choose(page, "readings-sensor", "adxl345")
            for field, value in (("rate", "50"), ("scl", "17"), ("sda", "16")):
                choose(page, f"readings-{field}", value)
            put(page, "readings-flash")
            begin(page)
            assert page.run(AXES) == ["ax", "ay", "az"]
            for text in ("across", "up"):
                teach(page, board, text)
            press(page, "only predict")
            assert recognised(page, board, "across").count("across") >= 12
            shown = end(page)
            take(page, "take-gestures", project)
            open_page(page, bridge.address)
            page.give_file("#project", project)
            assert crc(page) == shown
            assert page.run("document.querySelector('#gestures-sensor').value") == "own"
            choose(page, "switch-kind", "lights")  # on 16 and 17, the sensor's pins
            with pytest.raises(UserError) as caught:
                build(project, "rpi_pico", sensor=sensor, switch={"across": (16,), "up": (17,)})
            assert page.run(TAUGHT_WHY_NOT) == str(caught.value)
            assert not page.run("!!document.querySelector('#gestures-flash')")
            choose(page, "switch-kind", "line")
            files = program(page, tmp_path, "gestures-take-program", "rpi_pico")
            made = build(project, "rpi_pico", sensor=sensor, output=tmp_path / "made").folder
            check_same(files, made)
            put(page, "gestures-flash")
        check_alone(board, "across", "up")
    flash = next(board.flash.glob("microshrub.*"))
    for file in ("config.json", "lib/adxl345.mpy", *STATES):
        assert (flash / file).read_bytes() == (made / file).read_bytes()


@pytest.mark.usefixtures("address")
def test_two_sensors_of_a_board_train_the_page_together(
    page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "flash").mkdir()
    board = Gesturing(micropython_command, tmp_path)
    wanted = [("adxl345", "scl=17", "sda=16", "rate=50"), ("adc", "pins=26", "rate=10")]
    with board.board, bridged(board.port) as bridge:
        open_page(page, bridge.address)
        ask_in_vain(page)
        choose(page, "readings-sensor", "adxl345")
        choose(page, "readings-second", "adc")
        fields = (("rate", "50"), ("scl", "17"), ("sda", "16"), ("second-rate", "10"))
        for field, value in fields:
            choose(page, f"readings-{field}", value)
        put(page, "readings-flash")
        begin(page)
        assert page.run(AXES) == ["ax", "ay", "az", "pin26"]
    flash = next(board.flash.glob("microshrub.*"))
    config = json.loads((flash / "config.json").read_text(encoding="utf-8"))
    assert config["sensor"] == sensors(wanted, board_files.load("rpi_pico")).config


def test_every_sensor_of_build_has_a_name_in_each_language(tmp_path: Path) -> None:
    keys = [each["key"] for each in sensor_data(50)]
    assert keys == [*(key for key in SENSORS if key != "serial"), *drivers()]
    written = "process.stdout.write(JSON.stringify([en, de].map((each) => each.sensors.names)));"
    source = f'import {{ en, de }} from "./bundle.mjs";\n{written}'
    for names in run_in_node(tmp_path, source, {"texts/en": "en", "texts/de": "de"}, None):
        assert sorted(names) == sorted(keys)


def test_a_driver_is_the_same_for_all_processors() -> None:
    for sensor in drivers():
        archs = {mpy.BYTECODE_ONLY, *(board_files.load(board).arch for board in BOARDS)}
        assert (
            len({mpy.compiled_program(driver(sensor), arch).read_bytes() for arch in archs}) == 1
        )
