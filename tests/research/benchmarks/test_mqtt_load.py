"""Twenty boards and a real mosquitto: the counts, and that no message is lost."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from mqtt_support import needs_broker
from packet_support import Board, known, saved_model
from tests_support import ROOT

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader
from microshrub_research.benchmarks import local_broker, mqtt_load
from microshrub_research.benchmarks.local_broker import LocalBroker
from microshrub_research.benchmarks.mqtt_load import DAY, Fleet, MqttLoad, discovery, measure
from microshrub_tools.cli.main import main

BOARDS, MINUTES, CLASSES = 20, 6, ("rest", "walk")
PACKETS = {
    name: Board(loader.load("python"), (30, 30, 30)).sharing.collect("room", (name,))
    for name in ("rest", "walk")
}
PAGE = ROOT / "docs/explanation/ten-thousand-boards.md"


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> MqttLoad:
    fleet = Fleet(BOARDS, CLASSES, DAY // 120)  # the class of each board changes every two minutes
    return measure(fleet, MINUTES, 60, PACKETS, tmp_path_factory.mktemp("house"), lambda _: None)


@needs_broker
def test_every_message_of_every_board_arrives(load: MqttLoad) -> None:
    for carried in (load.carried, load.flood):
        assert carried.published > 0
        assert carried.lost == 0
    assert load.carried.published == load.lived.states + load.lived.events
    assert len(load.carried.delays) == load.lived.states  # each state has a receipt
    assert min(load.carried.delays) >= 0


@needs_broker
def test_boards_send_a_state_each_minute_and_at_each_change(load: MqttLoad) -> None:
    """Each change sends an event and a state, after which the minute starts again."""
    changes = BOARDS * MINUTES // 2
    assert load.lived.events == pytest.approx(changes, abs=BOARDS)
    assert load.lived.states >= BOARDS * (MINUTES - 1)
    assert load.lived.states <= BOARDS * (MINUTES + 1) + changes
    assert load.lived.begins == 0  # no connection was lost
    rows = dict(mqtt_load.day_rows(load))
    assert rows["states"] == f"{load.lived.states * DAY / 60 / MINUTES / BOARDS:,.0f}"


@needs_broker
def test_boards_start_with_the_messages_that_build_makes(load: MqttLoad) -> None:
    assert load.begun.begins == BOARDS
    count = 0
    for name in load.fleet.names:
        data = discovery(name, CLASSES)
        while data:  # each piece follows its two bytes of length
            size = int.from_bytes(data[:2], "big") & 0x3FFF
            count += size
            data = data[2 + size :]
        hello = 2 + 10 + sum(2 + len(t) for t in (f"microshrub-{name}", "offline"))
        count += hello + 2 + len(f"microshrub/{name}/status")
    assert load.begun.begun >= count
    # apart from these, only the first events and pings, and no message twice
    assert load.begun.begun - count < BOARDS * 300


@needs_broker
def test_the_broker_retains_one_packet_of_each_class(load: MqttLoad) -> None:
    assert load.kept == sum(map(len, PACKETS.values()))


@needs_broker
def test_the_command_prints_the_results_and_writes_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.md"
    words = ["--boards", "3", "--minutes", "2", "--speed", "60", "--markdown", str(path)]
    assert main(["benchmark", "mqtt-load", *words]) == 0
    output = capsys.readouterr().out
    for row in ("bytes that it sends", "99th", "in the end, MB"):
        assert row in output
    text = path.read_text()
    assert "a real mosquitto on loopback and 3 boards" in text
    assert shapes(text) == shapes(PAGE.read_text())


def shapes(page: str) -> list[str]:
    """Return the parts of a page that do not depend on figures: headings and commands."""
    lines = page.splitlines()
    kept = [line for line in lines if line.startswith(("#", "microshrub "))]
    return [re.sub(r"[\d,]+", "N", line) for line in kept]


def test_without_mosquitto_an_error_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local_broker, "PLACES", ())
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["benchmark", "mqtt-load"]) == 2
    assert "mosquitto is not installed" in capsys.readouterr().err


def test_impossible_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--boards", "0"], ["--speed", "0"], ["--changes", "9000"]):
        assert main(["benchmark", "mqtt-load", *words]) == 2
        assert words[0] in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of files on this system")
def test_too_many_boards_for_a_process_are_refused() -> None:
    with pytest.raises(UserError, match="may open"):
        local_broker.allow_files(1 << 62)


@needs_broker
def test_the_pages_commands_move_a_packet_from_model_to_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that knows both classes teaches one that knows only the first."""
    text = PAGE.read_text()
    commands = re.findall("^microshrub share .*", text, re.MULTILINE)
    assert [command.split()[2] for command in commands] == ["export", "import", "forget"]
    giver, name = re.findall(r"export (\w+)\.mshrub --classes (\w+)", text)[0]
    saved_model(tmp_path / f"{giver}.mshrub", (0, 1, 2), 1)
    saved_model(tmp_path / "attic.mshrub", (0, 2), 2)
    (tmp_path / "broker").mkdir()
    with LocalBroker(tmp_path / "broker", 4) as broker:
        for command in commands:
            line = command.replace(f"--classes {name}", "--classes walk")
            words = shlex.split(line.replace("HOST", f"127.0.0.1:{broker.port}"))[1:]
            monkeypatch.chdir(tmp_path)
            assert main(words) == 0
    assert known(tmp_path / "attic2.mshrub") == ("rest", "walk", "run")
