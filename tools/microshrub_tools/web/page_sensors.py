"""The sensors of `build` in the page's data: their settings, channels and drivers."""

from __future__ import annotations

import ast
import base64
from typing import Any

from microshrub_host.base.text import number_or_name
from microshrub_host.programs import mpy

from ..board import custom_sensors
from ..board.program_sensors import SECONDS, SENSORS, USUAL_RATE

_MOTION = "mpu6050"


def sensor_data(rate: int) -> list[dict[str, Any]]:
    """Return all sensors but "serial", which is none; `rate` is the page's own for motion."""
    built_in = {kind: dict(result) for kind, result in SENSORS.items() if kind != "serial"}
    built_in[_MOTION] |= {"rate": rate, "fifo": False}
    sensors = [_described(kind, {"kind": kind}, result) for kind, result in built_in.items()]
    return sensors + [_driver(name) for name in custom_sensors.drivers()]


def _driver(name: str) -> dict[str, Any]:
    """Return a driver, with its file's bytecode, which is the same for all processors."""
    path = custom_sensors.driver(name)
    sensor_file, text = custom_sensors.read(path), path.read_text(encoding="utf-8")
    config = {
        "kind": "own",
        "module": name,
        "class": sensor_file.name,
        "values": len(sensor_file.names),
    }
    settings = {
        setting: None if value is custom_sensors.REQUIRED else value
        for setting, value in sensor_file.settings.items()
    }
    compiled = mpy.compiled_program(path, mpy.BYTECODE_ONLY).read_bytes()
    return _described(name, config, settings | {"rate": _usual_rate(text)}) | {
        "channels": sensor_file.names,
        "is_analog": "board.adc(" in text,
        "compiled": base64.b64encode(compiled).decode(),
    }


def _described(key: str, config: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "key": key,
        "config": config,
        "settings": settings,  # with their defaults; None: the board's own
        "channels": (),
        "is_analog": key == "adc",
        "seconds": SECONDS.get(key, 0),
        "compiled": None,
    }


def _usual_rate(text: str) -> int | str:
    """Return the rate in the example of a driver's first line, or else the default of `build`."""
    driver_class = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    first = (ast.get_docstring(driver_class) or "").partition("\n")[0]
    return number_or_name(first.partition("rate=")[2].rstrip(".") or str(USUAL_RATE))
