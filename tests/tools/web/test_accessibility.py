"""axe-core finds no violation in the page, before and after a run, at each width and colour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser_support import Browser
from playground_support import choose_quick, crc_of_run
from sensor_support import settle
from teach_support import GESTURES, do, end, taught

AXE = Path(__file__).parents[3] / "tools" / "web" / "node_modules" / "axe-core" / "axe.min.js"
LOOKS = [(360, False), (360, True), (1280, False), (1280, True)]  # width in pixels, dark


def findings(page: Browser) -> list[str]:
    """Return the violations, with the elements concerned."""
    page.run(AXE.read_text(encoding="utf-8") + "; void 0")
    result: list[dict[str, Any]] = page.run("axe.run().then((all) => all.violations)")
    return [
        f"{each['id']}: {each['help']}: {[node['html'] for node in each['nodes']]}"
        for each in result
    ]


def open_all(page: Browser) -> None:
    """Unfold all folded parts."""
    page.run("document.querySelectorAll('details').forEach((each) => each.open = true)")


def test_the_page_has_no_violation(playground: Browser) -> None:
    if not AXE.exists():
        pytest.skip("the page's packages are not installed: make web")
    for has_run in (False, True):
        if has_run:
            choose_quick(playground)
            crc_of_run(playground)
        open_all(playground)
        for width, dark in LOOKS:
            playground.look(width, dark)
            assert not findings(playground), (has_run, width, dark)


def test_there_is_no_violation_during_teaching(held: Browser) -> None:
    if not AXE.exists():
        pytest.skip("the page's packages are not installed: make web")
    taught(held, seconds=2)
    held.run("document.querySelector('#exam').click()")
    for text in GESTURES:
        do(held, text, 200)
    settle(held)
    assert held.run("!!document.querySelector('#exam-result table')")
    for has_ended in (False, True):
        if has_ended:
            end(held)
        for width, dark in LOOKS:
            held.look(width, dark)
            assert not findings(held), (has_ended, width, dark)


def test_there_is_no_violation_in_the_question_about_losing_data(held: Browser) -> None:
    if not AXE.exists():
        pytest.skip("the page's packages are not installed: make web")
    held.run("document.querySelector('#loss').showModal()")
    for width, dark in LOOKS:
        held.look(width, dark)
        assert not findings(held), (width, dark)


def test_a_violation_would_be_found(playground: Browser) -> None:
    if not AXE.exists():
        pytest.skip("the page's packages are not installed: make web")
    playground.run("document.querySelector('#start').textContent = ''")
    assert any(each.startswith("button-name") for each in findings(playground))


def test_the_last_of_several_new_answers_is_spoken(held: Browser) -> None:
    """A screen reader gets answers no faster than a person can listen, but always the last one."""
    spoken = "document.querySelector('#spoken').textContent"
    taught(held, seconds=2)
    for text in ("circle", "line"):
        do(held, text, 60)
        settle(held)
        held.wait(f"{spoken} === document.querySelector('#said').textContent")
        assert held.run(spoken) == text
