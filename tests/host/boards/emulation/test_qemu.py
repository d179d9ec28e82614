"""Emulated boards: a real MicroPython on a Cortex-M0, a Cortex-M3, an RV32; exact counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE

from microshrub_host.base.errors import UserError
from microshrub_host.boards import counted_models, emulated_boards, instruction_counts
from microshrub_host.boards.emulated_boards import BOARDS, COUNTED
from microshrub_host.boards.emulator import EmulatedBoard, EmulatedBoardError
from microshrub_host.library import loader
from microshrub_host.programs import mpy
from microshrub_research.benchmarks import feature_cost, instruction_report, regression_cost

WARMUP = 60
SAMPLES = 140


@pytest.fixture(scope="session")
def emulators() -> None:
    """All emulated boards, built once if there are none; tests are skipped if a build fails."""
    for name in COUNTED:
        try:
            emulated_boards.find_or_build(name)
        except emulated_boards.NoEmulator as reason:
            pytest.skip(str(reason))


@pytest.fixture(scope="module", params=COUNTED)
def board_name(request: pytest.FixtureRequest, emulators: None) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def whats() -> list[counted_models.CountedModel]:
    return counted_models.configurations(SAMPLES)


@pytest.fixture(scope="module")
def board(board_name: str) -> Iterator[EmulatedBoard]:
    """A board that is started once: each test leaves files with names of its own on the disk."""
    with EmulatedBoard(board_name) as board:
        yield board


@pytest.fixture(scope="module")
def counter(
    board_name: str, whats: list[counted_models.CountedModel]
) -> Iterator[instruction_counts.Counter]:
    with instruction_counts.Counter(board_name, whats[:1], warmup=WARMUP) as counter:
        yield counter


# --- The board -----------------------------------------------------------------------------------


def test_the_board_is_a_32_bit_one_of_its_processor(board: EmulatedBoard) -> None:
    code = "import sys\nprint(sys.maxsize == 2**31 - 1, sys.implementation._machine)"
    cpu = {"cortex-m0": "nRF51", "cortex-m3": "Cortex-M3", "rv32": "rv32imac"}[
        board.emulator.board.name
    ]
    output = board.exec(code)
    assert output.startswith("True ")
    assert cpu in output
    version = "import sys\nprint('%d.%d.%d' % sys.implementation.version[:3])"
    assert board.exec(version).strip() == emulated_boards.VERSION


def test_exceptions_on_the_board_reach_the_caller(board: EmulatedBoard) -> None:
    with pytest.raises(EmulatedBoardError, match="ZeroDivisionError"):
        board.exec("1 // 0")
    assert board.exec("print(6 * 7)") == "42\n"


def test_the_library_is_copied_and_imported(board: EmulatedBoard) -> None:
    board.exec("import os\nos.mkdir('/microshrub')")
    for file in mpy.compiled(board.emulator.board.arch):
        if file.stem in ("__init__", "metrics", "buffers", "learner"):
            board.put(file.read_bytes(), f"/microshrub/{file.name}")
    board.exec("from microshrub import Metrics\nm = Metrics(classes=2)\nm.update(1, 1)")
    assert board.exec("print(m.accuracy)") == "1000000\n"


def test_mpremote_can_use_the_line(board: EmulatedBoard, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_bytes(bytes(range(256)) * 3)
    board.disconnect()
    mpremote = [sys.executable, "-m", "mpremote", "connect", board.port, "resume"]
    source = str(tmp_path / "note.txt")
    words = ["mkdir", ":sent", "+", "fs", "cp", source, ":sent/note.txt"]
    words += ["+", "fs", "cp", ":sent/note.txt", source + "2"]
    done = subprocess.run(
        [*mpremote, "fs", *words], capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "note.txt2").read_bytes() == bytes(range(256)) * 3
    board.connect()
    assert board.exec("import os\nprint(os.listdir('/sent'))") == "['note.txt']\n"


def test_the_disk_behaves_as_a_disk(board: EmulatedBoard) -> None:
    output = board.exec(
        "import os\nbefore = os.listdir('/')\n"
        "with open('/a', 'w') as f: f.write('one\\ntwo')\n"
        "with open('/a', 'a') as f: f.write('!')\n"
        "with open('/a') as f: print(repr(f.readline()), repr(f.read()))\n"
        "os.mkdir('/d'); os.rename('/a', '/d/b')\n"
        "os.chdir('/d'); print(os.getcwd(), os.listdir(), os.stat('b')[6])\n"
        "def fails(f, *a):\n"
        "    try: f(*a)\n"
        "    except OSError as e: print(e.errno, end=' ')\n"
        "fails(open, '/none'); fails(open, '/d', 'w'); fails(os.rmdir, '/d')\n"
        "fails(os.mkdir, '/d')\n"
        "fails(open, '/no/x', 'w'); os.remove('b'); os.rmdir('/d')\n"
        "print(os.listdir('/') == before)\n"
    )
    assert output == "'one\\n' 'two!'\n/d ['b'] 8\n2 21 13 17 2 True\n"


def test_given_files_are_on_the_disk_and_not_on_the_heap(board_name: str) -> None:
    files = {"/deep/down/one": bytes(range(256)) * 400, "/two": b"2"}
    with EmulatedBoard(board_name, files) as board:
        output = board.exec(
            "import gc\nprint(gc.mem_alloc() < 40000)\n"
            "print(sum(open('/deep/down/one', 'rb').read(256)), open('/two').read())"
        )
    assert output == "True\n32640 2\n"


def test_qemu_ends_with_the_block(board_name: str) -> None:
    board = EmulatedBoard(board_name)

    def fail() -> None:
        with board:
            board.exec("1 // 0")

    with pytest.raises(EmulatedBoardError, match="ZeroDivisionError"):
        fail()
    assert board._process.poll() is not None


@pytest.mark.usefixtures("impatient")
def test_a_board_that_stopped_raises_an_error(board_name: str) -> None:
    with EmulatedBoard(board_name) as board:
        board._process.kill()
        with pytest.raises(EmulatedBoardError, match=f"the emulated {board_name} "):
            board.exec("print(1)", 5)


# --- Counts --------------------------------------------------------------------------------------


def test_every_model_learns_as_in_the_simulator(
    board_name: str, whats: list[counted_models.CountedModel]
) -> None:
    with instruction_counts.Counter(board_name, whats, warmup=WARMUP) as counter:
        counts = [counter.count(i) for i in range(len(whats))]
    for what, cost in zip(whats, counts, strict=True):
        assert cost.crc == instruction_counts.learned_on_pc(what), what.name
        assert cost.predict.shape == cost.learn.shape == (SAMPLES - WARMUP,)
        assert cost.predict.min() > 1000
        assert (cost.learn > cost.predict.min()).all()


def test_an_anomaly_score_has_the_simulators_state(board_name: str) -> None:
    codes, labels = counted_models.stream(3, 2, 90)
    what = counted_models.CountedModel("small", "ShrubEnsemble", {}, codes, labels, 60)
    with instruction_counts.Counter(board_name, [what]) as counter:
        counts, crc = counter.count_anomaly(0)
    score = loader.load("python").AnomalyScore(3)
    score.run(array("H", codes.tobytes()), bytearray(90), bytearray(90))
    assert crc == score.state_crc32() & 0xFFFFFFFF
    assert len(counts) == 30
    assert counts[-1] > counts[0] > 1000  # the window still grows


def test_a_forecaster_has_the_simulators_state(board_name: str) -> None:
    whats = regression_cost.counted_models(samples=90, first=60)[:2]
    with instruction_counts.Counter(board_name, whats) as counter:
        for i, what in enumerate(whats):
            counts, crc = counter.count_numbers(i, regression_cost.TARGET)
            assert crc == regression_cost.learned_on_pc(what), what.name
            assert len(counts) == 30
            assert counts.min() > 10_000


@pytest.mark.parametrize("native", [False, True])
def test_features_equal_the_simulators(
    board_name: str, native: bool, native_tools_for: Callable[[str], object]
) -> None:
    if native:
        native_tools_for(BOARDS[board_name].arch)
    rows = feature_cost.counted_features(readings=70)
    what, extraction = rows[1]
    with instruction_counts.Counter(board_name, [what], native=native, features=True) as counter:
        counts, crc = counter.count_features(0, extraction.options)
    complete, expected = feature_cost.on_pc(what, extraction)
    assert crc == expected
    assert (counts > 15_000).tolist() == complete
    assert sum(complete) == 1


@pytest.mark.long
def test_native_modules_learn_as_in_the_simulator(
    board_name: str,
    whats: list[counted_models.CountedModel],
    native_tools_for: Callable[[str], object],
) -> None:
    native_tools_for(BOARDS[board_name].arch)
    first = whats[0]
    thicket = {"features": 14, "classes": 2, "bytes": 20000}
    models = [
        *whats,
        counted_models.CountedModel("Thicket", "Thicket", thicket, first.codes, first.labels),
    ]
    with instruction_counts.Counter(board_name, models, warmup=WARMUP, native=True) as counter:
        native = [counter.count(i) for i in range(len(models))]
    for what, cost in zip(models, native, strict=True):
        assert cost.crc == instruction_counts.learned_on_pc(what), what.name
    with instruction_counts.Counter(board_name, models[:1], warmup=WARMUP) as counter:
        viper = counter.count(0)
    assert native[0].learn.mean() < viper.learn.mean() / 2
    assert native[0].predict.mean() < viper.predict.mean()


def test_counts_are_the_same_in_every_run(
    board_name: str, whats: list[counted_models.CountedModel]
) -> None:
    results = []
    for _ in range(2):
        with instruction_counts.Counter(board_name, whats[:1], warmup=WARMUP) as counter:
            results.append(counter.count(0))
    assert (results[0].predict == results[1].predict).all()
    assert (results[0].learn == results[1].learn).all()


def test_counts_follow_the_code(board_name: str, counter: instruction_counts.Counter) -> None:
    """Loops of known length show that one more instruction in a kernel is counted as one more."""
    source = (
        "import micropython\n@micropython.viper\ndef loop(n: int):\n"
        "    i = 0\n    while i < n:\n        i += 1\n"
    )
    board = counter._board
    counter._start(0)
    board.exec(source + "from count import count_predict, stamp")
    output = board.exec(
        "print([count_predict(stamp, run.ticks, loop, n) for n in range(0, 600, 100)])"
    )
    ticks = np.array(eval(output)) / instruction_counts.TICKS[board_name]
    steps = np.diff(ticks)
    assert np.abs(steps - np.rint(steps)).max() < 0.2
    assert (np.rint(steps) == np.rint(steps[0])).all()
    assert np.rint(steps[0]) % 100 == 0  # a hundred iterations each
    assert np.rint(steps[0]) > 400


def test_kernels_are_parts_of_learn(counter: instruction_counts.Counter) -> None:
    whole = counter.count(0).learn
    train, once = counter.count_kernel(0, "train")
    scan, _ = counter.count_kernel(0, "scan")
    move, _ = counter.count_kernel(0, "move")  # active_learning.py has one, too
    again = counter.count(0).learn
    assert (once == 1).all()
    assert (scan < train).all()
    assert (move < train).all()
    assert (train < whole).all()
    # The wrappers are removed: each would cost hundreds. Looking up names may cost a little more
    # or less than before, since the tables of names differ.
    assert np.abs(again - whole).max() < 150


def test_the_table_has_mean_and_percentiles(emulators: None) -> None:
    what = counted_models.configurations(4)[0]
    cost = instruction_counts.InstructionCost(np.arange(1, 101), np.arange(1001, 1101), 0)
    table = instruction_report.rows([("cortex-m0", what, cost)])
    assert table[1][3:] == ("50", "51", "100", "100")
    assert "| 1,050 | 1,051 | 1,100 | 1,100 |" in instruction_report.as_markdown(table, "x")
    lines = instruction_report.as_text(table).splitlines()
    assert len({len(line) for line in lines}) == 1


# --- Errors --------------------------------------------------------------------------------------


def test_an_unknown_board_is_refused() -> None:
    with pytest.raises(UserError, match=r"board z80; .* cortex-m0, cortex-m3, "):
        emulated_boards.find("z80")


def test_without_a_build_the_error_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(emulated_boards.NoEmulator) as caught:
        emulated_boards.find("cortex-m3")
    assert "cortex-m3" in str(caught.value)
    assert emulated_boards.WAYS in str(caught.value)


@pytest.mark.parametrize(
    ("platform", "machine", "complaint"),
    [("darwin", "arm64", "darwin on arm64"), ("linux", "riscv64", "linux on riscv64")],
)
def test_other_machines_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, machine: str, complaint: str
) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("platform.machine", lambda: machine)
    with pytest.raises(emulated_boards.NoEmulator, match=complaint):
        emulated_boards.find_or_build("cortex-m0")


def test_without_make_the_error_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    which = emulated_boards.shutil.which
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        emulated_boards.shutil, "which", lambda name: None if name == "make" else which(name)
    )
    if which("apt-get") is None:
        pytest.skip("apt-get is looked for before make")
    with pytest.raises(emulated_boards.NoEmulator, match="needs `make`"):
        emulated_boards.find_or_build("cortex-m0")
    assert not list((tmp_path / "cache").glob("*/fetch-*"))


def test_a_folder_that_make_cannot_handle_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "my cache"))
    with pytest.raises(emulated_boards.NoEmulator, match="MICROSHRUB_CACHE name a plainer"):
        emulated_boards.find_or_build("cortex-m0")


def test_a_stopped_build_leaves_no_files(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("apt-get", "apt-config", "dpkg-deb", "make"):
        path = emulated_boards.shutil.which(tool)
        if path is None:
            pytest.skip(f"there is no {tool} here")
        (tools / tool).symlink_to(path)
    process = subprocess.Popen(
        [sys.executable, "-m", "microshrub_tools.cli.main", "micropython", "--board", "cortex-m0"],
        env={**os.environ, "MICROSHRUB_CACHE": str(tmp_path / "cache"), "PATH": str(tools)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    first = process.stderr.readline()
    if not first.startswith("reading the "):
        process.kill()
        pytest.skip(first)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    process.stderr.close()
    left = [path for folder in (tmp_path / "cache").iterdir() for path in folder.iterdir()]
    assert {(path.name, path.stat().st_size) for path in left} == {("lock", 0)}
