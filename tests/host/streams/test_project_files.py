"""A project of the page as a stream: its samples have the units with which the
page has learned.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from microshrub_host import open_stream
from microshrub_host.base.errors import DataError

CSV = """\
ax_mean,ax_energy,class
12,268435455,rest
13,3,walk
14,200000001,rest
15,100000003,walk
"""
CONFIG = {
    "class_names": ["walk", "rest"],
    "feature_names": ["ax_mean", "ax_energy"],
    "offset": [0, 0],
    "digits": [0, 0],
}


def project(folder: Path, config: dict[str, Any]) -> str:
    path = folder / "gestures.mshrub"
    with zipfile.ZipFile(path, "w") as archive:
        parts = {"config.json": json.dumps(config), "recording.csv": CSV, "gestures.json": "{}"}
        for name, text in parts.items():
            archive.writestr(name, text)
    return str(path)


def test_large_features_are_not_rounded(tmp_path: Path) -> None:
    stream = open_stream(project(tmp_path, CONFIG))
    assert stream.class_names == ("walk", "rest")
    assert stream.scale.units() == [(0, 0), (0, 0)]
    assert stream.scale.apply(stream.values)[0].tolist() == [12, 268435455]


def test_columns_with_another_name_get_their_own_units(tmp_path: Path) -> None:
    config = CONFIG | {"feature_names": ["ax_mean", "other"], "offset": [5, 0]}
    assert open_stream(project(tmp_path, config)).scale.units()[1][1] == -1


@pytest.mark.parametrize("wrong", [{"digits": [0]}, {"offset": ["x", 0]}, {"digits": 7}])
def test_a_damaged_project_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        open_stream(project(tmp_path, CONFIG | wrong))
