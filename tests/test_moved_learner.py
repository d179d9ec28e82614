"""A user's learner moves into the library with its file and one line in learners.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from learner_faults import MAJORITY
from tests_support import ROOT

sys.path.insert(0, str(Path(__file__).parent))

from mutants import copy

LINE = "Majority .majority\n"

# Runs in the copy: all lists of learners
ASKED = """
import json
from microshrub_host import budget, open_stream, parity
from microshrub_host.api import river_adapter
from microshrub_host.library import learners, loader, shared_constants
from microshrub_host.evaluation import search_space
from microshrub_tools.board import package_list
from microshrub_tools.state_fuzz.altered_states import targets
from microshrub_tools.state_fuzz.fuzz import fuzz
from microshrub_tools.web import page_data

stale = [str(p) for p, s in shared_constants.up_to_date().items() if s != p.read_text()]
names = [name for name, _ in targets(loader.load("python"))]
stream = open_stream("synth:sea_a", limit=300)
print(json.dumps({
    "constants out of date": stale,
    "models": list(learners.MODELS),
    "page": list(page_data.learners()),
    "estimators": river_adapter.__all__,
    "searched": [each["model"] for each in search_space.first(list(learners.MODELS), "", 65536)],
    "budget": budget("majority", "rpi_pico", features=3, classes=2).model_bytes,
    "parity": parity(stream, "majority", engine_names=("python", "llvm", "checked")),
    "forged states": fuzz("python", names.index("Majority"), 1, 60),
    "packages": [
        name for name, text in package_list.package_lists().items() if "majority.py" in text
    ],
}))
"""


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository that contains the learner."""
    folder = copy(tmp_path_factory.mktemp("moved"))
    library = folder / "firmware" / "microshrub"
    (library / MAJORITY.name).write_bytes(MAJORITY.read_bytes())
    registry = library / "learners.py"
    text = registry.read_text(encoding="utf-8")
    before = "Grove .thicket.grove\n"
    assert before in text
    registry.write_text(text.replace(before, before + LINE), encoding="utf-8")
    return folder


def python(folder: Path, *words: str) -> str:
    rooms = [str(folder / name) for name in ("firmware", "host", "research", "tools")]
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(rooms)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_all_lists_of_learners_have_the_learner(moved: Path) -> None:
    result = json.loads(python(moved, "-c", ASKED))
    assert result["constants out of date"] == []
    for where in ("models", "page", "searched"):
        assert "majority" in result[where], where
    assert "MajorityClassifier" in result["estimators"]
    assert result["budget"] == 16 + 8 + 8
    assert result["parity"] is None
    assert sum(result["forged states"]) >= 60
    assert "package.json" in result["packages"]


def test_commands_accept_the_learner(moved: Path) -> None:
    command = ("-m", "microshrub_tools.cli.main")
    source = ("synth:sea_a", "--limit", "300", "--model", "majority")
    result = json.loads(python(moved, *command, "simulate", *source, "--json", "-"))
    assert result["model"] == "majority"
    python(moved, *command, "build", *source, "--board", "rpi_pico", "--output", "made")
    assert json.loads((moved / "made" / "config.json").read_text())["learner"] == "Majority"


def test_no_other_file_changed(moved: Path) -> None:
    for path in (moved / "firmware").rglob("*.py"):
        ours = ROOT / path.relative_to(moved)
        if path.name not in ("majority.py", "learners.py"):
            assert path.read_bytes() == ours.read_bytes()
    text = (moved / "firmware" / "microshrub" / "learners.py").read_text(encoding="utf-8")
    ours = ROOT / "firmware" / "microshrub" / "learners.py"
    assert text.replace(LINE, "") == ours.read_text(encoding="utf-8")
