"""Unusual choices, input and dropped files in the page."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from browser_support import Browser
from playground_support import ERROR, RUN, choose, crc_of_run, give_csv, set_option, start
from teach_support import name

from microshrub_tools.cli.main import main

ROWS = "".join(f"{i % 7},{i % 5},{'pq'[i % 7 > 3]}\n" for i in range(300))
STATUS_TEXT = "document.querySelector('#status').textContent"
FOLDED = "!document.querySelector('#option-depth').closest('details').open"
SHOWN = "document.querySelector('#file').files[0]?.name"


@pytest.mark.parametrize("value", ["31", "2.5", ""])
def test_a_wrong_value_in_a_folded_option_is_shown(playground: Browser, value: str) -> None:
    """The option unfolds and gets the focus; an empty value is not taken for 0."""
    choose(playground, "stream", "led")
    choose(playground, "learner", "hoeffding")
    set_option(playground, "depth", value)
    assert playground.run(FOLDED)
    start(playground)
    playground.wait(f"!({FOLDED})")
    assert playground.run("document.activeElement.id") == "option-depth"
    assert playground.run(STATUS_TEXT) == "Press Start."
    assert not playground.complaints


def test_a_changed_file_has_to_be_chosen_again(playground: Browser, tmp_path: Path) -> None:
    path = tmp_path / "changed.csv"
    give_csv(playground, path, "a,b,y\n" + ROWS)
    choose(playground, "learner", "hoeffding")
    path.write_text("a,b,y\n" + ROWS * 2, encoding="utf-8")
    start(playground)
    assert playground.wait(ERROR) == (
        "changed.csv cannot be read any more: it was changed or moved. Choose it again."
    )
    event = "document.querySelector('#file').dispatchEvent(new Event('{}'))"
    playground.run(event.format("click"))
    assert playground.run(SHOWN) is None
    playground.run(event.format("cancel"))
    assert playground.run(SHOWN) == "changed.csv"
    playground.run(event.format("click"))  # otherwise the browser sees no change of the file
    playground.give_file("#file", path)
    playground.wait(f"{STATUS_TEXT} === 'Press Start.'")
    crc_of_run(playground)


def test_a_file_is_learned_if_start_is_pressed_before_its_columns_are_known(
    playground: Browser,
) -> None:
    """The run continues when the columns are known."""
    choose(playground, "learner", "hoeffding")
    playground.run(
        "(() => { const all = new DataTransfer(); const file = document.querySelector('#file');"
        f"all.items.add(new File([{json.dumps('a,b,y' + chr(10) + ROWS)}], 'soon.csv'));"
        "file.files = all.files; file.dispatchEvent(new Event('change'));"
        "document.querySelector('#start').click(); })()"
    )
    playground.wait(f"!!document.querySelector('#page-crc32') || {ERROR}", RUN)
    assert "300 samples" in playground.run(STATUS_TEXT)
    assert playground.run("document.querySelector('#label').value") == "y"


def test_the_name_of_a_dropped_file_is_displayed(playground: Browser, tmp_path: Path) -> None:
    give_csv(playground, tmp_path / "first.csv", "a,b,y\n" + ROWS)
    text = json.dumps("c,d,z\n" + ROWS)
    playground.run(
        "(() => { const dataTransfer = new DataTransfer();"
        f"dataTransfer.items.add(new File([{text}], 'second.csv'));"
        "document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true })); })()"
    )
    playground.wait("document.querySelector('#label').value === 'z'")
    assert playground.run(SHOWN) == "second.csv"


def test_the_simulator_accepts_the_displayed_command(
    playground: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """This holds for switches that are off, and for names that begin like options."""
    path = tmp_path / "-odd.csv"
    give_csv(
        playground, path, "a,-b,y\n" + "".join(f"{i % 5},{i % 2},{i % 3}\n" for i in range(99))
    )
    choose(playground, "label", "-b")
    choose(playground, "learner", "hoeffding")
    set_option(playground, "adaptive", "false")
    crc = crc_of_run(playground)
    command = playground.run("document.querySelector('#state pre').textContent")
    wanted = "microshrub simulate ./-odd.csv --label=-b --model hoeffding --no-adaptive --details"
    assert command == wanted
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[1:]) == 0
    assert f"{crc:08x}" in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["NA", "?", "none"])
def test_a_gesture_cannot_have_the_name_of_a_missing_value(held: Browser, missing: str) -> None:
    """The exported file of such a gesture could not be simulated."""
    name(held, f"walk, {missing}")
    result = held.run("document.querySelector('#learn-me-status').textContent")
    assert result.startswith(f"In a CSV file, {missing} says")
