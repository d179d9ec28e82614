"""A release has the same version everywhere, and valid files."""

from __future__ import annotations

import json
import re
import sys

import pytest
from tests_support import ROOT

from microshrub_host.library import loader

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_the_version_is_the_same_everywhere() -> None:
    version = loader.load("python").__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    place = project["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{version}"' in (ROOT / place).read_text()
    assert "version" in project["project"]["dynamic"]
    for path in (ROOT / "firmware").glob("package*.json"):
        assert json.loads(path.read_text())["version"] == version, path
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_changes_begin_with_this_version() -> None:
    text = (ROOT / "docs" / "reference" / "changes.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+)$", text, re.M)
    assert versions[0] == loader.load("python").__version__


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "examples/README.md"])
def test_every_link_has_a_target(name: str) -> None:
    page = ROOT / name
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_forms_and_workflows_are_valid_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    files = [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml"]
    assert len(files) >= 4
    for path in files:
        assert yaml.safe_load(path.read_text(encoding="utf-8")), path
