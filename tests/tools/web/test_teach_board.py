"""The page's model is put on a board: a project is saved, opened again and flashed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from board_support import UnixBoard, what_starts
from browser_support import Browser
from cable_support import bridged as bridge_at
from emulated_support import START, OnLine, board_file
from node_support import run_in_node
from patience import PATIENCE
from playground_support import choose, take
from sensor_support import held_clock
from teach_support import crc, end, taught

from microshrub_host import load_model, open_stream, simulate
from microshrub_host.boards import board_files, emulated_boards
from microshrub_host.boards.emulator import EmulatedBoard
from microshrub_host.library import loader
from microshrub_tools.board import build, flash
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import FINGERPRINT
from microshrub_tools.link.serial_line import SerialLine
from microshrub_tools.web import page_boards


@pytest.fixture
def board(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[UnixBoard]:
    with UnixBoard(micropython_command, tmp_path / "flash", heap="400k") as unix_board:
        yield unix_board


@contextlib.contextmanager
def page_of_a_bridge(page: Browser, port: str) -> Iterator[None]:
    """Open the page of a bridge to the port, with a clock that the test controls."""
    with bridge_at(port) as bridge, held_clock(page):
        page.open(bridge.address)
        page.wait("!!document.querySelector('#start')")
        choose(page, "source", "pointer")
        yield


@pytest.fixture
def bridged(page: Browser, address: str, board: UnixBoard) -> Iterator[Browser]:
    """The page of a bridge to the board."""
    with page_of_a_bridge(page, board.port):
        yield page


def put_on_board(page: Browser) -> None:
    """Press the button that puts the model on the board, and wait for success."""
    page.run("document.querySelector('#gestures-flash').click()")
    status = "document.querySelector('#gestures-flash-status')"
    page.wait(f"!!{status}.className")
    assert page.run(f"{status}.className") == "good", page.run(f"{status}.textContent")


def test_a_reopened_project_is_put_on_a_board(
    bridged: Browser, board: UnixBoard, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    taught(bridged, seconds=3)
    before = end(bridged)
    project = tmp_path / "gestures.mshrub"
    take(bridged, "take-gestures", project)
    bridged.run("document.querySelector('#start-over').click()")
    assert bridged.run("document.querySelector('#gestures-crc32')") is None
    bridged.give_file("#project", project)
    assert crc(bridged) == before
    put_on_board(bridged)
    state = board.flash / "microshrub.0001" / "learner.state"
    file = load_model(project).file
    assert state.read_bytes() == file.states.learner
    learner = loader.load("python").learners.learner_class(file.learner)(**file.parameters)
    learner.load(state.read_bytes())
    assert learner.state_crc32() == before
    assert "the model is learner.state" in what_starts(micropython_command, board.flash)


def test_too_little_memory_is_reported_before_anything_is_copied(tmp_path: Path) -> None:
    """An example: a Pico is chosen, and a Pico W, with the same machine code, is connected."""
    program = """
        import { checkMemory } from "./bundle.mjs";
        import { readFileSync } from "node:fs";
        const value = async () => JSON.parse(readFileSync(0, "utf8"));
        const board = { run: async () => "", value };
        const checked = checkMemory(board, 183000, "Raspberry Pi Pico");
        const why = await checked.catch(({ message }) => message);
        console.log(JSON.stringify(why ?? null));
    """
    check = {"board/flash": "checkMemory"}
    assert run_in_node(tmp_path, program, check, 183000) is None
    reason = run_in_node(tmp_path, program, check, 177120)
    assert reason.startswith(
        "The program takes about 183,000 bytes of RAM, and this board has 177,120 free. "
        "Is it a Raspberry Pi Pico? If not, choose your board above."
    )


@pytest.mark.long
def test_many_samples_get_a_larger_learner_if_the_board_has_room(
    bridged: Browser, board: UnixBoard, tmp_path: Path
) -> None:
    """1,800 samples take 29 KB on a Pico; an ESP32 has room for 26, and all is learned again."""
    size = "document.querySelector('#board-bytes').textContent"
    project = tmp_path / "gestures.mshrub"
    taught(bridged, rounds=2, seconds=48)
    bridged.run("document.querySelector('#learn-me').click()")
    for name, note, kilobytes in (("rpi_pico", "up to 64 KB here", 29), ("esp32", "the most", 26)):
        if name == "esp32":
            choose(bridged, "gestures-board", name)
        bridged.wait("!!document.querySelector('#gestures-flash')", PATIENCE)
        assert f"takes {kilobytes} KB of this board's RAM" in bridged.run(size)
        assert note in bridged.run(size)
        take(bridged, "take-gestures", project)
        result = simulate(open_stream(str(project)), bytes=1024 * kilobytes).state_crc32
        assert crc(bridged) == result == load_model(project).learner.state_crc32()
    put_on_board(bridged)
    state = board.flash / "microshrub.0001" / "learner.state"
    assert state.read_bytes() == load_model(project).file.states.learner
    bridged.run("document.querySelector('#start-over').click()")
    bridged.give_file("#project", project)
    bridged.wait("!!document.querySelector('#gestures-flash')", PATIENCE)
    assert bridged.run("document.querySelector('#gestures-board').value") == "esp32"
    assert crc(bridged) == result


# Added to a board's free bytes: a virtual board's heap includes the collector's tables, 2.3 %
TABLES = 2048


def heap_of(name: str) -> str:
    """Return the bytes that are free on that board for the page's program, which fits there.

    On the virtual board all code is bytecode on the heap. Where machine code is elsewhere, the
    heap's bytes do not count it, and the virtual board gets enough.
    """
    board = board_files.load(name)
    config = page_boards.serial_config(board)
    program = page_boards.page_program("thicket", config, bytes=16384)
    budget = page_boards.whole_budget(board, program)
    assert budget.ram_bytes <= budget.free_bytes
    return str(budget.free_bytes + TABLES) if board.native else "400k"


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize("name", ["rpi_pico", "rpi_pico_w", "esp32"])
def test_boards_with_their_own_heaps_reach_the_pages_checksum(
    name: str, page: Browser, micropython_command: tuple[str, ...], tmp_path: Path
) -> None:
    heap = heap_of(name)
    flash_folder = tmp_path / "flash"
    with UnixBoard(micropython_command, flash_folder, heap=heap) as board:
        with page_of_a_bridge(page, board.port):
            taught(page, seconds=3)
            end(page)
            choose(page, "gestures-board", name)
            page.wait("!!document.querySelector('#gestures-flash')")
            put_on_board(page)
            shown = crc(page)
        with HostLink(SerialLine(board.port)) as link:
            link.connect()
            assert link.ask(FINGERPRINT).crc32 == shown


@pytest.mark.long
def test_an_emulated_board_continues_with_the_pages_model(held: Browser, tmp_path: Path) -> None:
    try:
        emulator = emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    taught(held, seconds=3)
    before = end(held)
    project, folder = tmp_path / "gestures.mshrub", tmp_path / "program"
    take(held, "take-gestures", project)
    held.run("document.querySelector('#start-over').click()")
    held.give_file("#project", project)
    assert crc(held) == before
    board_of_it = board_file(tmp_path, emulator.board.arch)
    where = ["--board", str(board_of_it), "--output", str(folder)]
    assert main(["build", "--model", str(project), *where]) == 0
    files = build.read(folder)
    with EmulatedBoard(emulator) as board:
        assert flash.flash(OnLine(board), files).crc32 == flash.expected_crc32(files)
        board.reset()
        board.start(START)
        with HostLink(SerialLine(board.port)) as link:
            link.connect()
            assert link.ask(FINGERPRINT).crc32 == before
