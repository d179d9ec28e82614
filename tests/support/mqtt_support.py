"""A board in a home network: mosquitto on loopback, a program in the real 32-bit MicroPython."""

from __future__ import annotations

import contextlib
import json
import select
import shutil
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_support import configuration, frozen_quantizer, put_device
from patience import PATIENCE

from microshrub_host import Stream
from microshrub_tools.board import discovery_messages
from microshrub_tools.link.broker import Broker, Message

MOSQUITTO = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
needs_broker = pytest.mark.skipif(
    MOSQUITTO is None, reason="no mosquitto: `make optional` installs it where it can be had"
)
USER, PASSWORD = "board", "sesame, open: ü"
CLASSES = ("rest", 'a "walk"')

# A sensor that reads its level from a file, with a little noise; "both": both levels by turns
SENSOR = """
class Level:
    names = ("x", "y")

    def __init__(self, board):
        self.n = 0

    def read(self, values):
        try:
            with open("level") as file:
                content = file.read()
            level = (100, 900)[self.n // 16 % 2] if content == "both" else int(content or 0)
        except (OSError, ValueError):
            return False
        self.n += 1
        values[0] = level + self.n * 7 % 40
        values[1] = self.n * 13 % 100
        return True

class Quiet(Level):
    def read(self, values):
        self.n = (self.n + 1) % 1000
        values[0] = 100 + self.n * 7 % 40
        return True
"""
LOW, HIGH = 100, 900

_FAST = """
from microshrub.device.hardware import Hardware
from microshrub.device.program import main
from microshrub.device.hardware import Input

TIMES, IDLE = %d, %d
wait = Input._wait
Input._wait = lambda self, milliseconds: wait(self, min(milliseconds, IDLE))

class Fast(Hardware):
    now = last = 0
    def milliseconds(self):
        ticks = self._time.ticks_ms()
        passed = self._time.ticks_diff(ticks, self.last or ticks)
        self.now = (self.now + passed * TIMES) & 1073741823  # of 30 bits: nothing is allocated
        self.last = ticks
        return self.now

main(Fast())
"""
_IDLE = 100  # board milliseconds that an idle board waits for input


