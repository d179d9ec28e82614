"""A board behind a broker sends queries at the pace of the answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from device_support import configuration
from taught_board import TaughtBoard

HOUR = 3600.0
PAUSE = 5.0  # seconds between two queries
CONFIG: dict[str, Any] = {
    "sensor": {
        "kind": "own", "module": "taught_sensor", "class": "Sensor", "values": 3, "rate": 1,
        "options": {},
    },
    "queries": {"labels": 1, "samples": 2},
    "warmup": 5,
    "pending": 2,
    "mqtt": {"host": "127.0.0.1", "port": 1, "name": "kitchen", "settle": [3, 230], "events": 8},
}  # fmt: skip


class QueryBoard(TaughtBoard):
    def answer(self, text: str) -> str:
        """Return the board's message about an answer from the broker."""
        topic = b"microshrub/kitchen/answer/set"
        body = len(topic).to_bytes(2, "big") + topic + text.encode()
        mqtt = self.service.mqtt
        mqtt.take(bytearray(body), len(topic) + 2, len(body), len(body), False)
        return bytes(mqtt.publisher.text).decode()

    @property
    def asked(self) -> int:
        return int(self.service.mqtt.asked())

    @property
    def stamp(self) -> str:
        """The query's stamp, with which an answer has to begin."""
        return f"{self.service.mqtt.epoch_of(self.asked):04x}{self.asked:04x}"

    def pass_by(self, seconds: float) -> None:
        """Let time pass; only its last second is simulated."""
        self.now += int(1e6 * (seconds - 1))
        self.until(self.seconds + 1)

    def until_asked(self) -> str:
        """Run the board until its next query; return the stamp."""
        while not self.asked:
            self.until(self.seconds + 1)
        return self.stamp


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> QueryBoard:
    shape = {"features": 3, "classes": 2, "window": 8, "trees": 2, "depth": 2}
    (tmp_path / "secrets.json").write_text(
        json.dumps({"wifi": ["a", "b"]})
    )  # a network that is out of reach
    return QueryBoard(configuration("ShrubEnsemble", shape, **CONFIG), tmp_path, monkeypatch)


def test_one_query_waits_at_a_time_and_costs_one_label_of_the_budget(board: QueryBoard) -> None:
    first = board.until_asked()
    strategy = board.app.queries.strategy
    saved = strategy.saved
    board.until(board.seconds + 60)
    board.pass_by(HOUR / 2)
    assert board.stamp == first
    assert strategy.queries == 1
    assert strategy.saved > saved  # samples still earn queries


def test_the_next_query_comes_a_pause_after_an_answer(board: QueryBoard) -> None:
    for text in ("class 1", "Don't know"):
        stamp = board.until_asked()
        assert board.answer(f"{stamp} {text}") in ("learned: class 1", "nothing was learned")
        begin = board.seconds
        board.until(begin + PAUSE - 0.1)
        assert not board.asked
        board.until_asked()
        assert board.seconds < begin + PAUSE + 60
    assert board.app.queries.strategy.queries == 3


def test_an_unanswered_query_expires_after_an_hour(board: QueryBoard) -> None:
    first = board.until_asked()
    begin = board.seconds
    board.pass_by(HOUR - 2)
    assert board.stamp == first
    board.until(begin + HOUR + PAUSE - 1)
    assert not board.asked
    second = board.until_asked()
    assert int(second, 16) == int(first, 16) + 1
    assert board.answer(f"{first} class 1") == "learned: class 1"  # labels the earlier sample
    assert board.stamp == second  # still pending
    for _ in range(2):  # more than are kept
        board.pass_by(HOUR)
        board.pass_by(PAUSE + 1)
        board.until_asked()
    assert board.answer(f"{second} class 1").startswith("too late")
