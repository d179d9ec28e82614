"""All that a first hour with the page needs works in Firefox: the same tests as in Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_support import Browser
from firefox_support import firefox
from test_bridge import (
    board,
    bridge,
    by_bridge,
    test_a_blank_board_gets_the_model_by_the_bridge,
)
from test_class_cards import (
    test_a_class_can_be_added_during_teaching,
    test_a_closed_tab_can_continue,
    test_classes_can_be_renamed_and_deleted_during_teaching,
)
from test_languages import german, test_no_text_is_cut_off, test_teaching_works_in_german
from test_page_sensors import test_the_microphone_is_a_sensor
from test_playground import (
    test_a_loaded_page_works_without_the_server,
    test_an_arff_file_gives_the_simulators_state,
    test_the_page_requests_only_its_own_host_without_complaints,
)
from test_put_on_a_board import (
    test_without_webserial_all_else_works_and_the_page_names_alternatives,
)
from test_similar_gestures import test_four_of_five_shaken_gestures_are_right
from test_teach_by_cable import test_a_blank_board_gets_a_program_that_sends_its_readings
from test_teach_gestures import (
    test_a_reopened_project_has_the_same_bits,
    test_the_teaching_controls_are_visible_without_scrolling,
)

__all__ = [
    "board",
    "bridge",
    "by_bridge",
    "german",
    "page",
    "test_a_blank_board_gets_a_program_that_sends_its_readings",
    "test_a_blank_board_gets_the_model_by_the_bridge",
    "test_a_class_can_be_added_during_teaching",
    "test_a_closed_tab_can_continue",
    "test_a_loaded_page_works_without_the_server",
    "test_a_reopened_project_has_the_same_bits",
    "test_an_arff_file_gives_the_simulators_state",
    "test_classes_can_be_renamed_and_deleted_during_teaching",
    "test_four_of_five_shaken_gestures_are_right",
    "test_no_text_is_cut_off",
    "test_teaching_works_in_german",
    "test_the_microphone_is_a_sensor",
    "test_the_page_requests_only_its_own_host_without_complaints",
    "test_the_teaching_controls_are_visible_without_scrolling",
    "test_without_webserial_all_else_works_and_the_page_names_alternatives",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with firefox(tmp_path_factory.mktemp("profile")) as browser:
        yield browser
