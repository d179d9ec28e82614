"""Home Assistant's own MQTT integration hears what a board has told: see test_home_assistant.py.

It has an environment of its own, with pytest-homeassistant-custom-component, and a file TOLD:
topics and texts, as the broker had them.
"""

import json
import os
from pathlib import Path
from unittest.mock import patch

from homeassistant.helpers import device_registry, entity_registry
from pytest_homeassistant_custom_component.common import async_fire_mqtt_message

TOLD = json.loads(Path(os.environ["TOLD"]).read_text())
BASE = "microshrub/kitchen/"


async def settle(hass):
    for _ in range(5):
        await hass.async_block_till_done()


async def tell(hass, topic, text):
    async_fire_mqtt_message(hass, topic, text)
    await settle(hass)


async def test_the_entities_are_there_and_answer(hass, mqtt_mock_entry):
    with patch("homeassistant.config.load_yaml_config_file", return_value={}):
        mock = await mqtt_mock_entry()
        await settle(hass)
    for topic, text in TOLD.items():
        if topic.endswith("/config"):
            async_fire_mqtt_message(hass, topic, text)
    await settle(hass)
    wanted = [topic for topic in TOLD if topic.endswith("/config")]
    found = entity_registry.async_get(hass).entities
    assert len(found) == len(wanted), (sorted(found), wanted)
    (device,) = device_registry.async_get(hass).devices.values()
    assert (device.name, device.manufacturer) == ("kitchen", "microshrub")

    assert hass.states.get("sensor.kitchen_state").state == "unavailable"
    await tell(hass, BASE + "status", "online")
    state = json.loads(TOLD[BASE + "state"])
    state |= {"state": "rest", "drift": 1, "anomaly": 1, "new": 1, "accuracy": None}
    state |= {"asked": "3f0a0011", "guess": "rest"}
    await tell(hass, BASE + "state", json.dumps(state))
    await tell(hass, BASE + "said", "too late: that is over")
    for name, value in {
        "sensor.kitchen_state": "rest",
        "sensor.kitchen_confidence": str(state["confidence"]),
        "sensor.kitchen_accuracy_lately": "unknown",
        "sensor.kitchen_samples_learned": str(state["samples"]),
        "sensor.kitchen_free_heap": str(state["free"]),
        "sensor.kitchen_message": "too late: that is over",
        "binary_sensor.kitchen_drift": "on",
        "binary_sensor.kitchen_anomaly": "on",
        "binary_sensor.kitchen_something_new": "on",
        "select.kitchen_label": "not labelled",
        "select.kitchen_question": "what is it?",
    }.items():
        assert hass.states.get(name).state == value, name

    said = []
    for domain, service, more in (
        ("select", "select_option", {"entity_id": "select.kitchen_label", "option": "rest"}),
        (
            "select",
            "select_option",
            {"entity_id": "select.kitchen_label", "option": "not labelled"},
        ),
        ("select", "select_option", {"entity_id": "select.kitchen_question", "option": "rest"}),
        ("button", "press", {"entity_id": "button.kitchen_this_is_normal"}),
        ("text", "set_value", {"entity_id": "text.kitchen_name_what_is_new", "value": "run"}),
    ):
        mock.async_publish.reset_mock()
        await hass.services.async_call(domain, service, more, blocking=True)
        said.append(mock.async_publish.call_args.args[:3])
    assert said == [
        (BASE + "label/set", "rest", 0),
        (BASE + "label/set", "", 0),
        (BASE + "answer/set", "3f0a0011 rest", 1),
        (BASE + "normal/set", "PRESS", 0),
        (BASE + "name/set", "run", 1),
    ]

    await tell(hass, BASE + "status", "offline")
    assert hass.states.get("sensor.kitchen_state").state == "unavailable"
    for topic in wanted:
        async_fire_mqtt_message(hass, topic, "")
    await settle(hass)
    assert not [name for name in hass.states.async_entity_ids() if "kitchen" in name]
