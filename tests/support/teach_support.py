"""The steps of teaching the page, as a person does them, on a clock that the test controls."""

from __future__ import annotations

import json

from browser_support import Browser
from sensor_support import RATE, circle, draw, line, rest, settle

GESTURES = ("circle", "line", "rest")
NAME = """
((names) => {
  const all = (selector) => [...document.querySelectorAll("#classes " + selector)];
  while (all("input").length < names.length) document.querySelector("#add-class").click();
  while (all("input").length > names.length) all(".remove").at(-1).click();
  for (const wanted of [names.map((_, c) => "gesture number " + c), names])  // no two are alike
    wanted.forEach((name, c) => {
      all("input")[c].value = name;
      all("input")[c].dispatchEvent(new Event("change"));
    });
})(%s)
"""


def name(page: Browser, names: str) -> None:
    """Name the classes."""
    page.run(NAME % json.dumps([each.strip() for each in names.split(",")]))


def begin(page: Browser) -> None:
    """Start reading the sensor."""
    page.run("document.querySelector('#learn-me').click()")
    page.wait("document.querySelector('#learn-me').textContent === 'End'")
    page.run("document.querySelector('.pad').scrollIntoView({block: 'center'})")


def ask_in_vain(page: Browser) -> None:
    """Try to start the sensor of a board that has none: the page shows an error."""
    page.run("document.querySelector('#learn-me').click()")
    page.wait("document.querySelector('#learn-me-status').classList.contains('bad')")


def press(page: Browser, text: str) -> None:
    """Press the button of a class."""
    button = (
        "[...document.querySelectorAll('.hand button')].find(b => "
        f"b.firstChild.textContent === '{text}')"
    )
    page.run(f"{button}.click()")
    assert page.run(f"{button}.getAttribute('aria-pressed')") == "true"


def end(page: Browser) -> int:
    """Press End, and return the checksum of the model."""
    page.run("document.querySelector('#learn-me').click()")
    return crc(page)


def crc(page: Browser) -> int:
    """Return the checksum that the page shows."""
    return int(page.wait("document.querySelector('#gestures-crc32')?.textContent"), 16)


def recognised(page: Browser) -> str:
    """Return the class that the page recognises."""
    return str(page.run("document.querySelector('#said').textContent"))


def taught(page: Browser, rounds: int = 1, seconds: int = 6) -> None:
    """Teach the three gestures, class after class, for `seconds` seconds each."""
    begin(page)
    for text in GESTURES * rounds:
        press(page, text)
        do(page, text, seconds * RATE)
    press(page, "only predict")
    settle(page)


def do(page: Browser, text: str, readings: int, begin: int = 0) -> None:
    """Make a gesture for `readings` readings, starting at reading `begin`."""
    if text == "rest":
        rest(page, readings)
    else:
        draw(page, {"circle": circle, "line": line}[text], readings, begin)
