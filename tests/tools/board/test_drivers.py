"""The sensors that come as one file each, on chips that are modelled after their data sheets."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import time
from array import array
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import bus_chips
import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.boards.board_files import load
from microshrub_host.library import loader
from microshrub_tools.board.program_sensors import drivers, sensors

PICO = load("rpi_pico")
BUS = ("scl=1", "sda=0")
LIBRARY = loader.load("python")
_TICKS = (1 << 30) - 1


class Bus:
    """Of one chip; nothing else answers."""

    def __init__(self, chip: Any) -> None:
        self.chip = chip

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(address: int, *rest: Any) -> Any:
            if address != self.chip.address:
                raise OSError(5)
            return getattr(self.chip, name)(*rest)

        return call


class Board:
    """A board with a chip at its bus, or with what `counts(milliseconds)` says at its pin."""

    def __init__(self, chip: Any = None, counts: Any = None) -> None:
        self._chip = chip
        self._counts = counts
        self._now = itertools.count(_TICKS - 4000, 7)  # microseconds: they wrap around soon

    def i2c(self, *_: int) -> Bus:
        return Bus(self._chip)

    def adc(self, _: int) -> Any:
        return SimpleNamespace(read_u16=lambda: self._counts(next(self._now)))

    def microseconds(self) -> int:
        return next(self._now) & _TICKS


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Its own sensor as the board's program makes it from what `--sensor` says."""
    monkeypatch.setattr(time, "sleep_ms", lambda _: None, raising=False)

    def made(board: Board, *words: str) -> Any:
        config = sensors(words, PICO).config
        place = importlib.util.spec_from_file_location(config["module"], drivers()[words[0]])
        assert place is not None
        assert place.loader is not None
        module = importlib.util.module_from_spec(place)
        place.loader.exec_module(module)
        monkeypatch.setitem(sys.modules, config["module"], module)
        return LIBRARY.device.own.OwnSensor(config, board)

    return made


def reading(sensor: Any) -> list[int] | None:
    values = array("i", [-1] * sensor.features)
    return values.tolist() if sensor.read(values) else None


CHIPS = [
    ("ina219", bus_chips.Ina219Chip, {"milliampere": -1250, "millivolt": 11996}),
    ("ina219", bus_chips.Ina219Chip, {"milliampere": 3199, "millivolt": 25000}),
    ("mpr121", bus_chips.Mpr121Chip, {"pad0": 0, "pad1": 255, "pad2": 256, "pad3": 1023}),
    ("bh1750", bus_chips.Bh1750Chip, {"light": 0}),
    ("bh1750", bus_chips.Bh1750Chip, {"light": 54612}),
    ("scd41", bus_chips.Scd41Chip, {"co2": 400, "temperature": -1000}),
    ("scd41", bus_chips.Scd41Chip, {"co2": 40000, "temperature": 6000}),
]


@pytest.mark.parametrize(("name", "kind", "truth"), CHIPS)
def test_what_the_chip_measures_is_read(
    make: Any, name: str, kind: Any, truth: dict[str, int]
) -> None:
    sensor = make(Board(kind(truth.__getitem__)), name, *BUS)
    assert sensors([name, *BUS], PICO).channels == tuple(truth)
    for _ in range(3):
        assert reading(sensor) == [*truth.values()]


@pytest.mark.parametrize(("name", "kind", "truth"), CHIPS[::2])
def test_a_chip_that_is_not_there_is_said(
    make: Any, name: str, kind: Any, truth: dict[str, int]
) -> None:
    with pytest.raises(ValueError, match=rf"the sensor of {name}\.py: "):
        make(Board(kind(truth.__getitem__)), name, *BUS, "address=8")


def test_the_words_of_the_data_sheets() -> None:
    """Those that they print: SCD41, page 12, the CRC of 0xbeef; BH1750, 0x8390 are 28,067 lux."""
    assert bus_chips.Scd41Chip(None)._crc(b"\xbe\xef") == 0x92
    data = bytearray(2)
    chip = bus_chips.Bh1750Chip(lambda _: 28067)
    chip.writeto(b"\x10")
    chip.readfrom_into(data)
    assert data == b"\x83\x91"  # rounded up
    assert bus_chips.dht22_bytes(351, 652) == bytes((0x02, 0x8C, 0x01, 0x5F, 0xEE))
    assert bus_chips.dht22_bytes(-101, 652)[2:4] == b"\x80\x65"


def test_a_word_that_was_garbled_is_no_reading(make: Any) -> None:
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
    """Within a count of the converter's 12 bits, whatever the mains' frequency."""

    def counts(microseconds: int) -> int:
        return bus_chips.clamp_counts(milliampere, microseconds * hertz / 50)

    found = reading(make(Board(counts=counts), "clamp", "pin=26"))
    assert found is not None
    assert abs(found[0] - milliampere) <= max(milliampere // 100, 12)


def test_a_soil_probe(make: Any) -> None:
    for moisture in (0, 300, 1000):
        board = Board(counts=lambda at, m=moisture: bus_chips.probe_counts(m, at))
        assert reading(make(board, "soil_probe", "pin=26")) == [moisture]
    board = Board(counts=lambda _: 30000)
    assert reading(make(board, "soil_probe", "pin=26", "dry=40000", "wet=20000")) == [500]


@pytest.mark.parametrize("rate", ["0", "1001", "1/0", "1/86401", "2/3", "1/", "x"])
def test_a_rate_that_cannot_be(rate: str) -> None:
    with pytest.raises(UserError, match="or like 1/60 for a reading a minute"):
        sensors(("bh1750", *BUS, f"rate={rate}"), PICO)
    number = int(rate) if rate.isdecimal() else rate
    with pytest.raises(ValueError, match="rate"):
        LIBRARY.device.pace.Pace(number, lambda: 0)


def test_a_slow_rate_is_kept_over_a_day_though_the_clock_wraps_around() -> None:
    now = 5
    pace = LIBRARY.device.pace.Pace("1/1800", lambda: now & _TICKS)
    due = []
    while now < 86_400_000_000:
        if pace.due():
            due.append(now)
        now += max(pace.wait(), 0) + 700
    assert len(due) == 48
    assert max(abs(at - k * 1_800_000_000) for k, at in enumerate(due)) < 2000
    assert pace.missed == 0


def test_the_slow_ones_of_several_are_read_less_often(make: Any) -> None:
    slow, slowest = ("bh1750", *BUS, "rate=1/60"), ("soil_probe", "pin=26", "rate=1/300")
    with pytest.raises(
        UserError, match="rate=1/60: the first sensor sets the pace, with rate=1/300"
    ):
        sensors([slowest, slow], PICO)
    both = sensors([slow, slowest], PICO)
    assert both.rate == pytest.approx(1 / 60)
    wet = itertools.count(100)
    board = Board(
        bus_chips.Bh1750Chip(lambda _: 600), lambda at: bus_chips.probe_counts(next(wet) // 16, at)
    )
    for one in (slow, slowest):
        make(board, *one)  # so that it can be imported
    several = LIBRARY.device.sensors.sensor_of(both.config, board, print)
    seen = [reading(several) for _ in range(11)]
    assert seen == [[600, 6]] * 5 + [[600, 7]] * 5 + [[600, 8]]
