"""`monitor` of a board whose program has ended: it repeats the board's message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from board_support import UnixBoard
from device_support import configuration, put_device

from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import StoppedError
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.watch.board_words import BoardWords
from microshrub_tools.watch.device_watch import Watch

CONFIG = configuration("ShrubEnsemble", {"features": 2, "classes": 2, "window": 8, "trees": 2})
MAIN = """
import sys
sys.path.insert(0, "lib")
from microshrub.device.program import main
main()
"""


def put(folder: Path, config: dict[str, Any], main_py: str = MAIN) -> Path:
    folder.mkdir(exist_ok=True)
    put_device(folder, config)
    (folder / "main.py").write_text(main_py)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "flash"


@pytest.mark.parametrize(
    ("config", "main_py", "words"),
    [
        (CONFIG | {"model": "gone.state"}, MAIN, "It said: gone.state cannot be read"),
        (CONFIG | {"learner": "Forest"}, MAIN, "It said: config.json: learner has to be one of"),
        (CONFIG, "import nothing_of_the_kind\n", "It said: ImportError: no module named"),
    ],
)
def test_the_reason_of_the_end_is_reported(
    config: dict[str, Any],
    main_py: str,
    words: str,
    folder: Path,
    micropython_command: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with UnixBoard(micropython_command, put(folder, config, main_py)) as board:
        code = main(["monitor", "--port", board.port, "--seconds", "1"])
    err = capsys.readouterr().err
    assert code == 2
    assert f"the board's program has ended. {words}" in err
    assert "Traceback" not in err


def test_a_program_that_stops_while_it_is_watched(
    folder: Path, micropython_command: tuple[str, ...]
) -> None:
    words = BoardWords()
    with UnixBoard(micropython_command, put(folder, CONFIG)) as board:
        line = SerialLine(board.port)
        with HostLink(line, on_text=words.feed) as link:
            watch = Watch(link, words)
            watch.ask()
            while not link._is_stopped():  # the board reacts after a pause
                link.poll(0.2)
                line.write(b"\r\x03")
                link.poll(0.2)
            with pytest.raises(StoppedError, match="It said: stopped: Ctrl-C"), words.explaining():
                watch.ask()
            assert link._silent == link._timeout  # nothing was sent again in vain
    assert json.loads((folder / "config.json").read_text()) == CONFIG
