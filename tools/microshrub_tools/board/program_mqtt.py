"""A program that reports to an MQTT broker: `build --mqtt`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.boards.program import Program
from microshrub_host.library import library_files

from ..link import certificate
from ..link.broker import PORT, TLS_PORT
from . import discovery_messages

MESSAGES, CERTIFICATE = "discovery.bin", "broker.der"
EVENTS = 64
SETTLE = ("3", "90%")
BROKER_PASSWORD = "the broker's password", "--mqtt-password-file"
_HOST = re.compile(r"[A-Za-z0-9_.-]{1,63}")  # a board has no IPv6
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_ADDRESS = re.compile(r"([^\s/:]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")  # IPv6 in []
_VERSION = re.compile(r"(20[0-9]{2})\.([1-9]|1[0-2])(?:\.[0-9]+)?")
_OLDEST = 2023, 8  # the first version with events
_MOST_TEXT = 96  # bytes of a user or a password


@dataclass(frozen=True)
class MqttSettings:
    """The broker of a program.

    host, port    the broker's address
    name          the board's name, in topics
    user, password   the board's login at the broker; "": no login
    ca            the certificate that proves the broker's identity, for TLS; None: no TLS
    in_a_row      a class is reported once it was predicted that many times in a row, 1..255,
    sure          or once with a confidence of that many percent; above 100: never
    events        how many events are kept while the broker cannot be reached, 1..1024
    home_assistant   the oldest version of Home Assistant that is to find the board: year, month

    Raises UserError for other values.
    """

    host: str
    name: str
    port: int = PORT
    user: str = ""
    password: str = field(default="", repr=False)
    ca: Path | None = None
    in_a_row: int = 3
    sure: float = 90.0
    events: int = EVENTS
    home_assistant: tuple[int, int] = discovery_messages.WHOLE_DEVICES

    def __post_init__(self) -> None:
        if not _HOST.fullmatch(self.host) or not 1 <= self.port <= 65535:
            raise UserError(f"--mqtt has to be HOST or HOST:PORT, not {self.host}:{self.port}")
        check_name(self.name)
        check_text("--mqtt-user", self.user, _MOST_TEXT)
        check_text("--mqtt-password-file", self.password, _MOST_TEXT)
        if self.password and not self.user:
            raise UserError("--mqtt-password-file needs --mqtt-user")
        if not 1 <= self.in_a_row <= 255 or not self.sure > 0:
            raise UserError("--settle has to be 1 to 255 answers and a confidence such as 90%")
        if not 1 <= self.events <= 1024:
            raise UserError(f"--events has to be 1..1024, not {self.events:,}")

    def config(self, classes: Sequence[str], *, sleeps: bool = False) -> dict[str, Any]:
        """Return the broker's part of config.json. Raises UserError."""
        if not classes:
            raise UserError("--mqtt is for classes, and this model predicts numbers")
        if sleeps:
            raise UserError("--sleep switches the radio off, which --mqtt needs: leave one out")
        for name in classes:
            if name.lower() in discovery_messages.RESERVED:
                raise UserError(
                    f"--mqtt: no class can be called {name!r}, which means something else to Home "
                    "Assistant. Give it another name"
                )
            if any(ord(letter) < 32 for letter in name):
                raise UserError(f"--mqtt: no class can be called {name!r} there")
        sure = min(round(self.sure * 255 / 100), 256)
        result = {
            "host": self.host,
            "port": self.port,
            "name": self.name,
            "settle": [self.in_a_row, sure],
            "events": self.events,
        }
        return result | ({"ca": CERTIFICATE} if self.ca else {})

    def files(self, program: Program) -> dict[str, bytes]:
        """Return the program's files besides config.json and secrets.json. Raises UserError."""
        texts = discovery_messages.messages(
            program.config,
            program.learner,
            library_files.version(),
            old=self.home_assistant < discovery_messages.WHOLE_DEVICES,
        )
        data = discovery_messages.packed(program.config, texts, program.class_names)
        result = {MESSAGES: data}
        return result | ({CERTIFICATE: certificate.read(self.ca)} if self.ca else {})


