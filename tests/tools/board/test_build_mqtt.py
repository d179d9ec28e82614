"""The files that `build --mqtt` puts on a board, and its refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from certificate_support import certificate, needs_openssl
from program_support import program

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.boards.program_budget import budget_of
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_tools.board import build, discovery_messages, program_mqtt
from microshrub_tools.board.program_mqtt import MqttSettings
from microshrub_tools.board.program_network import NetworkSettings, WifiSettings
from microshrub_tools.cli.main import main

SECRET = "sesame, öffne dich"


def made(folder: Path, network: NetworkSettings, **fields: Any) -> build.Build:
    board = board_files.load("rpi_pico2_w")
    wanted = program(**fields, **network.config(board, ("no", "yes"), sleeps=False))
    return build.make(network.furnish(wanted), board, folder / "out")


def test_passwords_are_in_a_separate_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    mqtt = MqttSettings("192.168.1.5", "kitchen", 1883, "board", SECRET)
    network = NetworkSettings(mqtt, None, WifiSettings("Home", SECRET + "!"))
    folder = made(tmp_path, network).folder
    with_it = {
        path.name
        for path in folder.rglob("*")
        if path.is_file() and b"sesame" in path.read_bytes()
    }
    assert with_it == {"secrets.json"}
    assert (folder / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((folder / "secrets.json").read_text()) == {
        "mqtt": ["board", SECRET],
        "wifi": ["Home", SECRET + "!"],
    }
    assert "sesame" not in repr(network)
    assert "sesame" not in repr(network.furnish(program(mqtt=mqtt.config("ab"))))


def test_mqtt_takes_at_most_the_documented_memory(tmp_path: Path) -> None:
    """MQTT takes 8 KB in a firmware, or 15 KB with its code in RAM, and perhaps 4.6 KB for names.

    The 4.6 KB are a pool of names: MQTT's names may be the first that do not fit the program's
    pools.
    """
    board = board_files.load("rpi_pico2_w")
    mqtt = MqttSettings("192.168.1.5", "kitchen")
    fields = {"mqtt": mqtt.config(("no", "yes"))}
    for freeze, most in ((False, 20.3), (True, 8)):
        less = budget_of(ProgramLibrary(program(), board, freeze=freeze))
        more = budget_of(ProgramLibrary(program(**fields), board, freeze=freeze))
        broker_bytes = sum(part.bytes for part in more.overhead if part.name == "broker")
        assert 1024 < broker_bytes < 3 * 1024
        assert more.ram_bytes - less.ram_bytes <= most * 1024


def test_a_program_without_a_broker_has_no_mqtt_code(tmp_path: Path) -> None:
    fields = {"mqtt": MqttSettings("192.168.1.5", "kitchen").config(("no", "yes"))}
    board = board_files.load("rpi_pico2_w")
    connected, plain = (
        build.make(program(**each), board, tmp_path / "out").files for each in (fields, {})
    )
    assert any("mqtt" in name for name in connected)
    assert not any("mqtt" in name for name in plain)
    assert not {"secrets.json", "discovery.bin"} & set(plain)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "my kitchen"}, "letters, digits"),
        ({"name": "k" * 33}, "letters, digits"),
        ({"host": ""}, "HOST:PORT"),
        ({"port": 0}, "HOST:PORT"),
        ({"password": "x"}, "needs --mqtt-user"),
        ({"user": "u" * 97}, "96 bytes"),
        ({"user": "a\nb"}, "control characters"),
        ({"in_a_row": 0}, "--settle"),
        ({"sure": float("nan")}, "--settle"),
        ({"events": 0}, "--events"),
    ],
)
def test_invalid_settings_are_refused_with_a_message(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        MqttSettings(**{"host": "broker", "name": "kitchen"} | given)


@pytest.mark.parametrize("name", [*discovery_messages.RESERVED, "None", "Don't know", "a\tb"])
def test_a_class_cannot_have_a_reserved_name(name: str) -> None:
    with pytest.raises(UserError, match="no class can be called"):
        MqttSettings("broker", "kitchen").config(("walk", name))


def test_options_without_a_broker_and_passwords_without_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["build", "synth:sea_a", "--limit", "300", "--board", "rpi_pico2_w", "--output", "o"]
    for words, message in (
        (["--mqtt-user", "u"], "--mqtt-user needs --mqtt HOST"),
        (["--mqtt", "broker"], "--mqtt needs --name"),
        (["--mqtt", "broker:x", "--name", "k"], "HOST or HOST:PORT"),
        (
            ["--mqtt", "b", "--name", "k", "--mqtt-user", "u"],
            "the broker's password is missing, and there is no terminal to ask for it: put it "
            "into a file, and name that with --mqtt-password-file\n",
        ),
        (["--mqtt", "b", "--name", "k", "--wifi", "w"], "name that with --wifi-password-file\n"),
        (["--mqtt", "mqtt://broker", "--name", "k"], "HOST or HOST:PORT"),
        (["--mqtt", "broker/", "--name", "k"], "HOST or HOST:PORT"),
        (["--mqtt", "broker:70000", "--name", "k"], "HOST or HOST:PORT"),
        (["--mqtt", "b", "--name", "k", "--settle", "often"], "--settle has to be like"),
        (["--mqtt", "b", "--name", "k", "--settle", "3", "4"], "--settle has to be like"),
        (
            ["--mqtt", "b", "--name", "k", "--wifi", "w", "--wifi-password-file", "missing"],
            "--wifi-password-file missing: it cannot be read: No such file",
        ),
    ):
        assert main([*base, *words]) == 2
        assert message in capsys.readouterr().err


def test_a_missing_network_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["build", "synth:sea_a", "--limit", "300", "--board", "rpi_pico2_w"]
    words += ["--output", str(tmp_path / "o"), "--bytes", "8192"]
    secret = tmp_path / "wifi.txt"
    secret.write_text(SECRET)
    wifi = ["--wifi", "Home", "--wifi-password-file", str(secret)]
    mqtt = ["--mqtt", "broker", "--name", "k"]
    for more, is_noted in (
        ([], False),
        (mqtt, True),
        (["--tcp"], True),
        ([*mqtt, *wifi], False),
    ):
        assert main([*words, *more]) == 0
        assert ("without --wifi" in capsys.readouterr().err) == is_noted


@pytest.mark.parametrize(
    ("text", "tls", "expected"),
    [
        ("broker", False, ("broker", 1883)),
        ("broker", True, ("broker", 8883)),
        ("10.0.0.1:99", True, ("10.0.0.1", 99)),
        ("[fe80::1]", False, ("fe80::1", 1883)),
        ("[::1]:99", False, ("::1", 99)),
    ],
)
def test_host_and_port(text: str, tls: bool, expected: tuple[str, int]) -> None:
    assert program_mqtt.host_and_port(text, tls=tls) == expected


@needs_openssl
def test_a_certificate_is_found_in_any_surrounding_text(tmp_path: Path) -> None:
    der = certificate(tmp_path, "me")
    pem = (tmp_path / "me.pem").read_bytes()
    path = tmp_path / "ca"
    mqtt = MqttSettings("broker", "kitchen", ca=path)
    wanted = program(mqtt=mqtt.config(("no", "yes")))
    for data in (pem, der, b"Certificate:\n    Data: of openssl\n" + pem + b"\n# the end\n"):
        path.write_bytes(data)
        assert mqtt.files(wanted)["broker.der"] == der
    cut = pem[:300] + pem[-30:]
    for data, words in ((pem + pem, "has 2 certificates"), (cut, "no certificate"),
                        (SECRET.encode(), "no certificate"), (b"", "no certificate")):  # fmt: skip
        path.write_bytes(data)
        with pytest.raises(UserError, match=words):
            mqtt.files(wanted)


@pytest.mark.parametrize(
    ("text", "old"), [(None, False), ("2024.12.1", False), ("2024.3", True), ("2024.11.3", True)]
)
def test_an_old_home_assistant_gets_a_message_for_each_entity(text: Any, old: bool) -> None:
    given = {"mqtt": "broker", "name": "kitchen", "home_assistant": text}
    mqtt = program_mqtt.of_options(given, None)
    assert mqtt is not None
    data = mqtt.files(program(mqtt=mqtt.config(("no", "yes"))))["discovery.bin"]
    assert (b"homeassistant/sensor/microshrub_kitchen/state/config" in data) == old
    assert (b"homeassistant/device/microshrub_kitchen/config" in data) != old


@pytest.mark.parametrize("text", ["2023.7", "2024.13", "2024", "new"])
def test_an_invalid_version_of_home_assistant_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--home-assistant"):
        program_mqtt.of_options({"mqtt": "b", "name": "k", "home_assistant": text}, None)


def test_many_long_names_are_split_into_pieces() -> None:
    """Three lists of names are longer than one piece of the file can be."""
    names = [f"{k:03d}" + "n" * 29 for k in range(254)]
    fields = {"mqtt": {"name": "kitchen"}, "sensor": {"kind": "adc"}, "queries": {"labels": 1}}
    messages = discovery_messages.messages(fields, "Thicket", "1.0")
    data = discovery_messages.packed(fields, messages, names)
    text = b""
    while data:
        head = int.from_bytes(data[:2], "big")
        text += data[2 : 2 + (head & 0x3FFF)]
        data = data[2 + (head & 0x3FFF) :]
    begin = text.index(b'{"dev"')
    parts = json.JSONDecoder().raw_decode(text[begin:].decode(errors="ignore"))[0]["cmps"]
    assert parts["state"]["ops"] == names
    assert parts["query"]["ops"][3:] == names
