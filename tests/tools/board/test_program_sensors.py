"""`build --sensor` with an own sensor and with several: configuration and refusals."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests_support import make_blobs

import microshrub_tools
from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.evaluation import prequential
from microshrub_host.models import model_files
from microshrub_host.streams.stream import Stream
from microshrub_tools import Sensor
from microshrub_tools.board import build
from microshrub_tools.board.program_options import ProgramOptions
from microshrub_tools.board.program_sensors import sensors

PICO = board_files.load("rpi_pico")
MOTION = ("mpu6050", "scl=1", "sda=0")
LIGHT = """
from machine import I2C

class _Register:
    pass

class Light:
    names = ("light", "dark")

    def __init__(self, board, address, gain=2 * 8):
        self.bus = board.i2c(0, 1, 0)

    def read(self, values):
        values[0] = values[1] = 3
        return True
"""


@pytest.fixture
def light(tmp_path: Path) -> str:
    path = tmp_path / "light.py"
    path.write_text(LIGHT)
    return str(path)


def saved(folder: Path, features: int) -> Path:
    """Return the file of a model with this many features."""
    rows, labels = make_blobs(300)
    names = tuple("abc"[:features])
    stream = Stream("b", np.tile(rows, 2)[:, :features], labels, names, ("no", "yes"))
    parameters = {"features": features, "classes": 2, "window": 16, "trees": 4}
    result = prequential.evaluate(stream, "shrub", parameters, engine="python")
    model_files.write(folder / "m.mshrub", model_files.of_run(result, stream))
    return folder / "m.mshrub"


def test_a_sensor_of_the_users_own(light: str) -> None:
    sensor = sensors((light, "address=41", "rate=20"), PICO)
    assert sensor.config == {
        "kind": "own", "module": "light", "class": "Light", "values": 2, "rate": 20,
        "options": {"address": 41},
    }  # fmt: skip
    assert (sensor.channels, sensor.zero, sensor.files) == (
        ("light", "dark"),
        (0, 0),
        (Path(light),),
    )


def test_several_sensors(light: str) -> None:
    words = [("adc", "pins=26,27", "rate=100"), (light, "address=41"), ("adc", "pins=26")]
    sensor = sensors(words, PICO)
    assert [one["kind"] for one in sensor.config["sensors"]] == ["adc", "own", "adc"]
    assert sensor.channels == ("pin26", "pin27", "light", "dark", "pin26_2")
    assert sensor.zero == (32768, 32768, 0, 0, 32768)
    assert sensor.rate == 100
    with pytest.raises(UserError, match=r"rate=100: .*rate=50"):
        sensors(words[1:] + words[:1], PICO)
    with pytest.raises(UserError, match=r"serial .*alone"):
        sensors([*words, ("serial",)], PICO)
    with pytest.raises(UserError, match=r"give 5 values, .* has 1"):
        ProgramOptions(sensor=words).config(PICO, ["a"], ["no", "yes"])


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (Sensor.adc(), ("adc",)),
        (Sensor.adc((26, 27), rate=20), ("adc", "pins=26,27", "rate=20")),
        (Sensor.mpu6050(scl=1, sda=0), MOTION),
        (Sensor.mpu6050(scl=1, sda=0, axes=3, fifo=True, rate=50),
         (*MOTION, "axes=3", "fifo=yes", "rate=50")),
        (Sensor.driver("clamp", pin=26, ampere=10, rate=Fraction(1, 60)),
         ("clamp", "pin=26", "ampere=10", "rate=1/60")),
    ],
)  # fmt: skip
def test_typed_sensors_equal_sensors_in_words(typed: Sensor, words: tuple[str, ...]) -> None:
    assert sensors(typed.words, PICO) == sensors(words, PICO)


def test_a_program_takes_typed_sensors(light: str, tmp_path: Path) -> None:
    model = saved(tmp_path, 3)
    one, two = Sensor.adc((26,), rate=100), Sensor.driver(light, address=41)
    made = microshrub_tools.build(model, "rpi_pico", output=tmp_path / "a", sensor=[one, two])
    config = json.loads((made.folder / "config.json").read_text())
    wanted = sensors([["adc", "pins=26", "rate=100"], [light, "address=41"]], PICO).config
    assert config["sensor"] == json.loads(json.dumps(wanted))
    with pytest.raises(UserError, match="sensor= has to be a Sensor"):
        microshrub_tools.build(model, "rpi_pico", sensor=["adc", "pins=26"])
    with pytest.raises(UserError, match="There is no pin 260"):
        microshrub_tools.build(model, "rpi_pico", sensor=Sensor.adc((260,)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("class Light", "class Li ght"), "light.py, line 7: "),
        (("class Light:", "def light(): pass\nif 0:"), "has no class with a method read. It has"),
        (("class _Register:\n", "class A:\n    def read(self): pass\n"), "has 2 classes with a"),
        (("names = ", "title = "), "Light: it has to name the values of a reading, in texts"),
        (('"light", "dark"', ""), "it has to name the values of a reading"),
        (("read(self, values)", "read(self)"), "its method has to be read(self, values)"),
        (("        return True\n", ""), "its read has to return True if there is a reading"),
        (("address, gain=2 * 8", "gain"), "needs gain="),
        (("self, board, address, gain=2 * 8", "self"), "its __init__ has to take the board"),
        (("self, board, address, gain=2 * 8", "self, gain=2, address=4"), "has to take the board"),
        (("gain=", "rate="), "rate= is the readings a second; call the parameter otherwise"),
        (("", ""), "needs address="),
    ],
)  # fmt: skip
def test_a_file_without_a_valid_sensor_is_refused(
    light: str, change: tuple[str, str], words: str
) -> None:
    Path(light).write_text(LIGHT.replace(*change, 1))
    with pytest.raises(UserError) as error:
        sensors((light,), PICO)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("missing.py",), "--sensor missing.py: it cannot be read: No such file or directory"),
        (("machine.py",), "the board would import it as machine. Give the file another name"),
        (("my-sensor.py",), "the board would import it as my-sensor"),
        (("sonar",), "One of your own is the name of its file, such as my_sensor.py"),
        (
            ("adc", "pins=26", "rate=2000"),
            "adc rate has to be a whole number of 1..1,000",
        ),
    ],
)
def test_invalid_sensors_are_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError) as error:
        sensors(words, PICO)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "words", "seconds"), [("dht22", ("pin=2",), 2), ("scd41", MOTION[1:], 5)]
)
def test_a_slow_sensor_is_read_no_faster_than_it_measures(
    name: str, words: tuple[str, ...], seconds: int
) -> None:
    assert sensors((name, *words), PICO).config["rate"] == f"1/{seconds}"
    assert sensors((name, *words, "rate=1/60"), PICO).config["rate"] == "1/60"
    for rate in ("50", "1", f"1/{seconds - 1}"):
        with pytest.raises(UserError, match=f"rate={rate}: .* every {seconds} .*1/{seconds}, or"):
            sensors((name, *words, f"rate={rate}"), PICO)


def test_values_in_another_order_than_the_columns_are_refused(light: str) -> None:
    words = [("adc", "pins=26,27"), (light, "address=41")]
    for features in (
        ["a", "b", "c", "d"],
        ["pin26", "pin27", "light", "dark"],
        ["A", "B", "c", "dark"],
    ):
        ProgramOptions(sensor=words).config(PICO, features, ["no", "yes"])
    for features in (["pin27", "pin26", "light", "dark"], ["light", "a", "b", "c"]):
        with pytest.raises(UserError, match="pin26, pin27, light, dark, in this order"):
            ProgramOptions(sensor=words).config(PICO, features, ["no", "yes"])


def test_a_fifo() -> None:
    sensor = sensors((*MOTION, "rate=1000", "axes=3", "fifo=yes"), PICO)
    assert (sensor.channels, sensor.config["fifo"]) == (("ax", "ay", "az"), True)
    assert sensors(MOTION, PICO).config["fifo"] is False
    with pytest.raises(UserError, match="mpu6050 with fifo=yes"):
        sensors([("adc", "pins=26", "rate=1000"), (*MOTION, "fifo=yes")], PICO)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("axes=4", "axes has to be 6, or 3 for the acceleration alone, not 4"),
        ("fifo=1", "fifo has to be yes or no, not 1"),
        ("rate=300", "rate=300: with fifo=yes the chip keeps the time, and can take 1000, 500,"),
        ("rate=x", "rate=x: with fifo=yes"),
    ],
)
def test_an_invalid_fifo_is_refused(word: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        sensors((*MOTION, "fifo=yes", word), PICO)
    assert message in str(error.value)


def test_settings_of_an_own_sensor(light: str) -> None:
    sensor = sensors((light, "address=-4", "gain=0.5"), PICO)
    assert sensor.config["options"] == {"address": -4, "gain": 0.5}
    with pytest.raises(UserError, match=r"no adress.*mean address"):
        sensors((light, "adress=4"), PICO)
    with pytest.raises(UserError, match=r"rate .*1\.\.1,000, .*not 'fast'"):
        sensors((light, "address=4", "rate=fast"), PICO)


@pytest.mark.parametrize("freeze", [False, True])
def test_a_build_includes_the_sensors_file(light: str, tmp_path: Path, freeze: bool) -> None:
    model = saved(tmp_path, 2)
    sensor = Sensor.driver(light, address=3)
    made = microshrub_tools.build(
        model, "rpi_pico", output=tmp_path / "out", sensor=sensor, freeze=freeze
    )
    files = build.read(made.folder)
    assert files["lib/light.mpy"][:1] == b"M"
    assert any(part.name == "own" and part.bytes > 100 for part in made.budget.code)
    library = f"{build.FIRMWARE}/microshrub" if freeze else build.LIBRARY
    assert any(name.startswith(f"{library}/device/custom_sensor") for name in made.files)
    assert not any("device/combined_sensor" in name or "motion" in name for name in made.files)
