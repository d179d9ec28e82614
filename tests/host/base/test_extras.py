"""Without the packages of the extras, makers' commands work;
others name the package to install.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE
from tests_support import ROOT

from microshrub_host.base import exits

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LACKING = """
import sys
for name in {names!r}:
    sys.modules[name] = None
from microshrub_tools.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
ALL = tuple(exits._EXTRAS)
DETAILED = ("--features", "window=64", "hop=16", "rate=100", "--details")


def run(folder: Path, *words: str, names: tuple[str, ...] = ALL) -> tuple[int, str]:
    command = [sys.executable, "-c", LACKING.format(names=names), *words]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_no_extra_is_needed_from_a_recording_to_a_build(tmp_path: Path) -> None:
    code, output = run(tmp_path, "demo")
    assert code == 0, output
    assert run(tmp_path, "example", "gestures")[0] == 0
    without_extras = run(tmp_path, "simulate", "gestures.csv", *DETAILED, "--save", "x.mshrub")[1]
    whole = run(tmp_path, "simulate", "gestures.csv", *DETAILED, names=())[1]
    crc = re.findall(r"state CRC32\D+(\w+)", without_extras)
    assert crc
    assert crc == re.findall(r"state CRC32\D+(\w+)", whole), "another file reader, another model"
    for words in (
        ("build", "--model", "x.mshrub", "--board", "rpi_pico"),
        ("show", "x.mshrub"),
        ("simulate", "gestures.csv", "--target", "ax", "--drop", "label", "--limit", "500"),
    ):
        code, output = run(tmp_path, *words)
        assert code == 0, output


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("simulate", "synth:sea_0_to_2_at_1507"), "river"),
        (("simulate", "river:Phishing"), "river"),
        (("simulate", "synth:friedman", "--target", "target"), "river"),
        (("simulate", "x.csv", "--engine", "llvm"), "speed"),
        (("simulate", "x.csv", "--plot", "x.png"), "plot"),
        (("simulate", "x.csv", "--html", "x.html"), "plot"),
    ],
)
def test_a_command_without_its_extra_prints_one_line(
    words: tuple[str, ...], extra: str, tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_text("a,label\n" + "1,x\n2,y\n" * 50)
    code, output = run(tmp_path, *words)
    assert code == 2, output
    lines = [line for line in output.splitlines() if line.startswith("microshrub")]
    assert len(lines) == 1, output
    assert lines[0].endswith(f"pip install 'microshrub[{extra}]'")


def test_tune_names_its_extra(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,label\n" + "1,x\n2,y\n" * 50)
    code, output = run(tmp_path, "tune", "x.csv", "--board", "rpi_pico")
    assert code == 2, output
    assert re.search(r"tune needs .* 'microshrub\[tune\]'", output)


def test_without_compiler_and_llvm_a_note_says_that_it_is_slow(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,label\n" + "1,x\n2,y\n" * 50)
    command = LACKING.format(names=ALL).replace(
        "from microshrub_tools", "import os; os.environ['PATH'] = ''\nfrom microshrub_tools", 1
    )
    done = subprocess.run(
        [sys.executable, "-c", command, "simulate", "x.csv", "--details"],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "samples a second (python)" in done.stdout
    assert done.stderr.count("pip install 'microshrub[speed]'") == 1


def test_each_extra_installs_the_packages_that_messages_attribute_to_it() -> None:
    """Packages have the names that pip uses."""
    called = {"sklearn": "scikit-learn"}
    for module, extra in exits._EXTRAS.items():
        brought = " ".join(PROJECT["optional-dependencies"][extra])
        assert re.search(rf"\b{called.get(module, module)}[>= ]", brought), module
    assert exits.missing("os.path") is None


def test_the_base_is_light() -> None:
    """The base measured 97 MB in total; none of these heavy packages is in it on Linux."""
    for line in PROJECT["dependencies"]:
        heavy = re.match(r"(pyarrow|llvmlite|scipy|river|pandas|matplotlib)\b", line)
        assert not heavy or "sys_platform != 'linux'" in line, line


def test_the_page_and_its_bridge_need_no_extra() -> None:
    """`make web` installs the package without extras for the page and its bridge."""
    names = [re.match(r"[\w-]+", line) for line in PROJECT["dependencies"]]
    installed = {name[0] for name in names if name} | {"microshrub_host", "serial"}
    for name in ("site", "bridge", "visitors"):
        source = (ROOT / f"tools/microshrub_tools/web/{name}.py").read_text()
        for package in re.findall(r"^ *(?:from|import) (\w+)", source, re.MULTILINE):
            assert package in installed | sys.stdlib_module_names, f"{name}.py imports {package}"
