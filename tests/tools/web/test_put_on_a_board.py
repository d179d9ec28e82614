"""The second step: the model is put on a board, in a program like `build`'s."""

from __future__ import annotations

import io
import json
import math
import zipfile
from pathlib import Path

import pytest
from browser_support import Browser
from node_support import run_in_node
from page_library_support import check_library
from playground_support import choose, choose_quick, crc_of_run, take
from sensor_support import LIES, MOVED, RATE, held_clock, settle
from teach_support import begin, crc, end, name, press, taught

from microshrub_host import load_model
from microshrub_tools import Sensor, build

SHOWN = "[...document.querySelectorAll('main > section')].map((each) => each.id)"
TAKES = "document.querySelector('#gestures-take')"
WIRES = (
    "[...document.querySelectorAll('.wiring tbody tr')].map((row) => row.innerText.split('\\t'))"
)
SENSOR = Sensor.mpu6050(scl=1, sda=0, rate=50)
OF_THE_SENSOR = [
    ["Sensor VCC", "3V3, pin 36"],
    ["Sensor GND", "GND, pin 3"],
    ["Sensor SCL", "GP1, pin 2"],
    ["Sensor SDA", "GP0, pin 1"],
]


def shake(page: Browser, seconds: int, wide: float, high: float) -> None:
    """Move the device to and fro."""
    turns = [2 * math.pi * 3 * i / RATE for i in range(seconds * RATE)]
    points = [(wide * math.cos(turn), high * math.sin(turn), 20 * wide) for turn in turns]
    page.run(MOVED % json.dumps(points))


@pytest.fixture
def shaken(held: Browser) -> Browser:
    """The page, after learning two motions of a phone."""
    name(held, "across, up")
    held.run("document.querySelector('#source').value = 'motion'")
    held.run(LIES)
    begin(held)
    for text, wide, high in (("across", 8, 0.5), ("up", 0.5, 8)):
        press(held, text)
        shake(held, 3, wide, high)
    settle(held)
    end(held)
    return held


def test_the_navigation_lists_the_steps_in_order(held: Browser) -> None:
    assert held.run(SHOWN) == ["teach", "board-step", "playground"]
    links = "[...document.querySelectorAll('nav a')].map((each) => each.textContent)"
    heads = "[...document.querySelectorAll('main h2')].map((each) => each.textContent)"
    assert held.run(links) == held.run(heads)
    held.run("document.querySelectorAll('nav a')[1].click()")
    assert held.run("document.activeElement.id") == "board-step-title"
    assert held.run("location.hash") == ""


def test_ids_of_elements_are_unique(held: Browser) -> None:
    taught(held, seconds=2)
    end(held)
    names = "[...document.querySelectorAll('[id]')].map((each) => each.id)"
    result = held.run(names)
    assert len(result) == len(set(result))


def test_a_board_is_offered_only_after_teaching(held: Browser) -> None:
    waits = "document.querySelector('#board-waits').hidden"
    assert not held.run(waits)
    taught(held, seconds=2)
    end(held)
    assert held.run(waits)
    assert held.run(f"{TAKES}.textContent").startswith("Wire it, connect it, done")
    assert "A board has no pointer" in held.run(f"{TAKES}.textContent")
    assert held.run("document.querySelector('#gestures-sensor').options.length") == 1
    assert held.run("document.querySelector('.wiring')") is None
    held.run("document.querySelector('#start-over').click()")
    held.wait(f"!{waits}")


def test_without_webserial_all_else_works_and_the_page_names_alternatives(
    page: Browser, address: str, tmp_path: Path
) -> None:
    """This is so in Safari, in older versions of Firefox and on phones."""
    with page.before_pages("delete Navigator.prototype.serial"), held_clock(page):
        page.open(address)
        page.wait("!!document.querySelector('#start')")
    assert not page.run("'serial' in navigator")
    taught(page, seconds=2)
    end(page)
    result = page.run(f"{TAKES}.textContent")
    assert "Chrome, Edge or Firefox" in result
    assert "microshrub bridge" in result
    assert page.run("document.querySelector('#gestures-flash')") is None
    assert program_of(page, tmp_path)["main.py"]
    choose_quick(page)
    crc_of_run(page)
    assert not page.complaints


