"""The functions for a first hour with the page, in Safari's engine: Chromium's tests, too.

Left out are tests of downloads, of an offline page, and of a window as narrow as a phone. This
engine has no event for motion outside of a phone, so the test adds one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_support import Browser
from test_class_cards import (
    test_a_class_is_renamed_and_deleted_while_it_is_taught,
    test_a_tab_that_was_closed_goes_on,
)
from test_playground import test_an_arff_file_ends_in_the_simulators_state
from test_similar_gestures import test_four_of_five_that_were_drawn_are_right
from test_similar_gestures import test_four_of_five_that_were_shaken_are_right as shaken
from test_teach_gestures import (
    test_the_exam_counts_each_class_alike,
    test_what_is_no_project_is_refused,
)
from webkit_support import webkit

__all__ = [
    "page",
    "test_a_class_is_renamed_and_deleted_while_it_is_taught",
    "test_a_tab_that_was_closed_goes_on",
    "test_an_arff_file_ends_in_the_simulators_state",
    "test_four_of_five_that_were_drawn_are_right",
    "test_the_exam_counts_each_class_alike",
    "test_what_is_no_project_is_refused",
]


MOTION = """
window.DeviceMotionEvent ??= class extends Event {
  constructor(kind, what) {
    super(kind);
    Object.assign(this, what);
  }
};
"""


@pytest.mark.long
def test_four_of_five_that_were_shaken_are_right(held: Browser) -> None:
    held.run(MOTION)
    shaken(held)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with webkit(tmp_path_factory.mktemp("home")) as browser:
        yield browser
