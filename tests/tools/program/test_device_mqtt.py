"""A board in a home network: the program on a real 32-bit MicroPython, mosquitto on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from device_support import Device, connected
from mqtt_support import (
    CLASSES,
    HIGH,
    LOW,
    PASSWORD,
    USER,
    Listener,
    Mosquitto,
    Relay,
    level,
    needs_broker,
    put_mqtt,
    settings,
    teach,
)
from recorded_board import observe
from tcp_support import unheard

from microshrub_tools.board import discovery_messages
from microshrub_tools.cli.main import main
from microshrub_tools.link.broker import Broker

pytestmark = needs_broker
Start = Callable[..., Device]
SMALL = {"learner": "HoeffdingTree", "parameters": {"features": 2, "classes": 2}}
DEVICE = "homeassistant/device/microshrub_kitchen/config"
QUERIES = {"queries": {"labels": 1, "samples": 2}}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    made = Mosquitto(tmp_path / "broker")
    yield made
    made.stop()


@pytest.fixture
def listener(broker: Mosquitto) -> Listener:
    return Listener(broker.port)


@pytest.fixture
def start(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Start]:
    devices: list[Device] = []

    def start(port: int, fast: int = 1, *, old: bool = False, **fields: Any) -> Device:
        put_mqtt(tmp_path, settings(port, **fields), fast, old=old)
        devices.append(Device(micropython_command, tmp_path, "256k"))
        return devices[-1]

    yield start
    for device in devices:
        device.close()


def events(listener: Listener, begin: int = 0) -> list[dict[str, Any]]:
    """Return the received events, without immediate repeats."""
    came = [m.data for m in listener.heard[begin:] if m.topic.endswith("/event")]
    once = [data for k, data in enumerate(came) if not k or _id(data) != _id(came[k - 1])]
    return [json.loads(data) for data in once]


def _id(data: bytes) -> tuple[str, str]:
    event = json.loads(data)
    return event["event_type"], event["id"]


def test_a_board_is_discovered_and_taught_and_publishes_its_state(
    broker: Mosquitto, listener: Listener, start: Start, tmp_path: Path
) -> None:
    start(broker.port)
    listener.until_at("status", lambda text: text == "online")
    discovered = {topic: json.loads(text) for topic, text in listener.announcements().items()}
    parts = discovered[DEVICE]["cmps"]
    assert parts["state"]["ops"] == [*CLASSES]
    assert parts["label"]["ops"] == ["Not labelled", *CLASSES]
    assert parts["query"] == {"p": "select"}  # there are no queries, so it is removed
    teach(listener, tmp_path)
    for name, value in zip(CLASSES, (LOW, HIGH), strict=True):
        level(tmp_path, value)
        state = listener.until_state(state=name, label=None)
        assert state["accuracy"] > 80
    before = len(listener.heard)
    listener.broker.publish("homeassistant/status", b"online")
    listener.until_at("status")
    came = [m for m in listener.heard[before:] if m.topic.endswith("/config") and m.data]
    assert {m.topic: m.data for m in came} == listener.announcements()


@pytest.mark.parametrize("more", [{}, QUERIES, SMALL])
def test_an_untrained_board_publishes_no_class(
    more: dict[str, Any], broker: Mosquitto, listener: Listener, start: Start, tmp_path: Path
) -> None:
    start(broker.port, fast=60, **more)
    for _ in range(3):  # one state is published each minute
        state = listener.until_state()
        assert (state["state"], state["confidence"], state["accuracy"]) == (None, None, None)
    assert not [event for event in events(listener) if event["event_type"] == "state"]
    teach(listener, tmp_path)
    listener.until_state(state=CLASSES[1])


def test_entities_of_the_former_program_are_removed(
    broker: Mosquitto, listener: Listener, start: Start
) -> None:
    former = settings(broker.port, **QUERIES, anomaly={"period": 1000})
    topics = discovery_messages.messages(former, "Thicket", "0.9", old=True)
    for topic in topics:
        listener.broker.publish(topic, b'{"name":"of the former program"}', retain=True)
    start(broker.port, old=True)
    listener.until_state()
    fresh = Broker("127.0.0.1", broker.port, USER, PASSWORD)
    kept = {message.topic for message in fresh.retained("homeassistant/#")}
    assert kept == set(listener.announcements())
    assert set(topics) - kept == {
        f"homeassistant/{each}/config"
        for each in (
            "binary_sensor/microshrub_kitchen/anomaly",
            "button/microshrub_kitchen/normal",
            "select/microshrub_kitchen/query",
            "event/microshrub_kitchen/event",
        )
    }


def test_the_broker_announces_the_boards_end(
    broker: Mosquitto, listener: Listener, start: Start
) -> None:
    device = start(broker.port)
    listener.until_at("status", lambda text: text == "online")
    device.kill()
    listener.until_at("status", lambda text: text == "offline")
    device.start()
    listener.until_at("status", lambda text: text == "online")


def test_a_lost_board_can_be_removed(
    broker: Mosquitto,
    listener: Listener,
    start: Start,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    device = start(broker.port)
    listener.until_state()
    device.process.kill()
    listener.until_at("status", lambda text: text == "offline")
    secret = tmp_path / "secret"
    secret.write_text(PASSWORD + "\n")
    words = ["--mqtt", f"127.0.0.1:{broker.port}", "--mqtt-user", USER]
    words += ["--mqtt-password-file", str(secret)]
    assert main(["mqtt", "forget", "kitchen", *words]) == 0
    output = capsys.readouterr().out
    assert "kitchen is removed" in output
    assert "sesame" not in output
    assert Listener(broker.port).broker.receive(0.3) is None
    assert main(["mqtt", "forget", "kitchen", *words]) == 1
    secret.write_text("wrong")
    assert main(["mqtt", "forget", "kitchen", *words]) == 2
    assert "user" in capsys.readouterr().err


def test_answers_arrive_or_are_refused_with_a_message(
    broker: Mosquitto, listener: Listener, start: Start
) -> None:
    start(broker.port, fast=20, **QUERIES)

    def answer(text: str | bytes) -> str:
        listener.say("answer/set", text)
        return listener.until_at("message")

    def asked_of(but: str = "") -> str:
        stamp = but
        while stamp in ("", but):
            stamp = listener.until_state()["query"]
        return stamp

    stamp = asked_of()
    long_ago = f"{(int(stamp[:4], 16) - 1) & 65535:04x}{stamp[4:]}"
    assert answer(f"{long_ago} {CLASSES[0]}").startswith("too late")
    assert answer(f"{stamp} nobody") == "no class is called nobody"
    for _ in range(3):  # a state is published each minute
        assert listener.until_state()["query"] == stamp
    assert answer(f"{stamp} {CLASSES[0]}") == f"learned: {CLASSES[0]}"
    assert answer(f"{stamp} {CLASSES[0]}").startswith("too late")
    another = asked_of(stamp)
    assert int(another, 16) == int(stamp, 16) + 1
    assert answer(f"{another} Don't know") == "nothing was learned"
    assert int(asked_of(another), 16) == int(another, 16) + 1
    queries = [event["id"] for event in events(listener) if event["event_type"] == "query"]
    assert queries[:2] == [stamp, another]
    assert answer("walk").endswith("no id")
    assert answer(" walk").endswith("no id")
    assert answer("x" * 500) == "the message is too long"
    assert answer(b"\xff\xfe") == "the message is not text"
    listener.say("label/set", "nobody")
    assert listener.until_at("message") == "no class is called nobody"
    listener.say("normal/set", "PRESS")
    assert listener.until_at("message") == "there is no topic normal/set"
    listener.say("name/set", "run")
    assert "novel class" in listener.until_at("message")


def test_a_novel_class_gets_no_reserved_name(
    broker: Mosquitto, listener: Listener, start: Start, tmp_path: Path
) -> None:
    start(
        broker.port,
        class_names=[CLASSES[0], "", ""],
        spare_classes={"classes": 2, "room": 16},
        parameters={"features": 2, "classes": 3, "bytes": 12000},
    )
    samples = listener.until_state()["samples"]
    wanted = samples + 200
    while samples < wanted:
        listener.say("label/set", CLASSES[0])
        samples = listener.until_state(label=CLASSES[0])["samples"]
    listener.say("label/set", "")
    listener.until_at("message", lambda text: text == "samples are not labelled")
    level(tmp_path, HIGH)
    listener.until_state(new=1)
    for name in (*discovery_messages.RESERVED, "None"):
        listener.say("name/set", name)
        assert listener.until_at("message") == f"no class can be called {name} here"
    listener.say("name/set", "walk")
    assert listener.until_at("message") == "class 1 is called walk"
    parts = json.loads(listener.last[DEVICE])["cmps"]  # announced before the message
    assert parts["state"]["ops"] == [CLASSES[0], "walk"]


def test_the_normal_state_is_set_over_mqtt(
    broker: Mosquitto, listener: Listener, start: Start
) -> None:
    start(broker.port, anomaly={"period": 1000, "window": 16, "normal": 16})
    listener.until_at("status", lambda text: text == "online")
    button = json.loads(listener.last[DEVICE])["cmps"]["normal"]
    assert button["cmd_t"] == "microshrub/kitchen/normal/set"
    listener.say("normal/set", "PRESS")
    assert "next 16 samples" in listener.until_at("message")


def test_events_while_the_broker_is_away_are_published_later(
    broker: Mosquitto, listener: Listener, start: Start, tmp_path: Path
) -> None:
    device = start(broker.port, fast=20)
    teach(listener, tmp_path)
    level(tmp_path, LOW)
    listener.until_state(state=CLASSES[0])
    broker.stop()
    with connected(device) as link:
        for k in range(6):
            level(tmp_path, HIGH if k % 2 == 0 else LOW)
            wanted = 1 - k % 2
            while observe(link, 1)[0].prediction.label != wanted:
                pass
            observe(link, 40)  # it publishes at most one change a second
    with unheard(device):
        broker.start()
        late = Listener(broker.port)
        late.until_at("event", lambda text: json.loads(text)["class"] == CLASSES[0])
        while len(events(late)) < 6:
            late.until_at("event")
        assert [event["class"] for event in events(late)] == [CLASSES[1], CLASSES[0]] * 3
        ago = [event["ago"] for event in events(late)]
        assert ago == sorted(ago, reverse=True)
        assert late.until_state(state=CLASSES[0])["lost"] == 0


def test_states_of_every_minute_leave_no_garbage(
    broker: Mosquitto, listener: Listener, start: Start, tmp_path: Path
) -> None:
    sensor = settings(0)["sensor"] | {"class": "Quiet", "rate": 1}  # slow enough to be counted
    start(broker.port, fast=20, sensor=sensor)
    for _ in range(3):
        listener.until_state()
    free = [listener.until_state()["free"] for _ in range(3)]
    assert free == free[:1] * 3


@pytest.mark.parametrize("step", [43, pytest.param(2, marks=pytest.mark.long)])
def test_a_line_that_is_cut_loses_nothing(
    step: int, broker: Mosquitto, listener: Listener, start: Start, tmp_path: Path
) -> None:
    """Half of the cuts hit the handshake, the others later messages; the states alternate."""
    with Relay(broker.port) as relay:
        fields = settings(relay.port)["mqtt"] | {"events": 512}
        # The connection has a turn at each reading: many readings, and a fast learner
        sensor = settings(0)["sensor"] | {"rate": 1000}
        start(relay.port, fast=40, mqtt=fields, sensor=sensor, **SMALL)
        teach(listener, tmp_path)
        whole = listener.announcements()
        level(tmp_path, "both")
        for n in range(1, 130, step):
            relay.cuts.extend([(n, None), (130 + 7 * n, None), (None, n % 4 + 1), (None, n)])
        broker.stop()  # ends the current connection
        broker.start()
        heard = Listener(broker.port)
        while relay.cuts:
            heard.until_at("status")
        while sum(event["event_type"] == "state" for event in events(heard)) < 5:
            heard.until_at("event")  # a busy computer makes all cuts before the state changes
        level(tmp_path, LOW)
        if heard.last["microshrub/kitchen/status"] != b"online":
            heard.until_at("status", lambda text: text == "online")
        heard.until_state(lost=0)
        assert heard.announcements() == whole
        classes = [event["class"] for event in events(heard) if event["event_type"] == "state"]
        assert len(classes) > 4
        assert classes == [classes[k % 2] for k in range(len(classes))]
        assert classes[0] != classes[1]
