"""Check that Home Assistant's own MQTT integration reads a board's messages.

Started by test_home_assistant.py, in an environment with pytest-homeassistant-custom-component,
and with a file MESSAGES: the broker's topics and texts.
"""

import json
import os
from logging import WARNING
from pathlib import Path
from unittest.mock import patch

import pytest
from homeassistant.helpers import device_registry, entity_registry
from pytest_homeassistant_custom_component.common import async_fire_mqtt_message

MESSAGES = json.loads(Path(os.environ["MESSAGES"]).read_text())
BASE = "microshrub/kitchen/"
DEVICE = "homeassistant/device/microshrub_kitchen/config"
ENTITIES = 15
QUERY = {"query": "3f0a0011", "prediction": "rest"}


@pytest.fixture
def expected_lingering_timers():
    return True  # timers of the integration itself


async def settle(hass):
    for _ in range(5):
        await hass.async_block_till_done()


async def tell(hass, topic, text):
    async_fire_mqtt_message(hass, topic, text)
    await settle(hass)


async def test_the_entities_are_there_and_answer(hass, mqtt_mock_entry, caplog):
    with patch("homeassistant.config.load_yaml_config_file", return_value={}):
        mock = await mqtt_mock_entry()
        await settle(hass)
    wanted = [topic for topic in MESSAGES if topic.endswith("/config") and MESSAGES[topic]]
    for _ in range(2):  # twice, as after a restart of Home Assistant
        for topic in wanted:
            async_fire_mqtt_message(hass, topic, MESSAGES[topic])
        await settle(hass)
    entities = entity_registry.async_get(hass).entities
    assert len(entities) == ENTITIES, sorted(entities)
    assert len(wanted) == (1 if DEVICE in wanted else ENTITIES)
    (device,) = device_registry.async_get(hass).devices.values()
    assert (device.name, device.manufacturer) == ("kitchen", "microshrub")
    diagnostic = {
        name for name, entry in entities.items() if entry.entity_category == "diagnostic"
    }
    assert diagnostic == {
        "sensor.kitchen_samples_learned",
        "sensor.kitchen_free_heap",
        "sensor.kitchen_unsaved_labels",
        "sensor.kitchen_message",
        "binary_sensor.kitchen_drift",
    }

    state = json.loads(MESSAGES[BASE + "state"])
    assert hass.states.get("sensor.kitchen_state").state == "unavailable"
    await tell(hass, BASE + "status", "online")
    await tell(hass, BASE + "state", MESSAGES[BASE + "state"])
    for name in ("state", "confidence", "recent_accuracy"):  # no sample is learned yet
        assert hass.states.get(f"sensor.kitchen_{name}").state == "unknown", name
    assert hass.states.get("select.kitchen_label").state == "Not labelled"
    state |= {"state": "rest", "drift": 1, "anomaly": 1, "new": 1, "confidence": 93} | QUERY
    await tell(hass, BASE + "state", json.dumps(state))
    await tell(hass, BASE + "message", "too late: that is over")
    for name, value in {
        "sensor.kitchen_state": "rest",
        "sensor.kitchen_confidence": "93",
        "sensor.kitchen_recent_accuracy": "unknown",
        "sensor.kitchen_samples_learned": str(state["samples"]),
        "sensor.kitchen_free_heap": str(state["free"]),
        "sensor.kitchen_message": "too late: that is over",
        "binary_sensor.kitchen_drift": "on",
        "binary_sensor.kitchen_anomaly": "on",
        "binary_sensor.kitchen_novel_class": "on",
        "select.kitchen_label": "Not labelled",
        "select.kitchen_query": "What is it?",
        "event.kitchen_event": "unknown",
    }.items():
        assert hass.states.get(name).state == value, name
    shown = hass.states.get("sensor.kitchen_state").attributes
    if DEVICE in wanted:
        assert (shown["device_class"], shown["options"]) == ("enum", ["rest", "walk"])
    assert hass.states.get("select.kitchen_label").attributes["options"] == [
        "Not labelled", "rest", "walk",
    ]  # fmt: skip

    event = {"class": "rest", "id": "3f0a0011", "ago": 0}
    await tell(hass, BASE + "event", json.dumps({"event_type": "state"} | event))
    assert hass.states.get("event.kitchen_event").state == "unknown"
    for event_type in ("drift", "drift_over", "anomaly", "anomaly_over", "query", "novel_class"):
        await tell(hass, BASE + "event", json.dumps({"event_type": event_type} | event))
        came = hass.states.get("event.kitchen_event").attributes
        assert (came["event_type"], came["id"]) == (event_type, "3f0a0011")

    sent = []
    for domain, service, more in (
        ("select", "select_option", {"entity_id": "select.kitchen_label", "option": "rest"}),
        (
            "select",
            "select_option",
            {"entity_id": "select.kitchen_label", "option": "Not labelled"},
        ),
        ("select", "select_option", {"entity_id": "select.kitchen_query", "option": "rest"}),
        ("button", "press", {"entity_id": "button.kitchen_this_is_normal"}),
        (
            "text",
            "set_value",
            {"entity_id": "text.kitchen_name_of_the_novel_class", "value": "run"},
        ),
    ):
        mock.async_publish.reset_mock()
        await hass.services.async_call(domain, service, more, blocking=True)
        sent.append(mock.async_publish.call_args.args[:3])
    assert sent == [
        (BASE + "label/set", "rest", 0),
        (BASE + "label/set", "", 0),
        (BASE + "answer/set", "3f0a0011 rest", 1),
        (BASE + "normal/set", "PRESS", 0),
        (BASE + "name/set", "run", 1),
    ]

    await tell(hass, BASE + "status", "offline")
    assert hass.states.get("sensor.kitchen_state").state == "unavailable"
    if DEVICE in wanted:  # the board's next program has no novel classes
        less = json.loads(MESSAGES[DEVICE])
        less["cmps"]["new"] = {"p": less["cmps"]["new"]["p"]}
        await tell(hass, DEVICE, json.dumps(less))
        assert hass.states.get("binary_sensor.kitchen_novel_class") is None
        assert hass.states.get("binary_sensor.kitchen_drift")
    records = [record.getMessage() for record in caplog.records if record.levelno >= WARNING]
    assert not [text for text in records if "kitchen" in text]
    for topic in wanted:
        async_fire_mqtt_message(hass, topic, "")
    await settle(hass)
    assert not [name for name in hass.states.async_entity_ids() if "kitchen" in name]
