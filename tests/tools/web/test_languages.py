"""The page in German: by its address, or by the browser's preference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_support import Browser
from sensor_support import held_clock, settle
from teach_support import do, press, recognised

from microshrub_host.library.learners import MODELS, options_of
from microshrub_host.streams.label_leakage import TELLTALE_NAMES
from microshrub_host.streams.source_file import KINDS

TITLE = "document.querySelector('#teach-title').textContent"
GERMAN = "Bring ihm eine Geste bei"
GERMAN_TEXTS = Path(__file__).parents[3] / "tools/web/src/texts/de.ts"
OPTIONS = GERMAN_TEXTS.with_name("options_de.ts")


@pytest.fixture
def german(page: Browser, address: str) -> Iterator[Browser]:
    with held_clock(page):
        page.open(address + "?lang=de")
        page.wait("!!document.querySelector('#start')")
        yield page


def test_teaching_works_in_german(german: Browser) -> None:
    assert german.run("document.documentElement.lang") == "de"
    assert german.run(TITLE) == GERMAN
    german.run("document.querySelector('#learn-me').click()")
    german.wait("document.querySelector('#learn-me').textContent === 'Beenden'")
    for text, gesture in (("Kreis", "circle"), ("Linie", "line")):
        press(german, text)
        do(german, gesture, 150)
    press(german, "nur vorhersagen")
    do(german, "line", 60)
    settle(german)
    assert recognised(german) == "Linie"
    result = german.run("document.querySelector('#learned').textContent")
    assert re.match(r"\d+ Beispiele gelernt", result), result
    assert "noch einmal" in german.run("document.querySelector('#unseen').textContent")


def test_notes_about_files_are_in_german() -> None:
    """The page has the simulator's tables in English, and a translation of each text."""
    german = GERMAN_TEXTS.read_text(encoding="utf-8")
    texts = [what for _, *both in KINDS for what in both if not what.startswith("read_")]
    texts += [what for _, what in TELLTALE_NAMES]
    assert [what for what in texts if f'"{what}":' not in german] == []


def test_without_a_known_language_the_page_is_in_english(page: Browser, address: str) -> None:
    """In the locale POSIX, some browsers report a language that Intl does not know."""
    nameless = (
        "for (const [name, get] of [['language', () => 'c'], ['languages', () => ['c']]])"
        "  Object.defineProperty(Navigator.prototype, name, {get, configurable: true})"
    )
    with page.before_pages(nameless):
        page.open(address)
        page.wait("!!document.querySelector('#start')")
        assert page.run("document.documentElement.lang") == "en"


CUT = """
(() => {
  const paper = document.createElement("canvas").getContext("2d");
  const chosen = [...document.querySelectorAll("select")].filter((each) => each.clientWidth);
  const tooLong = chosen.flatMap((list) => [...list.options].map(({text}) => {
    const {font, paddingLeft, paddingRight} = getComputedStyle(list);
    paper.font = font;
    const arrow = 20;
    const room = list.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - arrow;
    return paper.measureText(text).width > room ? text : "";
  }));
  const buttons = [...document.querySelectorAll("button")];
  const cut = buttons.filter((each) => each.scrollWidth > each.clientWidth);
  return [...tooLong, ...cut.map((each) => each.textContent)].filter(Boolean);
})()
"""


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("language", ["en", "de"])
def test_no_text_is_cut_off(page: Browser, address: str, language: str, width: int) -> None:
    page.open(f"{address}?lang={language}", width=width)
    page.wait("!!document.querySelector('#start')")
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run(CUT) == []


def test_a_refusal_of_a_file_is_in_german(german: Browser) -> None:
    german.run(
        "(input => { const files = new DataTransfer();"
        "files.items.add(new File(['a,b\\n'], 'x.csv'));"
        "input.files = files.files; input.dispatchEvent(new Event('change')); })"
        "(document.querySelector('#file'))"
    )
    german.wait("document.querySelector('#label').options.length")
    german.run("document.querySelector('#start').click()")
    status = "document.querySelector('#status')"
    german.wait(f"{status}.classList.contains('bad')")
    assert "hat keine Beispiele" in german.run(f"{status}.textContent")


def test_the_first_supported_language_is_chosen(page: Browser, address: str) -> None:
    agent = page.run("navigator.userAgent")
    try:
        for wanted, title in (("fr,de,en", GERMAN), ("fr", "Teach it a gesture")):
            page.call("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=wanted)
            page.open(address)
            page.wait("!!document.querySelector('#start')")
            assert page.run(TITLE) == title
    finally:
        page.call("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage="en-US,en")


def test_the_other_language_is_one_press_away_and_keeps_the_address(
    page: Browser, address: str
) -> None:
    page.open("about:blank")  # otherwise it would be the same page
    page.open(address + "#bridge=word")
    page.wait("!!document.querySelector('#start')")
    page.run("document.querySelector('header > p a[lang=de]').click()")
    page.wait(f"document.querySelector('#start') && {TITLE} === '{GERMAN}'")
    assert page.run("location.hash") == "#bridge=word"
    assert page.run("document.querySelector('header > p a').lang") == "en"


def test_option_texts_are_in_german(german: Browser) -> None:
    """The page has the learners' texts in English, and a translation of each."""
    table = OPTIONS.read_text(encoding="utf-8")
    texts = {option.help for model in MODELS for option in options_of(model).values()}
    texts = {text for text in texts if not text.startswith("the cost of a missed sample")}
    assert [text for text in texts if f'"{text}"' not in table and f"'{text}'" not in table] == []
    shown = german.run("document.querySelector('#option-bytes-help').textContent")
    assert shown.startswith("2048..1048576: so viele Bytes")
