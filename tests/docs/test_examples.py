"""Properties that all projects in examples/ share; their commands run in test_commands_run.py."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType
from typing import Any

import pytest
from tests_support import ROOT

from microshrub_host.streams.worlds.table import worlds

EXAMPLES = sorted(path.parent for path in ROOT.glob("examples/*/README.md"))
NAMES = [*worlds(), "house"]  # the last one uses another example's recording
ROW = re.compile(r"^\| (?P<part>[^|]+) \| (?P<names>[^|]+) \| (?P<pins>[\d, and]+) \|$", re.M)


@pytest.fixture(scope="module")
def wiring() -> ModuleType:
    place = importlib.util.spec_from_file_location("wiring", ROOT / "docs" / "wiring.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def test_every_world_is_an_example_and_is_listed() -> None:
    assert {folder.name for folder in EXAMPLES} == {*NAMES}
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((\w+)/README\.md\)", listed) == NAMES
    gallery = (ROOT / "docs" / "examples" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[.*\]\((\w+)\.md\)", gallery, re.M) == NAMES


def test_the_pictures_are_up_to_date(wiring: Any) -> None:
    for place, parts in wiring.PICTURES.items():
        assert (ROOT / place).read_text(encoding="utf-8") == wiring.picture(parts), place


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_table_picture_and_command_have_the_same_pins(folder: Any, wiring: Any) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    tables = set()
    for row in ROW.finditer(text):
        names, pins = re.findall(r"[A-Z0-9]+", row["names"]), re.findall(r"\d+", row["pins"])
        assert len(names) == len(pins), row[0]
        for name, pin in zip(names, map(int, pins), strict=True):
            assert wiring.name_of(pin) == name, row[0]
            tables.add(pin)
    parts = wiring.PICTURES[f"examples/{folder.name}/wiring.svg"]
    assert {pin for _, pins in parts for _, pin in pins} == tables
    build = re.search(r"microshrub build .*?(?<!\\)\n", text, re.S)
    assert build is not None
    matches = re.findall(r"(?:scl|sda|pin)=(\d+)|--label-pin (\d+)", build[0])
    assert {f"GP{one or other}" for one, other in matches} <= {
        wiring.name_of(pin) for pin in tables
    }


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_each_example_has_the_same_sections_in_the_same_order(folder: Any) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", text, re.M) == [
        "The recording",
        "Learn it on the PC",
        "Put it on the board",
        "What it does now",
        "What to try next",
    ]
    assert "**Parts**: a Raspberry Pi Pico" in text
    assert "were not measured" in text
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (folder / target).exists(), target
