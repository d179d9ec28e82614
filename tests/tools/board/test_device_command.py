"""A virtual board accepts the programs of a real one, and its sensors replay a recording."""

from __future__ import annotations

import csv
import fcntl
import json
import re
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
from array import array
from pathlib import Path

import pytest
from patience import PATIENCE
from script_support import output_in_time
from simulated_support import environment, simulated_board

from microshrub_host.base.errors import UserError
from microshrub_tools.board import simulated_board as boards
from microshrub_tools.board.pc_board import PcBoard
from microshrub_tools.board.ports import describe_ports
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import STATUS
from microshrub_tools.link.serial_line import SerialLine

MAIN = """
import struct
from machine import I2C, Pin
from time import sleep_ms

bus = I2C(0, scl=Pin(1), sda=Pin(0), freq=400000)
bus.writeto_mem(104, 0x6B, b"\\0")
shake = Pin(15, Pin.IN, Pin.PULL_UP)
while True:
    ax, ay, az = struct.unpack(">3h", bus.readfrom_mem(104, 0x3B, 6))
    print("ax:%d ay:%d az:%d label:%s" % (ax, ay, az, "rest" if shake.value() else "shake"))
    sleep_ms(10)
"""
FEATURES = ("--features", "window=32", "hop=16", "rate=100")


