"""A program that shares samples with its group on its own: `build --share`.

The group's packets are carried by MQTT, or by datagrams with a code, for which all boards of the
group have one key.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import did_you_mean, settings
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.program import DATAGRAMS, check_espnow, check_wifi
from microshrub_host.streams.class_names import split_classes

from ..link import key_file
from .program_mqtt import check_name

ALL = "all"
BY_MQTT = "mqtt"
PORT, CHANNEL = DATAGRAMS["udp"]["port"], DATAGRAMS["espnow"]["channel"]
_OF_PACKETS = {"key": None, "port": None, "channel": None}
_PURPOSE = b"microshrub share "  # start of the text that makes a group's key, with the file's key


@dataclass(frozen=True)
class ShareSettings:
    """The group of boards to share with, at the broker of MqttSettings: `ShareSettings("rooms")`.

    group     the name of a group of boards with the same features
    classes   the classes whose samples may leave the board: names, or "all"; by default none, and
              the board only learns from others
    by        "mqtt"; or "udp" or "espnow", which need no broker, but the following:
    name      the board's name
    key       the file of the group's key, which is made if there is none
    port      the UDP port
    channel   the channel of the radio, 1 to 13

    Raises UserError for impossible values.
    """

    group: str
    classes: Sequence[str] | str = ()
    by: str = BY_MQTT
    name: str = ""
    key: Path | None = None
    port: int = PORT
    channel: int = CHANNEL

    def __post_init__(self) -> None:
        check_name(self.group, "--share")
        if self.by not in (BY_MQTT, *DATAGRAMS):
            raise UserError(
                f"--share by={self.by}: {did_you_mean(self.by, (BY_MQTT, *DATAGRAMS))}"
            )
        if self.by != BY_MQTT:
            check_name(self.name)
        if not 1 <= self.port <= 65535 or not 1 <= self.channel <= 13:
            raise UserError("--share has a port of 1 to 65535, and a channel of 1 to 13")
        if isinstance(self.classes, str) and self.classes != ALL:
            raise UserError(f"the classes to share are names in a list, or {ALL!r}")

    def config(self, name: str, classes: Sequence[str]) -> dict[str, Any]:
        """Return the part of config.json about sharing, for a board's name. Raises UserError."""
        wanted = classes if self.classes == ALL else tuple(dict.fromkeys(self.classes))
        for each in wanted:
            if each not in classes:
                raise UserError(f"--share classes={each}: {did_you_mean(each, classes)}")
        numbers = [list(classes).index(each) for each in wanted]
        return {"group": self.group, "name": name, "classes": numbers}

    def datagrams(self, board: Board) -> dict[str, Any]:
        """Return the part of config.json about datagrams. Raises UserError."""
        if self.by == "espnow":
            check_espnow(board)
            return {"by": self.by, "channel": self.channel}
        check_wifi(board, "--share by=udp")
        return {"by": self.by, "port": self.port, "to": [DATAGRAMS["udp"]["to"][0], self.port]}

    def secret(self) -> str:
        """Return the key of the group's boards, in hexadecimal digits. Raises UserError."""
        if self.key is None:
            raise UserError("--share by=udp or by=espnow needs key=FILE, the group's key")
        return hmac.digest(key_file.kept(self.key), _PURPOSE + self.group.encode(), "sha256").hex()


def of_words(given: Mapping[str, Any], output: Path) -> ShareSettings | None:
    """Return settings for words such as rooms classes=walk; None for none. Raises UserError."""
    words = given.get("share")
    if not words:
        return None
    group, *rest = words
    result = settings("--share", rest, {"classes": "", "by": BY_MQTT, **_OF_PACKETS})
    by = str(result["by"])
    classes = next((word[8:] for word in reversed(rest) if word.startswith("classes=")), "")
    if by == BY_MQTT and not given.get("mqtt"):
        raise UserError(
            "--share needs --mqtt HOST, the broker that keeps the group's packets, or by=udp or "
            "by=espnow"
        )
    for name, carrier in (("key", ""), ("port", "udp"), ("channel", "espnow")):
        if result[name] is not None and by in (BY_MQTT, *DATAGRAMS) and carrier not in ("", by):
            raise UserError(f"--share {name}= is for by={carrier}")
    if by != BY_MQTT and not given.get("name"):
        raise UserError(f"--share by={by} needs --name NAME, by which the board is known")
    names = tuple(name for name in split_classes("--share classes=", classes) if name)
    return ShareSettings(
        group,
        ALL if classes == ALL else names,
        by,
        given.get("name") or "",
        Path(str(result["key"])) if result["key"] else output.with_name(f"{group}-group.key"),
        *(_whole(result, name, usual) for name, usual in (("port", PORT), ("channel", CHANNEL))),
    )


def _whole(options: Mapping[str, Any], name: str, usual: int) -> int:
    value = usual if options[name] is None else options[name]
    if not isinstance(value, int):
        raise UserError(f"--share {name}= has to be a whole number, not {value}")
    return value
