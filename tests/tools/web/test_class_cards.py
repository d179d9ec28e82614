"""Classes and recordings can change at any time; changes can be undone; the browser keeps all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from browser_support import Browser
from chromium_support import Chromium
from playground_support import choose, take
from sensor_support import circle, draw, held_clock, settle
from teach_support import GESTURES, begin, crc, do, end, name, press, recognised, taught

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


def flattened(page: Browser, share: float) -> tuple[str, int]:
    """Return the class and the confidence in percent for a circle flattened to a share."""
    draw(page, lambda at: (circle(at)[0], share * circle(at)[1]), 64)
    settle(page)
    shares = page.run("[...document.querySelectorAll('#bars .share')].map((x) => x.textContent)")
    return recognised(page), max(int(each.removesuffix(" %")) for each in shares)


def test_a_class_can_be_added_during_teaching(held: Browser, tmp_path: Path) -> None:
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
    assert recognised(held) == "rest"
    shown = end(held)
    assert held.run(COUNTS) == [15, 19, 19]
    take(held, "take-gestures", tmp_path / "gestures.mshrub")
    stream = open_stream(str(tmp_path / "gestures.mshrub"))
    assert stream.class_names == ("circle", "line", "rest")
    assert simulate(stream, bytes=16384).state_crc32 == shown


def test_classes_can_be_renamed_and_deleted_during_teaching(held: Browser) -> None:
    begin(held)
    for text in ("circle", "line", "rest"):
        press(held, text)
        do(held, text, 100)
    rename(held, 2, "still")
    assert held.run(BUTTONS) == ["circle", "line", "still", "only predict"]
    do(held, "rest", 40)  # and the recording continues
    settle(held)
    before = held.run(COUNTS)
    assert before[2] > 12
    delete(held, 0)
    settle(held)
    assert held.run(BUTTONS) == ["line", "still", "only predict"]
    assert held.run(COUNTS) == before[1:]
    do(held, "rest", 40)
    settle(held)
    assert recognised(held) == "still"
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


def test_the_actions_of_a_class_come_back_with_the_class(held: Browser) -> None:
    taught(held, seconds=2)
    end(held)
    choose(held, "switch-kind", "lights")
    choose(held, "switch-2", "20")
    delete(held, 2)
    held.wait("document.querySelector('#switch-0') && !document.querySelector('#switch-2')")
    choose(held, "switch-0", "18")
    held.run(UNDO)
    held.wait("document.querySelector('#switch-2') !== null")
    values = "[0, 1, 2].map((c) => document.querySelector(`#switch-${c}`).value)"
    assert held.run(values) == ["18", "17", "20"]


def test_a_class_is_recognised_only_from_its_threshold_on(held: Browser, tmp_path: Path) -> None:
    """The threshold, as in CreateAI, is stored in the page and the project, and can be undone."""
    taught(held, seconds=2)
    press(held, "only predict")
    flat = {share: flattened(held, share) for share in (0.2, 0.3, 0.4, 0.5, 0.6)}
    unsure = [share for share, (text, percent) in flat.items() if text != "rest" and percent < 95]
    assert unsure, flat
    text, _ = flat[unsure[0]]
    before = end(held)
    choose(held, f"threshold-{GESTURES.index(text)}", "95")
    settle(held)
    assert crc(held) == before  # nothing is learned again
    begin(held)
    assert flattened(held, unsure[0])[0] == f"{text}? Below 95 %"
    choose(held, f"threshold-{GESTURES.index(text)}", "0")
    choose(held, "threshold-0", "95")
    do(held, "circle", 60)
    settle(held)
    assert recognised(held) == "circle"  # the confidence is high enough
    end(held)
    take(held, "take-gestures", tmp_path / "gestures.mshrub")
    held.run(UNDO)
    held.wait("document.querySelector('#threshold-0').value === '0'")
    held.give_file("#project", tmp_path / "gestures.mshrub")
    held.wait("document.querySelector('#threshold-0').value === '95'")
    assert crc(held) == before


def test_two_gestures_remain_and_no_two_are_equal(held: Browser) -> None:
    rename(held, 0, "line")
    assert held.run(NAMES) == ["circle", "line", "rest"]
    assert "line" in held.run(STATUS)
    rename(held, 0, "")
    assert held.run(NAMES) == ["circle", "line", "rest"]
    delete(held, 2)
    assert held.run("[...document.querySelectorAll('#classes .remove')].every((x) => x.disabled)")


def test_a_closed_tab_can_continue(held: Browser, address: str) -> None:
    """No dialog opens before the page closes: the browser has stored everything."""
    held.run("0", by_hand=True)
    taught(held, seconds=3)
    rename(held, 1, "dash")
    before = end(held)
    settle(held)
    held.run("new Promise((resolve) => setTimeout(resolve, 1500))")  # saved every second
    held.asked.clear()
    held.open(address, keeps=True)
    assert held.asked == []
    assert crc(held) == before
    assert held.run(NAMES) == ["circle", "dash", "rest"]
    assert held.run(CARDS) == 3
    begin(held)
    press(held, "only predict")
    do(held, "circle", 40)
    held.wait("document.querySelector('#said').textContent === 'circle'")


def test_a_killed_tab_can_continue(page: Chromium, address: str) -> None:
    """A phone may kill the tab for its memory, in the middle of a class."""
    with held_clock(page):
        page.open(address)
        page.wait("!!document.querySelector('#start')")
    begin(page)
    for text in ("circle", "line", "rest"):
        press(page, text)
        do(page, text, 150)
    settle(page)
    counts = page.run(COUNTS)
    page.run("new Promise((resolve) => setTimeout(resolve, 1500))")  # saved every second
    page.kill_tab()
    page.open(address, keeps=True)
    assert crc(page)
    assert page.run(NAMES) == ["circle", "line", "rest"]
    assert page.run(COUNTS) == counts


def test_without_storage_the_page_asks_before_data_is_lost(page: Chromium, address: str) -> None:
    with page.before_pages(NOTHING_IS_KEPT), held_clock(page):
        page.open(address)
        page.wait("!!document.querySelector('#start')")
        page.run("0", by_hand=True)
        taught(page, seconds=2)
        page.run("new Promise((resolve) => setTimeout(resolve, 1500))")
        page.asked.clear()
        page.open(address)
        assert page.asked == ["beforeunload"]
