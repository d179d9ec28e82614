"""Class names: given, changed, merged, removed; predictions of named classes; refusals."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microshrub_host.library import loader

library = loader.load("python")


def names(*known: str, spare: int = 2, room: int = 16) -> Any:
    return library.ClassNames(known or ("walk", "rest"), spare, room)


def votes(*some: int) -> array[int]:
    return array("i", some)


def all_of(made: Any) -> list[str]:
    return [made.name(c) for c in range(made.classes)]


def test_a_name_first_goes_to_a_class_that_never_had_one() -> None:
    made = names()
    assert all_of(made) == ["walk", "rest", "", ""]
    assert made.newest == -1
    assert made.add("stairs") == 2
    made.forget(0)
    assert made.add("run") == 3
    assert made.newest == 3
    assert made.add("jump") == 0
    with pytest.raises(ValueError, match=r"no class .* swim"):
        made.add("swim")
    assert all_of(made) == ["jump", "rest", "stairs", "run"]
    assert [made.find(name) for name in ("run", "walk", "")] == [3, -1, -1]
    assert made.changes == 4


def test_a_class_without_a_name_is_never_predicted() -> None:
    made = names(spare=3)
    assert made.resolve(1, votes(0, 0, 0, 0, 0)) == 1
    assert made.resolve(4, votes(5, 7, 8, 8, 9)) == 1
    assert made.resolve(4, votes(0, 0, 8, 8, 9)) == 0
    made.add("stairs")
    assert made.resolve(4, votes(5, 7, 8, 8, 9)) == 2
    made.forget(2)
    assert made.resolve(2, votes(5, 7, 8, 8, 9)) == 1


def test_a_merged_class_predicts_and_learns_the_other() -> None:
    made = names(spare=3)
    up, down = made.add("up"), made.add("down")
    made.merge(up, down)
    made.merge(down, 0)
    assert [made.learned_as(c) for c in (0, 1, up, down)] == [0, 1, 0, 0]
    assert [made.resolve(c, votes(0, 0, 9, 9, 9)) for c in (up, down)] == [0, 0]
    assert made.resolve(4, votes(1, 2, 3, 0, 0)) == 0  # the merged one has the most votes
    assert all_of(made) == ["walk", "rest", "", "", ""]
    assert [made.state(c) for c in range(5)] == [1, 1, 2, 2, 0]
    assert made.stands_for(up) == 0
    made.forget(0)
    assert [made.state(c) for c in range(5)] == [3, 1, 3, 3, 0]
    assert made.stands_for(up) == up


def test_a_label_needs_a_name() -> None:
    made = names()
    with pytest.raises(ValueError, match="class 2 has no name"):
        made.learned_as(2)
    with pytest.raises(ValueError, match=r"^label .* 0\.\.3, not 4"):
        made.learned_as(4)


def test_a_class_is_renamed() -> None:
    made = names()
    made.rename(0, "stroll")
    made.rename(1, "rest")
    assert all_of(made)[:2] == ["stroll", "rest"]
    for c, name, message in (
        (1, "stroll", "there is a class stroll already"),
        (2, "run", "class 2 has no name"),
        (4, "run", r"a class .* 0\.\.3, not 4"),
    ):
        with pytest.raises(ValueError, match=message):
            made.rename(c, name)


@pytest.mark.parametrize("name", ["", " ", " a", "a ", "a\n", "\x7f", "x" * 17, "\u00e9" * 9])
def test_an_invalid_name_is_refused(name: str) -> None:
    made = names()
    before = made.state_crc32()
    for change in (made.add, lambda text: made.rename(0, text)):
        with pytest.raises(ValueError, match=r"1\.\.16 bytes of text"):
            change(name)
    assert made.state_crc32() == before
    assert names("\u00e9" * 8, "\U0001f6b6").name(1) == "\U0001f6b6"


@given(st.one_of(st.binary(max_size=6), st.text(max_size=3).map(lambda t: t.encode("utf-8"))))
def test_a_name_is_utf_8(data: bytes) -> None:
    is_name = __import__("sys").modules[library.__name__ + ".class_names"].is_name
    try:
        text = data.decode()
        right = bool(text) and not text.startswith(" ") and not text.endswith(" ")
        right = right and all(ord(c) >= 32 and ord(c) != 127 for c in text)
    except UnicodeDecodeError:
        right = False
    assert is_name(data, 0, len(data)) == right


def test_other_mistakes_are_reported() -> None:
    made = names()
    with pytest.raises(ValueError, match="merged with itself: walk"):
        made.merge(0, 0)
    with pytest.raises(ValueError, match="class 3 has no name"):
        made.merge(0, 3)
    made.forget(0)
    with pytest.raises(ValueError, match=r"last class .* forgotten: rest"):
        made.forget(1)
    for known, spare, message in (
        (("a", "a"), 2, "all different"),
        ((), 2, "one name or more"),
        (("a",), 0, r"spare .* 1\.\.255, not 0"),
        (("a",) * 2, 255, r"of 1\.\.254, not 255"),
    ):
        with pytest.raises(ValueError, match=message):
            library.ClassNames(known, spare)


def test_names_are_saved_and_a_reset_restores_the_initial_ones() -> None:
    made, other = names(), names()
    made.add("stairs")
    made.merge(1, 0)
    other.load(made.save())
    assert all_of(other) == ["walk", "", "stairs", ""]
    assert other.learned_as(1) == 0
    made.reset()
    assert all_of(made) == ["walk", "rest", "", ""]
    with pytest.raises(ValueError, match="state is of ClassNames"):
        names(spare=3).load(made.save())
