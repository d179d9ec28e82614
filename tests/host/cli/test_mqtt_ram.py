"""The RAM of the MQTT publisher: shown before `build`, with advice if it is too much."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from microshrub_host.boards import board_files
from microshrub_tools.cli.main import main

FROZEN = "With the library in the firmware, `build --freeze`, it fits as it is."
SHAPE = ["--features", "16", "--classes", "4"]


@pytest.fixture
def recording(tmp_path: Path) -> str:
    rows = np.random.default_rng(1).normal(0, 100, (300, 17)).astype(int)
    rows[:, 16] = np.arange(300) % 4
    path = tmp_path / "rows.csv"
    head = ",".join([*(f"x{k}" for k in range(16)), "label"])
    np.savetxt(path, rows, fmt="%d", delimiter=",", header=head, comments="")
    return str(path)


def test_budget_says_that_a_frozen_library_leaves_room_for_a_broker(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["budget", "--board", "rpi_pico_w", *SHAPE]) == 0
    assert main(["budget", "--board", "rpi_pico_w", *SHAPE, "--mqtt"]) == 0
    assert "It fits" in " ".join(capsys.readouterr().out.split())
    assert main(["budget", "--board", "rpi_pico_w", *SHAPE, "--mqtt", "--bytes", "90000"]) == 1
    assert FROZEN in " ".join(capsys.readouterr().out.split())
    # `build` does not make a user's own program
    main(["budget", "--board", "rpi_pico_w", *SHAPE, "--own-program", "--bytes", "150000"])
    assert "--freeze`, it fits" not in capsys.readouterr().out


def test_a_radio_takes_the_part_by_which_an_esp32s_heap_grows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    board = board_files.load("esp32")
    words = ["budget", "--board", "esp32", *SHAPE, "--bytes", "8192", "--json", "-"]
    assert main(words) == 0
    alone = capsys.readouterr().out
    assert json.loads(alone)["free_bytes"] > board.heap_free_bytes + 16_384
    assert '"Wi-Fi"' not in alone
    main([*words, "--mqtt"])
    output = capsys.readouterr().out
    taken = re.search(r'"Wi-Fi": (\d+)', output)
    assert taken
    assert json.loads(output)["free_bytes"] - int(taken[1]) == board.heap_free_bytes


def test_a_simulation_warns_where_a_broker_would_take_too_much(
    recording: str, capsys: pytest.CaptureFixture[str]
) -> None:
    note = "With `build --mqtt`, it takes"
    for board, where in (("esp32c6", True), ("rpi_pico_w", False), ("rpi_pico2_w", False)):
        assert main(["simulate", recording, "--board", board]) == 0
        assert (note in capsys.readouterr().out) == where
    assert main(["simulate", recording, "--board", "rpi_pico_w", "--bytes", "90000"]) == 2
    err = capsys.readouterr().err
    assert "fits Raspberry Pi Pico W" in err


def test_the_help_of_build_and_budget_shows_the_broker(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("build", "budget"):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        assert "--mqtt" in capsys.readouterr().out
