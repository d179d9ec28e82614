"""`benchmark new-classes`: its counts, on clearly separate classes; its page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from microshrub_research.benchmarks import new_classes
from microshrub_tools.cli.main import main


@pytest.fixture(autouse=True)
def blobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four separate classes under the name of digits."""

    def rows_of(name: str, folder: Path | None, seed: int) -> new_classes.Rows:
        rng = np.random.default_rng(3)
        labels = rng.integers(0, 4, 800)
        places = np.array([(0, 0, 9), (9, 0, 0), (0, 9, 0), (9, 9, 9)])
        return places[labels] + rng.normal(0, 0.4, (800, 3)), labels

    monkeypatch.setattr(new_classes, "rows_of", rows_of)
    monkeypatch.setattr(new_classes, "TOGETHER", {"digits": ((0, 1, 2),)})


def test_each_novel_class_is_noticed_soon_and_three_at_once_get_three_names() -> None:
    notices: list[Sequence[int]] = []
    row = new_classes.measure("digits", None, 0, lambda *done: notices.append(done))
    assert notices == [(k + 1, 5) for k in range(5)]
    assert len(row.ours) == 4
    for heard in row.ours:
        assert heard.soon
        assert heard.of_it > 0.8
        assert heard.news <= 0.05 * heard.known
    (together,) = row.together
    assert sorted(together.named) == [0, 1, 2]
    assert min(together.named.values()) > 0.6
    assert set(row.peers) == set(new_classes.PEERS)
    assert all(len(runs) == 4 for runs in row.peers.values())


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert main(["benchmark", "new-classes", "--streams", "digits", "--output", str(page)]) == 0
    words = page.read_text(encoding="utf-8")
    assert "Made by `microshrub benchmark new-classes --streams digits --output page.md`" in words
    assert "Ours notices 4 of 4 soon" in words
    assert "| digits | 0, 1, 2 | 3 |" in words
