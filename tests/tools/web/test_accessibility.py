"""What axe-core finds in the page: nothing, before a run and after one, in every look."""

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
    """What is found, with the elements that it is about."""
    page.run(AXE.read_text(encoding="utf-8") + "; void 0")
    result: list[dict[str, Any]] = page.run("axe.run().then((all) => all.violations)")
    return [
        f"{each['id']}: {each['help']}: {[node['html'] for node in each['nodes']]}"
        for each in result
    ]


def open_all(page: Browser) -> None:
    """Unfold what is folded."""
    page.run("document.querySelectorAll('details').forEach((each) => each.open = true)")


def test_nothing_is_found(playground: Browser) -> None:
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


def test_nothing_is_found_while_it_is_taught(held: Browser) -> None:
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


def test_nothing_is_found_while_it_asks_whether_to_lose(held: Browser) -> None:
    if not AXE.exists():
        pytest.skip("the page's packages are not installed: make web")
    held.run("document.querySelector('#loss').showModal()")
    for width, dark in LOOKS:
        held.look(width, dark)
        assert not findings(held), (width, dark)


def test_something_would_be_found(playground: Browser) -> None:
    if not AXE.exists():
        pytest.skip("the page's packages are not installed: make web")
    playground.run("document.querySelector('#start').textContent = ''")
    assert any(each.startswith("button-name") for each in findings(playground))


def test_a_new_answer_is_spoken_and_the_last_of_several(held: Browser) -> None:
    """Not oftener than one can listen; what a screen reader says last is what is shown."""
    spoken = "document.querySelector('#spoken').textContent"
    taught(held, seconds=2)
    for text in ("circle", "line"):
        do(held, text, 60)
        settle(held)
        held.wait(f"{spoken} === document.querySelector('#said').textContent")
        assert held.run(spoken) == text