def program_of(page: Browser, folder: Path) -> dict[str, bytes]:
    """Return the files of the page's program for a Pico."""
    packed = take(page, "gestures-take-program", folder / "microshrub-rpi_pico.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


# Actions of a class: the choices on the page, and the matching argument of `build`
SWITCHES: list[tuple[str, dict[str, str], dict[str, tuple[int | str, ...]] | None]] = [
    ("line", {}, None),
    ("lights", {"switch-1": "19"}, {"across": (16,), "up": (19,)}),
    ("colour", {"switch-0": "yellow"}, {"across": (16, 17), "up": (17,)}),
    (
        "pixel",
        {"switch-at": "18", "switch-1": "orange"},
        {"across": ("18:red",), "up": ("18:orange",)},
    ),
    ("tone", {"switch-at": "17"}, {"across": ("17:262Hz",), "up": ("17:330Hz",)}),
    ("pixel", {"switch-0": "off"}, {"up": ("16:green",)}),
    ("tone", {"switch-0": "off", "switch-1": "1047"}, {"up": ("16:1047Hz",)}),
    ("key", {}, {"across": ("key:Space",), "up": ("key:ArrowRight",)}),
    ("key", {"switch-0": "off", "switch-1": "7"}, {"up": ("key:7",)}),
]


def test_the_program_of_a_motion_matches_that_of_build(shaken: Browser, tmp_path: Path) -> None:
    for number, (switch_name, chosen, switch) in enumerate(SWITCHES):
        choose(shaken, "switch-kind", switch_name)
        for field, value in chosen.items():
            choose(shaken, field, value)
        check_program(shaken, tmp_path / str(number), switch, None)


def test_a_class_switches_above_the_confidence_of_its_card(
    shaken: Browser, tmp_path: Path
) -> None:
    choose(shaken, "switch-kind", "lights")
    choose(shaken, "threshold-1", "80")
    shaken.wait("!!document.querySelector('#board-threshold')")
    check_program(shaken, tmp_path / "above", {"across": (16,), "up": (17,)}, {"up": 80})


def check_program(
    shaken: Browser,
    folder: Path,
    switch: dict[str, tuple[int | str, ...]] | None,
    above: dict[str, int] | None,
) -> None:
    """Check that the page's program equals `build`'s program for the page's project."""
    folder.mkdir()
    program = program_of(shaken, folder)
    project = folder / "gestures.mshrub"
    take(shaken, "take-gestures", project)
    assert load_model(project).learner.state_crc32() == crc(shaken)
    output = folder / "made"
    made = build(
        project, "rpi_pico", sensor=SENSOR, switch=switch, switch_above=above, output=output
    ).folder
    config = json.loads(program["config.json"])
    assert config == json.loads((made / "config.json").read_bytes())
    assert config["sensor"]["kind"] == "mpu6050"
    assert config["extraction"]["window"] == 32
    for state in ("learner.state", "quantizer.state"):
        assert program[state] == (made / state).read_bytes()
    library = {name: data for name, data in program.items() if name.startswith("lib/")}
    check_library(library, made, "thicket", "rpi_pico")
    assert ("lib/microshrub/device/switches.mpy" in library) == (switch is not None)
    shown = [str(pin) for pins in (switch or {}).values() for pin in pins]
    code = library.get("lib/microshrub/device/switches.mpy", b"")
    assert (b"USBDevice" in code) == any("key:" in each for each in shown)
    assert (b"duty_u16" in code) == any("Hz" in each for each in shown)


def test_the_wiring_names_pins_and_their_numbers(shaken: Browser) -> None:
    assert shaken.run(WIRES) == OF_THE_SENSOR
    choose(shaken, "switch-kind", "lights")
    assert shaken.run(WIRES) == [
        *OF_THE_SENSOR,
        ["Light for across, through 330 Ω", "GP16, pin 21"],
        ["Light for up, through 330 Ω", "GP17, pin 22"],
        ["Other end of the lights", "GND, pin 23"],
    ]
    choose(shaken, "gestures-board", "esp32")
    assert shaken.run(WIRES)[2:5] == [
        ["Sensor SCL", "GPIO 22"],
        ["Sensor SDA", "GPIO 21"],
        ["Light for across, through 330 Ω", "GPIO 25"],
    ]
    choose(shaken, "switch-kind", "pixel")
    assert shaken.run(WIRES)[4:] == [
        ["NeoPixel VCC", "3V3"],
        ["NeoPixel GND", "GND"],
        ["NeoPixel DIN", "GPIO 25"],
    ]
    choose(shaken, "gestures-board", "rpi_pico")
    choose(shaken, "switch-at", "20")
    assert shaken.run(WIRES) == [
        *OF_THE_SENSOR,
        ["NeoPixel VCC", "3V3, pin 36"],
        ["NeoPixel GND", "GND, pin 23"],
        ["NeoPixel DIN", "GP20, pin 26"],
    ]
    drawn = "[...document.querySelectorAll('.wires text')].map((each) => each.textContent)"
    assert {"3V3 · 36", "GP20 · 26", "SCL", "NeoPixel", "DIN"} <= set(shaken.run(drawn))
    choose(shaken, "switch-kind", "tone")
    assert shaken.run(WIRES)[4:] == [
        ["Passive buzzer", "GP16, pin 21"],
        ["Other end of the buzzer", "GND, pin 23"],
    ]
    assert {"GP16 · 21", "Buzzer", "IN"} <= set(shaken.run(drawn))
    for width in (1280, 390):
        shaken.look(width, dark=False)
        assert shaken.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("sub", "arch"), [(3, "armv6m"), (2, None)])
def test_a_board_with_other_machine_code_gets_bytecode(
    sub: int, arch: str | None, tmp_path: Path
) -> None:
    """An example is MicroPython 1.20 to 1.22, whose machine code has another version."""
    program = """
        import { architectureOf } from "./bundle.mjs";
        import { readFileSync } from "node:fs";
        const value = async () => JSON.parse(readFileSync(0, "utf8"));
        const arch = await architectureOf({ run: async () => "", value });
        console.log(JSON.stringify(arch ?? null));
    """
    mpy = 4 << 10 | sub << 8 | 6
    assert run_in_node(tmp_path, program, {"board/flash": "architectureOf"}, mpy) == arch
