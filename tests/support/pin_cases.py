"""Configurations of boards, with the messages of `build` and of the page about their pins.

A case is a board, the fields of config.json with pins, and the words of the refusal; without
words, the configuration is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PinCase:
    """One configuration."""

    board: str
    config: dict[str, Any]
    words: str = ""


def _case(
    sensor: dict[str, Any], words: str = "", board: str = "rpi_pico", **more: Any
) -> PinCase:
    return PinCase(board, {"sensor": sensor, "label_pin": None, **more}, words)


def _motion(scl: int, sda: int, i2c: int = 0) -> dict[str, Any]:
    return {"kind": "mpu6050", "scl": scl, "sda": sda, "i2c": i2c, "address": 104, "rate": 50}


def _driver(module: str, **options: Any) -> dict[str, Any]:
    return {"kind": "own", "module": module, "class": "Any", "values": 1, "options": options}


def _adc(*pins: int | str) -> dict[str, Any]:
    return {"kind": "adc", "pins": [*pins], "rate": 50}


def _several(*sensors: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "several", "sensors": [*sensors]}


_SERIAL = {"kind": "serial"}
_LAST = "There is no pin {}: the last one of the Raspberry Pi Pico is 29"
_NO_BUS = (
    "--sensor mpu6050: pins {} and {} cannot be scl and sda of one bus. On this chip they are two "
    "like sda=0 scl=1, sda=4 scl=5 (i2c=0) or sda=2 scl=3, sda=6 scl=7 (i2c=1)"
)
_TWO = "pin {} is for two things: {} and {}. Give one of them another pin"

PIN_CASES = (
    _case(_SERIAL),
    _case(_SERIAL, switches=[[16, 17], [17], []]),
    _case(_SERIAL, switches=[[[16, 64, 0, 0]], [[16, 0, 64, 0]]]),
    _case(_SERIAL, switches=[[[16, 880]], [[16, 440], 17]]),
    _case(_SERIAL, _LAST.format(30),
          switches=[[16], [30]]),
    _case(_SERIAL, _LAST.format(30),
          switches=[[[30, 880]]]),
    _case(_motion(1, 0), _TWO.format(1, "--sensor mpu6050 scl", "--switch"),
          switches=[[[1, 880]], []]),
    _case(_motion(1, 0)),
    _case(_motion(3, 2, i2c=1)),
    _case(_motion(1, 1), _TWO.format(1, "--sensor mpu6050 scl", "--sensor mpu6050 sda")),
    _case(_motion(1, 0), _TWO.format(0, "--sensor mpu6050 sda", "--switch"), switches=[[16], [0]]),
    _case(_motion(1, 0), _TWO.format(1, "--sensor mpu6050 scl", "--switch"),
          switches=[[[1, 64, 0, 0]], []]),
    _case(_motion(1, 0), _TWO.format(1, "--sensor mpu6050 scl", "the button of --label-pin"),
          label_pin={"pin": 1, "pressed": 1, "released": 0}),
    _case(_motion(1, 0), _TWO.format(15, "the button of --label-pin", "--switch"),
          label_pin={"pin": 15, "pressed": 1, "released": 0}, switches=[[15], []]),
    _case(_motion(1, 0), label_pin={"pin": 15, "pressed": 1, "released": 0}, sleep={"pin": 15}),
    _case(_motion(1, 0), _TWO.format(14, "the button of --spare-classes", "--led-pin"),
          spare_classes={"pin": 14, "led": 14}),
    _case(_motion(0, 1), _NO_BUS.format(0, 1)),
    _case(_motion(3, 0), _NO_BUS.format(3, 0)),
    _case(_motion(3, 2), "--sensor mpu6050: scl=3 sda=2 are pins of bus 1: add i2c=1"),
    _case(_motion(31, 30, i2c=1), _LAST.format(31)),
    _case(_SERIAL, "--led-pin: pin 25 of the Raspberry Pi Pico W belongs to the wireless chip. "
          "Take another pin", board="rpi_pico_w", queries={"led": 25}),
    _case(_SERIAL, queries={"led": 25}),
    _case(_adc(26, 29), "--sensor adc pins: pin 29 of the Raspberry Pi Pico 2 W belongs to the "
          "wireless chip. Take another pin", board="rpi_pico2_w"),
    _case(_SERIAL, "--switch: pin 6 of the ESP32 belongs to the flash chip. Take another pin",
          board="esp32", switches=[[6], []]),
    _case(_SERIAL, "the button of --label-pin: pin 34 of the ESP32 can only read, without a "
          "pull-up. Take another pin", board="esp32",
          label_pin={"pin": 34, "pressed": 1, "released": 0}),
    _case(_driver("clamp", pin=34), board="esp32"),
    _case(_motion(22, 35), "--sensor mpu6050 sda: pin 35 of the ESP32 can only read, without a "
          "pull-up. Take another pin", board="esp32"),
    _case(_motion(22, 21), board="esp32"),
    _case(_motion(40, 21), "There is no pin 40: the last one of the ESP32 is 39", board="esp32"),
    _case(_driver("adxl345", scl=5, sda=4)),
    _case(_driver("adxl345", scl=7, sda=6), "--sensor adxl345: scl=7 sda=6 are pins of bus 1: add "
          "i2c=1"),
    _case(_driver("bme280", scl=99, sda=0),
          _LAST.format(99)),
    _case(_driver("dht22", pin=16), _TWO.format(16, "--sensor dht22 pin", "--switch"),
          switches=[[16], [17]]),
    _case(_driver("my_sensor", pin="A0", ampere=16), switches=[[16], [17]]),
    _case(_adc(26, 27, "A2")),
    _case(_adc(26, 27, 5), "--sensor adc: pin 5 is not analog; 26, 27, 28, 29 are"),
    _case(_adc(33, 34), board="esp32"),
    _case(_adc(26), _TWO.format(26, "--sensor adc pins", "--switch"), switches=[[], [26]]),
    _case(_several(_motion(1, 0), _driver("bh1750", scl=1, sda=0))),
    _case(_several(_motion(1, 0), _driver("bh1750", scl=0, sda=1)),
          _TWO.format(0, "--sensor mpu6050 sda", "--sensor bh1750 scl")),
    _case(_several(_driver("soil_probe", pin=26), _adc(26)),
          _TWO.format(26, "--sensor soil_probe pin", "--sensor adc pins")),
)  # fmt: skip
