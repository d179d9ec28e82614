"""`share --mqtt`: models of a group exchange packets through a real mosquitto."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mqtt_support import PASSWORD, USER, Mosquitto, needs_broker
from packet_support import Board, known, saved_model
from property_support import examples
from share_attack import forged

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader
from microshrub_host.models import shared_samples
from microshrub_research.benchmarks.local_broker import LocalBroker
from microshrub_tools.board.mqtt_packet_store import (
    MOST_BOARDS,
    MOST_SAMPLES,
    TOPIC,
    MqttPacketStore,
)
from microshrub_tools.cli.main import main
from microshrub_tools.link.broker import Broker

pytestmark = needs_broker
GROUP = "things"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with LocalBroker(tmp_path_factory.mktemp("broker"), 16) as broker:
        yield broker.port


@pytest.fixture
def line(port: int) -> Iterator[Broker]:
    with Broker("127.0.0.1", port) as broker:
        yield broker
        for message in list(broker.retained("#")):
            broker.publish(message.topic, b"", retain=True)


@pytest.fixture
def store(line: Broker) -> MqttPacketStore:
    return MqttPacketStore(line, GROUP)


@pytest.fixture
def words(port: int, line: Broker) -> list[str]:
    return ["--mqtt", f"127.0.0.1:{port}", "--group", GROUP]


@pytest.fixture(scope="module")
def boards() -> dict[str, Board]:
    library = loader.load(loader.fastest())
    return {name: Board(library, (30, 30, 30), seed=k) for k, name in enumerate("abcdefghijk")}


def topics(line: Broker) -> set[str]:
    return {message.topic for message in line.retained(f"{TOPIC}/#")}


@pytest.fixture
def models(tmp_path: Path) -> tuple[str, str, str]:
    """A model of all classes, a model without the last class, and a path for a third one."""
    kitchen = saved_model(tmp_path / "kitchen.mshrub", (0, 1, 2), 1)
    attic = saved_model(tmp_path / "attic.mshrub", (0, 1), 2)
    return str(kitchen), str(attic), str(tmp_path / "more.mshrub")


def test_a_model_learns_published_packets_and_forgets_them(
    models: tuple[str, str, str],
    words: list[str],
    line: Broker,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kitchen, attic, more = models
    assert main(["share", "import", attic, *words, "-o", more]) == 1
    assert "has no packets of others" in capsys.readouterr().out
    assert main(["share", "export", kitchen, "--classes", "run,walk", *words]) == 0
    assert "the group things at" in capsys.readouterr().out
    assert main(["share", "export", attic, "--classes", "all", *words]) == 0
    assert "rest, walk of attic" in capsys.readouterr().out
    assert topics(line) == {
        f"{TOPIC}/{GROUP}/{each}"
        for each in ("run/kitchen", "walk/kitchen", "rest/attic", "walk/attic")
    }
    assert main(["share", "import", attic, *words, "-o", more]) == 0
    out = capsys.readouterr().out
    assert out.count("from kitchen") == 1
    assert "from attic" not in out
    assert "well known" in out
    assert known(more) == ("rest", "walk", "run")
    less = str(tmp_path / "less.mshrub")
    assert main(["share", "forget", more, *words, "--origin", "kitchen", "-o", less]) == 0
    assert "without 20 samples" in capsys.readouterr().err
    assert known(less) == ("rest", "walk")
    assert main(["share", "forget", *words, "--origin", "kitchen"]) == 0
    assert "removed from the group things" in capsys.readouterr().out
    assert topics(line) == {f"{TOPIC}/{GROUP}/{each}" for each in ("rest/attic", "walk/attic")}
    assert main(["share", "forget", *words, "--origin", "kitchen"]) == 1
    assert "has no packets of kitchen" in capsys.readouterr().out
    assert main(["share", "forget", attic, *words, "--origin", "kitchen", "-o", less]) == 2
    assert "nothing of kitchen" in capsys.readouterr().err


def test_a_given_name_has_to_be_valid_in_a_topic(
    models: tuple[str, str, str],
    words: list[str],
    line: Broker,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kitchen, _, more = models
    named = Path(kitchen).rename(tmp_path / "the kitchen.mshrub")
    export = ["share", "export", str(named), "--classes", "run", *words]
    assert main(export) == 2
    assert "--name has to be" in capsys.readouterr().err
    assert main([*export, "--name", "kitchen"]) == 0
    assert main(["share", "import", str(named), *words, "--name", "kitchen", "-o", more]) == 1


def test_a_class_with_any_name_has_one_topic(line: Broker, boards: dict[str, Board]) -> None:
    library = loader.load("python")
    names = ('a/b "+#"', "größer als 90 %", "$SYS")
    sharing = library.Sharing(
        boards["a"].model, boards["a"].quantizer, "xyz", ((0, 2),) * 3, names
    )
    store = MqttPacketStore(line, GROUP)
    assert store.publish([sharing.collect("a", (name,)) for name in names]) == []
    assert all(topic.count("/") == 3 for topic in topics(line))
    fetched = store.fetch("b")
    assert {each.class_names[0] for each in fetched.packets.values()} == set(names)
    assert not fetched.refused
    assert sorted(store.withdraw("a")) == sorted(names)


def test_a_group_keeps_packets_of_a_few_boards_per_class(
    store: MqttPacketStore, boards: dict[str, Board]
) -> None:
    for name in "abcdefghijk"[: MOST_BOARDS + 1]:
        packets = [boards[name].packet("run", origin=name)._data]
        assert store.publish(packets) == (["run"] if name == "i" else [])
        assert store.publish(packets) == (["run"] if name == "i" else [])  # replaces the first
    assert store.publish([boards["i"].packet("walk", origin="i")._data]) == []
    assert len(store.fetch("i").packets) == MOST_BOARDS
    assert len(store.fetch("a").packets) == MOST_BOARDS - 1 + 1  # the others' run, and walk


def test_too_many_boards_are_reported(
    line: Broker, store: MqttPacketStore, boards: dict[str, Board]
) -> None:
    for name in "abcdefghij":
        data = boards[name].packet("run", origin=name)._data
        line.publish(store.topic("run", name), data, retain=True)
    fetched = store.fetch("c")
    assert [topic[-1] for topic in fetched.packets] == list("abdefghi")
    assert fetched.left == ("run",)


def test_one_packet_of_a_class_is_learned(
    store: MqttPacketStore, boards: dict[str, Board]
) -> None:
    for name in "abc":
        store.publish([boards[name].packet("run", origin=name)._data])
    peer = Board(loader.load("python"), (40, 40, 0))
    sharer = shared_samples.Sharer("d", peer.sharing, "xyz", ((0, 2),) * 3, ())
    outcomes, refused = sharer.take_lacking(store.fetch("d").packets)
    assert [each.classes[0].what for each in outcomes] == ["learned"] + ["learned of others"] * 2
    assert not refused
    assert peer.learn_all() == 20


@pytest.mark.parametrize("most", [MOST_SAMPLES + 1, 4000])
def test_a_packet_that_is_too_long_is_not_published(
    most: int, store: MqttPacketStore, line: Broker
) -> None:
    library = loader.load("python")
    samples = [(bytes(9), 0, 0)] * most
    features = [(str(f), (0, 0), (0, 9)) for f in range(9)]
    data = library.sample_packet.packed("a", features, True, ("run",), samples)
    assert library.SamplePacket(data).samples == most
    with pytest.raises(UserError, match=f"bytes|{MOST_SAMPLES} is the most"):
        store.publish([data])
    line.publish(store.topic("run", "a"), data, retain=True)
    fetched = store.fetch("b")
    assert not fetched.packets
    assert len(fetched.refused) == 1


@settings(max_examples=examples(10), deadline=None)
@given(st.integers(0, 2**32))
def test_each_forged_message_is_refused_in_a_line_and_the_others_are_taken(
    port: int, boards: dict[str, Board], seed: int
) -> None:
    dice = random.Random(seed)
    group = f"group-{seed}"
    with Broker("127.0.0.1", port) as line:
        store = MqttPacketStore(line, group)
        right = dice.sample("abcde", 2)
        store.publish([boards[name].packet("run", origin=name)._data for name in right])
        whole = boards["f"].packet("run", origin="f")._data
        wrong = dice.sample("ghijklm", 4)
        for name in wrong:
            line.publish(store.topic("run", name), forged(dice, whole), retain=True)
        fetched = store.fetch("f")
        assert sorted(fetched.packets) == [store.topic("run", name) for name in sorted(right)]
        assert len(fetched.refused) == len(wrong)
        assert all(reason.isprintable() and len(reason) < 400 for reason in fetched.refused)
        for name in (*wrong, *right):
            line.publish(store.topic("run", name), b"", retain=True)


def test_packets_of_other_features_are_refused_in_a_line_and_the_others_are_taken(
    models: tuple[str, str, str],
    words: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kitchen, attic, more = models
    other = str(saved_model(tmp_path / "hall.mshrub", (0, 1, 2), 1, ("x", "y", "volume")))
    for path in (kitchen, other):
        assert main(["share", "export", path, "--classes", "run", *words]) == 0
    assert main(["share", "import", attic, *words, "-o", more]) == 0
    captured = capsys.readouterr()
    assert "from kitchen" in captured.out
    assert "from hall" not in captured.out
    assert "/run/hall: " in captured.err
    assert "features x, y, volume" in captured.err
    assert known(more) == ("rest", "walk", "run")


def test_a_broker_without_write_permission_is_reported(
    models: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules"
    rules.write_text(f"user {USER}\ntopic microshrub/#\ntopic read {TOPIC}/#\n")
    rules.chmod(0o600)
    broker = Mosquitto(tmp_path / "strict", f"acl_file {rules}")
    secret = tmp_path / "secret"
    secret.write_text(PASSWORD)
    words = ["--mqtt", f"127.0.0.1:{broker.port}", "--mqtt-user", USER, "--group", GROUP]
    words += ["--mqtt-password-file", str(secret), "--classes", "run"]
    try:
        assert main(["share", "export", models[0], *words]) == 2
    finally:
        broker.stop()
    err = capsys.readouterr().err
    assert "does not keep" in err
    assert "sesame" not in err
    assert main(["share", "export", models[0], *words]) == 2
    assert "there is no broker" in capsys.readouterr().err


def test_contradictory_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    here = ["--mqtt", "127.0.0.1:1", "--group", GROUP]
    for words, message in (
        (["export", "a", *here, "--classes", "all", "-o", "c"], "either --output or --mqtt"),
        (["export", "a", *here[:2]], "--mqtt needs --group"),
        (["export", "a", *here[:2], "--group", "a/b"], "--group has to be"),
        (["export", "a", *here[2:], "-o", "c"], "--group needs --mqtt"),
        (["import", "a", "b", *here], "either PACKET or --mqtt"),
        (["import", "b", "--port", "c", *here], "either PACKET or --mqtt"),
        (["import", *here], "give MODEL, or --port of a board"),
        (["forget", *here], "--mqtt needs --origin"),
        (["forget", *here, "--origin", "#"], "--origin has to be"),
        (["forget", "a", "b", "--origin", "c", "-o", "d"], "either PACKET or --origin NAME"),
    ):
        assert main(["share", *words]) == 2
        assert message in capsys.readouterr().err
