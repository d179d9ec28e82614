"""The page's downloads equal the command line's files: a model's file, a board's program.

Only the library differs: the page's library is merged for all programs with the learner.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from browser_support import Browser
from page_library_support import check_library
from playground_support import choose, crc_of_run, set_option, take

from microshrub_host import load_model
from microshrub_tools import build
from microshrub_tools.board.build import main_file

OPTIONS = {
    "thicket": {"bytes": 2048},
    "hoeffding": {"adaptive": "true", "policy": "efdt", "leaf": "mc"},
    "shrub": {"window": 16, "trees": 2, "depth": 3, "train_every": 50},
}


@pytest.mark.parametrize("learner", OPTIONS)
def test_the_model_and_the_program_match_those_of_the_command_line(
    playground: Browser, tmp_path: Path, learner: str
) -> None:
    choose(playground, "stream", "led")
    choose(playground, "board", "rpi_pico2")
    choose(playground, "learner", learner)
    for name, value in OPTIONS[learner].items():
        set_option(playground, name, value)
    crc = crc_of_run(playground)
    path = tmp_path / "page.mshrub"
    take(playground, "take-model", path)
    model = load_model(path)
    assert model.learner.state_crc32() == crc
    assert model.file.samples == 2000
    assert model.file.class_names == tuple("0123456789")

    packed = take(playground, "take-program", tmp_path / "microshrub-rpi_pico2.zip")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.testzip() is None
        files = {name: archive.read(name) for name in archive.namelist()}
    made = build(path, "rpi_pico2", output=tmp_path / "made").folder
    expected = {file.name: file.read_bytes() for file in made.iterdir() if file.is_file()}
    assert json.loads(files.pop("config.json")) == json.loads(expected.pop("config.json"))
    expected["main.py"] = main_file().read_bytes()
    library = {name: files.pop(name) for name in list(files) if name.startswith("lib/")}
    assert files == expected
    check_library(library, made, learner, "rpi_pico2")


def test_a_stopped_model_can_be_downloaded(playground: Browser, tmp_path: Path) -> None:
    set_option(playground, "bytes", 8192)
    playground.run("document.querySelector('#start').click()")
    playground.wait("document.querySelector('#newest').textContent")
    playground.run("document.querySelector('#start').click()")
    playground.wait("!!document.querySelector('#take-model')")
    take(playground, "take-model", tmp_path / "page.mshrub")
    assert 0 < load_model(tmp_path / "page.mshrub").file.samples < 3000
