"""`build --share`: the files on a board, the counted RAM, and the refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packet_support import saved_model

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.program import DATAGRAMS
from microshrub_host.boards.program_heap import judging_bytes
from microshrub_host.boards.usual_budget import usual_budget
from microshrub_tools import MqttSettings, ShareSettings, build
from microshrub_tools.board.program_share import of_words
from microshrub_tools.cli.main import main

RADIO = ["--name", "kitchen", "--share", "rooms"]
BROKER = ["--mqtt", "192.168.1.5", "--name", "kitchen"]

# Heap use while a packet is evaluated, and the cost of making one, with this many features
PEAK = """
import gc
from array import array
import microshrub
from microshrub.sample_packet import SamplePacket
from microshrub.thicket.sharing import Sharing

def board(features, classes, seed):
    model = microshrub.Thicket(features, 4, bytes=40000)
    quantizer = microshrub.GrowingQuantizer(features, (model,))
    x, raw = array("H", bytes(2 * features)), array("i", bytes(4 * features))
    for k in range(600):
        c = classes[k % len(classes)]
        for f in range(features):
            seed = (seed * 1103515245 + 12345) & 0x3fffffff
            raw[f] = (seed >> 12) % 400 + 1000 * ((c * 7 + f) % 5)
        quantizer.encode(raw, x)
        model.learn(x, c)
    names = tuple(["feature%d" % f for f in range(features)])
    return Sharing(model, quantizer, names, ((0, 0),) * features, ("a", "b", "c", "d"))

def peak(features):
    one, two = board(features, (0, 1, 2, 3), 5), board(features, (1, 2, 3), 9)
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    data = one.collect("kitchen", ("a",))
    most = gc.mem_alloc() - before
    gc.collect()
    before = gc.mem_alloc()
    packet = SamplePacket(data)
    for _ in two.judging(packet):
        gc.collect()
        most = max(most, gc.mem_alloc() - before)
    gc.enable()
    return most

print(peak(3), peak(12), peak(36))
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(saved_model(tmp_path / "kitchen.mshrub", (0, 1), 1))


def made(model: str, folder: Path, **options: Any) -> tuple[Any, dict[str, Any]]:
    built = build(
        model, "rpi_pico2_w", output=folder, mqtt=MqttSettings("broker", "kitchen"), **options
    )
    return built, json.loads((folder / "config.json").read_text())


