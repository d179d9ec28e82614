"""A board in a house: the program on a real 32-bit MicroPython, and mosquitto on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import Device
from house_support import (
    CLASSES,
    HIGH,
    LOW,
    Listener,
    Mosquitto,
    level,
    needs_broker,
    put_house,
    settings,
)

pytestmark = needs_broker
Start = Callable[..., Device]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    made = Mosquitto(tmp_path / "broker")
    yield made
    made.stop()


@pytest.fixture
def listener(broker: Mosquitto) -> Listener:
    return Listener(broker.port)


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    devices: list[Device] = []

    def start(port: int, **fields: Any) -> Device:
        put_house(tmp_path, settings(port, **fields))
        devices.append(Device(micropython_command, tmp_path, "256k"))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


def teach(listener: Listener, folder: Path) -> None:
    """Teach it both classes with the label of the broker."""
    samples = listener.until_state()["samples"]
    for name, value in zip(CLASSES, (LOW, HIGH), strict=True):
        level(folder, value)
        wanted = samples + 60
        while samples < wanted:
            listener.say("label/set", name)  # it tells its state for it
            samples = listener.until_state(label=name)["samples"]
    listener.say("label/set", "")
    listener.until_state(label="")


def test_it_is_found_taught_and_tells_its_state(
    broker: Mosquitto, listener: Listener, start: Start, tmp_path: Path
) -> None:
    start(broker.port)
    listener.until_at("status", lambda text: text == "online")
    found = {
        topic: json.loads(text) for topic, text in listener.last.items() if "/config" in topic
    }
    assert found["homeassistant/select/microshrub_kitchen/label/config"]["ops"] == [
        "not labelled", *CLASSES,
    ]  # fmt: skip
    teach(listener, tmp_path)
    for name, value in zip(CLASSES, (LOW, HIGH), strict=True):
        level(tmp_path, value)
        state = listener.until_state(state=name, label="")
        assert state["accuracy"] > 80
