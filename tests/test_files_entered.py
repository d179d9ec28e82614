"""A sample passes no more files than now: what is new beside a learner is one file a side."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

ENTERED = Path(__file__).with_name("files_entered.py")
RUN = ("simulate", "synth:led", "--limit", "300")


@pytest.mark.parametrize(
    ("options", "most", "most_by_samples"),
    [(("--model", "shrub", "--window", "16"), 57, 15), (("--label-budget", "10%"), 73, 23)],
)
def test_no_more_files_than_now(options: tuple[str, ...], most: int, most_by_samples: int) -> None:
    for _ in range(2):  # what is made once is in the cache then
        done = subprocess.run(
            [sys.executable, ENTERED, *RUN, *options],
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
    counts = [int(number) for number in re.findall(r"^(\d+) (?:files|of)", done.stdout, re.M)]
    assert len(counts) == 2
    assert counts[0] <= most, done.stdout
    assert counts[1] <= most_by_samples, done.stdout
