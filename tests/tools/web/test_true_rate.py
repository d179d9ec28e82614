"""Readings are taken at their times, however late the page polls; lost readings are reported."""

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
# The page is busy: the pointer's events wait, each with its time; then the page polls
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
    """Make a gesture while the page is busy for `readings` readings at a time."""
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
    """The page takes exactly 50 readings a second, whatever else it does."""
    one = taught(held, tmp_path / "one" / "gestures.csv", busy=False)
    held.open(address)
    held.wait("!!document.querySelector('#start')")
    assert taught(held, tmp_path / "other" / "gestures.csv", busy=True) == one


def test_lost_readings_are_counted_and_reported(held: Browser) -> None:
    """Readings older than two seconds are lost; no sample spans the gap."""
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


def test_at_a_sixth_of_the_speed_the_rate_is_true_and_losses_are_reported(
    playground: Chromium, tmp_path: Path
) -> None:
    """By the page's own clock, 50 readings of each second are taken or reported as lost."""
    page = playground
    name(page, "circle, line")
    begin(page)
    page.call("Emulation.setCPUThrottlingRate", rate=6)
    try:
        moments, lost = [page.run(SHOW % '"circle"')], [0]
        for is_busy in (False, True):
            for i in range(40):
                move(page, i)
            if is_busy:  # longer than the page can make up for
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
        # one reading more or less at each end, as a press is not at a reading
        assert abs(count + lost[k + 1] - lost[k] - due) < 2, (kept, moments, lost)
    assert lost[2] > lost[1]


def move(page: Chromium, i: int) -> None:
    """Move the pointer along a circle in the pad, through the browser."""
    box = page.run("document.querySelector('.pad').getBoundingClientRect().toJSON()")
    x, y = (box[side] + box[length] / 2 for side, length in (("x", "width"), ("y", "height")))
    dx, dy = circle(i / 50)
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + dx, y=y + dy)


def readings(project: bytes) -> list[int]:
    """Return the number of readings of each recording."""
    with zipfile.ZipFile(io.BytesIO(project)) as archive:
        project_data = json.loads(archive.read("gestures.json"))
    return [len(base64.b64decode(each["readings"])) // 8 for each in project_data["recordings"]]
