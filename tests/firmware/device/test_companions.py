"""An application calls its companions one after the other, at little cost."""

from __future__ import annotations

import functools

import pytest

from microshrub_host.library import loader


def test_a_message_does_not_keep_a_companion_from_its_turn() -> None:
    called = []

    def button(milliseconds: int, passed: int) -> str:
        called.append(("button", milliseconds, passed))
        return "this is normal"

    def broker(milliseconds: int, passed: int) -> None:
        called.append(("broker", milliseconds, passed))

    both = loader.load("python").device.companion.both
    assert both(button, broker)(70, 7) == "this is normal"
    assert both(broker, button)(80, 10) == "this is normal"
    assert called == [("button", 70, 7), ("broker", 70, 7), ("broker", 80, 10), ("button", 80, 10)]


@pytest.mark.parametrize(
    "name",
    [
        *("device.application.Application", "device.regression_app.RegressionApp"),
        *("device.service.Service", "device.hardware.Input", "device.link.Link"),
        *("checkpoint.Checkpoint", "device.saving.Saving", "device.saving.LabelsHeld"),
        *("device.mqtt_companion.MqttCompanion", "device.mqtt_companion.MqttPublisher"),
        *("device.mqtt_client.MqttClient", "device.mqtt_client.PacketOut"),
    ],
)
def test_attributes_that_change_with_each_sample_have_no_property(name: str) -> None:
    """In a class with a property, MicroPython searches for it whenever an attribute is set."""
    *home, kind = name.split(".")
    module = functools.reduce(getattr, home, loader.load("python"))
    bases = getattr(module, kind).__mro__[:-1]
    assert not [each for base in bases for each in vars(base).values() if type(each) is property]
