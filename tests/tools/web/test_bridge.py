"""From the page to a board: a real 32-bit MicroPython behind the bridge, in three clicks."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from board_support import UnixBoard, what_starts
from browser_support import Browser
from playground_support import choose, crc_of_run

from microshrub_tools.web import site

pytest.importorskip("websockets")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from microshrub_tools.web.bridge import Bridge, of_port


@pytest.fixture
def board(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[UnixBoard]:
    with UnixBoard(micropython_command, tmp_path / "flash", heap="400k") as found:
        yield found


@pytest.fixture
def bridge(address: str, board: UnixBoard) -> Iterator[Bridge]:
    found = of_port(board.port, 115200, 0)
    thread = threading.Thread(target=found.run, daemon=True)
    thread.start()
    yield found
    found.stop()
    thread.join()


# WebSerial, as a browser has it, with the board behind the bridge
WEB_SERIAL = """
Object.defineProperty(navigator, "serial", { value: { requestPort: async () => {
  const port = {
    async open() {
      const socket = new WebSocket("ADDRESS");
      socket.binaryType = "arraybuffer";
      await new Promise((resolve) => (socket.onopen = resolve));
      port.readable = new ReadableStream({
        start(to) { socket.onmessage = ({ data }) => to.enqueue(new Uint8Array(data)); },
      });
      port.writable = new WritableStream({ write: (data) => socket.send(data) });
      port.close = async () => {
        socket.close();
        await new Promise((resolve) => (socket.onclose = resolve));
      };
    },
  };
  return port;
} } });
"""


@pytest.mark.parametrize("via", ["bridge", "WebSerial"])
def test_a_blank_board_gets_what_was_learned_and_starts_it(
    page: Browser, bridge: Bridge, board: UnixBoard, micropython_command: tuple[str, ...], via: str
) -> None:
    if via == "bridge":
        page.open(bridge.address)
    else:
        there = f"ws://localhost:{bridge.port}/bridge?token={bridge.token}"
        script = WEB_SERIAL.replace("ADDRESS", there)
        page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        page.open(bridge.address.partition("#")[0])
    page.wait("!!document.querySelector('#start')")
    choose(page, "stream", "led")
    choose(page, "learner", "hoeffding")
    crc_of_run(page)
    page.run("document.querySelector('#flash').click()")
    said = "document.querySelector('#flash-status')"
    page.wait(f"!!{said}.className", 180)
    assert page.run(f"{said}.className") == "good", page.run(f"{said}.textContent")
    assert "bytes free" in page.run(f"{said}.textContent")
    slots = sorted(path.name for path in board.flash.iterdir())
    assert slots == ["main.py", "microshrub.0001"]
    config = json.loads((board.flash / "microshrub.0001" / "config.json").read_text())
    assert config["learner"] == "HoeffdingTree"
    assert config["model"] == "learner.state"
    assert "the model is learner.state" in what_starts(micropython_command, board.flash)

    page.run("document.querySelector('#watch').click()")
    page.wait("document.querySelector('#watch-numbers').textContent", 60)
    page.run("document.querySelector('#watch-stream').click()")
    page.wait(
        "!!document.querySelector('#watch-sent') || !!document.querySelector('#watch-status.bad')",
        120,
    )
    assert page.run("document.querySelector('#watch-status').className") == ""
    page.wait(
        "document.querySelector('#watch-status').textContent.startsWith('2,000 samples')", 120
    )
    assert page.run("document.querySelectorAll('#watch-confusion tbody tr').length") == 10


def test_only_this_page_with_the_token_gets_the_port(bridge: Bridge) -> None:
    here = f"http://localhost:{bridge.port}"
    right = f"ws://localhost:{bridge.port}/bridge?token={bridge.token}"
    for url, origin in (
        (right, "http://evil.example"),
        (right, None),
        (right, f"http://localhost:{bridge.port + 1}"),
        (right.replace(bridge.token, "guess"), here),
        (right.partition("?")[0], here),
    ):
        with pytest.raises(InvalidStatus) as refused:
            connect(url, origin=origin)
        assert refused.value.response.status_code == 403
    with connect(right, origin=here) as first:
        first.send(b"\r\x03\x03\x02")
        assert first.recv(timeout=60)  # it has the port
        with connect(right, origin=here) as second, pytest.raises(ConnectionClosed):
            second.recv(timeout=10)


def test_the_bridge_serves_the_page_and_nothing_else(bridge: Bridge) -> None:
    def status(path: str, host: str) -> int:
        line = http.client.HTTPConnection(site.HOST, bridge.port)
        line.request("GET", path, headers={"Host": host})
        return line.getresponse().status

    here = f"localhost:{bridge.port}"
    assert status("/", here) == status("/main.js", here) == 200
    assert status("/../site.py", here) == 404
    assert status("/", "evil.example") == 403
