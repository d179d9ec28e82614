"""`benchmark recurring`: the concepts take turns with new samples; and a small real run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from microshrub_research.benchmarks.recurring import CONCEPTS, VISITS, lesson
from microshrub_research.benchmarks.taught_sets import opener
from microshrub_tools.cli.main import main


@pytest.mark.parametrize("name", CONCEPTS)
def test_two_concepts_take_turns_and_continue_with_new_samples(name: str) -> None:
    sets = opener(None)
    made = lesson(name, sets, 300)
    first, second = map(sets, CONCEPTS[name])
    for visit in range(VISITS):
        source, at = (second, first)[visit % 2 == 0], visit // 2 * 300
        part = slice(visit * 300, (visit + 1) * 300)
        assert made.values[part].tolist() == source.values[at : at + 300].tolist()
        assert made.labels[part].tolist() == source.labels[at : at + 300].tolist()
    assert made.prequential
    assert made.answers.tolist() == made.labels.tolist()


def test_the_page_has_each_visit(tmp_path: Path) -> None:
    page = tmp_path / "recurring.md"
    words = ["benchmark", "recurring", "--streams", "agrawal", "--bytes", "16384"]
    words += ["--peers", "NaiveBayes", "--seeds", "2", "--length", "200"]
    assert main([*words, "--output", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert f"`microshrub {' '.join(words)} --output recurring.md`" in text
    lines = [re.split(r" *\| *", s.strip("| ")) for s in text.splitlines() if "| agrawal |" in s]
    assert lines == [line for line in lines if len(line) in (3, 4)]
    firsts = [line for line in lines if len(line) == 4]
    assert [line[1] for line in firsts] == ["1", "2", "3", "4", "5"]
    figures = np.array([line[2:] for line in firsts], dtype=float)
    assert ((figures >= 0) & (figures <= 100)).all()
    assert figures[0].min() > 50


def test_a_visit_shorter_than_its_printed_part_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["benchmark", "recurring", "--length", "99"]) == 2
    assert re.search("--length .* 100", capsys.readouterr().err)
