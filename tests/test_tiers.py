"""The tiers consist of existing files, and each marker is a tier."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tiers
from tests_support import ROOT


def test_the_folders_and_files_of_the_tiers_exist(pytestconfig: pytest.Config) -> None:
    """Otherwise, renaming a file would silently change its tier."""
    named = [folder for folders in tiers.FOLDERS.values() for folder in folders]
    assert [name for name in named if not (tiers.HERE / name).exists()] == []
    assert [name for name in tiers.FAST_FILES if not (tiers.HERE / name).is_file()] == []
    markers = {line.partition(":")[0] for line in pytestconfig.getini("markers")}
    assert markers >= {tiers.FAST, *tiers.FOLDERS, tiers.LONG}


@pytest.mark.long
def test_xdists_workers_run_the_fast_tier_alone() -> None:
    """The selected test is of the tier `page`, so none is run."""
    command = [sys.executable, "-m", "pytest", "-q", "-n1", "-p", "no:cacheprovider"]
    command += ["-k", "test_the_pictures_do_not_share_ids"]
    rooms = ("host/api", "host/boards", "host/cli", "host/evaluation", "host/models")
    others = ("firmware", "research", "tools", "docs", *rooms)  # the test is in host/reports
    command += [f"--ignore=tests/{name}" for name in others]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "ran 0 tests" in done.stdout
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
