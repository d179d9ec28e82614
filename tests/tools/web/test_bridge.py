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
from patience import PATIENCE
from playground_support import choose, choose_quick, crc_of_run, csv_of, give_csv
from serial_support import serial_port
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from microshrub_tools.link.client import HostLink
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.web import site
from microshrub_tools.web.bridge import Bridge, of_port


@pytest.fixture
def board(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[UnixBoard]:
    with UnixBoard(micropython_command, tmp_path / "flash", heap="400k") as unix_board:
        yield unix_board


@pytest.fixture
def bridge(address: str, board: UnixBoard) -> Iterator[Bridge]:
    bridge_of_port = of_port(board.port, 115200, 0)
    thread = threading.Thread(target=bridge_of_port.run, daemon=True)
    thread.start()
    yield bridge_of_port
    bridge_of_port.stop()
    thread.join()


@pytest.fixture
def by_bridge(page: Browser, bridge: Bridge) -> Browser:
    """The page, connected to the board through the bridge."""
    page.open(bridge.address)
    return page


@pytest.fixture
def by_webserial(page: Browser, bridge: Bridge) -> Browser:
    """The page, connected to the board as a browser's port."""
    with serial_port(page, f"ws://localhost:{bridge.port}/bridge?token={bridge.token}"):
        page.open(bridge.address.partition("#")[0])
    return page


def test_a_blank_board_gets_the_model_by_the_bridge(
    by_bridge: Browser, board: UnixBoard, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_and_watch(by_bridge, board, micropython_command, tmp_path)


def test_a_blank_board_gets_the_model_by_webserial(
    by_webserial: Browser, board: UnixBoard, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    put_and_watch(by_webserial, board, micropython_command, tmp_path)


def put_and_watch(
    page: Browser, board: UnixBoard, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    """Train a model in the page, put it on the board, and let the board learn as well."""
    page.wait("!!document.querySelector('#start')")
    give_csv(page, tmp_path / "led.csv", csv_of("synth:led", 400))
    choose(page, "learner", "hoeffding")
    crc_of_run(page)
    page.run("document.querySelector('#flash').click()")
    status = "document.querySelector('#flash-status')"
    page.wait(f"!!{status}.className", 180)
    assert page.run(f"{status}.className") == "good", page.run(f"{status}.textContent")
    assert "bytes free" in page.run(f"{status}.textContent")
    slots = sorted(path.name for path in board.flash.iterdir())
    assert slots == ["main.py", "microshrub.0001"]
    config = json.loads((board.flash / "microshrub.0001" / "config.json").read_text())
    assert config["learner"] == "HoeffdingTree"
    assert config["model"] == "learner.state"
    assert "the model is learner.state" in what_starts(micropython_command, board.flash)

    page.run("document.querySelector('#watch').click()")
    page.wait("document.querySelector('#watch-numbers').textContent")
    page.run("document.querySelector('#watch-stream').click()")
    page.wait("!!document.querySelector('#watch-crc32, #watch-status.bad')")
    assert page.run("document.querySelector('#watch-status').className") == ""
    page.wait("document.querySelector('#watch-status').textContent.startsWith('400 samples')")
    assert page.run("document.querySelectorAll('#watch-confusion tbody tr').length") == 10


def refused(page: Browser, bridge: Bridge, address: str) -> list[str]:
    """Return the page's errors when it connects to the board, to flash it and to watch it."""
    page.open("about:blank")
    page.open(address)
    page.wait("!!document.querySelector('#start')")
    choose_quick(page)
    crc_of_run(page)
    messages = []
    for button in ("flash", "watch"):
        page.run(f"document.querySelector('#{button}').click()")
        status = f"document.querySelector('#{button}-status')"
        page.wait(f"{status}.className === 'bad'", 20)
        messages.append(page.run(f"{status}.textContent"))
        assert not page.run(f"document.querySelector('#{button}').disabled")
    return messages


def test_an_immediate_refusal_of_the_bridge_is_shown(page: Browser, bridge: Bridge) -> None:
    there, _, token = bridge.address.partition("#bridge=")
    message = refused(page, bridge, f"{there}#bridge={token[::-1]}")
    assert all("Open the address" in each for each in message)


def test_a_port_that_another_program_uses_is_named(
    page: Browser, bridge: Bridge, board: UnixBoard
) -> None:
    with HostLink(SerialLine(board.port)):
        message = refused(page, bridge, bridge.address)
    assert all("another program uses it" in each for each in message)


def test_a_port_that_another_page_uses_is_named(page: Browser, bridge: Bridge) -> None:
    here = f"http://localhost:{bridge.port}"
    with connect(f"ws://localhost:{bridge.port}/bridge?token={bridge.token}", origin=here):
        message = refused(page, bridge, bridge.address)
    assert all("Another page uses the port" in each for each in message)


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
        assert first.recv(timeout=PATIENCE) == "{}"  # connected; the port is no USB device
        with connect(right, origin=here) as second, pytest.raises(ConnectionClosed):
            second.recv(timeout=PATIENCE)


def test_a_page_sets_the_rate_and_the_lines_and_nonsense_is_ignored(bridge: Bridge) -> None:
    here = f"http://localhost:{bridge.port}"
    address = f"ws://localhost:{bridge.port}/bridge?token={bridge.token}"
    with connect(address, origin=here) as page:
        assert page.recv(timeout=PATIENCE) == "{}"
        for text in ("", "[1]", '{"baudRate": "fast"}', '{"baudRate": 1e99, "requestToSend": 7}'):
            page.send(text)
        page.send('{"baudRate": 9600, "dataTerminalReady": true, "requestToSend": false}')
        page.send(b"\r\x03\x03\x02")
        received = b""
        while b">>>" not in received:
            received += bytes(page.recv(timeout=PATIENCE))


def test_the_bridge_serves_the_page_and_nothing_else(bridge: Bridge) -> None:
    def status(path: str, host: str) -> int:
        line = http.client.HTTPConnection(site.HOST, bridge.port)
        line.request("GET", path, headers={"Host": host})
        return line.getresponse().status

    here = f"localhost:{bridge.port}"
    assert status("/", here) == status("/main.js", here) == 200
    assert status("/../site.py", here) == 404
    assert status("/", "evil.example") == 403
