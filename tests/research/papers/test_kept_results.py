"""Stored results of a run: complete lines count, torn ones do not, others are not mixed in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from microshrub_host.base.errors import UserError
from microshrub_research.papers.kept_results import KeptResults

HEAD = {"--limit": 100, "--seed": 0, "numpy": "1"}


def keep(folder: Path, *records: dict[str, int], head: dict[str, object] = HEAD) -> list[object]:
    """Add results; return the earlier ones."""
    with KeptResults(folder, head) as kept:
        before = list(kept.records)
        for record in records:
            kept.append(record)
    return before


def test_results_can_be_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert keep(folder, {"a": 1}, {"a": 2}) == []
    assert keep(folder, {"a": 3}) == [{"a": 1}, {"a": 2}]
    assert keep(folder) == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_complete_lines_count_after_a_cut_anywhere(tmp_path: Path) -> None:
    keep(tmp_path, {"a": 1}, {"a": 2})
    file = tmp_path / "results.jsonl"
    data = file.read_bytes()
    lines = data.splitlines(keepends=True)
    for size in range(len(data) + 1):
        file.write_bytes(data[:size])
        whole = sum(size >= len(b"".join(lines[: n + 1])) for n in range(3))
        assert len(keep(tmp_path, {"a": 9})) == max(0, whole - 1)
        records = [json.loads(line) for line in file.read_text().splitlines()]
        assert records[0] == HEAD
        assert records[-1] == {"a": 9}
        assert len(records) == max(whole, 1) + 1


@pytest.mark.parametrize("other", [{"--limit": 200}, {"numpy": "2"}, {"more": 1}])
def test_results_of_other_options_are_not_mixed_in(
    tmp_path: Path, other: dict[str, object]
) -> None:
    keep(tmp_path, {"a": 1})
    data = (tmp_path / "results.jsonl").read_bytes()
    with pytest.raises(UserError, match=r"made with .*another --output"):
        keep(tmp_path, head=HEAD | other)
    assert (tmp_path / "results.jsonl").read_bytes() == data


def test_an_invalid_line_is_refused(tmp_path: Path) -> None:
    keep(tmp_path, {"a": 1})
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write("oops\n{}\n")
    with pytest.raises(UserError, match="line 3: not a result"):
        keep(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_two_runs_at_once_do_not_mix(tmp_path: Path) -> None:
    with KeptResults(tmp_path, HEAD), pytest.raises(UserError, match="another run is writing"):
        keep(tmp_path)
    assert keep(tmp_path) == []


def test_an_impossible_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="--output"):
        keep(tmp_path / "file")
