"""The functions for a first hour with the page, in Firefox: the same tests as in Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_support import Browser
from firefox_support import firefox
from test_bridge import (
    board,
    bridge,
    by_bridge,
    test_a_blank_board_gets_what_was_learned_by_the_bridge,
)
from test_class_cards import (
    test_a_class_comes_late_and_is_learned_beside_the_others,
    test_a_class_is_renamed_and_deleted_while_it_is_taught,
    test_a_tab_that_was_closed_goes_on,
)
from test_languages import german, test_it_teaches_in_german, test_no_text_is_cut_off
from test_page_sensors import test_the_microphone_is_a_sensor
from test_playground import (
    test_an_arff_file_ends_in_the_simulators_state,
    test_it_works_without_the_server_once_it_was_loaded,
    test_nothing_is_asked_for_elsewhere_and_nothing_is_refused,
)
from test_put_on_a_board import (
    test_without_webserial_all_else_is_there_and_it_says_how_to_go_on,
)
from test_similar_gestures import test_four_of_five_that_were_shaken_are_right
from test_teach_by_cable import test_a_blank_board_gets_a_program_that_sends_its_readings
from test_teach_gestures import (
    test_a_project_is_opened_again_and_comes_to_the_same_bits,
    test_what_teaching_needs_is_seen_without_scrolling,
)

__all__ = [
    "board",
    "bridge",
    "by_bridge",
    "german",
    "page",
    "test_a_blank_board_gets_a_program_that_sends_its_readings",
    "test_a_blank_board_gets_what_was_learned_by_the_bridge",
    "test_a_class_comes_late_and_is_learned_beside_the_others",
    "test_a_class_is_renamed_and_deleted_while_it_is_taught",
    "test_a_project_is_opened_again_and_comes_to_the_same_bits",
    "test_a_tab_that_was_closed_goes_on",
    "test_an_arff_file_ends_in_the_simulators_state",
    "test_four_of_five_that_were_shaken_are_right",
    "test_it_teaches_in_german",
    "test_it_works_without_the_server_once_it_was_loaded",
    "test_no_text_is_cut_off",
    "test_nothing_is_asked_for_elsewhere_and_nothing_is_refused",
    "test_the_microphone_is_a_sensor",
    "test_what_teaching_needs_is_seen_without_scrolling",
    "test_without_webserial_all_else_is_there_and_it_says_how_to_go_on",
]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with firefox(tmp_path_factory.mktemp("profile")) as browser:
        yield browser
