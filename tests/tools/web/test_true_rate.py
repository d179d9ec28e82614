"""Readings are taken at their moments, however late a page asks; lost ones are told."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from pathlib import Path

from browser_support import Browser
from chromium_support import Chromium
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


SHOW = """
(() => {
  const button = [...document.querySelectorAll(".hand button")].find(
    (each) => each.firstChild.textContent === %s);
  const { timeStamp } = new Event("now");
  button.click();
  return timeStamp;
})()
"""
BUSY = "(() => { for (const end = Date.now() + 2600; Date.now() < end; ); })()"
LOST = re.compile(r"; ([0-9]+) readings? lost: the device was too busy")


def test_six_times_slower_the_rate_is_true_and_what_is_lost_is_told(
    playground: Chromium, tmp_path: Path
) -> None:
    """By the page's own clock, 50 readings of each second were taken or are told as lost."""
    page = playground
    name(page, "circle, line")
    begin(page)
    page.call("Emulation.setCPUThrottlingRate", rate=6)
    try:
        moments, lost = [page.run(SHOW % '"circle"')], [0]
        for is_busy in (False, True):
            for i in range(40):
                move(page, i)
            if is_busy:  # for longer than anybody knows what was
                page.run(BUSY)
                page.wait(f"/lost/.test({LEARNED})")
            text = "line" if not is_busy else "only predict"
            moments.append(page.run(SHOW % json.dumps(text)))
            match = LOST.search(page.run(LEARNED))
            lost.append(int(match[1]) if match else 0)
    finally:
        page.call("Emulation.setCPUThrottlingRate", rate=1)
    end(page)
    kept = readings(take(page, "take-gestures", tmp_path / "gestures.mshrub"))
    for k, count in enumerate(kept):
        due = (moments[k + 1] - moments[k]) / 20
        # a reading more or less at each end, as the press is not at a reading
        assert abs(count + lost[k + 1] - lost[k] - due) < 2, (kept, moments, lost)
    assert lost[2] > lost[1]


def move(page: Chromium, i: int) -> None:
    """The pointer goes on in a circle in the pad, as the browser itself moves it."""
    box = page.run("document.querySelector('.pad').getBoundingClientRect().toJSON()")
    x, y = (box[side] + box[length] / 2 for side, length in (("x", "width"), ("y", "height")))
    dx, dy = circle(i / 50)
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + dx, y=y + dy)


def readings(project: bytes) -> list[int]:
    """How many each recording has."""
    with zipfile.ZipFile(io.BytesIO(project)) as archive:
        project_data = json.loads(archive.read("gestures.json"))
    return [len(base64.b64decode(each["readings"])) // 8 for each in project_data["recordings"]]
