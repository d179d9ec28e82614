"""The sensors with a driver file each, on simulated chips that follow their data sheets."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import time
from array import array
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import bme280_chip
import bus_chips
import pytest
from bme280_chip import Bme280Chip

from microshrub_host.base.errors import UserError
from microshrub_host.boards.board_files import load
from microshrub_host.library import loader
from microshrub_tools.board.custom_sensors import driver
from microshrub_tools.board.pc_board import SCRIPTS
from microshrub_tools.board.program_sensors import sensors

PICO = load("rpi_pico")
BUS = ("scl=1", "sda=0")
LIBRARY = loader.load("python")
AXES = ("ax", "ay", "az", "gx", "gy", "gz")
RAW = ((380000, 680000), (200000, 560000), (18000, 45000))  # temperature, pressure, humidity
REGISTERS = ("bme280", "adxl345", "lsm6ds3")
_TICKS = (1 << 30) - 1


class Bus:
    """A bus with one chip; no other address answers."""

    def __init__(self, chip: Any) -> None:
        self.chip = chip

    def readfrom_mem(self, address: int, register: int, count: int) -> bytes:
        data = bytearray(count)
        self.readfrom_mem_into(address, register, data)
        return bytes(data)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(address: int, *rest: Any) -> Any:
            if address != self.chip.address:
                raise OSError(5)
            return getattr(self.chip, name)(*rest)

        return call


class Board:
    """A board with a chip on its bus, or with an analog pin that reads `counts(microseconds)`."""

    def __init__(self, chip: Any = None, counts: Any = None) -> None:
        self._chip = chip
        self._counts = counts
        self._now = itertools.count(_TICKS - 4000, 7)  # microseconds, which wrap around soon

    def i2c(self, *_: int) -> Bus:
        return Bus(self._chip)

    def adc(self, _: int) -> Any:
        return SimpleNamespace(read_u16=lambda: self._counts(next(self._now)))

    def microseconds(self) -> int:
        return next(self._now) & _TICKS


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Create the sensor as the board's program does from the words of `--sensor`."""
    monkeypatch.setattr(time, "sleep_ms", lambda _: None, raising=False)

    def made(board: Board, *words: str) -> Any:
        config = sensors(words, PICO).config
        place = importlib.util.spec_from_file_location(config["module"], driver(words[0]))
        assert place is not None
        assert place.loader is not None
        module = importlib.util.module_from_spec(place)
        vars(module)["const"] = lambda value: value
        place.loader.exec_module(module)
        monkeypatch.setitem(sys.modules, config["module"], module)
        return LIBRARY.device.custom_sensor.CustomSensor(config, board)

    return made


def reading(sensor: Any) -> list[int] | None:
    values = array("i", [-1] * sensor.features)
    return values.tolist() if sensor.read(values) else None


CHIPS = [
    ("ina219", bus_chips.Ina219Chip, {"milliampere": -1250, "millivolt": 11996}),
    ("ina219", bus_chips.Ina219Chip, {"milliampere": 3199, "millivolt": 25000}),
    ("mpr121", bus_chips.Mpr121Chip, {"pad0": 0, "pad1": 255, "pad2": 256, "pad3": 1023}),
    ("adxl345", bus_chips.Adxl345Chip, {"ax": 1000, "ay": -125, "az": 0}),
    ("adxl345", bus_chips.Adxl345Chip, {"ax": -16000, "ay": 8000, "az": 15996}),
    ("lsm6ds3", bus_chips.Lsm6ds3Chip, dict(zip(AXES, (1000, -1, 0, 1, -2500, 0), strict=True))),
    ("lsm6ds3", bus_chips.Lsm6ds3Chip, dict(zip(AXES, (-15990, 9, 7, -20000, 3, 9), strict=True))),
    ("bme280", Bme280Chip, {"temperature": 2508, "humidity": 412, "pressure": 100653}),
    ("bme280", Bme280Chip, {"temperature": -1234, "humidity": 999, "pressure": 105000}),
    ("bme280", Bme280Chip, {"temperature": 8490, "humidity": 1, "pressure": 30000}),
    ("bh1750", bus_chips.Bh1750Chip, {"light": 0}),
    ("bh1750", bus_chips.Bh1750Chip, {"light": 54612}),
    ("scd41", bus_chips.Scd41Chip, {"co2": 400, "temperature": -1000}),
    ("scd41", bus_chips.Scd41Chip, {"co2": 40000, "temperature": 6000}),
]


