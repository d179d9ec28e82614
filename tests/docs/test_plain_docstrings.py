"""The site's conversion of plain-text docstrings to reStructuredText."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")
sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "extensions"))

from plain_docstrings import plain_to_rst


def test_a_table_of_names_is_a_definition_list() -> None:
    rows = ["window        2..1024 samples", "train every   1..9: or", "              errors"]
    assert plain_to_rst(rows) == [
        "``window``",
        "   2..1024 samples",
        "``train every``",
        "   1..9: or",
        "   errors",
        "",
    ]


def test_special_characters_of_restructuredtext_are_escaped_outside_backquotes() -> None:
    assert plain_to_rst(["0 | a * b is `2**29`, as start_"]) == [
        r"0 \| a \* b is `2**29`, as start\_",
        "",
    ]


def test_an_indented_paragraph_is_a_literal_block() -> None:
    assert plain_to_rst(["Use it:", "", "    a = b ** c"]) == [
        "Use it:",
        "",
        "::",
        "",
        "   a = b ** c",
        "",
    ]


def test_an_example_with_a_prompt_is_unchanged() -> None:
    example = [">>> 2 ** 3", "8"]
    assert plain_to_rst(example) == [*example, ""]
