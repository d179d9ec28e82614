"""`benchmark constants`: Thicket with another value in the place of a constant."""

from __future__ import annotations

from pathlib import Path

import pytest

from microshrub_host.benchmarks.other_constants import (
    AS_IT_IS,
    CHOICES,
    Choice,
    ChoiceRuns,
    changed_library,
    markdown,
    measure,
)
from microshrub_host.engines import library_files
from microshrub_host.evaluation import prequential
from microshrub_host.streams.open_stream import open_stream

TASK = ChoiceRuns(("rbf_m",), (8192,), seeds=1, data=None, limit=800, seconds=300)


@pytest.mark.parametrize("choice", CHOICES[1:], ids=lambda choice: choice.words)
def test_each_choice_has_one_place_in_the_library(choice: Choice) -> None:
    text = (library_files.folder() / "thicket" / choice.file).read_text(encoding="utf-8")
    assert text.count(choice.chosen) == 1
    assert choice.other not in ("", choice.chosen)


def test_only_the_changed_copy_differs(tmp_path: Path) -> None:
    choice = CHOICES[1]
    changed_library(choice, tmp_path)
    for path in library_files.sources():
        copy = tmp_path / library_files.PACKAGE / path.relative_to(library_files.folder())
        same = copy.read_bytes() == path.read_bytes()
        assert same == (path.name != choice.file)


def test_a_choice_without_a_place_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"mixing\.py does not have 'nowhere' once"):
        changed_library(Choice("none", "mixing.py", "nowhere", ""), tmp_path)


@pytest.mark.long
def test_another_choice_gives_another_learner() -> None:
    """As it is, it has what `simulate` says; with one neighbour, which rbf_m misses, less."""
    stream = open_stream("synth:rbf_m", limit=TASK.limit)
    shape = {"features": 10, "classes": 5, "bytes": 8192}
    usual = measure(AS_IT_IS, TASK)["rbf_m", 8192]
    expected = prequential.evaluate(stream, "thicket", shape, warmup=256).accuracy
    assert usual == pytest.approx(expected, abs=1e-3)
    fewer = Choice("1 neighbour", "thicket.py", "_K = const(5)", "_K = const(1)")
    assert measure(fewer, TASK)["rbf_m", 8192] != usual


def test_the_page_has_what_is_lost_and_where() -> None:
    other = Choice("other", "shares.py", "a", "b")
    found = {
        AS_IT_IS: {("one", 1024): 80.0, ("two", 1024): 60.0},
        other: {("one", 1024): 79.0, ("two", 1024): 60.5},
    }
    text = markdown(found, "command", 1)
    assert "| other | +0.25 | +1.00 one | -0.50 two |" in text
    assert "Thicket has 70.00 % within 1 KB" in text
