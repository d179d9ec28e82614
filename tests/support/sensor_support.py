"""Control of the page's clock, sensors and worker, so that no test depends on the machine's speed.

`HELD` runs before the page. The page then takes each reading when the test calls for it; a test
can see whether the worker is busy, and can hold back messages to it.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Sequence

from browser_support import Browser
from patience import PATIENCE

RATE = 50  # readings per second
Point = tuple[float, float]  # pixels from the pad's centre
HELD = """
window.clock = 0;  // that of events, in milliseconds: it goes on with each reading
Object.defineProperty(Event.prototype, "timeStamp", { get: () => clock });
window.setInterval = (read, period) => {
  window.tick = () => { clock += period; read(); };
  return 1;
};
window.working = 0;  // orders that the workers which learn have
window.held = null;  // orders of the name `hold` that wait for their release
window.orders = [];
window.Worker = class extends Worker {
  constructor(address, options) {
    super(address, options);
    this.learns = address === "worker.js";  // one that reads a file tells how far it is, too
    this.addEventListener("message", () => this.learns && working--);
  }
  postMessage(order) {
    if (!this.learns) return super.postMessage(order);
    working++;
    orders.push(order.name);
    if (held && order.name === hold) held.push(() => super.postMessage(order));
    else super.postMessage(order);
  }
};
"""
POINTS = """
(() => {
  const pad = document.querySelector(".pad");
  const {x, y, width, height} = pad.getBoundingClientRect();
  for (const [dx, dy] of %s) {
    const at = {clientX: x + width / 2 + dx, clientY: y + height / 2 + dy};
    pad.dispatchEvent(new PointerEvent("pointermove", at));
    tick();
  }
})()
"""

# A moving device: gravity, acceleration and rotation. No browser asks for permission here.
MOVED = """
for (const [x, y, turn] of %s) {
  const accelerationIncludingGravity = {x, y, z: 9.8}, rotationRate = {alpha: turn};
  const moved = {accelerationIncludingGravity, rotationRate};
  dispatchEvent(new DeviceMotionEvent("devicemotion", moved));
  if (window.tick) tick();
}
"""
# Send motion of a device at rest until the page reads it.
LIES = """
setTimeout(function again() {
  const accelerationIncludingGravity = {x: 0, y: 0, z: 9.8};
  dispatchEvent(new DeviceMotionEvent("devicemotion", {accelerationIncludingGravity}));
  if (!window.tick) setTimeout(again, 20);
});
"""


@contextlib.contextmanager
def held_clock(page: Browser) -> Iterator[None]:
    """While it is open, newly opened pages wait for tick()."""
    with page.before_pages(HELD):
        yield


def settle(page: Browser) -> None:
    """Wait until the page has handled all of its input."""
    page.wait("working === 0", PATIENCE)


def circle(seconds: float) -> Point:
    """Return the pointer's place on a circle, at 1.5 turns a second."""
    angle = 2 * math.pi * 1.5 * seconds
    return 60 * math.cos(angle), 60 * math.sin(angle)


def line(seconds: float) -> Point:
    """Return the pointer's place on a line, to and fro once a second."""
    return 60 * math.cos(2 * math.pi * seconds), 0


def draw(page: Browser, gesture: Callable[[float], Point], readings: int, begin: int = 0) -> None:
    """Take `readings` readings while the pointer makes a gesture; do not wait for the page."""
    points: Sequence[Point] = [gesture((begin + i) / RATE) for i in range(readings)]
    page.run(POINTS % json.dumps(points))


def rest(page: Browser, readings: int) -> None:
    """Take `readings` readings while the pointer rests."""
    page.run(f"for (let i = 0; i < {readings}; i++) tick()")