def run(folder: Path, *words: str | Path, code: int = 0) -> str:
    """Return the output of a command, run in a process of its own."""
    command = [sys.executable, "-m", "microshrub_command", *map(str, words)]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_users_own_program_is_recorded_with_the_buttons_as_labels(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    run(tmp_path, "example", "gestures")
    (tmp_path / "main.py").write_text(MAIN)
    with simulated_board(tmp_path, "main.py", "--sensor", "gestures.csv", "--press", "15=shake"):
        run(tmp_path, "record", "-o", "mine.csv", "--limit", "900")
    rows = list(csv.DictReader((tmp_path / "mine.csv").read_text().splitlines()))
    played = list(csv.DictReader((tmp_path / "gestures.csv").read_text().splitlines()))
    known = {(row["ax"], row["ay"], row["az"]): row["label"] for row in played}
    assert len(rows) == 900
    same = sum(
        (known[row["ax"], row["ay"], row["az"]] == "shake") == (row["label"] == "shake")
        for row in rows
    )
    assert same >= 895, "the button may change between the sensor's reading and its own"
    assert {row["label"] for row in rows} == {"rest", "shake"}


@pytest.mark.long
def test_a_program_for_a_pico_is_flashed_and_watched(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    """The readings come from the sensor's FIFO; in the tutorials, they are read one by one."""
    run(tmp_path, "example", "gestures")
    run(tmp_path, "build", "gestures.csv", *FEATURES, "--bytes", "16384", "--board", "rpi_pico",
        "--sensor", "mpu6050", "scl=1", "sda=0", "rate=100", "axes=3", "fifo=yes",
        "--label-pin", "15", "pressed=shake", "released=rest",
        "--switch", "shake=16:440Hz+key:Space")  # fmt: skip
    with simulated_board(tmp_path, "--sensor", "gestures.csv", "--press", "15=shake") as port:
        output = run(tmp_path, "flash", "--board", "rpi_pico")
        assert f"The board is at {port}, a virtual board" in " ".join(output.split())
        assert "model is the simulator's" in output
        assert "sample, on this PC" in output
        assert "Raspberry Pi Pico has started" not in output
        assert "has started the program" in output
        learned = r"accuracy \S+ % of [1-9]"

        def watched(seconds: float) -> str:
            return run(tmp_path, "monitor", "--seconds", str(seconds))

        assert re.search(learned, output_in_time(watched, learned))
        before = learned_of(port)
        words = ("stream", "gestures.csv", *FEATURES, "--reset")
        assert "reads a sensor" in run(tmp_path, *words, code=2)
        assert learned_of(port) >= before > 0, "nothing was forgotten"


def learned_of(port: str) -> int:
    with HostLink(SerialLine(port)) as link:
        link.connect()
        return int(link.ask(STATUS).samples)


def test_the_board_sleeps_between_its_readings(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    run(tmp_path, "example", "gestures")
    run(tmp_path, "build", "gestures.csv", "--board", "rpi_pico", "--model", "shrub",
        "--sensor", "mpu6050", "scl=1", "sda=0", "rate=2", "axes=3",
        "--sleep", "every=3", "window=1", "hold=1")  # fmt: skip
    slept = r"up (\d+) s, (\d+) of them awake"
    with simulated_board(tmp_path, "build/rpi_pico", "--sensor", "gestures.csv"):

        def watched(seconds: float) -> str:
            return run(tmp_path, "monitor", "--seconds", str(seconds))

        end = time.monotonic() + PATIENCE
        up = awake = 0
        while awake == up:  # a board that starts slowly has not slept yet
            assert time.monotonic() < end
            time.sleep(3)  # no PC connects, so it sleeps
            up, awake = map(int, re.findall(slept, output_in_time(watched, slept))[-1])
    assert 0 < awake < up


def test_a_board_with_a_faster_clock_takes_most_of_its_readings(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    """At 10 Hz and 20 times the speed, a board that waits in real time misses most readings."""
    (tmp_path / "warm.csv").write_text("x,label\n" + "1,a\n2,b\n" * 200)
    run(tmp_path, "build", "warm.csv", "--model", "shrub", "--board", "rpi_pico",
        "--sensor", "adc", "pins=26", "rate=10",
        "--label-pin", "15", "pressed=a", "released=b")  # fmt: skip
    played = ("--sensor", "warm.csv", "--press", "15=a", "--rate", "10", "--speed", "20")
    with (
        simulated_board(tmp_path, "build/rpi_pico", *played) as port,
        HostLink(SerialLine(port)) as link,
    ):
        link.connect()
        for _ in range(3000):
            status = link.ask(STATUS)
            if status.samples + status.missed > 150:
                break
            time.sleep(0.01)
    assert status.samples > 100
    assert status.missed < status.samples / 4


STEPS = """
import time
most, before = 0, time.ticks_ms()
while True:
    print("longest", most, ".")
    for _ in range(20):
        time.sleep_ms(5)
        now = time.ticks_ms()
        most, before = max(most, time.ticks_diff(now, before)), now
"""


def board_with(program: str, folder: Path, command: tuple[str, ...]) -> PcBoard:
    """A virtual board with that program as its main.py; its sensor replays no recording."""
    flash = folder / "flash"
    flash.mkdir()
    (flash / "main.py").write_text(program)
    sensors = boards.write_sensors(folder, None, 100.0, {})
    return PcBoard(command, flash, sensors=sensors)


def test_the_clock_stops_while_the_pc_is_busy(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    """Otherwise the board would miss readings that no real board misses."""
    board = board_with(STEPS, tmp_path, micropython_command)
    with board, open(board.port, "rb", buffering=0) as line:
        line.read(1)
        for _ in range(2):
            board._process.send_signal(signal.SIGSTOP)
            time.sleep(0.4)
            board._process.send_signal(signal.SIGCONT)
        received = b""
        while len(longest := re.findall(rb"longest (\d+) \.", received)) < 9:
            received += line.read(100)
    assert 5 <= int(longest[-1]) < 200


WAITING = """
import ffi, time

used = ffi.open("libc.so.6").func("i", "clock", "")
begin, before = time.ticks_ms(), used()
while time.ticks_diff(time.ticks_ms(), begin) < 2000:
    pass
print("used", used() - before, ".")
"""


def test_a_waiting_board_leaves_the_processor_to_others(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    """This also holds if the program keeps reading the clock, as programs do between readings."""
    board = board_with(WAITING, tmp_path, micropython_command)
    received = b""
    with board, open(board.port, "rb", buffering=0) as line:
        while not (used := re.search(rb"used (\d+) \.", received)):
            received += line.read(100)
    assert int(used[1]) < 300_000


@pytest.mark.long
def test_a_program_can_be_streamed_to_the_board(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    run(tmp_path, "example", "keypad")
    run(tmp_path, "build", "keypad.csv", "--bytes", "16384", "--board", "rpi_pico")
    with simulated_board(tmp_path, "build/rpi_pico"):
        assert "accuracy on the device" in run(tmp_path, "stream", "keypad.csv")


def test_invalid_options_are_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    micropython_command: tuple[str, ...],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["example", "gestures"]) == 0
    for words, meant in (
        (["--sensor", "gestures.csv", "--press", "15=shak"], "Did you mean shake?"),
        (["--press", "15=shake"], "--press needs --sensor"),
        (["--sensor", "gestures.csv", "--rate", "0"], "--rate has to be above 0"),
        (["nothing"], "there is no nothing. Make a build"),
        (["mine.py"], "there is no file mine.py"),
    ):
        assert main(["device", *words]) == 2
        assert meant in capsys.readouterr().err


def played(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, *words: str) -> list:
    """Return the columns, the labelled rows, and the buttons that `device` replays."""
    kept = []

    def write(*arguments: object, **options: object) -> None:
        result = json.loads(write_sensors(*arguments, **options).read_text())
        rows = array("i", Path(result["rows"]).read_bytes())
        kept.extend([result["columns"], rows.tolist(), result["press"]])
        raise UserError("it is written")

    write_sensors = boards.write_sensors
    (folder / "w.csv").write_text(text)
    with monkeypatch.context() as patched:
        patched.chdir(folder)
        patched.setattr(boards, "write_sensors", write)
        assert main(["device", "--sensor", "w.csv", *words]) == 2
    return kept


def test_a_recording_of_one_class_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, micropython_command: tuple[str, ...]
) -> None:
    text = "a0,label\n5,rest\n6,rest\n"
    assert played(tmp_path, monkeypatch, text) == [["a0"], [5, 0, 6, 0], {}]
    played_back = played(tmp_path, monkeypatch, text, "--press", "15=rest")
    assert played_back[2] == {"15": 0}


@pytest.mark.parametrize(
    ("words", "names", "rows"),
    [
        (["--drop", "when"], ["a0", "a1"], [5, 7, 0, 6, 8, 1]),
        (["--columns", "a1", "--limit", "1"], ["a1"], [7, 0]),
        (["--drop", "when", "a0", "--no-label"], ["a1", "label"], [7, 0, -1, 8, 1, -1]),
        (["--drop", "when", "--label", "a1"], ["a0", "label"], [5, 0, 0, 6, 1, 1]),
    ],
)
def test_columns_are_chosen_as_in_other_commands(
    words: list[str], names: list[str], rows: list[int], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, micropython_command: tuple[str, ...],
) -> None:  # fmt: skip
    text = "when,a0,a1,label\n2024-01-01 00:01,5,7,rest\n2024-01-01 00:02,6,8,shake\n"
    assert played(tmp_path, monkeypatch, text, *words)[:2] == [names, rows]


def test_an_ended_board_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, micropython_command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with simulated_board(tmp_path) as port:
        assert [board.port for board in boards.running()] == [port]
        assert describe_ports()[0].startswith(f"{port}  a virtual board")
    assert boards.running() == []
    gone = next(tmp_path.glob("microshrub-boards-*")) / "999999999"
    gone.write_text("/dev/pts/99")
    assert boards.running() == []
    assert not gone.exists()


def test_a_board_without_a_reader_can_be_ended(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    flash = tmp_path / "flash"
    flash.mkdir()
    (flash / "main.py").write_text("while True: print('x' * 999)\n")
    with PcBoard(micropython_command, flash) as board:
        waits = threading.Event()
        while not is_full(board.port):
            waits.wait(0.05)


def is_full(port: str) -> bool:
    """Whether a line's buffer is full."""
    with open(port, "rb") as line:
        return int.from_bytes(fcntl.ioctl(line, termios.FIONREAD, bytes(4)), sys.byteorder) > 4000


TALK = """
n = 0
while True:
    print("a line that nobody reads", n)
    n += 1
    if not n % 1000:
        with open("lines", "w") as file:
            file.write(str(n))
"""


def test_the_board_runs_on_where_no_program_reads_its_output(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    (tmp_path / "main.py").write_text(TALK)
    with PcBoard(micropython_command, tmp_path) as board:
        end = time.monotonic() + PATIENCE
        while not (tmp_path / "lines").exists() or int(
            (tmp_path / "lines").read_text() or 0
        ) < 20_000:  # fmt: skip
            assert time.monotonic() < end, "it waits for a reader"
            time.sleep(0.05)
        with open(board.port, "rb", buffering=0) as port:
            assert b"a line that nobody reads" in port.read(4096) + port.read(4096)


def test_a_users_own_learner_is_flashed(
    tmp_path: Path, micropython_command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/how-to/add-a-learner.md works; without the learner's file, nothing is copied."""
    file = Path(__file__).parents[2] / "support" / "majority.py"
    rows = [f"{i % 90},{i * 7 % 50},{'walk' if i % 9 < 4 else 'rest'}" for i in range(400)]
    (tmp_path / "walk.csv").write_text("\n".join(["a,b,label", *rows, ""]))
    with simulated_board(tmp_path) as port:
        monkeypatch.setenv("MICROSHRUB_LEARNERS", f"{file}:Majority")
        run(tmp_path, "build", "walk.csv", "--model", "majority", "--board", "rpi_pico")
        monkeypatch.setenv("MICROSHRUB_LEARNERS", "")
        output = run(tmp_path, "flash", "--board", "rpi_pico", "--port", port, code=2)
        assert "MICROSHRUB_LEARNERS=FILE.py:Majority" in " ".join(output.split())
        assert "copying:" not in output
        monkeypatch.setenv("MICROSHRUB_LEARNERS", f"{file}:Majority")
        output = run(tmp_path, "flash", "build/rpi_pico", "--board", "rpi_pico2", "--port", port)
        assert "model is the simulator's" in output
        assert "in build/rpi_pico" in " ".join(output.split()), "not for a Pico 2"
        output = run(tmp_path, "stream", "walk.csv", "--port", port)
        assert "agree: 400 samples" in output
