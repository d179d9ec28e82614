"""MicroPython onto a blank board: the page's messages, and an ESP32 with the protocol of its ROM.

There is no chip: esp_support.py follows Espressif's description.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import random
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from board_support import UnixBoard
from browser_support import Browser
from esp_support import CHIP_MODELS, ChipModel, EspChip, image_for
from page_link_fuzz import BUNDLER, WEB, missing
from playground_support import choose
from serial_support import serial_port

from microshrub_host.boards import board_files
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.web import page_data, site
from microshrub_tools.web.bridge import Bridge

SIZE = 400_000  # bytes of an image
STATUS = "document.querySelector('#blank-status')"
UART, JTAG = (0x10C4, 0xEA60), (0x303A, 0x1001)  # a CP2102 next to the chip; the chip's own USB
# The page's messages if the chip takes longer than Espressif allows, as on a busy PC
LATE = ("The loader in the chip's ROM does not answer.", "MicroPython was written as it is")
LISTEN = """
window.texts = [];
new MutationObserver(() => texts.push(document.querySelector('#blank-status').textContent))
  .observe(document.querySelector('#blank-status'), { childList: true });
"""


class ChipPort:
    """The chip's port, as the bridge opens it; the chip's flash starts a MicroPython."""

    def __init__(self, model: ChipModel, micropython: str, **options: Any) -> None:
        self.chip = EspChip(model, self._put, self._start, **options)
        self.usb = JTAG if self.chip.jtag else UART
        self._micropython = micropython
        self._line: SerialLine | None = None
        self._output: queue.Queue[bytes] = queue.Queue()
        self._signals = {"dtr": False, "rts": False}

    def open(self) -> Any:
        self.chip.rate = 115_200
        return self

    def read(self, seconds: float) -> bytes:
        if self._line:
            return self._line.read(seconds)
        with contextlib.suppress(queue.Empty):
            return self._output.get(timeout=seconds)
        return b""

    def write(self, data: bytes) -> None:
        if self._line:
            self._line.write(data)
        else:
            self.chip.take(data)

    def set_rate(self, baud_rate: int) -> None:
        self.chip.rate = baud_rate

    def set_signals(self, **signals: bool | None) -> None:
        self._signals |= {name: on for name, on in signals.items() if on is not None}
        self.chip.signals(**self._signals)

    def close(self) -> None:
        pass

    def _put(self, data: bytes) -> None:
        self._output.put(data)

    def _start(self) -> None:
        self._line = SerialLine(self._micropython)


@contextlib.contextmanager
def bench(
    model: str, micropython_command: tuple[str, ...], folder: Path, **options: Any
) -> Iterator[tuple[Bridge, EspChip]]:
    """A chip behind a bridge."""
    with UnixBoard(micropython_command, folder / "flash", heap="400k") as board:
        port = ChipPort(CHIP_MODELS[model], board.port, **options)
        bridge = Bridge(port.open, 0)
        thread = threading.Thread(target=bridge.run, daemon=True)
        thread.start()
        try:
            yield bridge, port.chip
        finally:
            bridge.stop()
            thread.join()


def write(page: Browser, bridge: Bridge, image: Path, usb: tuple[int, int] | None) -> str:
    """Write the image with the page, by WebSerial if `usb` is given; return its message."""
    there = f"ws://localhost:{bridge.port}/bridge?token={bridge.token}"
    with serial_port(page, there, signals=True, usb=usb or UART):
        page.open("about:blank")
        page.open(bridge.address.partition("#")[0] if usb else bridge.address)
    page.wait("!!document.querySelector('#start')")
    choose(page, "blank-board", "esp32")
    page.give_file("#blank-file", image)
    page.run(LISTEN)
    for _ in range(6):
        page.press("#blank-write")
        page.wait(f"!!{STATUS}.className")
        text = str(page.run(f"{STATUS}.textContent"))
        if not text.startswith(LATE):
            break
        page.run("texts.length = 0")
    return text


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize(
    ("model", "usb", "options"),
    [
        ("ESP32", UART, {}),
        ("ESP32", UART, {"damaged": 1}),
        ("ESP32-S2", UART, {}),
        ("ESP32-S3", JTAG, {"jtag": True}),
        ("ESP32-C3", UART, {}),
        ("ESP32-C6", JTAG, {"jtag": True}),
        ("ESP32", None, {}),  # over the bridge
        ("ESP32-S3", None, {"jtag": True}),
    ],
)
def test_the_flash_holds_the_image_and_micropython_starts(
    page: Browser,
    micropython_command: tuple[str, ...],
    tmp_path: Path,
    model: str,
    usb: tuple[int, int] | None,
    options: dict[str, Any],
) -> None:
    image = image_for(CHIP_MODELS[model], SIZE)
    (tmp_path / "image.bin").write_bytes(image)
    with bench(model, micropython_command, tmp_path, **options) as (bridge, chip):
        output = write(page, bridge, tmp_path / "image.bin", usb)
        steps = " ".join(page.run("texts"))
        assert page.run(f"{STATUS}.className") == "good", output
    assert output.startswith("MicroPython 1.")
    offset = CHIP_MODELS[model].offset
    assert chip.flash[offset : offset + SIZE] == image
    assert set(chip.flash[:offset] + chip.flash[offset + SIZE :]) == {0xFF}
    assert chip.erased
    assert f"{model} found. Erasing" in steps
    assert steps.count("compressed bytes written") > 3


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize(
    ("made", "options", "message"),
    [
        (
            image_for(CHIP_MODELS["ESP32-S3"], SIZE),
            {},
            "The board has an ESP32, and the image",
        ),
        (image_for(CHIP_MODELS["ESP32"], SIZE, whole=False), {}, "no partition table"),
        (b"UF2\n" + bytes(1000), {}, "does not begin with the byte E9"),
        (image_for(CHIP_MODELS["ESP32"], SIZE), {"flash_id": 0x12}, "does not fit"),
    ],
)
def test_an_image_that_the_board_cannot_start_is_not_written(
    page: Browser,
    micropython_command: tuple[str, ...],
    tmp_path: Path,
    made: bytes,
    options: dict[str, Any],
    message: str,
) -> None:
    (tmp_path / "image.bin").write_bytes(made)
    with bench("ESP32", micropython_command, tmp_path, **options) as (bridge, chip):
        assert message in write(page, bridge, tmp_path / "image.bin", UART)
        assert page.run(f"{STATUS}.className") == "bad"
    assert set(chip.flash) == {0x5A}


def test_the_page_names_file_and_steps_for_each_board(playground: Browser) -> None:
    for key in page_data.BOARDS:
        choose(playground, "blank-board", key)
        result = playground.run("document.querySelector('#blank-how').textContent")
        board = board_files.load(key)
        assert f"{board.firmware}-DATE" in result
        assert f"micropython.org/download/{board.firmware}" in result
        assert board.name in result
        assert ("BOOTSEL" in result) == key.startswith("rpi")
        assert ("RP2350" in result) == (key == "rpi_pico2")


def test_large_parts_are_loaded_on_demand(playground: Browser) -> None:
    loaded = {url.rpartition("/")[2] for url in playground.requests}
    main = (site.FOLDER / "main.js").read_text(encoding="utf-8")
    assert "main.js" in loaded
    assert "ESP_FLASH_DEFL_BEGIN" not in main
    large = [p for p in site.FOLDER.rglob("*.js") if "ESP_FLASH_DEFL_BEGIN" in p.read_text()]
    assert len(large) == 1
    assert large[0].name not in loaded


def test_md5(tmp_path: Path) -> None:
    if reason := missing():
        pytest.skip(reason)
    made = tmp_path / "md5.mjs"
    entry = WEB / "src" / "board" / "md5.ts"
    words = [str(BUNDLER), str(entry), "--bundle", "--format=esm", f"--outfile={made}"]
    subprocess.run([*words, "--log-level=error"], check=True)
    sizes = [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 1000, 70_000]
    data = random.Random(1).randbytes(max(sizes))
    (tmp_path / "data").write_bytes(data)
    program = (
        "import { readFileSync } from 'node:fs'; import { md5 } from './md5.mjs';"
        "const data = new Uint8Array(readFileSync('data'));"
        f"console.log(JSON.stringify({sizes}.map((n) => md5(data.subarray(0, n)))));"
    )
    command = ["node", "--input-type=module", "-e", program]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, check=True)
    wanted = [hashlib.md5(data[:n], usedforsecurity=False).hexdigest() for n in sizes]
    assert json.loads(done.stdout) == wanted
