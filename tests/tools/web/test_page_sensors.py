"""Keyboard and microphone as the sensor, a QR code for a phone, and a page without movement."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from functools import partial

import pytest
from browser_support import Browser
from playground_support import choose
from sensor_support import held_clock, settle
from teach_support import begin, name, press, recognised, taught

from microshrub_tools.web import site

STATUS = "document.querySelector('#learn-me-status').textContent"


def choose_source(page: Browser, source: str) -> None:
    page.run(f"document.querySelector('#source').value = '{source}'")


def tap(page: Browser, key: str, readings: int, every: int) -> None:
    """Take readings while a key is pressed and released, once in every `every` readings."""
    for i in range(readings):
        if i % every in (0, 2):
            event = "keyUp" if i % every else "keyDown"
            page.call("Input.dispatchKeyEvent", type=event, key=key, code=key, text="")
        page.run("tick()")


GROUPS = """
[...document.querySelectorAll("#source optgroup")].map(
  (group) => [group.label, ...[...group.children].map((each) => each.value)])
"""
FOR_A_BOARD, TO_PLAY = ("motion", "board"), ("pointer", "keyboard", "microphone")


@pytest.mark.parametrize(
    ("language", "groups"),
    [("en", ("For a board", "To play")), ("de", ("Für ein Board", "Zum Spielen"))],
)
def test_sensors_of_a_board_are_offered_first_and_others_are_marked(
    language: str, groups: tuple[str, str], page: Browser, address: str
) -> None:
    page.open(f"{address}?lang={language}")
    page.wait("!!document.querySelector('#start')")
    board, play = groups
    assert page.run(GROUPS) == [[board, *FOR_A_BOARD], [play, *TO_PLAY]]
    remark = "document.querySelector('#source-remark').textContent"
    for source in TO_PLAY:
        choose(page, "source", source)
        text = page.run(remark)
        assert text.startswith(f"{play}: ")
        on_a_cable = page.run("document.querySelector('#source option[value=board]').text")
        assert on_a_cable in text
    choose(page, "source", "motion")
    assert not page.run(remark).startswith(play)
    above = "document.querySelector('#source').getBoundingClientRect().top"
    assert page.run(f"{above} < document.querySelector('.pad').getBoundingClientRect().top")


def test_without_a_board_the_pointer_starts_and_a_bridge_offers_its_board(
    page: Browser, address: str
) -> None:
    for behind, source in (("", "pointer"), ("#bridge=token", "board")):
        page.open("about:blank")
        page.open(address + behind)
        page.wait("!!document.querySelector('#start')")
        assert page.run("document.querySelector('#source').value") == source


def test_rhythms_of_keys_are_learned(held: Browser) -> None:
    choose_source(held, "keyboard")
    name(held, "slow, fast, left")
    begin(held)
    rhythms = {"slow": ("a", 25), "fast": ("a", 6), "left": ("ArrowLeft", 6)}
    for text in [*rhythms] * 2:
        press(held, text)
        tap(held, rhythms[text][0], 100, rhythms[text][1])
    press(held, "only predict")
    for text in rhythms:
        tap(held, rhythms[text][0], 75, rhythms[text][1])
        settle(held)
        assert recognised(held) == text


def test_text_can_be_typed_while_keys_are_the_sensor(held: Browser) -> None:
    choose_source(held, "keyboard")
    begin(held)
    held.run("document.querySelector('#option-bytes').closest('details').open = true")
    held.run("document.querySelector('#option-bytes').focus()")
    held.run("stopped = null; addEventListener('keydown', (e) => stopped = e.defaultPrevented)")
    held.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowUp", code="ArrowUp")
    assert held.run("stopped") is False


def test_the_microphone_is_a_sensor(held: Browser) -> None:
    choose_source(held, "microphone")
    name(held, "loud, quiet")
    begin(held)  # the browser's own beep
    press(held, "loud")
    held.run("for (let i = 0; i < 80; i++) tick()")
    settle(held)
    assert held.run("document.querySelector('.count').textContent") == "7"


def test_a_missing_microphone_is_reported(held: Browser) -> None:
    held.run("navigator.mediaDevices.getUserMedia = async () => { throw new Error() }; void 0")
    choose_source(held, "microphone")
    held.run("document.querySelector('#learn-me').click()")
    held.wait(STATUS + ".includes('There is no microphone')")
    assert not held.run("document.querySelector('#source').disabled")


def test_a_user_who_prefers_reduced_motion_sees_none(held: Browser) -> None:
    calm = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    held.call("Emulation.setEmulatedMedia", features=calm)
    held.run("frames = 0; requestAnimationFrame = () => frames++; void 0")
    taught(held, seconds=1)
    assert held.run("frames") == 0 or held.run("document.querySelectorAll('.curve').length") > 0
    moving = (
        "[...document.querySelectorAll('*')].filter((each) => { const style = "
        "getComputedStyle(each); return style.animationName !== 'none' || "
        "parseFloat(style.transitionDuration) > 0; }).length"
    )
    assert held.run(moving) == 0


@pytest.fixture
def hosted(address: str) -> Iterator[str]:
    """The page on another host, as far as the page can tell."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(site.FOLDER))
    with http.server.ThreadingHTTPServer(("127.0.0.2", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.2:{server.server_address[1]}/"
        server.shutdown()


def test_a_hosted_page_shows_its_address_as_a_qr_code(
    page: Browser, hosted: str, address: str
) -> None:
    with held_clock(page):
        page.open(hosted)
        page.wait("!!document.querySelector('#start')")
        page.run("document.querySelector('#phone').open = true")
        picture = "document.querySelector('#phone canvas')"
        page.wait(f"{picture}.width !== 300")
        size = page.run(f"{picture}.width")
        assert size == page.run(f"{picture}.height")
        assert (size - 8 - 17) % 4 == 0  # a QR code of any version, with its margin
        dark = page.run(
            f"[[4, 4], [4, {size} - 5], [{size} - 5, 4], [{size} - 5, {size} - 5], [0, 0]].map("
            f"([x, y]) => {picture}.getContext('2d').getImageData(x, y, 1, 1).data[0] < 128)"
        )
        assert dark[:3] == [True] * 3  # the three finder patterns
        assert not dark[4]
        assert page.run("document.querySelector('#phone code').textContent") == hosted
        page.open(address)
        page.wait("!!document.querySelector('#start')")
        assert page.run("document.querySelector('#phone')") is None
