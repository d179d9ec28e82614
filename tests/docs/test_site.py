"""The site builds without a warning, also about broken links; its pages are complete."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from chromium_support import Chromium
from patience import PATIENCE

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    pytest.importorskip("sphinx_copybutton")
    folder = tmp_path_factory.mktemp("site")
    strict = ["--quiet", "--fail-on-warning", "--keep-going", "-d", str(folder / "trees")]
    # The sidebar's lists of names, which Sphinx copies for each page, take 40 % of the time
    bare = ["-D", "toc_object_entries=0"]
    folders = [str(ROOT / "docs"), str(folder / "html")]
    command = [sys.executable, "-m", "sphinx", *strict, *bare, *folders]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.mark.long
def test_every_page_of_the_docs_is_in_the_site(site: Path) -> None:
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    assert pages
    assert not [page for page in pages if not (site / page.with_suffix(".html")).exists()]


@pytest.mark.long
def test_the_search_finds_users_words(site: Path) -> None:
    """The index has the words as Sphinx stems them."""
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for word in (
        "thonni", "bootsel", "breadboard", "uf2", "mpremot", "esp32", "pico", "mpu", "gy",
        "acceleromet", "dht22", "scd41", "ina219", "mpr121", "bh1750", "sct", "vibrat", "mainten",
        "powershel", "window", "maco", "chromebook", "com3", "tinyml", "raspberri", "micropython",
        "adxl345", "lsm6ds3", "bme280",
    ):  # fmt: skip
        assert re.search(rf'[",{{]"?{word}"?:', index), word


@pytest.mark.long
def test_code_has_a_copy_button_also_without_a_network(site: Path) -> None:
    for page in ("index.html", "tutorials/first-board.html", "how-to/inspect-and-export.html"):
        text = (site / page).read_text(encoding="utf-8")
        scripts = re.findall(r'<script src="([^"?]+)', text)
        assert [name for name in scripts if name.endswith("copybutton.js")]
        assert all((site / page).parent.joinpath(name).exists() for name in scripts), scripts


CUT = """
[...document.querySelectorAll("pre")]
  .filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent)
"""


@pytest.mark.long
def test_no_code_is_cut_off(site: Path, chromium: Chromium) -> None:
    with chromium.tab() as page:
        for name in ("index", "tutorials/first-board", "reference/commands", "how-to/tune"):
            for width in (390, 1280):
                page.open(site / f"{name}.html", width=width)
                assert page.run(CUT) == [], (name, width)


@pytest.mark.long
def test_the_reference_has_every_public_name_and_the_main_commands(site: Path) -> None:
    import microshrub
    from microshrub_host.library import loader

    python = (site / "reference" / "python.html").read_text(encoding="utf-8")
    names = [*microshrub.__all__, *loader.load("python").learners.learner_names()]
    assert not [name for name in names if f'id="microshrub.{name}"' not in python]
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    for name in ("simulate", "tune", "build", "flash", "monitor"):
        assert f'id="microshrub-{name}"' in commands
