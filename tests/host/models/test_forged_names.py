"""A model's file with names that save() would not write is refused in one line."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from microshrub_tools.cli.main import main


def forge(path: Path, names: list[Any]) -> None:
    """Write these names of classes into the file."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(parts["config.json"])
    parts["config.json"] = json.dumps(config | {"class_names": names}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    "names", [["a", "a"], ["a", "b" * 10_000_000]], ids=["the same twice", "10 MB"]
)
def test_impossible_names_are_refused(
    names: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, path = tmp_path / "data.csv", tmp_path / "forged.mshrub"
    data.write_text("x,y\n" + "1,a\n2,b\n" * 20)
    assert (
        main(
            ["simulate", str(data), "--model", "shrub", "--engine", "python", "--save", str(path)]
        )
        == 0
    )
    forge(path, names)
    capsys.readouterr()
    assert main(["show", str(path)]) == 2
    err = capsys.readouterr().err
    assert "class_names" in err
    assert len(err) < 500
