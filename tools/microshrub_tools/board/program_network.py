"""A program on a network: Wi-Fi, an MQTT broker, the link over TCP, and their secrets.

Passwords and the key are on the board in secrets.json, a file apart from config.json, which the
link gives away. No model and no printed text contains a secret.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.boards.board_files import Board
from microshrub_host.boards.program import Program, check_wifi

from ..link import key_file
from ..link.tcp_line import PORT
from . import program_mqtt, program_share
from .program_mqtt import MqttSettings, check_text, password
from .program_share import BY_MQTT, ShareSettings

SECRETS = "secrets.json"


@dataclass(frozen=True)
class WifiSettings:
    """The wireless network that a board joins. Raises UserError for impossible values."""

    name: str
    password: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        check_text("--wifi", self.name, 32)
        check_text("--wifi-password-file", self.password, 64)


@dataclass(frozen=True)
class TcpSettings:
    """The link over TCP at a port, for clients with the key; a missing key file is made.

    Raises UserError for impossible values.
    """

    key: Path
    port: int = PORT

    def __post_init__(self) -> None:
        if not 1 <= self.port <= 65535:
            raise UserError(f"--tcp has to be a port, 1 to 65535, not {self.port}")


@dataclass(frozen=True)
class NetworkSettings:
    """A program's settings for a network: MQTT, sharing, the link over TCP."""

    mqtt: MqttSettings | None = None
    tcp: TcpSettings | None = None
    wifi: WifiSettings | None = None
    share: ShareSettings | None = None

    def config(self, board: Board, classes: tuple[str, ...], *, sleeps: bool) -> dict[str, Any]:
        """Return the network's part of config.json. Raises UserError."""
        flags = (("--wifi", self.wifi), ("--mqtt", self.mqtt), ("--tcp", self.tcp))
        flag = next((flag for flag, given in flags if given), None)
        if flag:
            check_wifi(board, flag)
        result: dict[str, Any] = {}
        if self.mqtt:
            result["mqtt"] = self.mqtt.config(classes, sleeps=sleeps)
        if self.share:
            result |= self._shares(self.share, board, classes, sleeps=sleeps)
        if self.tcp:
            if sleeps:
                raise UserError("--sleep switches the radio off, which --tcp needs: leave one out")
            result["tcp"] = {"port": self.tcp.port}
        return result

    def _shares(
        self, share: ShareSettings, board: Board, classes: tuple[str, ...], *, sleeps: bool
    ) -> dict[str, Any]:
        if share.by == BY_MQTT:
            if not self.mqtt:
                raise UserError("--share needs --mqtt HOST, which keeps the group's packets")
            return {"share": share.config(self.mqtt.name, classes)}
        if sleeps:
            raise UserError("--sleep switches the radio off, which --share needs: leave one out")
        if share.by == "espnow" and (self.wifi or self.mqtt or self.tcp):
            raise UserError(
                "--share by=espnow is for a board without a network: leave --wifi, --mqtt and "
                "--tcp out, or share by=udp"
            )
        return {"share": share.config(share.name, classes), "datagrams": share.datagrams(board)}

    def furnish(self, program: Program) -> Program:
        """Return the program with the files of its network. Raises UserError."""
        mqtt = self.mqtt.files(program) if self.mqtt else {}
        secrets = {
            **({"wifi": [self.wifi.name, self.wifi.password]} if self.wifi else {}),
            **self._of_broker(),
            **({"key": key_file.kept(self.tcp.key).hex()} if self.tcp else {}),
            **({"group": self.share.secret()} if self.share and self._packets else {}),
        }
        if self.mqtt or self.tcp or self._packets:
            mqtt[SECRETS] = (json.dumps(secrets) + "\n").encode()
        return dataclasses.replace(program, more_files={**program.more_files, **mqtt})

    @property
    def _packets(self) -> bool:
        return self.share is not None and self.share.by != BY_MQTT

    def _of_broker(self) -> dict[str, Any]:
        if not self.mqtt or not self.mqtt.user:
            return {}
        return {"mqtt": [self.mqtt.user, self.mqtt.password]}


def of_options(given: Mapping[str, Any], output: Path, ask: Any) -> NetworkSettings:
    """Return the settings for the values of options, by their names, for a build in a folder.

    ask(words, flag) prompts for a password that no file has, see program_mqtt.py. Raises
    UserError.
    """
    share = program_share.of_words(given, output)
    datagrams = share is not None and share.by != BY_MQTT
    mqtt = program_mqtt.of_options(given, ask, named=datagrams)
    port, name = given.get("tcp"), given.get("wifi")
    for flag in ("wifi", "wifi_password_file"):
        if given.get(flag) is not None and not mqtt and port is None and not datagrams:
            raise UserError(
                f"--{flag.replace('_', '-')} needs --mqtt HOST, --tcp or --share GROUP by=udp"
            )
    if given.get("key") is not None and port is None:
        raise UserError("--key needs --tcp")
    if given.get("wifi_password_file") is not None and not name:
        raise UserError("--wifi-password-file needs --wifi")
    key = given.get("key") or key_file.of_build(output)
    asked = f"the password of {name}", "--wifi-password-file"
    secret = password(given.get("wifi_password_file"), name or "", asked, ask)
    return NetworkSettings(
        mqtt=mqtt,
        tcp=None if port is None else TcpSettings(key, port),
        wifi=WifiSettings(name, secret) if name else None,
        share=share,
    )
