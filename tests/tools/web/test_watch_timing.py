"""Presses while the page that watches a board is still waiting, and the data that is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_support import Browser
from cable_support import Gesturing, bridged, gesturing, motion_program
from playground_support import take
from test_watch_queries import COUNT, QUERY

WATCH = "document.querySelector('#watch')"
STATUS = "document.querySelector('#watch-status').textContent"
NEWEST = "document.querySelector('#watch-newest').textContent"
LABELS = "[...document.querySelectorAll('#watch-part section:last-child .labels button')]"
DRAWN = """
(({ width, height }, paper) => paper.getImageData(0, 0, width, height).data.some(Boolean))(
  ...((sheet) => [sheet, sheet.getContext("2d")])(document.querySelector("#watch-part .trace")))
"""
# Runs code as soon as the query changes, and returns the text that is shown then
CHANGED = """
new Promise((resolve) => {
  const asked = document.querySelector('#query');
  const [before, first] = [asked.textContent, document.querySelector('#query-labels button')];
  new MutationObserver((_, observer) => {
    if (asked.textContent === before || !asked.textContent.startsWith('What')) return;
    observer.disconnect();
    const now = asked.textContent;
    first.click();
    resolve([now, asked.textContent, document.querySelector('#watch-status').textContent]);
  }).observe(asked, { childList: true });
})
"""
# Answers while the page waits for the board's reply about the pending sample; returns the queries
# that are shown until the reply
ANSWERED = """
new Promise((resolve) => {
  const asked = document.querySelector('#query');
  const texts = [];
  new MutationObserver(async (_, observer) => {
    observer.disconnect();
    for (let i = 0; i < 20; i++) await undefined;
    new MutationObserver(() => texts.push(asked.textContent)).observe(asked, { childList: true });
    document.querySelector('#query-labels button').click();
    new MutationObserver(() => resolve(texts)).observe(
      document.querySelector('#watch-confusion'), { childList: true });
  }).observe(document.querySelector('#watch-numbers'), { childList: true });
})
"""


@pytest.fixture
def asking(
    request: pytest.FixtureRequest, micropython_command: tuple[str, ...], tmp_path: Path
) -> Iterator[Gesturing]:
    """A board with a sensor that queries the label of one in `request.param` samples."""
    program = motion_program(queries={"labels": 1, "samples": request.param})
    with gesturing(micropython_command, tmp_path, program) as gesturing_board:
        yield gesturing_board


@pytest.fixture
def board(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[Gesturing]:
    with gesturing(micropython_command, tmp_path) as gesturing_board:
        yield gesturing_board


def watched(page: Browser, address: str) -> None:
    page.open("about:blank")
    page.open(address)
    page.wait("!!document.querySelector('#start')")
    page.press("#watch")
    page.wait(f"{WATCH}.textContent === 'Disconnect'")


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize("asking", [2], indirect=True)
def test_an_answer_is_not_given_to_a_query_that_has_just_changed(
    page: Browser, asking: Gesturing
) -> None:
    """The press was meant for the sample before."""
    with bridged(asking.port) as bridge:
        watched(page, bridge.address)
        page.wait(f"{QUERY}.startsWith('What')")
        now, shown, output = page.run(CHANGED)
        assert shown == now
        assert output.startswith("The query had just changed: it is about sample ")


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize("asking", [60_000], indirect=True)
def test_an_answered_query_is_not_shown_again(page: Browser, asking: Gesturing) -> None:
    """A reply that the board sent before it got the answer does not bring the query back."""
    with bridged(asking.port) as bridge:
        watched(page, bridge.address)
        page.wait(f"{COUNT}.startsWith('10 of ')")  # no other query will come
        assert set(page.run(ANSWERED)) == {"No sample waits for its label."}


@pytest.mark.usefixtures("address")
def test_the_sensor_of_a_board_is_shown_as_curves(page: Browser, board: Gesturing) -> None:
    with bridged(board.port) as bridge:
        watched(page, bridge.address)
        assert (
            page.run("document.querySelector('#watch-part .axes').textContent") == "axayazgxgygz"
        )
        page.wait(DRAWN)


@pytest.mark.usefixtures("address")
def test_a_recording_is_kept_when_the_board_is_gone(
    page: Browser, board: Gesturing, tmp_path: Path
) -> None:
    """The button offers the recording, and the next board's recording does not replace it."""
    with bridged(board.port) as bridge:
        watched(page, bridge.address)
        page.run(f"{LABELS}[0].click()")
        page.wait(f"/; [1-9][0-9]+ samples recorded/.test({NEWEST})")
        assert page.run(f"{WATCH}.click(); {WATCH}.click(); {WATCH}.disabled")
        page.wait(f"{WATCH}.textContent === 'Connect' && !{WATCH}.disabled")
        assert page.run(STATUS) == ""
        page.press("#watch")
        assert page.run("document.querySelector('#loss').open")
        page.press("#keep")
        lines = take(page, "watch-csv", tmp_path / "recording.csv").decode().splitlines()
        assert lines[0] == '"ax","ay","az","gx","gy","gz","class"'
        assert len(lines) > 10
        assert all(line.endswith(',"class 0"') for line in lines[1:])
        page.press("#watch")
        page.wait(f"{WATCH}.textContent === 'Disconnect'")