@pytest.mark.parametrize(("name", "chip_class", "truth"), CHIPS)
def test_the_chips_measurements_are_read(
    make: Any, name: str, chip_class: Any, truth: dict[str, int]
) -> None:
    sensor = make(Board(chip_class(truth.__getitem__)), name, *BUS)
    assert sensors([name, *BUS], PICO).channels == tuple(truth)
    for _ in range(3):
        assert reading(sensor) == [*truth.values()]


@pytest.mark.parametrize(("name", "chip_class", "truth"), CHIPS[::2])
def test_a_missing_chip_is_reported(
    make: Any, name: str, chip_class: Any, truth: dict[str, int]
) -> None:
    with pytest.raises(ValueError, match=rf"the sensor of {name}\.py: "):
        make(Board(chip_class(truth.__getitem__)), name, *BUS, "address=8")


def test_values_of_the_data_sheets() -> None:
    """The printed values hold: SCD41, page 12, CRC of 0xbeef; BH1750, 0x8390 is 28,067 lux."""
    assert bus_chips.Scd41Chip(None)._crc(b"\xbe\xef") == 0x92
    data = bytearray(2)
    chip = bus_chips.Bh1750Chip(lambda _: 28067)
    chip.writeto(b"\x10")
    chip.readfrom_into(data)
    assert data == b"\x83\x91"  # rounded up
    assert bus_chips.dht22_bytes(351, 652) == bytes((0x02, 0x8C, 0x01, 0x5F, 0xEE))
    assert bus_chips.dht22_bytes(-101, 652)[2:4] == b"\x80\x65"


def test_a_garbled_word_gives_no_reading(make: Any) -> None:
    chip = bus_chips.Scd41Chip({"co2": 700, "temperature": 2000}.__getitem__)
    sensor = make(Board(chip), "scd41", *BUS)
    whole = chip.readfrom_into

    def garbled(data: bytearray) -> None:
        whole(data)
        data[0] ^= 4

    chip.readfrom_into = garbled
    assert reading(sensor) is None
    assert sensor.failures == 1
    chip.readfrom_into = whole
    assert reading(sensor) == [700, 2000]


@pytest.mark.parametrize(
    ("name", "chip_class", "data", "values"),
    [
        ("adxl345", bus_chips.Adxl345Chip, "0001 ffff 000f", [1000, -4, 15000]),
        (
            "lsm6ds3",
            bus_chips.Lsm6ds3Chip,
            "0a00 ff7f 0080 0208 ffff 0080",
            [1000, 0, -15991, 7, 22937, -22938],
        ),
        ("bme280", Bme280Chip, "655ac0 7eed00 8000", [2508, 704, 100653]),  # in the BMP280's sheet
    ],
)
def test_registers_become_these_values(
    make: Any, name: str, chip_class: Any, data: str, values: list[int]
) -> None:
    chip = chip_class(lambda _: 0)
    chip.measure = lambda: bytes.fromhex(data)
    assert reading(make(Board(chip), name, *BUS)) == values


