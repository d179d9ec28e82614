"""The picture of Home Assistant shows the entities of a board's discovery messages."""

from __future__ import annotations

import importlib.util

from tests_support import ROOT


def test_the_picture_is_up_to_date() -> None:
    place = importlib.util.spec_from_file_location("drawn", ROOT / "docs" / "home_assistant.py")
    assert place is not None
    assert place.loader is not None
    drawn = importlib.util.module_from_spec(place)
    place.loader.exec_module(drawn)
    assert drawn.PICTURE.read_text(encoding="utf-8") == drawn.picture()
