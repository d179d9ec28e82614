"""The tier of each test: `pytest -m boards`, `make test TIER=boards`.

`fast` is the tier of `make test` and `pytest`: it protects the way from a recording to a board
that learns, on one real MicroPython. The other tiers are folders, without those of their files
that are nevertheless fast, and without single tests that are marked as long.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

HERE = Path(__file__).parent
FAST = "fast"
LONG = "long"  # a marker of single tests, in any file
# The tier of each folder or file, unless a file inside has its own; all others are fast
FOLDERS = {
    "boards": (
        *("tools/board", "tools/program", "host/boards", "host/programs/test_native_files.py"),
        *("host/evaluation/test_fleet.py",),
    ),
    "commands": (
        *("host/base", "host/cli", "host/reports", "host/evaluation/tuning"),
        *("tools/learner_check", "tools/watch", "docs", "host/library/test_hostile_cache.py"),
        *("test_own_learner.py", "test_moved_learner.py"),
    ),
    "emulators": ("host/boards/emulation",),
    "page": ("tools/web", "host/reports/test_page.py"),
    "peers": ("host/api/adapters", "host/models/export", "research"),
}
# Files of these folders that are nevertheless fast: one end-to-end test of each step to the board,
# and the error messages for wrong input
FAST_FILES = (
    "host/cli/test_demo.py",
    "host/cli/test_refusals.py",
    "host/boards/test_ram.py",
    "tools/board/test_end_to_end.py",
    "tools/board/test_flash.py",
    "tools/board/test_one_budget.py",
    "tools/program/test_configure.py",
    "tools/program/test_device_program.py",
    "tools/program/test_device_tcp.py",
    "tools/program/test_states.py",
)


def tier_of(path: Path) -> str:
    """Return the tier of a file of tests."""
    name = path.relative_to(HERE).as_posix()
    if name in FAST_FILES:
        return FAST
    for place in (name, *(parent.as_posix() for parent in PurePosixPath(name).parents)):
        for tier, folders in FOLDERS.items():
            if place in folders:
                return tier
    return FAST
