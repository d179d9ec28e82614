"""A page in a real Chromium, which is told what to do over its DevTools protocol.

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
from patience import PATIENCE

_NAMES = ("chromium", "chromium-browser", "google-chrome")
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


class Browser:
    """One tab. It keeps what the page asked for and what the browser had to complain about."""

    def __init__(self, answers: int, orders: int) -> None:
        self._answers = answers
        self._orders = orders
        self._read = b""
        self._last = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def open(self, page: Path | str, *, width: int = 1280, dark: bool = False) -> None:
        """The page of a file, or at an address, in a window of that width, in pixels."""
        self.requests.clear()
        self.complaints.clear()
        self.look(width, dark)
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self._wait_for("Page.loadEventFired")

    def look(self, width: int, dark: bool) -> None:
        """The window's width in pixels, and its colours."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page, or what it promises."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression: str, seconds: float = PATIENCE) -> Any:
        """The expression's value as soon as it is true."""
        deadline = time.monotonic() + seconds
        while not (value := self.run(expression)):
            assert time.monotonic() < deadline, f"{expression} stays {value}"
            time.sleep(0.1)
        return value

    def press(self, selector: str) -> None:
        """Press what the selector of CSS finds, as a person does it."""
        code = f"document.querySelector({selector!r}).click()"
        self.call("Runtime.evaluate", expression=code, userGesture=True)

    def give_file(self, selector: str, path: Path) -> None:
        """Choose a file in the input that the selector of CSS finds."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def picture(self, path: Path) -> None:
        """Write what the window shows to a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One order, and its answer."""
        self._last += 1
        order: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            order["sessionId"] = self._session
        os.write(self._orders, json.dumps(order).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return dict(answer["result"])

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
        told = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        if message.get("method") == "Log.entryAdded":
            self.complaints.append(told["entry"]["text"])
        if message.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.complaints.append(json.dumps(told))
        return message


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A Chromium with an empty profile in that folder; skips the test where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("there is no Chromium here")
    ends = [*os.pipe(), *os.pipe()]
    # Away from 3 and 4, which are the browser's ends.
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
        yield Browser(ours_in, ours_out)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours_in)
        os.close(ours_out)
