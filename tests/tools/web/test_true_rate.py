"""Readings are taken at their moments, however late a page asks; lost ones are told."""

from __future__ import annotations

import json
from pathlib import Path

from browser_support import Browser
from playground_support import take
from sensor_support import circle, line, settle
from teach_support import begin, do, end, name, press

LEARNED = "document.querySelector('#learned').textContent"
# The page is busy: the pointer's moves wait, each with its time; it asks for readings at the end
STALLED = """
(() => {
  const pad = document.querySelector(".pad");
  const {x, y, width, height} = pad.getBoundingClientRect();
  const at = ([dx, dy]) => ({clientX: x + width / 2 + dx, clientY: y + height / 2 + dy});
  const points = %s;
  const events = points.map((point, i) => {
    const event = new PointerEvent("pointermove", at(point));
    Object.defineProperty(event, "timeStamp", {value: clock + 20 * i + 10});
    return event;
  });
  clock += 20 * points.length - 10;
  const last = new PointerEvent("pointermove", at(points.at(-1)));
  Object.defineProperty(last, "timeStamp", {value: clock});
  last.getCoalescedEvents = () => events;
  pad.dispatchEvent(last);
  clock -= 10;  // the last 20 come with the tick
  tick();
})()
"""


def stalled(page: Browser, text: str, readings: int) -> None:
    """Make a gesture while the page is busy for so many readings at a time."""
    gesture = {"circle": circle, "line": line}[text]
    for first in range(0, 150, readings):
        moments = [(first + i) / 50 for i in range(readings)]
        page.run(STALLED % json.dumps([gesture(moment) for moment in moments]))


def taught(page: Browser, path: Path, busy: bool) -> tuple[bytes, int]:
    name(page, "circle, line")
    begin(page)
    for text in ("circle", "line") * 2:
        press(page, text)
        if busy:
            stalled(page, text, 15)
        else:
            do(page, text, 150)
    settle(page)
    assert "lost" not in page.run(LEARNED)
    shown = end(page)
    path.parent.mkdir()
    return take(page, "take-csv", path), shown


def test_a_busy_page_takes_the_same_readings(held: Browser, address: str, tmp_path: Path) -> None:
    """Of 50 readings a second it took as many as it had time for, and called them 50."""
    one = taught(held, tmp_path / "one" / "gestures.csv", busy=False)
    held.open(address)
    held.wait("!!document.querySelector('#start')")
    assert taught(held, tmp_path / "other" / "gestures.csv", busy=True) == one


def test_readings_that_are_lost_are_counted_and_told(held: Browser) -> None:
    """What is longer ago than two seconds nobody knows; no sample is made across it."""
    begin(held)
    press(held, "circle")
    do(held, "circle", 64)
    held.run("clock += 3000; void 0")
    do(held, "circle", 33)
    settle(held)
    assert held.run(LEARNED) == (
        "18 samples learned; 51 readings lost: the device was too busy, or the sensor paused"
    )
