"""One word for one thing: no two public classes have the same name."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests_support import ROOT

_PARTS = ("Companion", "SpareClasses", "Guarantee", "DriftAlarm", "Checkpoint", "Pending", "Sleep")
FOLDERS = ("firmware", "host", "research", "tools")


def test_no_two_public_classes_have_the_same_name() -> None:
    homes = defaultdict(list)
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if path.parent.name == "on_pc":  # runs on a virtual board
                continue
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(path.relative_to(ROOT).as_posix())
    assert {"Stream", "Board", "HoeffdingTree"} <= set(homes)
    for name, paths in homes.items():  # the device's class, and its options on the PC
        if name in _PARTS and paths[0].startswith("firmware/"):
            del paths[0]
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}
