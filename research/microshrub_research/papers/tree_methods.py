"""Hoeffding trees as methods of an experiment: ours, and their counterparts in River and MOA.

All have the settings of tree_set.py: a check after every 200 samples of a leaf, delta 1e-7, tie
0.05, leaves that predict by the better of majority and naive Bayes, and enough memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..compare import catalogue
from ..compare.contender import Contender
from ..compare.tree_set import SYSTEMS, tree_rows
from .experiment import Method

OURS = "ours"


def ours(name: str, title: str, changes: Sequence[dict[str, Any]]) -> Method:
    """Return one of our trees, with a configuration for each dict of changes to VFDT."""
    plain = tree_rows()["VFDT"][OURS]
    contenders = [_changed(plain, f"{OURS}:{name} #{n}", more) for n, more in enumerate(changes)]
    return Method(name, f"our {title}", contenders)


def others(trees: Sequence[tuple[str, str]]) -> tuple[list[Method], list[str]]:
    """Return River's and MOA's methods for pairs of a name and a tree of tree_set,
    and notes about missing ones.
    """
    missing = catalogue.missing_for_moa()
    rows = tree_rows()
    result = [
        Method(f"{system} {name}", f"{SYSTEMS[system]}'s {tree}", [rows[tree][system]])
        for system in SYSTEMS
        if system != OURS and not (system == "moa" and missing)
        for name, tree in trees
    ]
    return result, [f"MOA's trees are skipped. They need {missing}"] if missing else []


def _changed(contender: Contender, name: str, changes: dict[str, Any]) -> Contender:
    return replace(contender, name=name, settings={**contender.settings, **changes})
