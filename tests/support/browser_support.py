"""A page in a real browser; chromium_support, firefox_support and webkit_support implement it."""

from __future__ import annotations

import abc
import contextlib
import time
from pathlib import Path
from typing import Any

from patience import PATIENCE

# The open page must not save again: its autosave, a second late, would reach the next page.
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
    """One tab, with a record of the page's requests and of the browser's complaints."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.asked: list[str] = []  # the kinds of the dialogs that opened, in Chromium

    def open(
        self, page: Path | str, *, width: int = 1280, dark: bool = False, keeps: bool = False
    ) -> None:
        """Open a file or an address in a window of this width, in pixels.

        The page starts with nothing stored, unless `keeps` is true.
        """
        if not keeps:
            self.run(FORGET)
        self.visit("about:blank")  # failed loads of the page before must not count here
        self.requests.clear()
        self.complaints.clear()
        self.look(width, dark)
        self.visit(page if isinstance(page, str) else page.as_uri())

    def wait(self, expression: str, seconds: float = PATIENCE) -> Any:
        """Return the expression's value as soon as it is true."""
        deadline = time.monotonic() + seconds
        while not (value := self.run(expression)):
            assert time.monotonic() < deadline, f"{expression} stays {value}"
            time.sleep(0.1)
        return value

    def press(self, selector: str) -> None:
        """Press the element that the CSS selector finds, as a person would."""
        self.run(f"document.querySelector({selector!r}).click()", by_hand=True)

    @abc.abstractmethod
    def look(self, width: int, dark: bool = False, *, height: int = 900) -> None:
        """Set the window's size in pixels, and its colours."""

    @abc.abstractmethod
    def visit(self, address: str) -> None:
        """Open an address, and wait until its page is loaded."""

    @abc.abstractmethod
    def run(self, expression: str, *, by_hand: bool = False) -> Any:
        """Return the value of a JavaScript expression in the page; a promise is awaited.

        With `by_hand`, the expression runs as in a user's press, which permits more.
        """

    @abc.abstractmethod
    def give_file(self, selector: str, path: Path) -> None:
        """Choose a file in the input that the CSS selector finds."""

    @abc.abstractmethod
    def take_files(self, folder: Path) -> None:
        """Save the page's downloads in that folder, without a dialog."""

    @abc.abstractmethod
    def picture(self, path: Path) -> None:
        """Write a picture of the window to a PNG file."""

    @abc.abstractmethod
    def cut_off(self, gone: bool) -> None:
        """Cut the page off from the network, or connect it again."""

    @abc.abstractmethod
    def before_pages(self, script: str) -> contextlib.AbstractContextManager[None]:
        """While it is open, run this script in each opened page, before the page's own scripts."""
