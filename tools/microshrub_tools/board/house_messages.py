"""The messages by which Home Assistant finds a board: one for each entity, in forms that old and
new versions read.

They stand in a file of the board, house.bin, which it tells as it is, so that they take none of
its RAM: see firmware/microshrub/device/house_introduction.py.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PREFIX = "homeassistant"
UNASKED, ASKED, UNKNOWN, UNLABELLED = "nothing asked", "what is it?", "don't know", "not labelled"
RESERVED = (UNASKED, ASKED, UNKNOWN, UNLABELLED)
_NAMES = "\x01"  # in a list of options: here belong the names of the classes
_DIAGNOSTIC = {"ent_cat": "diagnostic"}
_HEARS = (  # and with which QoS: what comes with 1, the broker keeps for a board that is away
    ("label/set", 0),
    ("normal/set", 0),
    ("answer/set", 1),
    ("name/set", 1),
)
_BIRTH = f"{PREFIX}/status"
_SUBSCRIBE, _RETAINED = 0x82, 0x31  # first bytes of packets
_MORE, _NAME = 0x4000, 0x8000  # bits of a piece
_AROUND_NAME = 3  # a comma and quotes


@dataclass(frozen=True)
class Entity:
    """What Home Assistant shows: its kind there, a key, its name, and what else it is."""

    kind: str
    key: str
    name: str
    fields: Mapping[str, Any]

    def topic(self, board: str) -> str:
        """Where it is told, by the name of the board."""
        return f"{PREFIX}/{self.kind}/microshrub_{board}/{self.key}/config"


def _value(expression: str) -> dict[str, Any]:
    return {"stat_t": "~state", "val_tpl": f"{{{{ {expression} }}}}"}


def _yes_or_no(key: str, name: str, kind: str | None, **more: Any) -> Entity:
    told = _value(f"'ON' if value_json.{key} else 'OFF'")
    return Entity("binary_sensor", key, name, told | ({"dev_cla": kind} if kind else {}) | more)


def _measured(key: str, name: str, **fields: Any) -> Entity:
    told = _value(f"value_json.{key}")
    return Entity("sensor", key, name, told | {"stat_cla": "measurement"} | fields)


def entities(around: Mapping[str, Any]) -> list[Entity]:
    """Those of a program; around is its config.json."""
    found = [
        Entity("sensor", "state", "state", _value("value_json.state") | {"ic": "mdi:shape"}),
        _measured("confidence", "confidence", unit_of_meas="%"),
        _measured("accuracy", "accuracy lately", unit_of_meas="%"),
        Entity("sensor", "samples", "samples learned", _value("value_json.samples") | _DIAGNOSTIC),
        _measured("free", "free heap", unit_of_meas="B", **_DIAGNOSTIC),
        Entity("sensor", "said", "message", {"stat_t": "~said", **_DIAGNOSTIC}),
    ]
    if around.get("alarm"):
        found.append(_yes_or_no("drift", "drift", "problem"))
    if around.get("anomaly"):
        found.append(_yes_or_no("anomaly", "anomaly", "problem"))
        found.append(Entity("button", "normal", "this is normal", {"cmd_t": "~normal/set"}))
    if around["sensor"]["kind"] != "serial":
        template = f"{{{{ '' if value == '{UNLABELLED}' else value }}}}"
        fields = _value(f"value_json.label or '{UNLABELLED}'")
        fields |= {"cmd_t": "~label/set", "cmd_tpl": template}
        found.append(Entity("select", "label", "label", fields | {"ops": [UNLABELLED, _NAMES]}))
    if around.get("asking"):
        asked = _value(f"'{ASKED}' if value_json.asked else '{UNASKED}'")
        asked |= {
            "cmd_t": "~answer/set",
            "cmd_tpl": "{{ this.attributes.sample }} {{ value }}",
            "json_attr_t": "~state",
            "json_attr_tpl": "{{ {'sample': value_json.asked, 'guess': value_json.guess"
            " | default('')} | tojson }}",
            "ops": [UNASKED, ASKED, UNKNOWN, _NAMES],
            "qos": 1,
        }
        found.append(Entity("select", "question", "question", asked))
    if around.get("spare"):
        found.append(_yes_or_no("new", "something new", None))
        named = {"cmd_t": "~name/set", "max": around["spare"].get("room", 16), "qos": 1}
        found.append(Entity("text", "name", "name what is new", named))
    return found


def messages(around: Mapping[str, Any], model: str, version: str) -> dict[str, str]:
    """Texts of all entities by their topics; in them, _NAMES stands for those of the classes."""
    board = around["mqtt"]["name"]
    device = {
        "ids": [f"microshrub_{board}"],
        "name": board,
        "mf": "microshrub",
        "mdl": model,
        "sw": version,
    }
    found = {}
    for entity in entities(around):
        fields = {
            "~": f"microshrub/{board}/",
            "name": entity.name,
            "uniq_id": f"microshrub_{board}_{entity.key}",
            "avty_t": "~status",
            "dev": device,
            "o": {"name": "microshrub", "sw": version},
            **entity.fields,
        }
        found[entity.topic(board)] = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    return found


def packed(around: Mapping[str, Any], told: Mapping[str, str], names: Sequence[str]) -> bytes:
    """The file of the board: packets in pieces, see firmware's house_introduction.py.

    around is its config.json, names are those of its classes. Entities that only a former program
    of the board had are removed.
    """
    board = around["mqtt"]["name"]
    base = f"microshrub/{board}/"
    hears = [(base + topic, qos) for topic, qos in _HEARS] + [(_BIRTH, 0)]
    data = _packet(_SUBSCRIBE, b"\0\1" + b"".join(_text(topic) + bytes([q]) for topic, q in hears))
    spare = around.get("spare")
    width = 2 * spare.get("room", 16) + _AROUND_NAME if spare else 0
    listed = "".join(f",{json.dumps(name, ensure_ascii=False)}" for name in names)
    for topic in entity_topics(board):
        if topic not in told:
            data += _packet(_RETAINED, _text(topic))
    for topic, text in told.items():
        before, mark, behind = text.partition(f",{json.dumps(_NAMES)}")
        if mark and spare:
            data += _packet(
                _RETAINED, _text(topic) + before.encode(), len(names) * [width], behind
            )
        else:
            data += _packet(
                _RETAINED, _text(topic) + (before + listed * bool(mark) + behind).encode()
            )
    return data + _packet(_RETAINED, _text(base + "status") + b"online")


def _packet(first: int, body: bytes, widths: Sequence[int] = (), behind: str = "") -> bytes:
    """A packet in pieces; a name stands for each width, before what is behind."""
    rest = behind.encode()
    size, length = len(body) + sum(widths) + len(rest), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    begin = bytes([first]) + length + bytes([size]) + body
    pieces = [(len(begin), begin), *((_NAME | width, b"") for width in widths)]
    pieces += [(len(rest), rest)] if rest else []
    heads = [head | _MORE for head, _ in pieces[:-1]] + [pieces[-1][0]]
    return b"".join(
        struct.pack(">H", head) + data for head, (_, data) in zip(heads, pieces, strict=True)
    )


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def topics(board: str) -> list[str]:
    """All topics at which something may be retained for a board of that name."""
    return [*entity_topics(board), *(f"microshrub/{board}/{each}" for each in ("state", "status"))]


def entity_topics(board: str) -> list[str]:
    """The topics of all entities that a program can have."""
    around: dict[str, Any] = dict.fromkeys(("alarm", "anomaly", "asking"), True)
    around |= {"spare": {"classes": 1}, "sensor": {"kind": "adc"}}
    return [entity.topic(board) for entity in entities(around)]
