"""The messages of MQTT discovery for Home Assistant: one for the board, or one for each entity, as
versions before 2024.12 read them.

The messages are in discovery.bin, a file that the board sends as it is, so that they take none of
the board's RAM: see firmware/microshrub/device/mqtt_discovery.py.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PREFIX = "homeassistant"
NO_QUERY, QUERY, UNKNOWN, UNLABELLED = "No query", "What is it?", "Don't know", "Not labelled"
# Names, in lower case, that no class may have: the lists use them for something else, or Home
# Assistant reads them as no value. The firmware's mqtt_subscriber.py has the same names.
RESERVED = (
    *(each.lower() for each in (NO_QUERY, QUERY, UNKNOWN, UNLABELLED)),
    *("none", "unknown", "unavailable"),
)
WHOLE_DEVICES = (2024, 12)  # the first version of Home Assistant that reads one message per device
_NAMES = "\x01"  # the place of the classes' names in a list of options
_DIAGNOSTIC = {"ent_cat": "diagnostic"}
_EVENTS = {  # types of events, and the part of a program that sends them
    "drift": "alarm",
    "drift_over": "alarm",
    "anomaly": "anomaly",
    "anomaly_over": "anomaly",
    "query": "queries",
    "novel_class": "spare_classes",
}
_HEARS = (  # topics with their QoS: with 1, the broker keeps messages for a board that is offline
    ("label/set", 0),
    ("normal/set", 0),
    ("answer/set", 1),
    ("name/set", 1),
)
_BIRTH = f"{PREFIX}/status"
_SUBSCRIBE, _RETAINED = 0x82, 0x31  # first bytes of packets
_MORE, _NAME = 0x4000, 0x8000  # bits of a piece
_SPACES = 128  # the most spaces of a piece, which make up for names shorter than their places
_LONGEST = 0x3FFF  # bytes of a piece
_PUNCTUATION = 3  # a comma and quotes


@dataclass(frozen=True)
class Entity:
    """An entity of Home Assistant: its platform there, a key, its name and further fields.

    In the fields, ~ at the beginning of a topic stands for the board's topic.
    """

    platform: str
    key: str
    name: str
    fields: Mapping[str, Any]

    def topic(self, board: str) -> str:
        """Return the topic of the entity's own message, by the name of the board."""
        return f"{PREFIX}/{self.platform}/microshrub_{board}/{self.key}/config"

    def described(self, board: str) -> dict[str, Any]:
        """Return the entity's fields in a message of the board with that name."""
        base = f"microshrub/{board}/"
        fields = {
            name: base + value[1:] if str(value).startswith("~") else value
            for name, value in self.fields.items()
        }
        return {"name": self.name, "uniq_id": f"microshrub_{board}_{self.key}", **fields}


def _value(expression: str) -> dict[str, Any]:
    return {"stat_t": "~state", "val_tpl": f"{{{{ {expression} }}}}"}


def _yes_or_no(key: str, name: str, device_class: str | None, **more: Any) -> Entity:
    value = _value(f"'ON' if value_json.{key} else 'OFF'")
    return Entity(
        "binary_sensor",
        key,
        name,
        value | ({"dev_cla": device_class} if device_class else {}) | more,
    )


def _measured(key: str, name: str, **fields: Any) -> Entity:
    value = _value(f"value_json.{key}")
    return Entity("sensor", key, name, value | {"stat_cla": "measurement"} | fields)


def entities(config: Mapping[str, Any], *, old: bool = False) -> list[Entity]:
    """Return a program's entities; config is its config.json, old: before WHOLE_DEVICES."""
    # old versions have no options of a sensor, and read null as the text None
    state = _value("value_json.state or 'unknown'") if old else _value("value_json.state")
    state |= {} if old else {"dev_cla": "enum", "ops": [_NAMES]}
    result = [
        Entity("sensor", "state", "State", state | {"ic": "mdi:shape"}),
        _measured("confidence", "Confidence", unit_of_meas="%"),
        _measured("accuracy", "Recent accuracy", unit_of_meas="%"),
        _measured("samples", "Samples learned", **_DIAGNOSTIC, stat_cla="total_increasing"),
        _measured("free", "Free heap", dev_cla="data_size", unit_of_meas="B", **_DIAGNOSTIC),
        Entity("sensor", "message", "Message", {"stat_t": "~message", **_DIAGNOSTIC}),
    ]
    if config.get("checkpoint"):
        result.append(_measured("unsaved", "Unsaved labels", **_DIAGNOSTIC))
    if config.get("alarm"):
        result.append(_yes_or_no("drift", "Drift", "problem", **_DIAGNOSTIC))
    if config.get("anomaly"):
        result.append(_yes_or_no("anomaly", "Anomaly", "problem"))
        result.append(Entity("button", "normal", "This is normal", {"cmd_t": "~normal/set"}))
    if config["sensor"]["kind"] != "serial":
        template = f"{{{{ '' if value == '{UNLABELLED}' else value }}}}"
        fields = _value(f"value_json.label or '{UNLABELLED}'")
        fields |= {"cmd_t": "~label/set", "cmd_tpl": template}
        result.append(Entity("select", "label", "Label", fields | {"ops": [UNLABELLED, _NAMES]}))
    if config.get("queries"):
        query = _value(f"'{QUERY}' if value_json.query else '{NO_QUERY}'")
        query |= {
            "cmd_t": "~answer/set",
            "cmd_tpl": "{{ this.attributes.sample }} {{ value }}",
            "json_attr_t": "~state",
            "json_attr_tpl": "{{ {'sample': value_json.query, 'prediction': value_json.prediction}"
            " | tojson }}",
            "ops": [NO_QUERY, QUERY, UNKNOWN, _NAMES],
            "qos": 1,
        }
        result.append(Entity("select", "query", "Query", query))
    if config.get("spare_classes"):
        result.append(_yes_or_no("new", "Novel class", None))
        named = {"cmd_t": "~name/set", "max": config["spare_classes"].get("room", 16), "qos": 1}
        result.append(Entity("text", "name", "Name of the novel class", named))
    events = [event for event, part in _EVENTS.items() if config.get(part)]
    if events:
        rest = "{{ value if value_json.event_type != 'state' }}"
        fields = {"stat_t": "~event", "val_tpl": rest, "evt_typ": events, "qos": 1}
        result.append(Entity("event", "event", "Event", fields))
    return result


