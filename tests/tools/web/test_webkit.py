"""All that a first hour with the page needs works in Safari's engine: most of Chromium's tests.

Tests of downloads, of an offline page, and of a window as narrow as a phone are left out. This
engine has no event for motion outside of a phone, so the test adds one.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_support import Browser
from test_class_cards import (
    test_a_closed_tab_can_continue,
    test_classes_can_be_renamed_and_deleted_during_teaching,
)
from test_playground import test_an_arff_file_gives_the_simulators_state
from test_similar_gestures import test_four_of_five_drawn_gestures_are_right
from test_similar_gestures import test_four_of_five_shaken_gestures_are_right as shaken
from test_teach_gestures import (
    test_a_file_without_a_project_is_refused,
    test_the_exam_tests_each_class_equally,
)
from webkit_support import webkit

__all__ = [
    "page",
    "test_a_closed_tab_can_continue",
    "test_a_file_without_a_project_is_refused",
    "test_an_arff_file_gives_the_simulators_state",
    "test_classes_can_be_renamed_and_deleted_during_teaching",
    "test_four_of_five_drawn_gestures_are_right",
    "test_the_exam_tests_each_class_equally",
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
def test_four_of_five_shaken_gestures_are_right(held: Browser) -> None:
    held.run(MOTION)
    shaken(held)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with webkit(tmp_path_factory.mktemp("home")) as browser:
        yield browser