def fast(times: int, idle: int = _IDLE) -> str:
    """Return the main.py of a board whose clock runs `times` times as fast.

    idle is in the board's milliseconds; a larger value slows an idle board down.
    """
    return _FAST % (times, idle // times)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Mosquitto:
    """A broker at its own port, with a user and a password; stop() and start() control it."""

    def __init__(self, folder: Path, *more: str) -> None:
        assert MOSQUITTO
        folder.mkdir(exist_ok=True)
        self.port = free_port()
        self._config = folder / "mosquitto.conf"
        passwords = folder / "passwords"
        passwords.touch(mode=0o600)
        made = shutil.which("mosquitto_passwd")
        assert made
        subprocess.run([made, "-b", passwords, USER, PASSWORD], check=True, capture_output=True)
        lines = [
            f"listener {self.port} 127.0.0.1",
            f"password_file {passwords}",
            "allow_anonymous false",
            f"user {Path('/etc/passwd').owner()}",
            *more,
        ]
        self._config.write_text("\n".join(lines) + "\n")
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [str(MOSQUITTO), "-c", str(self._config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < end, "mosquitto does not start"
                time.sleep(0.02)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


class Listener:
    """A subscriber to all of the board's messages; `last` has the last message of each topic."""

    def __init__(self, port: int) -> None:
        self.broker = Broker("127.0.0.1", port, USER, PASSWORD)
        self.broker.subscribe("microshrub/#", "homeassistant/#")
        self.heard: list[Message] = []
        self.last: dict[str, bytes] = {}

    def until(self, right: Callable[[Message], bool]) -> Message:
        """Wait for a matching message, however long it takes."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            came = self.broker.receive(1.0)
            if came:
                self.heard.append(came)
                self.last[came.topic] = came.data
                if right(came):
                    return came
        raise AssertionError(f"it never came; the last: {self.heard[-5:]}")

    def until_at(self, topic: str, holds: Callable[[str], bool] = lambda _: True) -> str:
        """Wait for a message at that topic of the kitchen whose text matches; return the text."""
        came = self.until(
            lambda m: m.topic == f"microshrub/kitchen/{topic}" and holds(m.data.decode())
        )
        return came.data.decode()

    def announcements(self) -> dict[str, bytes]:
        """Return Home Assistant's discovery messages, by their topics."""
        return {t: data for t, data in self.last.items() if t.endswith("/config") and data}

    def until_state(self, **wanted: Any) -> dict[str, Any]:
        """Wait for a state with these values."""
        results: dict[str, Any] = {}

        def holds(text: str) -> bool:
            results.clear()
            results.update(json.loads(text))
            return all(results[name] == value for name, value in wanted.items())

        self.until_at("state", holds)
        return results

    def say(self, topic: str, text: str | bytes, **more: Any) -> None:
        data = text.encode() if isinstance(text, str) else text
        self.broker.publish(f"microshrub/kitchen/{topic}", data, **more)


def level(folder: Path, value: int | str) -> None:
    """Set the level that the sensor reads; "both": the two levels by turns."""
    new = folder / "level.new"
    new.write_text(str(value))
    new.replace(folder / "level")


def settings(port: int, **fields: Any) -> dict[str, Any]:
    """Return the config.json of a board that reads its sensor and uses a broker at that port."""
    mqtt = {"host": "127.0.0.1", "port": port, "name": "kitchen", "settle": [3, 230], "events": 8}
    sensor = {
        "kind": "own", "module": "own_level", "class": "Level", "values": 2, "rate": 200,
        "options": {},
    }  # fmt: skip
    config = configuration(
        "Thicket",
        {"features": 2, "classes": 2, "bytes": 12000},
        class_names=list(CLASSES),
        sensor=sensor,
        quantizer="quantizer.state",
        mqtt=mqtt,
    )
    return config | fields


def stream() -> Stream:
    """Return the sensor's readings at both levels."""
    n = np.arange(400)
    labels = (n // 50 % 2).astype(np.uint8)
    levels = np.where(labels, HIGH, LOW)
    values = np.stack([levels + n * 7 % 40, n * 13 % 100], axis=1)
    return Stream("levels", values.astype(np.float64), labels, ("x", "y"), CLASSES)


def put_mqtt(folder: Path, config: dict[str, Any], times: int = 1, *, old: bool = False) -> None:
    """Write a board with sensor, broker and quantizer; its clock runs `times` times as fast.

    old: its discovery messages are in the format of old versions of Home Assistant.
    """
    put_device(folder, config)
    (folder / "main.py").write_text(fast(times))
    messages = discovery_messages.messages(config, config["learner"], "1.0", old=old)
    (folder / "discovery.bin").write_bytes(
        discovery_messages.packed(config, messages, config["class_names"])
    )
    (folder / "secrets.json").write_text(json.dumps({"mqtt": [USER, PASSWORD]}))
    (folder / "quantizer.state").write_bytes(frozen_quantizer(stream()))
    (folder / "own_level.py").write_text(SENSOR)
    level(folder, LOW)


def teach(listener: Listener, folder: Path) -> None:
    """Teach both classes with the broker's label topic."""
    samples = listener.until_state()["samples"]
    for name, value in zip(CLASSES, (LOW, HIGH), strict=True):
        level(folder, value)
        wanted = samples + 60
        while samples < wanted:
            listener.say("label/set", name)  # the board publishes its state in answer
            samples = listener.until_state(label=name)["samples"]
    listener.say("label/set", "")
    listener.until_state(label=None)


class Relay:
    """A relay between a board and its broker that cuts the line after a given number of bytes.

    cuts are pairs, one for each connection: the bytes from the board that pass, and the bytes to
    the board, None for all; after the last pair no connection is cut.
    """

    def __init__(self, port: int, cuts: Sequence[tuple[int | None, int | None]] = ()) -> None:
        self.cuts = deque(cuts)
        self._to = port
        self._listens = socket.create_server(("127.0.0.1", 0))
        self.port = self._listens.getsockname()[1]
        self._ended = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._thread.join()
        self._listens.close()

    def _serve(self) -> None:
        self._listens.settimeout(0.05)
        while not self._ended:
            with contextlib.suppress(OSError):
                board, _ = self._listens.accept()
                cut = self.cuts.popleft() if self.cuts else (None, None)
                with board, socket.create_connection(("127.0.0.1", self._to)) as broker:
                    self._carry(board, broker, *cut)

    def _carry(
        self, board: socket.socket, broker: socket.socket, out: int | None, into: int | None
    ) -> None:
        left = {board: out, broker: into}
        other = {board: broker, broker: board}
        while not self._ended:
            for source in select.select([board, broker], [], [], 0.05)[0]:
                data = source.recv(65536)
                most = left[source]
                other[source].sendall(data if most is None else data[:most])
                if not data or (most is not None and len(data) >= most):
                    return
                left[source] = None if most is None else most - len(data)
