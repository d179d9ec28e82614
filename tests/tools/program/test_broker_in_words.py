"""The messages of a board about a broker that it cannot reach, or that refuses it."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificate_support import certificate, needs_openssl
from device_support import put_device
from mqtt_support import PASSWORD, USER, Mosquitto, free_port, needs_broker
from patience import PATIENCE

pytestmark = needs_broker

CLIENTS = """
import time
from microshrub.device.network_start import hello_of
from microshrub.device.mqtt_client import OPEN, MqttClient

def client(host, port, user, password, ca=None):
    hello = hello_of("microshrub-kitchen", "status", user, password)
    made = MqttClient((host, port, ca), hello, 300, 100, time.ticks_ms)
    made.talk = lambda fresh, now: None
    return made

def until(made, other=None):
    message = None
    while not message and made.state != OPEN:
        message = made.turn(True)
    while other and not message:
        made.turn(True)
        message = other.turn(True)
    print(message)
"""

UNSET_CLOCK = """
import sys

asked = []

class Clock:
    ticks_ms = time.ticks_ms
    def gmtime():
        return (2000, 1, 1, 0, 0, 0, 5, 1)

class Network:
    def settime():
        asked.append("the time")

sys.modules["time"], sys.modules["ntptime"] = Clock, Network
"""


def certificates(folder: Path) -> list[str]:
    """Return the settings of a broker with a self-signed certificate; ca.der has its authority."""
    names = ["-addext", "subjectAltName=DNS:localhost"]
    (folder / "ca.der").write_bytes(certificate(folder, "ca", *names))
    return [f"certfile {folder}/ca.pem", f"keyfile {folder}/ca.key"]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    made = Mosquitto(tmp_path / "broker")
    yield made
    made.stop()


def started(command: tuple[str, ...], folder: Path, *lines: str) -> subprocess.Popen[str]:
    """Start a program of these lines on the 32-bit MicroPython."""
    put_device(folder, {})
    (folder / "clients.py").write_text("\n".join([CLIENTS, *lines]))
    return subprocess.Popen(
        [*command, "clients.py"], cwd=folder, env={"MICROPYPATH": "lib"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def last_line(board: subprocess.Popen[str]) -> str:
    """Return the program's last line, once it has ended."""
    with board:
        return board.communicate(timeout=PATIENCE)[0].splitlines()[-1]


@pytest.mark.parametrize("login", [(USER, "wrong"), ("nobody", PASSWORD), ("", "")])
def test_a_refused_login_is_reported(
    login: tuple[str, str],
    broker: Mosquitto,
    micropython_command: tuple[str, ...],
    tmp_path: Path,
) -> None:
    line = f"until(client('127.0.0.1', {broker.port}, *{login!r}))"
    words = "the broker refuses the user or the password"
    assert last_line(started(micropython_command, tmp_path, line)) == words


def test_an_unknown_host_name_is_reported(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    line = "until(client('broker.invalid', 1883, '', ''))"
    words = "the network knows no host called broker.invalid"
    assert last_line(started(micropython_command, tmp_path, line)) == words


def test_a_port_without_a_broker_is_reported(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    port = free_port()
    line = f"until(client('127.0.0.1', {port}, '', ''))"
    words = f"no broker answers at 127.0.0.1:{port}"
    assert last_line(started(micropython_command, tmp_path, line)) == words


def test_two_boards_with_one_name_are_reported(
    broker: Mosquitto, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    who = f"client('127.0.0.1', {broker.port}, {USER!r}, {PASSWORD!r})"
    lines = [f"one = {who}", "until(one)", f"until({who}, one)"]
    words = "the broker has closed the line; has another board this name?"
    assert last_line(started(micropython_command, tmp_path, *lines)) == words


@needs_openssl
def test_the_certificate_of_another_authority(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    broker = Mosquitto(tmp_path / "broker", *certificates(tmp_path))
    (tmp_path / "other.der").write_bytes(certificate(tmp_path, "other"))
    try:
        who = f"'localhost', {broker.port}, {USER!r}, {PASSWORD!r}"
        for ca, words in (
            ("other", "The certificate is not correctly signed by the trusted CA"),
            ("ca", "None"),
        ):
            line = f"until(client({who}, '{ca}.der'))"
            assert last_line(started(micropython_command, tmp_path, line)) == words
    finally:
        broker.stop()


@needs_openssl
def test_an_unset_clock_is_set_before_dates_are_compared(
    micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    broker = Mosquitto(tmp_path / "broker", *certificates(tmp_path))
    try:
        who = f"'localhost', {broker.port}, {USER!r}, {PASSWORD!r}, 'ca.der'"
        lines = [UNSET_CLOCK, f"until(client({who}))", "print(asked)"]
        assert last_line(started(micropython_command, tmp_path, *lines)) == "['the time']"
    finally:
        broker.stop()


def test_a_line_that_breaks(micropython_command: tuple[str, ...], tmp_path: Path) -> None:
    reset = socket.SO_LINGER, b"\1\0\0\0\0\0\0\0"
    with socket.create_server(("127.0.0.1", 0)) as listens:
        lines = [
            f"one = client('127.0.0.1', {listens.getsockname()[1]}, '', '')",
            "while one._socket is None or one.state < 2:",
            "    one.turn(True)",
            "until(one)",
        ]
        listens.settimeout(PATIENCE)
        board = started(micropython_command, tmp_path, *lines)
        line, _ = listens.accept()
        line.setsockopt(socket.SOL_SOCKET, *reset)
        line.recv(1)
        line.close()
        assert last_line(board).startswith("the connection is lost: ")
