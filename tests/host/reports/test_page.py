"""The content of a page, also in a real browser."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium_support import Chromium
from hypothesis import given
from hypothesis import strategies as st
from page_support import Parsed
from patience import PATIENCE

from microshrub_host.base.errors import UserError
from microshrub_host.base.files import check_target
from microshrub_host.reports.page import Page, shown

HEAD = ("learner", "accuracy", "model\nbytes")
ROWS = [
    ("river:HAT", "82.61", "1,234,567"),
    ("<script>alert(1)</script>", "9.5", "-"),
    ("ours:shrub", "94.02 %", "1,677"),
    ("moa:SRP & Co.", "timeout", "-"),
]


def make_page() -> Page:
    """Make a page with two tables, and two pictures of the same content."""
    from matplotlib.figure import Figure

    page = Page("Report of <script>alert(1)</script>", 'compare "a b.csv" <x>', {"numpy": "1.0"})
    page.heading("A stream & another")
    page.paragraph("A sentence.")
    page.table(HEAD, ROWS, best=[(2, 1)])
    for caption in ("Accuracy", "Accuracy again"):
        figure = Figure(figsize=(6, 4))
        axes = figure.add_subplot()
        axes.plot([1, 2, 3], [3, 1, 2], marker="o", label='a "name" & url(#x) id="y" <b>')
        axes.set_xscale("log")
        axes.legend()
        page.picture(figure, caption)
    wide = [f"a long head of column {c}" for c in range(20)]
    page.table(wide, [[str(c * 1000) for c in range(20)]] * 3)
    return page


@pytest.fixture(scope="module")
def tab(chromium: Chromium) -> Iterator[Chromium]:
    with chromium.tab() as chromium_tab:
        yield chromium_tab


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    make_page().write(path)
    return path


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1), st.text(), st.text())
def test_any_text_is_shown_unchanged(rows: list[tuple[str, str]], title: str, text: str) -> None:
    page = Page(title, title, {})
    page.table((text, text), rows)
    page.html().encode()
    parsed = Parsed(page.html())
    assert parsed.rows == [[shown(t) for t in row] for row in [(text, text), *rows]]
    assert parsed.tags.count("script") == 1


def test_numbers_are_right_aligned_and_the_best_is_bold() -> None:
    page = Page("t", "c", {})
    page.table(HEAD, ROWS, best=[(2, 1)])
    text = page.html()
    assert text.count("<strong>") == 1
    assert '<td class="n" data-number="94.02"><strong>94.02 %</strong></td>' in text
    assert '<td class="n" data-number="1234567.0">1,234,567</td>' in text
    assert '<td class="n">timeout</td>' in text
    assert "<td>river:HAT</td>" in text
    assert ">model bytes<" in text


def test_a_page_loads_nothing_from_elsewhere() -> None:
    """No element and no style has an address."""
    page = make_page()
    parsed = Parsed(page.html())
    for tag, attributes in parsed.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form", "a"), tag
        for name in ("src", "href", "xlink:href", "action", "style", "clip-path"):
            value = attributes.get(name) or ""
            assert not re.search(r"//|url\((?!#)", value), (tag, value)
            assert name != "href" or value.startswith("#") or not value
    assert "@import" not in page.html()
    assert "http" not in re.sub(r'xmlns="[^"]*"|http-equiv', "", page.html())


def test_the_pictures_do_not_share_ids() -> None:
    parsed = Parsed(make_page().html())
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:href="|url\()#([^")]*)', make_page().html())
    assert used
    assert {name for name in used if name != "x"} <= set(ids), "x is in a text"
    assert """a "name" & url(#x) id="y" <b>""" in parsed.text
    labels = [a["aria-label"] for tag, a in parsed.elements if tag == "svg"]
    assert labels == ["Accuracy", "Accuracy again"]


def test_equal_pages_are_equal_files() -> None:
    assert make_page().html() == make_page().html()


def test_a_file_is_replaced_completely(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")
    check_target("--html", path)
    assert path.read_text() == "before"
    make_page().write(path)
    assert path.read_text(encoding="utf-8") == make_page().html()
    assert list(tmp_path.iterdir()) == [path]


def test_bad_targets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--html .*there is no folder"):
        check_target("--html", tmp_path / "no" / "report.html")
    with pytest.raises(UserError, match="is a folder"):
        check_target("--html", tmp_path)


def test_the_browser_reports_no_errors(tab: Chromium, file: Path) -> None:
    tab.open(file)
    assert tab.run("document.querySelectorAll('table').length") == 3
    assert tab.run("document.querySelectorAll('h2').length") == 2
    assert tab.run("document.querySelector('tbody').rows[1].cells[0].textContent") == (
        "<script>alert(1)</script>"
    )
    assert tab.run("document.querySelectorAll('svg use').length") > 0
    assert tab.requests == [file.as_uri()]
    assert tab.complaints == []


def test_the_browser_forbids_requests(tab: Chromium, file: Path) -> None:
    tab.open(file)
    tab.run("document.body.append(Object.assign(new Image(), {src: 'no.png'}))")
    deadline = time.monotonic() + PATIENCE
    while not tab.complaints and time.monotonic() < deadline:
        tab.run("0")
    assert any("Content Security Policy" in text for text in tab.complaints)


def test_a_click_on_a_column_head_sorts_the_table(tab: Chromium, file: Path) -> None:
    tab.open(file)
    names = "[...document.querySelector('tbody').rows].map(row => row.cells[0].textContent)"
    click = "document.querySelectorAll('th button')[%d].click()"
    hat, script, shrub, srp = (row[0] for row in ROWS)
    assert tab.run(names) == [hat, script, shrub, srp]
    expected = {
        (1, "ascending"): [script, hat, shrub, srp],
        (1, "descending"): [shrub, hat, script, srp],
        (2, "ascending"): [shrub, hat, script, srp],
        (2, "descending"): [hat, shrub, script, srp],
        (0, "ascending"): [script, srp, shrub, hat],
    }
    for (column, way), order in expected.items():
        tab.run(click % column)
        assert tab.run(names) == order
        sorted_by = "[...document.querySelectorAll('th')].map(th => th.getAttribute('aria-sort'))"
        values = [value for value in tab.run(sorted_by) if value]
        assert values == [way]
    assert tab.run("document.querySelector('strong').textContent") == "94.02 %"
    assert tab.complaints == []


def test_only_tables_scroll_sideways_on_a_phone(tab: Chromium, file: Path) -> None:
    tab.open(file, width=380)
    page = "document.documentElement"
    assert tab.run(f"{page}.scrollWidth") == tab.run(f"{page}.clientWidth") == 380
    wide = "[...document.querySelectorAll('.wide')].map(e => e.scrollWidth > e.clientWidth)"
    assert tab.run(wide)[1] is True
    assert tab.run("document.querySelector('svg').getBoundingClientRect().right") <= 380


def test_a_page_has_dark_and_light_colours(tab: Chromium, file: Path) -> None:
    colours = "[...['body', 'svg text']].map(e => getComputedStyle(document.querySelector(e)))"
    colours += ".map((style, i) => i ? style.fill : style.backgroundColor)"
    tab.open(file)
    assert tab.run(colours) == ["rgb(255, 255, 255)", "rgb(29, 31, 35)"]
    tab.open(file, dark=True)
    assert tab.run(colours) == ["rgb(21, 23, 27)", "rgb(227, 229, 233)"]
