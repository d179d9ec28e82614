"""Classes and recordings change at any time, each change is undone, the browser keeps all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from browser_support import Browser
from chromium_support import Chromium
from playground_support import take
from sensor_support import held_clock, settle
from teach_support import begin, crc, do, end, name, press, said, taught

from microshrub_host import open_stream, simulate

STATUS = "document.querySelector('#learn-me-status').textContent"
COUNTS = "[...document.querySelectorAll('.count')].map((each) => +each.textContent)"
NAMES = "[...document.querySelectorAll('#classes input')].map((each) => each.value)"
BUTTONS = "[...document.querySelectorAll('.hand button > span')].map((each) => each.textContent)"
CARDS = "document.querySelectorAll('#cards li').length"
NOTHING_IS_KEPT = "Object.defineProperty(window, 'indexedDB', {value: undefined})"
UNDO = "document.querySelector('#undo').click()"


def rename(page: Browser, label: int, to: str) -> None:
    page.run(
        f"(input => {{ input.value = {json.dumps(to)};"
        "input.dispatchEvent(new Event('change')); })"
        f"(document.querySelectorAll('#classes input')[{label}])"
    )


def delete(page: Browser, label: int) -> None:
    page.run(f"document.querySelectorAll('#classes .remove')[{label}].click()")


def test_a_class_comes_late_and_is_learned_beside_the_others(
    held: Browser, tmp_path: Path
) -> None:
    name(held, "circle, line")
    begin(held)
    for text in ("circle", "line"):
        press(held, text)
        do(held, text, 150)
    settle(held)
    held.run("document.querySelector('#add-class').click()")
    rename(held, 2, "rest")
    assert held.run(BUTTONS) == ["circle", "line", "rest", "only predict"]
    press(held, "rest")
    do(held, "rest", 150)
    press(held, "only predict")
    do(held, "rest", 40)
    settle(held)
    assert said(held) == "rest"
    shown = end(held)
    assert held.run(COUNTS) == [15, 19, 19]
    take(held, "take-gestures", tmp_path / "gestures.mshrub")
    stream = open_stream(str(tmp_path / "gestures.mshrub"))
    assert stream.class_names == ("circle", "line", "rest")
    assert simulate(stream, bytes=16384).state_crc32 == shown


def test_a_class_is_renamed_and_deleted_while_it_is_taught(held: Browser) -> None:
    begin(held)
    for text in ("circle", "line", "rest"):
        press(held, text)
        do(held, text, 100)
    rename(held, 2, "still")
    assert held.run(BUTTONS) == ["circle", "line", "still", "only predict"]
    do(held, "rest", 40)  # and what is recorded goes on
    settle(held)
    before = held.run(COUNTS)
    assert before[2] > 12
    delete(held, 0)
    settle(held)
    assert held.run(BUTTONS) == ["line", "still", "only predict"]
    assert held.run(COUNTS) == before[1:]
    do(held, "rest", 40)
    settle(held)
    assert said(held) == "still"
    assert held.run(COUNTS)[1] > before[2]


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page.run("document.querySelectorAll('#cards .remove')[1].click()"),
        lambda page: delete(page, 1),
        lambda page: page.run("document.querySelector('#add-class').click()"),
        lambda page: rename(page, 0, "ring"),
        lambda page: page.run("document.querySelector('#start-over').click()"),
    ],
    ids=["recording", "class", "another", "name", "all"],
)
def test_each_change_is_undone(held: Browser, change: Callable[[Browser], None]) -> None:
    taught(held, seconds=2)
    before = end(held)
    change(held)
    settle(held)
    assert held.run(f"{NAMES}.join() + {CARDS}") != "circle,line,rest3"
    held.run(UNDO)
    settle(held)
    held.wait(f"{NAMES}.join() + {CARDS} === 'circle,line,rest3'")
    assert crc(held) == before


def test_two_gestures_are_left_and_no_two_are_alike(held: Browser) -> None:
    rename(held, 0, "line")
    assert held.run(NAMES) == ["circle", "line", "rest"]
    assert "line" in held.run(STATUS)
    rename(held, 0, "")
    assert held.run(NAMES) == ["circle", "line", "rest"]
    delete(held, 2)
    assert held.run("[...document.querySelectorAll('#classes .remove')].every((x) => x.disabled)")


def test_a_tab_that_was_closed_goes_on(held: Chromium, address: str) -> None:
    """Nobody is asked whether to leave: the browser has it all."""
    held.run("0", by_hand=True)
    taught(held, seconds=3)
    rename(held, 1, "dash")
    before = end(held)
    settle(held)
    held.run("new Promise((resolve) => setTimeout(resolve, 1500))")  # each second it is kept
    held.asked.clear()
    held.open(address, keeps=True)
    assert held.asked == []
    assert crc(held) == before
    assert held.run(NAMES) == ["circle", "dash", "rest"]
    assert held.run(CARDS) == 3
    begin(held)
    press(held, "only predict")
    do(held, "circle", 40)
    settle(held)
    assert said(held) == "circle"


def test_where_the_browser_keeps_nothing_it_asks_before_all_is_lost(
    page: Chromium, address: str
) -> None:
    with page.before_pages(NOTHING_IS_KEPT), held_clock(page):
        page.open(address)
        page.wait("!!document.querySelector('#start')")
        page.run("0", by_hand=True)
        taught(page, seconds=2)
        page.run("new Promise((resolve) => setTimeout(resolve, 1500))")
        page.asked.clear()
        page.open(address)
        assert page.asked == ["beforeunload"]
