"""MicroPython onto a blank board: what the page says, and an ESP32 by the protocol of its ROM.

No chip takes part: esp_support.py does what Espressif's description says.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from board_support import UnixBoard
from browser_support import Browser
from esp_support import KINDS, EspChip, Kind, image_for
from page_link_fuzz import BUNDLER, WEB, missing
from playground_support import choose
from serial_support import serial_port

from microshrub_host.boards import board_files
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.web import site

pytest.importorskip("websockets")

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

SIZE = 400_000  # bytes of an image
STATUS = "document.querySelector('#blank-status')"
UART, JTAG = (0x10C4, 0xEA60), (0x303A, 0x1001)  # a CP2102 beside the chip; the chip's own USB
LISTEN = """
window.said = [];
new MutationObserver(() => said.push(document.querySelector('#blank-status').textContent))
  .observe(document.querySelector('#blank-status'), { childList: true });
"""


class Bench:
    """A server of the page and of the port at which a chip is; its flash starts a MicroPython."""

    def __init__(self, kind: Kind, micropython: str, **options: Any) -> None:
        self.chip = EspChip(kind, self._say, self._start, **options)
        self._micropython = micropython
        self._line: SerialLine | None = None
        self._page: ServerConnection | None = None
        self._signals = {"dataTerminalReady": False, "requestToSend": False}
        self._server = serve(self._carry, site.HOST, 0, process_request=self._answer)
        port = self._server.socket.getsockname()[1]
        self.address = f"http://localhost:{port}/"
        self.port = f"ws://localhost:{port}/port"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        if self._line:
            self._line.close()

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/port":
            return None
        found = site.file(request.path)
        if found is None:
            return connection.respond(404, "no such file\n")  # type: ignore[arg-type]
        headers = {**site.HEADERS, "Content-Type": found[0], "Content-Length": str(len(found[1]))}
        return Response(200, "OK", Headers({**headers, "Connection": "close"}), found[1])

    def _carry(self, page: ServerConnection) -> None:
        self._page = page
        page.send("ready")
        with contextlib.suppress(ConnectionClosed):
            while True:
                with contextlib.suppress(TimeoutError):
                    self._take(page.recv(timeout=0.01))
                if self._line and (said := self._line.read(0)):
                    page.send(said)

    def _take(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            if self._line:
                self._line.write(message)
            else:
                self.chip.take(message)
            return
        told = json.loads(message)
        self.chip.rate = told.pop("baudRate", self.chip.rate)
        if told:
            self._signals |= told
            self.chip.signals(self._signals["dataTerminalReady"], self._signals["requestToSend"])

    def _say(self, data: bytes) -> None:
        assert self._page
        self._page.send(data)

    def _start(self) -> None:
        self._line = SerialLine(self._micropython)


@contextlib.contextmanager
def bench(
    kind: str, micropython_command: tuple[str, ...], folder: Path, **options: Any
) -> Iterator[Bench]:
    with UnixBoard(micropython_command, folder / "flash", heap="400k") as board:
        found = Bench(KINDS[kind], board.port, **options)
        try:
            yield found
        finally:
            found.stop()


def write(page: Browser, bench: Bench, image: Path, usb: tuple[int, int] = UART) -> str:
    """Have the page write the image; gives what it says in the end."""
    with serial_port(page, bench.port, signals=True, usb=usb):
        page.open(bench.address)
    page.wait("!!document.querySelector('#start')")
    choose(page, "blank-board", "esp32")
    page.give_file("#blank-file", image)
    page.run(LISTEN)
    page.press("#blank-write")
    page.wait(f"!!{STATUS}.className", 180)
    return str(page.run(f"{STATUS}.textContent"))


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("ESP32", {}),
        ("ESP32", {"damaged": 1}),
        ("ESP32-S2", {}),
        ("ESP32-S3", {"jtag": True}),
        ("ESP32-C3", {}),
        ("ESP32-C6", {"jtag": True}),
    ],
)
def test_the_flash_holds_the_image_and_micropython_starts(
    page: Browser,
    micropython_command: tuple[str, ...],
    tmp_path: Path,
    kind: str,
    options: dict[str, Any],
) -> None:
    image = image_for(KINDS[kind], SIZE)
    (tmp_path / "image.bin").write_bytes(image)
    with bench(kind, micropython_command, tmp_path, **options) as found:
        usb = JTAG if options.get("jtag") else UART
        said = write(page, found, tmp_path / "image.bin", usb)
        assert page.run(f"{STATUS}.className") == "good", said
        assert said.startswith("MicroPython 1.")
        offset, flash = KINDS[kind].offset, found.chip.flash
        assert flash[offset : offset + SIZE] == image
        assert set(flash[:offset] + flash[offset + SIZE :]) == {0xFF}
        assert found.chip.erased == 1
        steps = page.run("said")
        assert f"{kind} found. Erasing" in " ".join(steps)
        assert sum("compressed bytes written" in step for step in steps) > 3


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize(
    ("made", "options", "said"),
    [
        (
            image_for(KINDS["ESP32-S3"], SIZE),
            {},
            "The board has an ESP32, and the image",
        ),
        (image_for(KINDS["ESP32"], SIZE, whole=False), {}, "no partition table"),
        (b"UF2\n" + bytes(1000), {}, "does not begin with the byte E9"),
        (image_for(KINDS["ESP32"], SIZE), {"flash_id": 0x12}, "does not fit"),
    ],
)
def test_nothing_is_written_that_the_board_cannot_start(
    page: Browser,
    micropython_command: tuple[str, ...],
    tmp_path: Path,
    made: bytes,
    options: dict[str, Any],
    said: str,
) -> None:
    (tmp_path / "image.bin").write_bytes(made)
    with bench("ESP32", micropython_command, tmp_path, **options) as found:
        assert said in write(page, found, tmp_path / "image.bin")
        assert page.run(f"{STATUS}.className") == "bad"
        assert set(found.chip.flash) == {0x5A}


def test_for_each_board_it_says_which_file_and_how(playground: Browser) -> None:
    for key in board_files.names():
        choose(playground, "blank-board", key)
        told = playground.run("document.querySelector('#blank-how').textContent")
        board = board_files.load(key)
        assert f"{board.firmware}-DATE" in told
        assert f"micropython.org/download/{board.firmware}" in told
        assert board.name in told
        assert ("BOOTSEL" in told) == key.startswith("rpi")
        assert ("RP2350" in told) == (key == "rpi_pico2")


def test_what_is_large_is_loaded_when_it_is_wanted(playground: Browser) -> None:
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