def messages(
    config: Mapping[str, Any], model: str, version: str, *, old: bool = False
) -> dict[str, str]:
    """Return the messages' texts by topic; _NAMES in a text stands for the names of the classes.

    One message for the board; old: one message for each entity, as versions before WHOLE_DEVICES
    read them.
    """
    board = config["mqtt"]["name"]
    shared: dict[str, Any] = {
        "dev": {
            "ids": [f"microshrub_{board}"],
            "name": board,
            "mf": "microshrub",
            "mdl": model,
            "sw": version,
        },
        "o": {"name": "microshrub", "sw": version},
        "avty_t": f"microshrub/{board}/status",
    }
    by_key = {entity.key: entity for entity in entities(config, old=old)}
    if old:
        return {e.topic(board): _json(e.described(board) | shared) for e in by_key.values()}
    # an entity with only a platform is removed: a former program may have had it
    shared["cmps"] = {
        each.key: {"p": each.platform}
        | (by_key[each.key].described(board) if each.key in by_key else {})
        for each in entities(_EVERYTHING)
    }
    return {_device_topic(board): _json(shared)}


def _json(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)


def packed(config: Mapping[str, Any], messages: Mapping[str, str], names: Sequence[str]) -> bytes:
    """Return the board's discovery.bin: packets in pieces, see firmware's mqtt_discovery.py.

    config is the program's config.json, names are its classes' names. Entities that only a former
    program of the board had are removed.
    """
    board = config["mqtt"]["name"]
    base = f"microshrub/{board}/"
    hears = [(base + topic, qos) for topic, qos in _HEARS] + [(_BIRTH, 0)]
    data = _packet(_SUBSCRIBE, b"\0\1" + b"".join(_text(topic) + bytes([q]) for topic, q in hears))
    if _device_topic(board) not in messages:
        for topic in entity_topics(board):
            if topic not in messages:
                data += _packet(_RETAINED, _text(topic))
    spare = config.get("spare_classes")
    for topic, text in messages.items():
        if spare:
            width = 2 * spare.get("room", 16) + _PUNCTUATION
            data += _packet_with_names(_text(topic), text, len(names) * [width])
        else:
            data += _packet(_RETAINED, _text(topic) + _with_names(text, names).encode())
    return data + _packet(_RETAINED, _text(base + "status") + b"online")


def _with_names(text: str, names: Sequence[str]) -> str:
    listed = ",".join(json.dumps(name, ensure_ascii=False) for name in names)
    return text.replace(json.dumps(_NAMES), listed)


def _packet(first: int, body: bytes) -> bytes:
    """Return a packet without names."""
    return _pieces(_head(first, len(body)) + body)


def _packet_with_names(topic: bytes, text: str, widths: Sequence[int]) -> bytes:
    """Return a retained packet with places of these widths for the classes' names."""
    mark = json.dumps(_NAMES)
    parts = [part.encode() for part in text.replace("," + mark, mark).split(mark)]
    size = len(topic) + sum(map(len, parts)) + (len(parts) - 1) * sum(widths)
    data = _pieces(_head(_RETAINED, size) + topic + parts[0], _MORE)
    for part in parts[1:]:
        data += b"".join(struct.pack(">H", width | _NAME | _MORE) for width in widths)
        data += _pieces(part, _MORE)
    for left in range((len(parts) - 1) * sum(widths), 0, -_SPACES):
        data += struct.pack(">H", _NAME | (_MORE if left > _SPACES else 0))
    return data


def _pieces(data: bytes, more: int = 0) -> bytes:
    """Return bytes of a packet in pieces; more: _MORE if the packet continues after them."""
    pieces = b""
    while len(data) > _LONGEST:
        pieces += struct.pack(">H", _LONGEST | _MORE) + data[:_LONGEST]
        data = data[_LONGEST:]
    return pieces + struct.pack(">H", len(data) | more) + data


def _head(first: int, size: int) -> bytes:
    """Return the first bytes of a packet."""
    length = b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([first]) + length + bytes([size])


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def topics(board: str) -> list[str]:
    """Return all topics at which a message may be retained for a board of that name."""
    mine = (f"microshrub/{board}/{each}" for each in ("state", "status"))
    return [_device_topic(board), *entity_topics(board), *mine]


def _device_topic(board: str) -> str:
    return f"{PREFIX}/device/microshrub_{board}/config"


def entity_topics(board: str) -> list[str]:
    """Return the topics of all entities that a program can have, for a message each."""
    return [entity.topic(board) for entity in entities(_EVERYTHING)]


_EVERYTHING: Mapping[str, Any] = {
    **dict.fromkeys(("alarm", "anomaly", "checkpoint", "queries"), True),
    "spare_classes": {"classes": 1},
    "sensor": {"kind": "adc"},
}
