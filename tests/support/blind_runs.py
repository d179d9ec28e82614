"""A recording whose features identify the run and say nothing about its class."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def write_blind_runs(path: Path, samples: int) -> str:
    """Write 24 runs of three classes, `samples` samples each; only rows of the same run help."""
    dice = np.random.default_rng(1)
    lines = ["a,b,what"]
    for run in range(24):
        place = dice.integers(0, 1000, 2)
        lines += [f"{place[0]},{place[1]},{'xyz'[run % 3]}"] * samples
    text = "\n".join(lines) + "\n"
    path.write_text(text, encoding="utf-8")
    return text
