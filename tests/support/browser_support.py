"""A page in a real browser, whichever it is: chromium_support and firefox_support have them."""

from __future__ import annotations

import abc
import contextlib
import time
from pathlib import Path
from typing import Any

from patience import PATIENCE

# The open page may save no more: its autosave, a second late, would reach the next page.
FORGET = """
(() => {
  for (let timer = setTimeout(() => null); timer; timer--) clearTimeout(timer);
  window.setTimeout = () => 0;
  return new Promise((resolve) => {
    const order = indexedDB.deleteDatabase("microshrub");
    order.onsuccess = order.onerror = order.onblocked = () => resolve(true);
  }).catch(() => false);  // a page that may keep nothing
})()
"""


class Browser(abc.ABC):
    """One tab. It keeps what the page asked for and what the browser had to complain about."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.asked: list[str] = []  # the kinds of the dialogs that came up, in Chromium

    def open(
        self, page: Path | str, *, width: int = 1280, dark: bool = False, keeps: bool = False
    ) -> None:
        """The page of a file, or at an address, in a window of that width, in pixels.

        It knows nothing of what was done before, unless it keeps that.
        """
        if not keeps:
            self.run(FORGET)
        self.visit("about:blank")  # what the page before it can no longer load is not this one's
        self.requests.clear()
        self.complaints.clear()
        self.look(width, dark)
        self.visit(page if isinstance(page, str) else page.as_uri())

    def wait(self, expression: str, seconds: float = PATIENCE) -> Any:
        """The expression's value as soon as it is true."""
        deadline = time.monotonic() + seconds
        while not (value := self.run(expression)):
            assert time.monotonic() < deadline, f"{expression} stays {value}"
            time.sleep(0.1)
        return value

    def press(self, selector: str) -> None:
        """Press what the selector of CSS finds, as a person does it."""
        self.run(f"document.querySelector({selector!r}).click()", by_hand=True)

    @abc.abstractmethod
    def look(self, width: int, dark: bool = False, *, height: int = 900) -> None:
        """The window's size in pixels, and its colours."""

    @abc.abstractmethod
    def visit(self, address: str) -> None:
        """Go to an address, and wait until its page is loaded."""

    @abc.abstractmethod
    def run(self, expression: str, *, by_hand: bool = False) -> Any:
        """The value of an expression of JavaScript in the page, or what it promises.

        By hand, the page may do what a press allows.
        """

    @abc.abstractmethod
    def give_file(self, selector: str, path: Path) -> None:
        """Choose a file in the input that the selector of CSS finds."""

    @abc.abstractmethod
    def take_files(self, folder: Path) -> None:
        """Put what the page gives away into that folder, and ask nobody."""

    @abc.abstractmethod
    def picture(self, path: Path) -> None:
        """Write what the window shows to a PNG file."""

    @abc.abstractmethod
    def cut_off(self, gone: bool) -> None:
        """Whether the network is gone."""

    @abc.abstractmethod
    def before_pages(self, script: str) -> contextlib.AbstractContextManager[None]:
        """While it is open, this runs in each page that is opened, before its own scripts."""
