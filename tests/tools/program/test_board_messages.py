"""The output and the answers of the program on a board, word for word: board_messages.txt.

After you change a message or add a case (a line that begins with "$ "), rewrite the file:
`PYTHONPATH=tests/support python tests/tools/program/test_board_messages.py`.
The commit then shows the change.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
from array import array
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import golden
import pytest
from device_support import configuration, put_device, run_device

from microshrub_host.base.micropython_binary import find_or_fetch
from microshrub_host.library import loader
from microshrub_tools.link import class_messages, messages
from microshrub_tools.link.frames import Frame, Splitter, pack
from microshrub_tools.link.messages import Failure, Request, read_answer

HERE = Path()
MESSAGES = Path(__file__).resolve().with_name("board_messages.txt")
BASE = configuration(
    "ShrubEnsemble", {"features": 2, "classes": 2, "window": 8, "trees": 2}, warmup=1,
    class_names=["rest", "walk"],
)  # fmt: skip
_FREE = re.compile(r"\d+(?= bytes (?:free|were free))")  # changes with the library
_REQUESTS: dict[str, Callable[..., Request]] = {
    "anomaly": lambda: messages.anomaly(scores=True),
    "checkpoint": lambda: messages.CHECKPOINT,
    "class-bytes": lambda digits: messages.classes(bytes.fromhex(digits)),
    "forget": lambda number: messages.classes(class_messages.forget(int(number))),
    "label": lambda number, label: messages.late_label(int(number), int(label)),
    "learn": lambda *row: messages.sample(map(int, row[:-1]), int(row[-1])),
    "merge": lambda one, into: messages.classes(class_messages.merge(int(one), int(into))),
    "name": lambda text: messages.classes(class_messages.name(text)),
    "predict": lambda *row: messages.sample(map(int, row)),
    "status-and-a-byte": lambda: Request(messages.STATUS.kind, b"?"),
    "type": lambda number: Request(int(number)),
}


class _Board:
    """The program in the current folder; `device` has the modules of the device library."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._command = command
        self.device = loader.load("python").device
        put_device(HERE, BASE)

    def __call__(self, case: str) -> list[str]:
        """Return the output of a case, which begins with the name of one of the methods."""
        name, _, rest = case.partition(" ")
        text: str = getattr(self, name)(rest)
        return text.splitlines()

    def config(self, text: str) -> str:
        """Return a real MicroPython's output with these fields or this text in config.json."""
        data = json.dumps(BASE | json.loads(text)) if text.startswith("{") else text
        file = HERE / "config.json"
        file.write_text(data) if data else file.unlink()
        output = run_device(self._command, HERE, heap="192k")
        return _FREE.sub("N", output.replace("\0\n", ""))

    def requests(self, words: str) -> str:
        """Return the link's answers to requests; the words begin with fields of config.json."""
        app, begin = self._application(words)
        requests = [each.split() for each in words[begin:].split(";")]
        asked = [_REQUESTS[name](*rest) for name, *rest in requests]
        return "\n".join(self._answers(app, [Request(messages.HELLO), *asked])[1:])

    def unopened(self, name: str) -> str:
        """Return the answer to a request in a session that is not open."""
        app, _ = self._application("{}")
        return "\n".join(self._answers(app, [_REQUESTS[name]()]))

    def mqtt(self, words: str) -> str:
        """Return the messages to the broker after a message at one of the board's topics."""
        app, begin = self._application(words)
        topic, _, text = words[begin:].strip().partition(" ")
        names = [name.encode() for name in BASE["class_names"]]
        starts = array("H", [sum(map(len, names[:k])) for k in range(len(names))])
        classes = self.device.mqtt_companion.MqttClassNames(
            None, b"".join(names), starts, bytearray(map(len, names))
        )
        mqtt = SimpleNamespace(
            app=app, names=classes, queries=app.queries, label_now=-1, hold=0,
            epoch_of=lambda _: 0, publisher=SimpleNamespace(due=False, announce=None),
        )  # fmt: skip
        hear = self.device.mqtt_subscriber.hear
        heard: bytes = hear(mqtt, topic.encode(), text.encode(), text != "(long)")
        return heard.decode()

    def connack(self, code: str) -> str:
        """Return the message about a broker that refuses the connection with that code."""
        return str(self.device.mqtt_connect.refusal(int(code)))

    def trial(self, reason: str) -> str:
        """Return the output if a configuration that came over the link cannot be used."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self.device.program._cannot(reason, True)
        return output.getvalue()

    def tcp(self, _: str) -> str:
        """Connect and disconnect a PC over the network; no PC connects to a new program."""
        app, _begin = self._application("{}")
        texts: list[str] = []
        inputs = SimpleNamespace(take=lambda *_: 0)
        wifi = SimpleNamespace(joined=lambda: False)
        tcp = self.device.tcp.Tcp(
            self.device.link.Link(app, None),
            inputs,
            lambda: 0,
            wifi,
            1,
            bytearray(32),
            texts.append,
        )
        tcp._client = SimpleNamespace(close=lambda: None)
        tcp._greeting = SimpleNamespace(read=lambda _: 1, session=None)
        tcp._records = SimpleNamespace(begin=lambda _: None)
        tcp._receive(0)
        tcp._lose()
        tcp.trial = 1
        try:
            tcp.take(None, 0)
        except EOFError as reason:
            texts.append(f"stopped: {reason}")
        return "\n".join(texts)

    def _answers(self, app: Any, requests: list[Request]) -> list[str]:
        """Return the answers of an application's link to the requests."""
        sent: list[bytes] = []
        link = self.device.link.Link(app, lambda line, n: sent.append(bytes(line[:n])))
        for sequence, request in enumerate(requests):
            data = pack(Frame(request.kind, 7, sequence, request.payload))
            link.feed(data, len(data))
        frames = Splitter().feed(b"".join(sent))
        return [_words(read_answer(frame)) for frame in frames if isinstance(frame, Frame)]

    def _application(self, words: str) -> tuple[Any, int]:
        """Return the application for the fields at the start of the words, and their end."""
        fields, end = json.JSONDecoder().raw_decode(words)
        data = json.dumps(BASE | fields).encode()
        app = self.device.application.Application(self.device.config.Configuration(data))
        app.begin()
        return app, end


def _words(answer: Any) -> str:
    if isinstance(answer, Failure):
        return f"error {answer.code}: {answer.words}"
    return type(answer).__name__


def test_each_message_has_exactly_these_words(
    micropython_command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    board = _Board(micropython_command)
    for case in golden.cases(MESSAGES):
        assert board(case.text) == case.printed, case.text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        golden.write(MESSAGES, _Board(find_or_fetch().command))
        os.chdir(MESSAGES.parent)
