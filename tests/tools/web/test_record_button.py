"""A class is recorded with a button of its card, which counts down: held, or pressed."""

from __future__ import annotations

from browser_support import Browser
from sensor_support import settle
from teach_support import do

BUTTON = "document.querySelectorAll('#classes .record')[0]"
SHOWN = f"{BUTTON}.textContent"
PRESSED = "[...document.querySelectorAll('.hand button')].find(b => b.ariaPressed === 'true')"
COUNTS = "[...document.querySelectorAll('.count')].map((each) => +each.textContent)"
EVENT = "dispatchEvent(new PointerEvent('%s', {bubbles: true}))"

STEPS = ["3", "2", "1", "Recording ...", "Record"]
# Notes what it shows, so that nothing is missed however slow the machine is
WATCHED = f"""
window.shown = [];
new MutationObserver(() => {{ shown.push({SHOWN}); %s }}).observe({BUTTON}, {{ childList: true }});
"""


def recording(page: Browser) -> bool:
    page.wait(f"{PRESSED}?.firstChild.textContent === 'circle'")
    return bool(page.run(SHOWN) == "Recording ...")


def over(page: Browser) -> None:
    page.wait(f"{PRESSED}.textContent === 'only predict'")
    assert page.run(SHOWN) == "Record"


def test_it_records_for_as_long_as_it_is_held(held: Browser) -> None:
    """And counts down before, in which the sensor is opened."""
    assert held.run(f"{BUTTON}.{EVENT % 'pointerdown'}; {SHOWN}") == "3"
    held.wait("document.querySelector('#learn-me').textContent === 'End'")
    assert recording(held)
    do(held, "circle", 100)
    held.run(f"{BUTTON}.{EVENT % 'pointerup'}")
    over(held)
    settle(held)
    assert held.run(COUNTS) == [9, 0, 0]
    do(held, "circle", 100)  # which is only predicted
    settle(held)
    assert held.run(COUNTS) == [9, 0, 0]


def test_pressed_it_records_for_some_seconds(held: Browser) -> None:
    held.run(WATCHED % "")
    held.run(f"{BUTTON}.{EVENT % 'pointerdown'}; {BUTTON}.{EVENT % 'pointerup'}")
    assert held.wait("shown.at(-1) === 'Record' && shown") == STEPS
    over(held)


def test_a_second_press_is_its_end(held: Browser) -> None:
    held.run(WATCHED % f"if ({SHOWN} === 'Recording ...') {{ {BUTTON}.click(); end = {SHOWN}; }}")
    held.run(f"{BUTTON}.click()")  # as of the space bar
    assert held.wait("window.end") == "Record"  # at once
    over(held)


def test_a_class_that_is_deleted_meanwhile_is_not_recorded(held: Browser) -> None:
    held.run(f"{BUTTON}.{EVENT % 'pointerdown'}")
    held.wait("document.querySelector('#learn-me').textContent === 'End'")
    held.run("document.querySelectorAll('#classes .remove')[0].click()")
    held.run("new Promise((resolve) => setTimeout(resolve, 2500))")  # it has counted down
    assert held.run(f"{PRESSED}.textContent") == "only predict"
    assert held.run(SHOWN) == "Record"
