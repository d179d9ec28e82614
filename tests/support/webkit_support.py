"""A real WebKit, the engine of Safari and of GNOME, controlled over WebDriver.

https://www.w3.org/TR/webdriver2/
"""

from __future__ import annotations

import base64
import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_support import Browser
from mqtt_support import free_port
from patience import PATIENCE

_PROGRAMS = "/usr/lib*/*/webkit2gtk-4.*/MiniBrowser"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the standard's key of a reference
_RUN = """
const done = arguments[0];
(async () => %s)().then((value) => done([true, value]), (error) => done([false, `${error}`]));
"""


class WebKit(Browser):
    """One tab of WebKit. It records neither the page's requests nor the browser's complaints."""

    def __init__(self, address: str, program: str) -> None:
        super().__init__()
        self._address = address
        options = {"binary": program, "args": ["--automation"]}
        wanted = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}
        made = self._call("POST", "/session", capabilities={"alwaysMatch": wanted})
        self._address += f"/session/{made['sessionId']}"
        self._call("POST", "/timeouts", script=int(1000 * PATIENCE))
        self._first = ""

    def close(self) -> None:
        self._call("DELETE", "")

    def look(self, width: int, dark: bool = False, *, height: int = 900) -> None:
        assert not dark, "WebDriver has no order for dark colours"
        inner = self.run("[innerWidth, innerHeight]")
        outer = self._call("GET", "/window/rect")
        size = {
            "width": outer["width"] + width - inner[0],
            "height": outer["height"] + height - inner[1],
        }
        self._call("POST", "/window/rect", **size)
        self.wait(f"innerWidth === {width}")

    def visit(self, address: str) -> None:
        self._call("POST", "/url", url=address)
        if self._first:
            self.run(self._first)

    def run(self, expression: str, *, by_hand: bool = False) -> Any:
        # The page allows no eval(), so only a try shows whether the text is an expression
        try:
            return self._value_of(f"({expression.strip().rstrip(';')}\n)")
        except SyntaxError:
            return self._value_of(f"{{{expression}}}")

    def press(self, selector: str) -> None:
        self._call("POST", f"/element/{self._element(selector)}/click")

    def give_file(self, selector: str, path: Path) -> None:
        self._call("POST", f"/element/{self._element(selector)}/value", text=str(path))

    def take_files(self, folder: Path) -> None:
        pytest.skip("this WebKit asks a person where a file is to go")

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def cut_off(self, gone: bool) -> None:
        pytest.skip("this WebKit has no order to be offline")

    @contextlib.contextmanager
    def before_pages(self, script: str) -> Iterator[None]:
        """Run the script right after the page has loaded, before the page has done anything.

        WebDriver has no command for a script before the page's own.
        """
        self._first = script
        try:
            yield
        finally:
            self._first = ""

    def _value_of(self, expression: str) -> Any:
        done, value = self._call("POST", "/execute/async", script=_RUN % expression, args=[])
        assert done, value
        return value

    def _element(self, selector: str) -> str:
        where = {"using": "css selector", "value": selector}
        return str(self._call("POST", "/element", **where)[_ELEMENT])

    def _call(self, method: str, path: str, **parameters: Any) -> Any:
        """Send one command, and return its answer."""
        request = urllib.request.Request(
            self._address + path,
            method=method,
            data=json.dumps(parameters).encode() if method == "POST" else None,
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            # The script returns its own errors as values, so this one is a syntax error
            error_class = SyntaxError if "javascript error" in text else AssertionError
            raise error_class(text) from None


@contextlib.contextmanager
def webkit(folder: Path) -> Iterator[WebKit]:
    """A WebKit with that folder as its home; skips the test without a WebKit or a screen."""
    driver, screen = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
    programs = glob.glob(_PROGRAMS)
    if not (driver and screen and programs):
        pytest.skip("there is no WebKit here")
    with contextlib.ExitStack() as stack:
        port = free_port()
        environment = dict(os.environ) | {
            "DISPLAY": _screen(stack, screen),
            "GDK_BACKEND": "x11",
            "HOME": str(folder),
            "LANG": "en_US.UTF-8",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",  # a container has none
        }
        _start(stack, [driver, f"--port={port}"], env=environment)
        browser = WebKit(_address(port), programs[0])
        stack.callback(browser.close)
        yield browser


def _start(stack: contextlib.ExitStack, command: list[str], **options: Any) -> None:
    """Start a program that ends with the stack."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        **options,
    )
    stack.callback(process.wait)
    stack.callback(os.killpg, process.pid, signal.SIGKILL)


def _screen(stack: contextlib.ExitStack, program: str) -> str:
    """Return the DISPLAY of an invisible screen."""
    read, write = os.pipe()
    size = ["-screen", "0", "1600x1400x24", "-nolisten", "tcp"]
    _start(stack, [program, "-displayfd", str(write), *size], pass_fds=[write])
    os.close(write)
    with os.fdopen(read) as output:
        return f":{output.readline().strip()}"


def _address(port: int) -> str:
    """Wait until the driver answers; return its address."""
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{address}/status", timeout=PATIENCE).close()
            return address
        assert time.monotonic() < deadline, "WebKit says nothing"
        time.sleep(0.05)
