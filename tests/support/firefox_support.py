"""A real Firefox, controlled over WebDriver BiDi.

https://w3c.github.io/webdriver-bidi/
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import Browser
from patience import PATIENCE

_NAMES = ("firefox-esr", "firefox")
_PREFERENCES = {
    "dom.disable_beforeunload": True,  # leaving a page opens no dialog
    "intl.accept_languages": "en-US, en",
    "layout.css.devPixelsPerPx": "1",
    "media.navigator.permission.disabled": True,  # a microphone needs no permission
    "media.navigator.streams.fake": True,
    "security.sandbox.content.level": 0,  # containers have no sandbox
}


class Firefox(Browser):
    """One tab of Firefox."""

    def __init__(self, socket: Any) -> None:
        super().__init__()
        self._socket = socket
        self._last = 0
        self.call("session.new", capabilities={})
        heard = ["log.entryAdded", "network.beforeRequestSent"]
        self.call("session.subscribe", events=heard)
        self._tab = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def look(self, width: int, dark: bool = False, *, height: int = 900) -> None:
        assert not dark, "WebDriver BiDi has no order for dark colours"
        size = {"width": width, "height": height}
        self.call("browsingContext.setViewport", context=self._tab, viewport=size)

    def visit(self, address: str) -> None:
        self.call("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def run(self, expression: str, *, by_hand: bool = False) -> Any:
        answer = self.call(
            "script.evaluate",
            expression=expression,
            target={"context": self._tab},
            awaitPromise=True,
            userActivation=by_hand,
        )
        assert answer["type"] == "success", answer
        return _plain(answer["result"])

    def give_file(self, selector: str, path: Path) -> None:
        where = {"type": "css", "value": selector}
        nodes = self.call("browsingContext.locateNodes", context=self._tab, locator=where)
        element = {"sharedId": nodes["nodes"][0]["sharedId"]}
        self.call("input.setFiles", context=self._tab, element=element, files=[str(path)])

    def take_files(self, folder: Path) -> None:
        allowed = {"type": "allowed", "destinationFolder": str(folder)}
        self.call("browser.setDownloadBehavior", downloadBehavior=allowed)

    def picture(self, path: Path) -> None:
        taken = self.call("browsingContext.captureScreenshot", context=self._tab)
        path.write_bytes(base64.b64decode(taken["data"]))

    def cut_off(self, gone: bool) -> None:
        state = {"type": "offline"} if gone else None
        order = "emulation.setNetworkConditions"
        self.call(order, networkConditions=state, contexts=[self._tab])

    @contextlib.contextmanager
    def before_pages(self, script: str) -> Iterator[None]:
        function = f"() => {{ {script} }}"
        made = self.call("script.addPreloadScript", functionDeclaration=function)
        try:
            yield
        finally:
            self.call("script.removePreloadScript", script=made["script"])

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command, and return its answer."""
        self._last += 1
        order = {"id": self._last, "method": method, "params": parameters}
        self._socket.send(json.dumps(order))
        while True:
            answer = json.loads(self._socket.recv(timeout=PATIENCE))
            if answer.get("id") == self._last:
                assert answer["type"] == "success", answer
                return dict(answer["result"])
            self._hear(answer)

    def _hear(self, event: dict[str, Any]) -> None:
        details = event.get("params", {})
        if event.get("method") == "network.beforeRequestSent":
            self.requests.append(details["request"]["url"])
        if event.get("method") == "log.entryAdded":
            self.complaints.append(details["text"])


@contextlib.contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A Firefox with an empty profile in that folder; skips the test where there is none."""
    client = pytest.importorskip("websockets.sync.client")
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("there is no Firefox here")
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in _PREFERENCES.items()]
    (folder / "user.js").write_text("".join(lines))
    process = subprocess.Popen(
        [program, "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port=0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ) | {"HOME": str(folder)},
        start_new_session=True,
    )
    try:
        with client.connect(_address(folder), max_size=None, open_timeout=PATIENCE) as socket:
            yield Firefox(socket)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _plain(remote_value: dict[str, Any]) -> Any:
    """Convert a JavaScript value to Python; values that JSON does not have become None."""
    value = remote_value.get("value")
    if remote_value["type"] == "array":
        return [_plain(each) for each in value]
    if remote_value["type"] == "object":
        return {name: _plain(each) for name, each in value}
    if remote_value["type"] == "number":
        return float(value) if isinstance(value, str) else value  # NaN, -0, Infinity
    return value if remote_value["type"] in ("string", "boolean") else None


def _address(profile: Path) -> str:
    """Return the address at which Firefox listens; it writes the address into its profile."""
    written = profile / "WebDriverBiDiServer.json"
    deadline = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            result = json.loads(written.read_text())
            return f"ws://{result['ws_host']}:{result['ws_port']}/session"
        assert time.monotonic() < deadline, "Firefox says nothing"
        time.sleep(0.05)
