"""Presses, choices and files that come while the page is still waiting for something else."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from browser_support import Browser
from chromium_support import Chromium
from playground_support import choose, choose_quick, start, take
from sensor_support import RATE, held_clock, settle
from teach_support import begin, crc, do, end, name, press, taught

START = "document.querySelector('#learn-me')"
STATUS = "document.querySelector('#learn-me-status')"
LABELS = "[...document.querySelectorAll('.hand button')]"
PRESSED = f"{LABELS}.find((each) => each.ariaPressed === 'true')?.firstChild.textContent"
COUNTS = f"{LABELS}.map((each) => +(each.querySelector('.count')?.textContent ?? 0))"
MADE = "orders.filter((order) => order === 'create').length"  # number of learners
HANDED = "!!document.querySelector('#gestures-crc32')"
ONLY_PREDICT = "only predict"


def give(page: Browser, selector: str, file: str, data: bytes, then: str = "") -> None:
    """Choose a file of that name, and run `then` in the same turn."""
    packed = base64.b64encode(data).decode()
    page.run(
        "(() => { const all = new DataTransfer();"
        f"const data = Uint8Array.from(atob({packed!r}), (each) => each.charCodeAt(0));"
        f"all.items.add(new File([data], {json.dumps(file)}));"
        f"const input = document.querySelector({selector!r}); input.files = all.files;"
        f"input.dispatchEvent(new Event('change')); {then} }})()"
    )


def hold(page: Browser, order: str) -> None:
    """Hold back messages of that name to the workers."""
    page.run(f"hold = {order!r}; held = []; void 0")


def release(page: Browser) -> None:
    page.run("(() => { const all = held; held = null; for (const each of all) each(); })()")


def test_a_second_press_while_the_sensor_opens_starts_nothing_else(held: Browser) -> None:
    """One learner is created, with the label of the last press."""
    name(held, "circle, line")
    held.run(f"{LABELS}[0].click(); {LABELS}[1].click(); {START}.click()")
    held.wait(f"{START}.textContent === 'End'")
    settle(held)
    assert held.run(MADE) == 1
    assert held.run(PRESSED) == "line"
    do(held, "line", 2 * RATE)
    settle(held)
    circles, lines, _ = held.run(COUNTS)
    assert circles == 0
    assert lines > 0


def test_choices_are_frozen_while_the_sensor_opens(held: Browser) -> None:
    """A gesture's name cannot be changed to one that is not learned."""
    frozen = "['#classes input', '#source', '#exam', '#start-over'].map("
    frozen += "(each) => document.querySelector(each).disabled)"
    held.run(f"{START}.click()")
    assert held.run(frozen) == [True] * 4
    held.wait(f"{START}.textContent === 'End'")
    settle(held)
    assert held.run(frozen) == [False, True, False, False]
    end_pressed = f"{START}.click()"
    held.run(end_pressed)
    held.wait(f"!{START}.disabled")
    held.run("document.querySelector('#start-over').click()")
    held.wait(f"{START}.textContent !== 'Go on'")
    assert held.run(frozen)[:2] == [False, False]


def test_start_over_can_be_pressed_while_the_rest_is_learned(held: Browser) -> None:
    """The page does not wait for a learner that is gone, and Start still works."""
    taught(held)
    press(held, "circle")
    hold(held, "learn")
    do(held, "circle", 2 * RATE)
    held.wait("held.length === 1")
    held.run(f"{START}.click(); document.querySelector('#start-over').click()")
    release(held)
    held.wait(f"document.querySelector('#start-over').hidden || {HANDED}")
    settle(held)
    assert not held.run(f"{START}.disabled")
    assert crc(held)


def test_start_can_be_pressed_while_a_project_is_read(
    held: Browser, tmp_path: Path, address: str
) -> None:
    """The project is opened, and no second learner is created."""
    taught(held)
    shown = end(held)
    project = take(held, "take-gestures", tmp_path / "gestures.mshrub")
    held.open(address)
    held.wait("!!document.querySelector('#start')")
    give(held, "#project", "gestures.mshrub", project, f"{START}.click(); {LABELS}[0].click();")
    assert crc(held) == shown
    settle(held)
    assert held.run(MADE) == 1
    assert held.run(f"{START}.textContent") == "Go on"


def test_a_wrong_project_does_not_end_a_recording(held: Browser, tmp_path: Path) -> None:
    """The sensor is still read, and the button still says End."""
    begin(held)
    press(held, "circle")
    do(held, "circle", 2 * RATE)
    settle(held)
    before = held.run(COUNTS)[0]
    give(held, "#project", "wrong.mshrub", b"no project")
    held.wait(f"{STATUS}.classList.contains('bad')")
    assert "wrong.mshrub" in held.run(f"{STATUS}.textContent")
    assert held.run(f"{START}.textContent") == "End"
    assert held.run(PRESSED) == "circle"
    do(held, "circle", RATE)
    settle(held)
    assert held.run(COUNTS)[0] > before
    assert end(held)