def check_text(flag: str, text: str, most: int) -> None:
    """Raise UserError for a text of more than `most` bytes, or with control characters."""
    if len(text.encode()) > most or any(ord(letter) < 32 for letter in text):
        raise UserError(f"{flag} has more than {most} bytes, or control characters")


def check_name(name: str, flag: str = "--name") -> None:
    """Raise UserError unless a board, or a group of boards, can be called so."""
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{flag} has to be 1 to 32 letters, digits, - and _, as it is in topics, not {name!r}"
        )


def of_options(given: Mapping[str, Any], ask: Any, *, named: bool = False) -> MqttSettings | None:
    """Return the settings for the values of options, by their names; None without --mqtt.

    ask(words, flag) prompts for a password that no file has; flag is the option that names such a
    file. named: --name has another use as well. Raises UserError.
    """
    names = (
        "mqtt_user", "mqtt_password_file", "mqtt_ca", "name", "settle", "events", "home_assistant",
    )  # fmt: skip
    if not given.get("mqtt"):
        for name in names:
            if given.get(name) is not None and not (named and name == "name"):
                raise UserError(f"--{name.replace('_', '-')} needs --mqtt HOST")
        return None
    if not given.get("name"):
        raise UserError("--mqtt needs --name NAME, by which the board is known there")
    host, port = host_and_port(given["mqtt"], tls=given.get("mqtt_ca") is not None)
    words = given.get("settle") or SETTLE
    settle = {
        "sure" if word.endswith("%") else "in_a_row": word.removesuffix("%") for word in words
    }
    if len(settle) < len(words):
        raise UserError(f"--settle has to be like 3, 90% or both, not {' '.join(words)}")
    try:
        in_a_row, sure = int(settle.get("in_a_row", "255")), float(settle.get("sure", "101"))
    except ValueError:
        raise UserError("--settle has to be like 3, 90% or both") from None
    user = given.get("mqtt_user") or ""
    return MqttSettings(
        host=host,
        port=port,
        name=given["name"],
        user=user,
        password=password(given.get("mqtt_password_file"), user, BROKER_PASSWORD, ask),
        ca=given.get("mqtt_ca"),
        in_a_row=in_a_row,
        sure=sure,
        events=EVENTS if given.get("events") is None else given["events"],
        home_assistant=_version(given.get("home_assistant")),
    )


def _version(text: str | None) -> tuple[int, int]:
    """Return year and month of a version of Home Assistant. Raises UserError."""
    if text is None:
        return discovery_messages.WHOLE_DEVICES
    match = _VERSION.fullmatch(text)
    if not match:
        raise UserError(f"--home-assistant has to be a version such as 2024.3, not {text}")
    version = int(match[1]), int(match[2])
    if version < _OLDEST:
        raise UserError(
            f"--home-assistant {text}: a board needs {_OLDEST[0]}.{_OLDEST[1]} or newer"
        )
    return version


def host_and_port(text: str, *, tls: bool) -> tuple[str, int]:
    """Return host and port of HOST or HOST:PORT. Raises UserError."""
    match = _ADDRESS.fullmatch(text)
    if not match or not 1 <= int(match[2] or 1) <= 65535:
        raise UserError(f"--mqtt has to be HOST or HOST:PORT, not {text}")
    return match[1].strip("[]"), int(match[2] or (TLS_PORT if tls else PORT))


def password(file: Path | None, needed: str, what: tuple[str, str], ask: Any) -> str:
    """Return a password: the first line of a file, or the answer to a prompt. Raises UserError.

    `what` is the password's name, and the option that names a file.
    """
    if file is not None:
        try:
            return (file.read_text(encoding="utf-8").splitlines() or [""])[0]
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise UserError(f"{what[1]} {file}: it cannot be read: {why}") from None
    return str(ask(*what)) if needed else ""