def test_nothing_leaves_a_board_unless_a_class_is_named(model: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["build", "--model", model, "--board", "rpi_pico2_w", *BROKER, "--output", str(out)]
    for share, classes in (
        (["rooms"], []),
        (["rooms", "classes=run,rest"], [2, 0]),
        (["rooms", "classes=all"], [0, 1, 2]),
    ):
        assert main([*words, "--share", *share]) == 0
        sharing = json.loads((out / "config.json").read_text())["share"]
        assert sharing == {"group": "rooms", "name": "kitchen", "classes": classes}


def test_invalid_options_are_refused_with_a_message(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["build", "--model", model, "--board", "rpi_pico2_w", "--output", str(tmp_path / "o")]
    for more, message in (
        (["--share", "rooms"], "--share needs --mqtt HOST"),
        ([*BROKER, "--share", "my rooms"], "--share has to be 1 to 32 letters"),
        ([*BROKER, "--share", "rooms", "classes=runn"], "Did you mean run?"),
        ([*BROKER, "--share", "rooms", "every=3"], "--share has no every"),
        (["--share", "rooms", "by=udp"], "by=udp needs --name NAME"),
        ([*RADIO, "by=radio"], "by=radio"),
        ([*RADIO, "by=espnow"], "ESP-NOW needs an ESP32 with Wi-Fi"),
        ([*RADIO, "by=udp", "channel=3"], "channel= is for by=espnow"),
        ([*RADIO, "by=udp", "port=x"], "port= has to be a whole number"),
        ([*RADIO, "by=udp", "port=70000"], "a port of 1 to 65535"),
        ([*BROKER, "--share", "rooms", "port=9000"], "port= is for by=udp"),
        (["--name", "kitchen"], "--name needs --mqtt HOST"),
        ([*BROKER, "--share", "rooms", "--checkpoint-seconds", "0"], "--share needs checkpoints"),
    ):
        assert main([*words, *more]) == 2
        assert message in capsys.readouterr().err
    other = ["build", "synth:sea_a", "--limit", "300", "--board", "rpi_pico2_w", *BROKER]
    assert main([*other, "--model", "hoeffding", "--share", "rooms", "--output", "o"]) == 2
    assert "only a thicket keeps samples" in capsys.readouterr().err
    with pytest.raises(UserError, match="names in a list"):
        ShareSettings("rooms", "walk")


def test_datagrams_need_a_group_key_and_no_broker(model: str, tmp_path: Path) -> None:
    secrets = {}
    for board, name, by, datagrams in (
        ("rpi_pico2_w", "hall", ["by=udp"], DATAGRAMS["udp"]),
        ("rpi_pico2_w", "attic", ["by=udp", "port=9000"],
         {"by": "udp", "port": 9000, "to": ["255.255.255.255", 9000]}),
        ("esp32s3_n8r8", "kitchen", ["by=espnow", "channel=6"], {"by": "espnow", "channel": 6}),
    ):  # fmt: skip
        out = tmp_path / name
        words = ["build", "--model", model, "--board", board, "--name", name]
        share = ["--share", "rooms", "classes=all", *by]
        assert main([*words, *share, "--output", str(out)]) == 0
        config = json.loads((out / "config.json").read_text())
        assert config["datagrams"] == datagrams
        assert config["share"] == {"group": "rooms", "name": name, "classes": [0, 1, 2]}
        assert "mqtt" not in config
        secrets[name] = json.loads((out / "secrets.json").read_text())["group"]
        files = {path.name for path in out.rglob("*.mpy")}
        assert not {each for each in files if "topics" in each}
    assert len(set(secrets.values())) == 1, "they have one key, which the first build has made"
    assert (tmp_path / "rooms-group.key").read_text().strip() not in secrets.values()


def test_sharing_takes_counted_ram_only_where_it_is_wanted(model: str, tmp_path: Path) -> None:
    plain, _ = made(model, tmp_path / "plain")
    shared, _ = made(model, tmp_path / "shared", share=ShareSettings("rooms", ("rest",)))
    parts = {part.name: part.bytes for part in shared.budget.of_program}
    assert "packets" not in {part.name for part in plain.budget.of_program}
    assert judging_bytes(3) < parts["packets"] < judging_bytes(3) + 2500
    files = [
        {path.name for path in (tmp_path / name).rglob("*.mpy")} for name in ("plain", "shared")
    ]
    assert not {name for name in files[0] if "packet" in name}
    assert shared.code_bytes > plain.code_bytes


def test_evaluating_a_packet_takes_no_more_heap_than_counted(
    run_micropython: Callable[[str], str],
) -> None:
    for features, most in zip((3, 12, 36), run_micropython(PEAK).split(), strict=True):
        assert int(most) <= judging_bytes(features)


@pytest.mark.parametrize(
    ("board", "network"),
    [
        ("rpi_pico2_w", ["mqtt", "share"]),
        ("rpi_pico2_w", ["share", "udp"]),
        ("esp32s3", ["share", "espnow"]),
    ],
)
def test_no_part_of_a_program_that_shares_is_counted_twice(board: str, network: list[str]) -> None:
    shape = {"features": 3, "classes": 3, "bytes": 16384}

    def parts(*asked: str) -> dict[str, int]:
        budget = usual_budget(Deployment(shape, board_files.load(board), "Thicket", network=asked))
        return {part.name: part.bytes for part in budget.of_program}

    plain, sharing = parts(), parts(*network)
    for name, size in plain.items():
        assert size - 64 <= sharing[name] <= size + 512  # less a text that both have


@pytest.mark.parametrize(
    ("given", "classes"),
    [
        ("classes=walk,,run", ("walk", "run")),
        ('classes="walk, slowly",rest', ("walk, slowly", "rest")),
        ("classes=007,1", ("007", "1")),
        ("classes=01", ("01",)),
        ("classes=all", "all"),
    ],
)
def test_names_of_classes_are_read_literally(
    given: str, classes: tuple[str, ...], tmp_path: Path
) -> None:
    settings = of_words({"share": ["rooms", given], "mqtt": "broker"}, tmp_path)
    assert settings
    assert settings.classes == classes


def test_without_room_for_a_default_a_size_is_suggested_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["build", "synth:sea_a", "--limit", "300", "--board", "rpi_pico_w", *BROKER]
    words += ["--emit", "viper"]
    assert main([*words, "--spare-classes", "4", "--output", str(tmp_path / "out")]) == 2
    err = capsys.readouterr().err
    assert re.search("No default size .*--bytes", err)