def test_the_displayed_label_is_the_learned_one(held: Browser) -> None:
    """This also holds after a recording is played, deleted or moved."""
    begin(held)
    press(held, "circle")
    do(held, "circle", 2 * RATE)
    press(held, "line")
    do(held, "line", 2 * RATE)
    settle(held)
    held.run("document.querySelector('#cards .play').click()")
    assert held.run(PRESSED) == ONLY_PREDICT
    press(held, "line")
    do(held, "line", RATE)
    settle(held)
    held.run("(() => { const grows = [...document.querySelectorAll('#cards select')].at(-1);"
             "grows.value = 0; grows.dispatchEvent(new Event('change')); })()")  # fmt: skip
    assert held.run(PRESSED) == "circle"
    settle(held)
    held.run("[...document.querySelectorAll('#cards .remove')].at(-1).click()")
    assert held.run(PRESSED) == ONLY_PREDICT
    settle(held)
    before = held.run(COUNTS)
    do(held, "line", RATE)
    settle(held)
    assert held.run(COUNTS) == before


def test_an_aborted_exam_asks_no_more(held: Browser) -> None:
    """The page no longer requests a gesture."""
    question = "document.querySelector('#exam-asks').textContent"
    taught(held)
    held.run("document.querySelector('#exam').click()")
    do(held, "circle", 10)
    settle(held)
    assert held.run(question)
    press(held, ONLY_PREDICT)
    do(held, "circle", 10)
    settle(held)
    assert held.run(question) == ""


def test_a_double_click_deletes_one_recording(held: Chromium) -> None:
    """The next recording, which moves to the button's place, is not deleted."""
    taught(held, seconds=2)
    end(held)
    cards = "document.querySelectorAll('#cards li').length"
    assert held.run(cards) == 3
    x, y = held.run(
        "(() => { const button = document.querySelector('#cards .remove');"
        "button.scrollIntoView({block: 'center'}); const box = button.getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    for clicks in (1, 2):
        for event in ("mousePressed", "mouseReleased"):
            at = {"x": x, "y": y, "button": "left", "clickCount": clicks}
            held.call("Input.dispatchMouseEvent", type=event, **at)
    assert held.run(cards) == 2


def test_another_choice_while_micropython_loads_shows_no_results(held: Browser) -> None:
    """The results of the stream before are not shown for the new one."""
    choose_quick(held)
    hold(held, "create")
    start(held)
    held.wait("held.length === 1")
    choose(held, "stream", "sea")
    release(held)
    settle(held)
    assert held.run("document.querySelector('#playground .results').hidden")
    assert held.run("document.querySelector('#status').textContent") == "Press Start."


def test_an_error_of_a_file_that_is_no_longer_chosen_is_not_shown(held: Browser) -> None:
    """The message is not shown for a stream of the page."""
    held.run("Blob.prototype.arrayBuffer = () => new Promise((_, no) => (window.refuse = no))")
    give(held, "#file", "gone.csv", b"a,b,y\n1,2,p\n")
    held.wait("!!window.refuse")
    choose(held, "stream", "led")
    held.run("refuse(new Error('gone')); new Promise((resolve) => setTimeout(resolve))")
    assert held.run("document.querySelector('#status').textContent") == "Press Start."


def test_another_choice_while_a_board_is_written_keeps_the_progress(
    page: Chromium, address: str
) -> None:
    """The panel still shows the status, and does not offer to start again."""
    asks = "navigator.serial.requestPort = () => new Promise((_, no) => (window.leave = no));"
    button, status = (f"document.querySelector('#gestures-flash{end}')" for end in ("", "-status"))
    with page.before_pages(asks), held_clock(page):
        page.open(address)
        page.wait("!!document.querySelector('#start')")
    taught(page, seconds=2)
    end(page)
    page.run(f"{button}.click()")
    choose(page, "gestures-board", "rpi_pico2")
    assert page.run(f"{button}.disabled")
    assert page.run(f"{status}.textContent") == "Connecting ..."
    page.run("leave()")
    page.wait(f"{status}.className === 'bad'")
    assert not page.run(f"{button}.disabled")
    choose(page, "gestures-board", "rpi_pico")
    assert page.run(f"{status}.textContent") == ""


def test_a_new_attempt_clears_the_last_message(held: Browser) -> None:
    """The message does not stay until the image is read, as if the new attempt had failed."""
    status = "document.querySelector('#blank-status')"
    choose(held, "blank-board", "esp32")
    held.press("#blank-write")
    held.wait(f"{status}.className === 'bad'")
    held.run("Blob.prototype.arrayBuffer = () => new Promise(() => undefined); void 0")
    give(held, "#blank-file", "image.bin", b"image")
    held.press("#blank-write")
    assert held.run(f"[{status}.textContent, {status}.className]") == ["", ""]
