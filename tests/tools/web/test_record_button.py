"""A class is recorded with a button on its card, after a countdown: held, or pressed once."""

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
# Records each text of the button, so that no text is missed on a slow machine
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


def test_holding_the_button_records(held: Browser) -> None:
    """A countdown runs before, while the sensor is opened."""
    assert held.run(f"{BUTTON}.{EVENT % 'pointerdown'}; {SHOWN}") == "3"
    held.wait("document.querySelector('#learn-me').textContent === 'End'")
    assert recording(held)
    do(held, "circle", 100)
    held.run(f"{BUTTON}.{EVENT % 'pointerup'}")
    over(held)
    settle(held)
    assert held.run(COUNTS) == [9, 0, 0]
    do(held, "circle", 100)  # only predicted
    settle(held)
    assert held.run(COUNTS) == [9, 0, 0]


def test_a_press_records_for_some_seconds(held: Browser) -> None:
    held.run(WATCHED % "")
    held.run(f"{BUTTON}.{EVENT % 'pointerdown'}; {BUTTON}.{EVENT % 'pointerup'}")
    assert held.wait("shown.at(-1) === 'Record' && shown") == STEPS
    over(held)


def test_a_second_press_ends_the_recording(held: Browser) -> None:
    held.run(WATCHED % f"if ({SHOWN} === 'Recording ...') {{ {BUTTON}.click(); end = {SHOWN}; }}")
    held.run(f"{BUTTON}.click()")  # like the space bar
    assert held.wait("window.end") == "Record"  # at once
    over(held)


def test_a_class_that_is_deleted_during_the_countdown_is_not_recorded(held: Browser) -> None:
    held.run(f"{BUTTON}.{EVENT % 'pointerdown'}")
    held.wait("document.querySelector('#learn-me').textContent === 'End'")
    held.run("document.querySelectorAll('#classes .remove')[0].click()")
    held.run("new Promise((resolve) => setTimeout(resolve, 2500))")  # the countdown is over
    assert held.run(f"{PRESSED}.textContent") == "only predict"
    assert held.run(SHOWN) == "Record"
