"""A project continues elsewhere: on another machine by a link, in a folder by microshrub.toml."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from pathlib import Path

import pytest
from browser_support import Browser
from node_support import run_in_node
from playground_support import choose, take
from sensor_support import LIES, settle
from teach_support import begin, crc, end, name, press, taught
from test_class_cards import UNDO, rename
from test_put_on_a_board import shake

from microshrub_host import load_model
from microshrub_host.cli import project_file
from microshrub_tools.cli.main import main

STATUS = "document.querySelector('#learn-me-status').textContent"
NAMES = "[...document.querySelectorAll('#classes input')].map((each) => each.value)"
LINK = "document.querySelector('#link').value"
SWITCHED = "document.querySelector('#switch-1')?.value"
UP = "up, or = 2"  # a name with characters that separate words elsewhere


def test_a_link_opens_the_project_on_another_machine(held: Browser) -> None:
    taught(held, seconds=2)
    before = end(held)
    choose(held, "threshold-1", "80")
    settle(held)
    held.press("#take-link")
    held.wait(LINK)
    link = held.run(LINK)
    assert "#project=" in link
    held.open("about:blank")  # forgets the browser's stored data
    held.open(link)
    assert crc(held) == before
    assert held.run(NAMES) == ["circle", "line", "rest"]
    assert held.run("document.querySelector('#threshold-1').value") == "80"
    assert held.run("location.hash") == ""
    held.run("location.hash = '#project=' + 'cut'")
    held.wait(f"{STATUS}.startsWith('The link is no project')")
    assert crc(held) == before  # still there


def test_a_project_that_is_too_large_for_a_link_is_refused(tmp_path: Path) -> None:
    program = """
        import { linkTo, zip } from "./bundle.mjs";
        globalThis.location = { origin: "http://localhost", pathname: "/", search: "" };
        const noise = crypto.getRandomValues(new Uint8Array(60000));
        const files = { "config.json": noise, "gestures.json": noise.slice(0, 30000) };
        const result = await linkTo(zip(files)).catch((error) => error.message);
        console.log(JSON.stringify(result));
    """
    output = run_in_node(tmp_path, program, {"project_link": "linkTo", "zip": "zip"}, None)
    assert "is too large for a link: 1" in output
    assert output.endswith("on the other machine.")


def test_the_commands_continue_in_the_folder_of_the_page(
    held: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(held, "across, up")
    held.run("document.querySelector('#source').value = 'motion'")
    held.run(LIES)
    begin(held)
    for text, wide, high in (("across", 8, 0.5), ("up", 0.5, 8)) * 2:
        press(held, text)
        shake(held, 3, wide, high)
    settle(held)
    end(held)
    choose(held, "threshold-1", "80")
    held.wait("!!document.querySelector('#board-threshold')")
    choose(held, "switch-kind", "pixel")
    choose(held, "switch-1", "blue")
    rename(held, 1, UP)
    settle(held)
    held.wait(f"{SWITCHED} === 'blue'")  # the renamed class keeps its switch
    held.run(UNDO)
    settle(held)
    held.wait(f"{NAMES}[1] === 'up' && {SWITCHED} === 'blue'")
    rename(held, 1, UP)
    settle(held)
    held.wait(f"{NAMES}[1] === {json.dumps(UP)} && {SWITCHED} === 'blue'")
    choose(held, "gestures-scl", "5")
    choose(held, "gestures-sda", "4")
    packed = take(held, "take-folder", tmp_path / "gestures.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    content = project_file.read()
    assert content["board"] == "rpi_pico"
    assert content["sensor"].startswith("mpu6050 scl=5 sda=4")
    assert content["label-keys"] == ["0=across", f"1={UP}"]
    for command in ("simulate", "build"):
        with contextlib.redirect_stdout(io.StringIO()):
            assert main([command]) == 0
    model = load_model(content["model"])
    config = json.loads(next(tmp_path.rglob("config.json")).read_text(encoding="utf-8"))
    assert config["class_names"] == ["across", UP]
    assert config["switches"] == [[[16, 64, 0, 0]], [[16, 0, 0, 64]]]
    assert config["switch_above"] == [0, 204]
    packed = take(held, "take-gestures", tmp_path / "gestures.mshrub")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        project = json.loads(archive.read("config.json"))
    assert list(model.file.feature_names) == project["feature_names"]
    assert config["extraction"] == project["extraction"]["options"]
    in_a_network(held, tmp_path)


def in_a_network(held: Browser, folder: Path) -> None:
    """Check that publishing by MQTT needs a board with Wi-Fi; `build` adds the password."""
    choose(held, "switch-kind", "mqtt")
    text = "document.querySelector('#gestures-take').textContent"
    assert "Pico has no Wi-Fi" in held.run(text)
    choose(held, "gestures-board", "rpi_pico_w")
    assert "fill in “Broker”" in held.run(text)
    choose(held, "switch-mqtt", "broker.local")
    choose(held, "switch-wifi", "school")
    held.wait("!!document.querySelector('#board-told')")
    assert held.run("document.querySelector('#gestures-flash')") is None
    packed = take(held, "take-folder", folder / "gestures.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extract(project_file.NAME, folder)
    (folder / "password").write_text("a secret\n", encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["simulate"]) == 0  # at a size that fits there
        assert main(["build", "--wifi-password-file", "password", "--output", "told"]) == 0
    config = json.loads((folder / "told" / "config.json").read_text(encoding="utf-8"))
    assert (config["mqtt"]["host"], config["mqtt"]["name"]) == ("broker.local", "gestures")


INIT = ["init", "--board", "rpi_pico_w", "--sensor", "mpu6050 scl=5 sda=4 rate=100 axes=3",
    "--features", "", "--label-pin", "15 pressed=still released=",
    "--label-keys", "0=wave", "1=still"]  # fmt: skip


def test_a_file_of_init_is_opened_and_its_content_is_kept(
    held: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(INIT) == 0
    path = tmp_path / project_file.NAME
    held.give_file("#project", path)
    held.wait(f"{STATUS}.startsWith('microshrub.toml is open: Raspberry Pi Pico W')")
    assert held.run(NAMES) == ["wave", "still"]
    assert held.run("document.querySelector('#source').value") == "board"
    assert held.run("document.querySelector('#readings-board').value") == "rpi_pico_w"
    held.run("document.querySelector('#source').value = 'motion'")
    held.run(LIES)
    begin(held)
    for text, wide, high in (("wave", 8, 0.5), ("still", 0.1, 0.1)):
        press(held, text)
        shake(held, 3, wide, high)
    settle(held)
    end(held)
    assert held.run("document.querySelector('#gestures-board').value") == "rpi_pico_w"
    packed = take(held, "take-folder", tmp_path / "gestures.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extract(project_file.NAME, tmp_path)
    content = project_file.read()
    assert content["sensor"].startswith("mpu6050 scl=5 sda=4")
    assert content["label-pin"] == "15 pressed=still released="
    assert content["label-keys"] == ["0=wave", "1=still"]
    rename(held, 1, "at rest")
    settle(held)
    held.wait(f"{NAMES}[1] === 'at rest'")
    held.wait("document.querySelector('#switch-kind') !== null")
    packed = take(held, "take-folder", tmp_path / "gestures.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extract(project_file.NAME, tmp_path)
    content = project_file.read()
    assert content["label-pin"] == ["15", "pressed=at rest", "released="]
    assert content["label-keys"] == ["0=wave", "1=at rest"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('bord = "rpi_pico"', "microshrub.toml: there is no key bord."),
        ("[simulation]\nplot = 1", "microshrub.toml: there is no key simulation."),
        ('simulate = "all"', "simulate has to be a section, [simulate]"),
        ('board = "abacus"', "this page has no board abacus. It has esp32"),
        ("board = 5", "board has to be a text"),
        ("board = rpi", "microshrub.toml, line 1: not a key and its value"),
        ('# "=\n\nboard', "microshrub.toml, line 3"),
        ('sensor = "mpu6050 slc=1"', "the sensor mpu6050 has no setting slc=1. It has scl"),
        ('label-keys = "0=a"', "label-keys has 1 label, and this page teaches two to 5"),
        ('label-keys = ["0=a", "1=a"]', "There is already a gesture named a"),
    ],
)
def test_an_unusable_file_is_refused_with_the_reason(
    playground: Browser, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / project_file.NAME).write_text(text, encoding="utf-8")
    playground.give_file("#project", tmp_path / project_file.NAME)
    playground.wait(f"{STATUS}.includes({json.dumps(message)})")
    assert playground.run(NAMES) == ["circle", "line", "rest"]