@pytest.mark.parametrize("seed", range(5))
def test_a_bme280_with_any_calibration_agrees_with_floating_point(
    make: Any, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The difference is at most the rounding of the data sheet's integers."""
    random = Random(seed)
    for name, spread in (("T", 0.05), ("P", 0.05), ("H", 0.3)):
        usual = getattr(bme280_chip, name)
        other = tuple(round(n * random.uniform(1 - spread, 1 + spread)) for n in usual)
        monkeypatch.setattr(bme280_chip, name, other)
    if seed % 2:
        h = bme280_chip.H
        monkeypatch.setattr(bme280_chip, "H", (h[0], h[1], 2, h[3], -h[4], -h[5]))
    chip = Bme280Chip(lambda _: 0)
    sensor = make(Board(chip), "bme280", *BUS)
    for _ in range(100):
        warm, press, damp = (random.randrange(*ends) for ends in RAW)
        data = press << 44 | warm << 20 | damp
        monkeypatch.setattr(chip, "measure", lambda data=data: data.to_bytes(8, "big"))
        fine = bme280_chip.degrees(warm)
        values = reading(sensor)
        assert values is not None
        assert values[0] == pytest.approx(fine / 51.2, abs=1.5)
        assert values[1] == pytest.approx(10 * bme280_chip.percent(damp, fine), abs=1.5)
        assert values[2] == pytest.approx(bme280_chip.pascal(press, fine), abs=3)


def test_a_bme280_that_has_not_measured_yet_gives_no_reading(make: Any) -> None:
    chip = Bme280Chip({"temperature": 0, "humidity": 0, "pressure": 100000}.__getitem__)
    sensor = make(Board(chip), "bme280", *BUS)
    begun = chip.written.pop(0xF4)
    assert reading(sensor) is None
    chip.written[0xF4] = begun
    assert reading(sensor) == [0, 0, 100000]


def test_a_bme280_that_measures_at_the_boards_start_is_configured(make: Any) -> None:
    chip = Bme280Chip(lambda _: 0)
    chip.written[0xF4] = b"\x27"
    make(Board(chip), "bme280", *BUS)
    assert chip.written[0xF5] == b"\x40"


@pytest.mark.parametrize(
    ("name", "chip_class", "identity", "message"),
    [
        ("adxl345", bus_chips.Adxl345Chip, b"\x33", "no ADXL345"),
        ("lsm6ds3", bus_chips.Lsm6ds3Chip, b"\x68", "no LSM6DS3"),
        ("bme280", Bme280Chip, b"\x55", "no BME280"),
        ("bme280", Bme280Chip, b"\x58", "a BMP280, which does not measure humidity"),
    ],
)
def test_another_chip_at_the_address_is_reported(
    make: Any, name: str, chip_class: Any, identity: bytes, message: str
) -> None:
    chip = chip_class(lambda _: 0)
    chip.at = lambda _: identity
    with pytest.raises(ValueError, match=rf"the sensor of {name}\.py: what answers is {message}"):
        make(Board(chip), name, *BUS)


@pytest.mark.parametrize(
    ("name", "chip_class", "hz"),
    [("adxl345", bus_chips.Adxl345Chip, 400), ("lsm6ds3", bus_chips.Lsm6ds3Chip, 416)],
)
def test_how_often_an_accelerometer_measures(
    make: Any, name: str, chip_class: Any, hz: int
) -> None:
    chip = chip_class(lambda _: 0)
    make(Board(chip), name, *BUS, f"hz={hz}")
    if name == "adxl345":
        assert chip.written[0x2C] == b"\x0c"
    else:
        assert (chip.written[0x10], chip.written[0x11]) == (b"\x64", b"\x6c")
    with pytest.raises(ValueError, match="hz of"):
        make(Board(chip), name, *BUS, "hz=50")


def test_the_register_drivers_read_the_same_on_micropython(
    run_micropython: Callable[[str], str],
) -> None:
    """MicroPython has small integers of 31 bits; the chips are those of a virtual board."""
    output = run_micropython(
        f"""
import sys
sys.path[:0] = {[str(SCRIPTS), *(str(driver(name).parent) for name in REGISTERS)]!r}
from array import array
import bme280_chip, bus_chips, bme280, adxl345, lsm6ds3
truth = dict(temperature=-1234, humidity=999, pressure=105000, ax=-16000, ay=8, az=1000, gx=-20000,
             gy=1, gz=3)
class Board:
    def i2c(self, *_):
        return self
    def writeto_mem(self, _, register, data):
        self.chip.writeto_mem(register, data)
    def readfrom_mem_into(self, _, register, data):
        self.chip.readfrom_mem_into(register, data)
    def readfrom_mem(self, _, register, count):
        data = bytearray(count)
        self.chip.readfrom_mem_into(register, data)
        return bytes(data)
for chip, sensor in (
    (bme280_chip.Bme280Chip, bme280.Bme280),
    (bus_chips.Adxl345Chip, adxl345.Adxl345),
    (bus_chips.Lsm6ds3Chip, lsm6ds3.Lsm6ds3),
):
    board = Board()
    board.chip = chip(lambda name: truth[name])
    values = array("i", [0] * len(chip.names))
    assert sensor(board, 1, 0).read(values)
    print(*values)
"""
    )
    assert output.splitlines() == [
        "-1234 999 105000",
        "-16000 8 1000",
        "-15991 8 1000 -20000 1 3",
    ]


@pytest.mark.parametrize(("warm", "damp"), [(351, 652), (-101, 999), (0, 0)])
def test_a_dht22(make: Any, monkeypatch: pytest.MonkeyPatch, warm: int, damp: int) -> None:
    sent = bytearray(bus_chips.dht22_bytes(warm, damp))

    def dht_readinto(pin: int, data: bytearray) -> None:
        assert pin == 2
        data[:] = sent

    machine = SimpleNamespace(Pin=lambda pin: pin, dht_readinto=dht_readinto)
    monkeypatch.setitem(sys.modules, "machine", machine)
    sensor = make(Board(), "dht22", "pin=2")
    assert reading(sensor) == [warm, damp]
    sent[4] ^= 1
    assert reading(sensor) is None


@pytest.mark.parametrize("milliampere", [0, 8, 60, 960, 8700, 20000])
@pytest.mark.parametrize("hertz", [50, 60])
def test_a_clamp(make: Any, milliampere: int, hertz: int) -> None:
    """A clamp is right within a count of the 12-bit converter, at any mains frequency."""

    def counts(microseconds: int) -> int:
        return bus_chips.clamp_counts(milliampere, microseconds * hertz / 50)

    values = reading(make(Board(counts=counts), "clamp", "pin=26"))
    assert values is not None
    assert abs(values[0] - milliampere) <= max(milliampere // 100, 12)


@pytest.mark.parametrize("loudness", [0, 40, 3000, 20000])
def test_a_microphone(make: Any, loudness: int) -> None:
    """A microphone reads the true loudness, at any clock value and any middle of the amplifier."""
    for middle in (0, 900, -900):

        def counts(at: int, middle: int = middle) -> int:
            return middle + bus_chips.tone_counts(loudness, at)

        values = reading(make(Board(counts=counts), "microphone", "pin=26"))
        assert values is not None
        assert abs(values[0] - loudness) <= max(loudness // 25, 1)


def test_a_soil_probe(make: Any) -> None:
    for moisture in (0, 300, 1000):
        board = Board(counts=lambda at, m=moisture: bus_chips.probe_counts(m, at))
        assert reading(make(board, "soil_probe", "pin=26")) == [moisture]
    board = Board(counts=lambda _: 30000)
    assert reading(make(board, "soil_probe", "pin=26", "dry=40000", "wet=20000")) == [500]


@pytest.mark.parametrize("rate", ["0", "1001", "1/0", "1/86401", "2/3", "1/", "x"])
def test_an_invalid_rate_is_refused(rate: str) -> None:
    with pytest.raises(UserError, match=r"rate .*1/60"):
        sensors(("bh1750", *BUS, f"rate={rate}"), PICO)
    number = int(rate) if rate.isdecimal() else rate
    with pytest.raises(ValueError, match="rate"):
        LIBRARY.device.sensors.Pace(number, lambda: 0)


def test_a_slow_rate_is_kept_over_a_day_though_the_clock_wraps_around() -> None:
    now = 5
    pace = LIBRARY.device.sensors.Pace("1/1800", lambda: now & _TICKS)
    due = []
    while now < 86_400_000_000:
        if pace.due():
            due.append(now)
        now += max(pace.wait(), 0) + 700
    assert len(due) == 48
    assert max(abs(at - k * 1_800_000_000) for k, at in enumerate(due)) < 2000
    assert pace.missed == 0


def test_slow_sensors_are_read_less_often_than_the_others(make: Any) -> None:
    slow, slowest = ("bh1750", *BUS, "rate=1/60"), ("soil_probe", "pin=26", "rate=1/300")
    with pytest.raises(UserError, match=r"rate=1/60: .*rate=1/300"):
        sensors([slowest, slow], PICO)
    both = sensors([slow, slowest], PICO)
    assert both.rate == pytest.approx(1 / 60)
    wet = itertools.count(100)
    board = Board(
        bus_chips.Bh1750Chip(lambda _: 600), lambda at: bus_chips.probe_counts(next(wet) // 16, at)
    )
    for one in (slow, slowest):
        make(board, *one)  # makes it importable
    several = LIBRARY.device.sensor_start.sensor_of(both.config, board, print)
    seen = [reading(several) for _ in range(11)]
    assert seen == [[600, 6]] * 5 + [[600, 7]] * 5 + [[600, 8]]
