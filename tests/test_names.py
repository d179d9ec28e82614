"""One word, one thing: no two public classes have one name."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests_support import ROOT

_PARTS = ("Companion", "SpareClasses", "Guarantee", "DriftAlarm", "Checkpoint", "Pending", "Sleep")
FOLDERS = ("firmware", "host", "research", "tools")


def test_no_two_public_classes_have_one_name() -> None:
    homes = defaultdict(list)
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if path.parent.name == "on_pc":  # what a virtual board runs
                continue
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(path.relative_to(ROOT).as_posix())
    assert {"Stream", "Board", "HoeffdingTree"} <= set(homes)
    for name, paths in homes.items():  # the device's part, and its settings on the PC
        if name in _PARTS and paths[0].startswith("firmware/"):
            del paths[0]
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}
