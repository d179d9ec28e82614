"""The PC's connection to a broker: partial messages, long messages, and invalid MQTT."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
from certificate_support import certificate, needs_openssl
from mqtt_support import PASSWORD, USER, Mosquitto, needs_broker

from microshrub_host.base.errors import UserError
from microshrub_tools.link.broker import Broker, Message

WELCOME = b"\x20\x02\0\0"
SUBSCRIBED = b"\x90\x04\0\1\1\1"
HELLO = b"\x30\x05\0\1ayo"  # at the topic a


def long_message(size: int) -> bytes:
    """Return a retained message at the topic b with this many bytes."""
    length = size + 3
    digits = bytes((length & 127 | 128, length >> 7 & 127 | 128, length >> 14))
    return b"\x31" + digits + b"\0\1b" + bytes(size)


def talking_to(pieces: Iterable[bytes]) -> Broker:
    """Connect to a server that sends these pieces and closes the connection."""
    listens = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listens, listens.accept()[0] as line:
            line.recv(100)
            for piece in pieces:
                line.sendall(piece)
            line.shutdown(socket.SHUT_WR)
            while line.recv(100):
                pass

    threading.Thread(target=serve).start()
    return Broker("127.0.0.1", listens.getsockname()[1])


@pytest.mark.parametrize("piece", [1, 3, 100_000])
def test_messages_may_come_in_pieces_and_long_ones_are_cut(piece: int) -> None:
    sent = WELCOME + SUBSCRIBED + HELLO + long_message(200_000 if piece > 3 else 20_000) + HELLO
    with talking_to(sent[i : i + piece] for i in range(0, len(sent), piece)) as line:
        line.subscribe("a", "b")
        assert line.receive(10) == Message("a", b"yo", False)
        message = line.receive(10)
        assert message
        assert message.topic == "b"
        assert message.retained
        assert len(message.data) == (20_000 if piece <= 3 else (1 << 17) - 3)
        assert line.receive(10) == Message("a", b"yo", False)
        with pytest.raises(UserError, match="is gone"):
            line.receive(10)


@pytest.mark.parametrize("message", [b"HTTP/1.1 400 Bad", b"\x30\x02\0\7", b"\x30" + b"\xff" * 9])
def test_a_server_that_is_no_broker_is_reported(message: bytes) -> None:
    with talking_to([WELCOME, message]) as line, pytest.raises(UserError, match=r"no MQTT|gone"):
        line.receive(10)
    with pytest.raises(UserError, match=r"let us in|no MQTT|no broker"):
        talking_to([message])


@pytest.mark.parametrize("code", [4, 5])
def test_a_wrong_password_is_reported(code: int) -> None:
    """mosquitto refuses a wrong password with code 5, other brokers with 4."""
    with pytest.raises(UserError, match="user or the password"):
        talking_to([b"\x20\x02\0" + bytes([code])])


@needs_broker
@needs_openssl
def test_a_broker_proves_its_identity(tmp_path: Path) -> None:
    der = certificate(tmp_path, "ca", "-addext", "subjectAltName=DNS:localhost")
    other = tmp_path / "other.der"
    other.write_bytes(certificate(tmp_path, "other"))
    (tmp_path / "ca.der").write_bytes(der)
    folder = tmp_path / "broker"
    made = Mosquitto(folder, f"certfile {tmp_path}/ca.pem", f"keyfile {tmp_path}/ca.key")
    try:
        for name in ("ca.pem", "ca.der"):
            Broker("localhost", made.port, USER, PASSWORD, tmp_path / name)
        with pytest.raises(UserError, match="CERTIFICATE_VERIFY_FAILED"):
            Broker("localhost", made.port, USER, PASSWORD, other)
        with pytest.raises(UserError, match="passwords is no certificate"):
            Broker("localhost", made.port, USER, PASSWORD, folder / "passwords")
    finally:
        made.stop()
