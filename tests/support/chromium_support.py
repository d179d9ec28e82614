"""A real Chromium, controlled over its DevTools protocol.

https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
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

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--lang=en-US",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)


class Chromium(Browser):
    """A Chromium with one tab at a time. `call` does whatever only Chromium can do."""

    def __init__(self, answers: int, orders: int) -> None:
        super().__init__()
        self._answers = answers
        self._orders = orders
        self.leaves = True  # the answer to dialogs
        self._read = b""
        self._last = 0
        self._session: str | None = None
        self._context = self._tab = ""

    @contextlib.contextmanager
    def tab(self) -> Iterator[Chromium]:
        """A new tab, which shares no stored data with other tabs and keeps none when it closes."""
        self._context = self.call("Target.createBrowserContext")["browserContextId"]
        allowed = {"permissions": ["sensors"], "browserContextId": self._context}
        self.call("Browser.grantPermissions", **allowed)
        self.leaves = True
        self._open_tab()
        try:
            yield self
        finally:
            self._session = None
            self.call("Target.disposeBrowserContext", browserContextId=self._context)

    def kill_tab(self) -> None:
        """Close the tab at once, and open another one with the same stored data."""
        self._session, killed = None, self._tab
        self.call("Target.closeTarget", targetId=killed)
        self._open_tab()

    def _open_tab(self) -> None:
        self.asked.clear()
        made = self.call("Target.createTarget", url="about:blank", browserContextId=self._context)
        self._tab = made["targetId"]
        attached = self.call("Target.attachToTarget", targetId=self._tab, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def visit(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self._wait_for("Page.loadEventFired")

    def look(self, width: int, dark: bool = False, *, height: int = 900) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, expression: str, *, by_hand: bool = False) -> Any:
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            userGesture=by_hand,
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def give_file(self, selector: str, path: Path) -> None:
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def take_files(self, folder: Path) -> None:
        self.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def cut_off(self, gone: bool) -> None:
        speeds = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.call("Network.emulateNetworkConditions", offline=gone, **speeds)

    @contextlib.contextmanager
    def before_pages(self, script: str) -> Iterator[None]:
        made = self.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        try:
            yield
        finally:
            self.call("Page.removeScriptToEvaluateOnNewDocument", identifier=made["identifier"])

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send one command, and return its answer."""
        number = self._order(method, **parameters)
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return dict(answer["result"])

    def _order(self, method: str, **parameters: Any) -> int:
        """Send a command; return its number, which the answer repeats."""
        self._last += 1
        order: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            order["sessionId"] = self._session
        os.write(self._orders, json.dumps(order).encode() + b"\0")
        return self._last

    def _wait_for(self, method: str) -> None:
        while self._receive().get("method") != method:
            pass

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._read:
            ready = select.select([self._answers], [], [], max(0, deadline - time.monotonic()))
            assert ready[0], "the browser says nothing"
            more = os.read(self._answers, 1 << 16)
            assert more, "the browser is gone"
            self._read += more
        text, _, self._read = self._read.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if message.get("sessionId") != self._session:
            return {}  # a message of a closed tab
        details = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        if message.get("method") == "Log.entryAdded":
            self.complaints.append(details["entry"]["text"])
        if message.get("method") == "Page.javascriptDialogOpening":
            self.asked.append(details["type"])
            self._order("Page.handleJavaScriptDialog", accept=self.leaves)
        if message.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.complaints.append(json.dumps(details))
        return message


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator[Chromium]:
    """A Chromium with an empty profile in that folder; skips the test where there is none.

    It shows no page until it has a tab.
    """
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("there is no Chromium here")
    ends = [*os.pipe(), *os.pipe()]
    # Not 3 and 4, which are the browser's ends.
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    theirs_in, ours_out, ours_in, theirs_out = high

    def take_ends() -> None:
        os.dup2(theirs_in, 3)
        os.dup2(theirs_out, 4)

    process = subprocess.Popen(
        [program, *_OPTIONS, f"--user-data-dir={folder}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ) | {"HOME": str(folder)},
        close_fds=False,
        preexec_fn=take_ends,
        start_new_session=True,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Chromium(ours_in, ours_out)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours_in)
        os.close(ours_out)
