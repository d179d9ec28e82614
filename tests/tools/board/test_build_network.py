"""The files that `build --tcp` puts on a board and on the PC, and refused network options."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from program_support import program

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_host.boards.deployment import Deployment
from microshrub_host.boards.program import usual_program
from microshrub_host.boards.program_budget import budget_of
from microshrub_host.boards.program_library import ProgramLibrary
from microshrub_tools.board import build
from microshrub_tools.board.program_mqtt import MqttSettings
from microshrub_tools.board.program_network import NetworkSettings, TcpSettings, WifiSettings
from microshrub_tools.cli.main import main
from microshrub_tools.link import key_file
from microshrub_tools.link.serial_line import PortError
from microshrub_tools.link.tcp_line import split_address

BASE = ["build", "synth:sea_a", "--limit", "300", "--model", "shrub", "--window", "16"]


def test_the_key_is_made_once_and_only_its_owner_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "kitchen"
    words = [*BASE, "--board", "rpi_pico_w", "--tcp", "9000", "--output", str(out)]
    assert main(words) == 0
    key = (tmp_path / "kitchen.key").read_text().strip()
    assert len(bytes.fromhex(key)) == 32
    assert (tmp_path / "kitchen.key").stat().st_mode & 0o777 == 0o600
    assert (out / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((out / "secrets.json").read_text()) == {"key": key}
    assert json.loads((out / "config.json").read_text())["tcp"] == {"port": 9000}
    holds = [path.name for path in out.rglob("*") if path.is_file() and _holds(path, key)]
    assert holds == ["secrets.json"]
    assert main(words) == 0  # again: the board and this PC keep the same key
    assert (tmp_path / "kitchen.key").read_text().strip() == key
    captured = capsys.readouterr()
    assert key not in captured.out + captured.err
    assert main([*words[:-1], str(tmp_path / "hall")]) == 0
    assert (tmp_path / "hall.key").read_text().strip() != key


def test_a_program_that_does_not_fit_leaves_no_key(tmp_path: Path) -> None:
    out = tmp_path / "new" / "kitchen"
    words = [*BASE, "--board", "rpi_pico_w", "--tcp", "9000", "--output", str(out)]
    assert main([*words, "--pending", "30000"]) == 2
    assert not list(tmp_path.iterdir())
    out.parent.mkdir()
    key = out.with_name("kitchen.key")
    key.write_text("12" * 32)
    assert main([*words, "--pending", "30000"]) == 2
    assert key.read_text() == "12" * 32, "one that was there stays"


def _holds(path: Path, key: str) -> bool:
    data = path.read_bytes()
    return key.encode() in data or bytes.fromhex(key) in data


def test_a_program_without_a_network_has_no_network_code(tmp_path: Path) -> None:
    board = board_files.load("rpi_pico_w")
    plain = build.make(program(), board, tmp_path / "out")
    assert "secrets.json" not in plain.files
    ours = {"networking", "network_start", "tcp", "sha256"}
    assert not {part.name for part in plain.budget.code} & {f"device.{name}" for name in ours}
    less = budget_of(ProgramLibrary(program(), board)).ram_bytes
    more = budget_of(ProgramLibrary(program(tcp={"port": 1}), board))
    assert 4096 < more.ram_bytes - less < 20 * 1024
    tcp_bytes = sum(part.bytes for part in more.overhead if part.name == "link over TCP")
    assert 3 * 1024 < tcp_bytes < 5 * 1024


@pytest.mark.parametrize("words", [["--wifi", "Home"], ["--mqtt", "b", "--name", "k"], ["--tcp"]])
def test_a_board_without_wifi_is_refused_by_name(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "wifi.txt"
    secret.write_text("sesame")
    more = [] if "--mqtt" in words or "--tcp" in words else ["--tcp"]
    more += ["--wifi-password-file", str(secret)] if "--wifi" in words else []
    out = tmp_path / "out"
    assert main([*BASE, "--board", "rpi_pico", "--output", str(out), *words, *more]) == 2
    err = capsys.readouterr().err
    assert f"{words[0]} needs Wi-Fi, and Raspberry Pi Pico" in err
    assert not out.exists()
    assert not key_file.of_build(out).exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--wifi", "Home"], "--wifi needs --mqtt HOST, --tcp or --share GROUP by=udp"),
        (["--key", "k"], "--key needs --tcp"),
        (["--tcp", "0"], "has to be a port"),
        (["--tcp", "--wifi-password-file", "k"], "--wifi-password-file needs --wifi"),
        (["--tcp", "--key", "pyproject.toml"], "is no key"),
        (["--tcp", "--emit", "bytecode"], "--emit bytecode has none"),
    ],
)
def test_invalid_options_are_refused_with_a_message(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--output", str(tmp_path / "out")]
    assert main([*BASE, "--board", "rpi_pico_w", *out, *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_board_that_sleeps_cannot_be_a_server() -> None:
    network = NetworkSettings(tcp=TcpSettings(Path("k")))
    with pytest.raises(UserError, match="--sleep switches the radio off"):
        network.config(board_files.load("rpi_pico_w"), ("a", "b"), sleeps=True)


def test_names_and_passwords_have_a_limit() -> None:
    with pytest.raises(UserError, match="32 bytes"):
        WifiSettings("ü" * 17)
    with pytest.raises(UserError, match="64 bytes"):
        WifiSettings("Home", "x" * 65)


def test_which_key_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="--key is missing: the file"):
        key_file.chosen(None)
    one = key_file.kept(Path("build/rpi_pico_w.key"))
    assert key_file.chosen(None) == one
    two = key_file.kept(Path("build/esp32.key"))
    with pytest.raises(UserError, match=r"Keys found:\n  build.esp32.key\n  build.rpi_pico_w.key"):
        key_file.chosen(None)
    assert key_file.chosen(Path("build/esp32.key")) == two != one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tcp://10.0.0.7", ("10.0.0.7", 7477)),
        ("tcp://kitchen.local:99/", ("kitchen.local", 99)),
        ("tcp://[::1]:99", ("::1", 99)),
    ],
)
def test_addresses(text: str, expected: tuple[str, int]) -> None:
    assert split_address(text) == expected


@pytest.mark.parametrize("text", ["tcp://", "tcp://board:x", "tcp://board:0", "tcp://:99"])
def test_invalid_addresses_are_refused(text: str) -> None:
    with pytest.raises(PortError, match="tcp://HOST"):
        split_address(text)


@pytest.mark.parametrize("names", [("tcp",), ("mqtt",), ("tcp", "mqtt")])
def test_budget_counts_the_same_as_build(
    names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    board = board_files.load("rpi_pico_w")
    fields = {"tcp": {"port": 1}, "mqtt": MqttSettings("192.168.1.5", "desk").config(("a", "b"))}
    model = program(
        **usual_program(Deployment({"features": 2, "classes": 2}, board, "ShrubEnsemble")).config
    )
    config = model.config | {name: fields[name] for name in names}
    made = ProgramLibrary(dataclasses.replace(model, config=config), board)
    words = ["budget", "--features", "2", "--classes", "2", "--model", "shrub", "--json", "-"]
    words += ["--window", "16", "--trees", "4", "--depth", "3", "--step", "1"]
    flags = [f"--{name}" for name in names]
    assert main([*words, "--board", "rpi_pico_w", *flags]) == 0
    result = json.loads(capsys.readouterr().out)["ram_bytes"]
    assert result == pytest.approx(budget_of(made).ram_bytes, rel=0.01)
    assert main([*words, "--board", "rpi_pico", f"--{names[0]}"]) == 2
    assert "needs Wi-Fi, and Raspberry Pi Pico" in capsys.readouterr().err
