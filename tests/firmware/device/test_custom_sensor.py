"""A sensor of the user's own: what its read() raises."""

from __future__ import annotations

import sys
import types
from array import array
from typing import Any

import pytest

from microshrub_host.library import loader

LIBRARY = loader.load("python")
OPTIONS = {"module": "light", "class": "Light", "values": 2, "rate": 20, "options": {}}


def sensor_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a sensor whose read() raises that error."""

    class Light:
        names = ("light", "infrared")

        def __init__(self, board: object) -> None:
            pass

        def read(self, values: Any) -> bool:
            raise error

    module = types.ModuleType("light")
    vars(module)["Light"] = Light
    monkeypatch.setitem(sys.modules, "light", module)
    board = types.SimpleNamespace(microseconds=lambda: 0)
    return LIBRARY.device.custom_sensor.CustomSensor(OPTIONS, board)


@pytest.mark.parametrize(
    "error", [ValueError("bad checksum"), IndexError("out of range"), ZeroDivisionError("by zero")]
)
def test_a_mistake_in_read_names_the_file(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    sensor = sensor_with(error, monkeypatch)
    with pytest.raises(LIBRARY.device.hardware.HardwareError) as raised:
        sensor.read(array("i", [0, 0]))
    words = f"the sensor of light.py, in read(): {type(error).__name__}: {error}"
    assert str(raised.value) == words


def test_a_sensor_that_does_not_answer_gives_no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    sensor = sensor_with(OSError(5), monkeypatch)
    assert sensor.read(array("i", [0, 0])) is False
    assert sensor.failures == 1
