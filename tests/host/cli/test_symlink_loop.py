"""A symbolic link in a loop is not a file to write: it is reported in one line, and kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from microshrub_tools.cli.main import main


@pytest.mark.parametrize(
    "words",
    [
        "simulate data.csv --save loop",
        "simulate data.csv --json loop",
        "simulate loop",
        "show loop",
        "build data.csv --board rpi_pico --output loop",
        "record --port no_such_port --output loop",
        "check-learner loop:Learner",
    ],
)
def test_a_symlink_loop_is_reported(
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("a,y\n" + "1,p\n2,q\n" * 20)
    os.symlink("other", "loop")
    os.symlink("loop", "other")
    assert main(words.split()) == 2
    assert "loop" in capsys.readouterr().err.splitlines()[-1]
    assert Path("loop").is_symlink()
    assert sorted(os.listdir()) == ["data.csv", "loop", "other"]
