"""The examples of the Python page run, print the output on the page, and have types."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests_support import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAGE = ROOT / "docs" / "reference" / "python.md"
# Optional packages, whose thousand files mypy would read
OTHERS = "dask.*,distributed.*,optuna.*,river.*,sklearn.*,sqlalchemy.*"


def shown(language: str) -> str:
    return PAGE.read_text(encoding="utf-8").partition(f"```{language}\n")[2].partition("```\n")[0]


def test_the_example_prints_the_output_below_it(tmp_path: Path) -> None:
    after = PAGE.read_text(encoding="utf-8").partition("\nprints\n\n```text\n")[2]
    command = [sys.executable, "-c", shown("python")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == after.partition("```\n")[0]


def test_the_example_of_a_guarantee_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "guarantee.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```\n")[0]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "of the sets held the label" in done.stdout


def packages() -> list[Path]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        wheel = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    return [ROOT / name for name in wheel["packages"]]


@pytest.mark.parametrize("package", packages(), ids=lambda path: path.name)
def test_each_package_is_marked_as_typed(package: Path) -> None:
    assert (package / "py.typed").read_bytes() == b""
    command = ["git", "ls-files", "--error-unmatch", str(package / "py.typed")]
    if (ROOT / ".git").exists():  # files that git ignores are not in the wheel
        assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


@pytest.mark.long
def test_mypy_knows_the_types_of_a_users_program(tmp_path: Path) -> None:
    more = """
import microshrub
from microshrub_host.api.river_adapter import HoeffdingTreeClassifier
reveal_type(run)
reveal_type(needed)
reveal_type(HoeffdingTreeClassifier(max_depth=3).predict_set_one({"x": 1.0}))
reveal_type(build("sea.mshrub", "rpi_pico"))
stream.no_such_name
"""
    (tmp_path / "use.py").write_text(shown("python") + more, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text(f"[mypy-{OTHERS}]\nfollow_imports = skip\n")
    command = [sys.executable, "-m", "mypy", "--strict", "use.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    for class_name in ("classes.Result", "ram_budget.Budget", "build.Build"):
        assert f'{class_name}"' in done.stdout
    assert 'Revealed type is "set[Any]"' in done.stdout  # of an adapter
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1
    assert '"Stream" has no attribute "no_such_name"' in errors[0]


@pytest.mark.long
def test_the_wheel_is_marked_as_typed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", "."]
    done = subprocess.run(
        [*command, str(ROOT)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if "No matching distribution" in done.stderr:
        pytest.skip("hatchling cannot be had here")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(tmp_path.glob("microshrub-*.whl"))) as wheel:
        names = wheel.namelist()
    assert {f"{package.name}/py.typed" for package in packages()} <= set(names)
