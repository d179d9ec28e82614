"""The library of a program that the page makes, compared with the library of `build`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from microshrub_host.boards import board_files
from microshrub_host.programs.merged_files import whole
from microshrub_tools.web.page_boards import motion_config, page_library, page_program


def check_library(library: Mapping[str, bytes], built: Path, learner: str, key: str) -> None:
    """Check that the library has precompiled bytes, all files of `build`, and is not much larger.

    `build` leaves out every function that this program does not need.
    """
    board = board_files.load(key)
    ahead = page_library(board, page_program(learner, motion_config(board))).files()
    for name, code in library.items():
        stem = name.removesuffix(".mpy")
        assert code in [ahead[each] for each in ahead if whole(each.removesuffix(".mpy")) == stem]
    files = [file for file in (built / "lib").rglob("*") if file.is_file()]
    assert {file.relative_to(built).as_posix() for file in files} <= library.keys()
    size = sum(file.stat().st_size for file in files)
    assert sum(map(len, library.values())) < 1.3 * size
