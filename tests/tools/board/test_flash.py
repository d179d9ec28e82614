"""`microshrub flash`: onto a real 32-bit MicroPython, completely or not at all."""

from __future__ import annotations

import itertools
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time
import tty
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from board_support import UnixBoard, what_starts
from flash_support import Cut, Direct, put, tiny
from patience import PATIENCE
from program_support import program, x86
from tests_support import ROOT

from microshrub_host.base.errors import UserError
from microshrub_host.library import loader
from microshrub_host.programs import mpy
from microshrub_tools.board import board_repl, build, flash, package_list
from microshrub_tools.board.board_repl import Device
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.serial_line import SerialLine


@pytest.mark.parametrize("before", ["nothing", "another program", "the last flash"])
def test_cut_after_every_step(
    tmp_path: Path, before: str, micropython_command: tuple[str, ...]
) -> None:
    seen = []
    was = tmp_path / "before"
    was.mkdir()
    if before == "another program":
        (was / "main.py").write_text("print('old')\n")
    if before == "the last flash":
        board = Direct(micropython_command, was, -1)
        put(board, tiny("old"))
        board.close()
    for steps in range(1000):
        folder = tmp_path / f"flash{steps}"
        shutil.copytree(was, folder)
        board = Direct(micropython_command, folder, steps)
        try:
            put(board, tiny("new"))
            cut = False
        except Cut:
            cut = True
        board.close()
        started = what_starts(micropython_command, folder).split()[0]
        assert started == "new" or (cut and started == {"nothing": ">>>"}.get(before, "old"))
        seen.append(started)
        if not cut:
            break
    assert seen == sorted(seen, key=lambda word: word == "new")
    assert seen[-1] == "new"
    assert len(seen) > 20
    if before == "another program":
        assert (folder / "main.old").read_text() == "print('old')\n"
    # the next flash removes the remains of an interrupted one
    left = tmp_path / f"flash{len(seen) // 2}"
    board = Direct(micropython_command, left, -1)
    put(board, tiny("again"))
    board.close()
    assert what_starts(micropython_command, left).split()[0] == "again"
    assert not (left / "new.microshrub").exists()
    assert len(list(left.glob("microshrub.*"))) == 1


def test_a_checkpoint_of_the_same_program_is_kept(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    folder = tmp_path / "flash"
    board = Direct(micropython_command, folder, -1)
    put(board, tiny("one"))
    (folder / "microshrub.0001" / "checkpoint.0").write_bytes(b"learned" * 100)
    put(board, tiny("two"))
    assert (folder / "microshrub.0002" / "checkpoint.0").read_bytes() == b"learned" * 100
    put(board, tiny("three") | {"config.json": b"{1}"})
    assert not (folder / "microshrub.0003" / "checkpoint.0").exists()
    (folder / "microshrub.0003" / "checkpoint.1").write_bytes(b"learned")
    put(board, tiny("four") | {"config.json": b"{1}", "learner.state": b"1"})
    assert not (folder / "microshrub.0004" / "checkpoint.1").exists()
    board.close()


def test_a_running_watchdog_is_fed(tmp_path: Path, micropython_command: tuple[str, ...]) -> None:
    folder = tmp_path / "flash"
    board = Direct(micropython_command, folder, -1)
    (folder / "machine.py").write_text(
        "class WDT:\n    def __init__(self, timeout):\n        assert 0 < timeout <= 8388\n"
        "    def feed(self):\n        open('fed', 'a').write('.')\n"
    )
    put(board, tiny("one"))
    assert not (folder / "fed").exists()
    put(board, tiny("two") | {"config.json": b'{"watchdog": 6000}'})
    assert not (folder / "fed").exists()
    put(board, tiny("three"))
    assert len((folder / "fed").read_text()) > 20
    board.close()


def test_a_damaged_file_is_detected(tmp_path: Path, micropython_command: tuple[str, ...]) -> None:
    folder = tmp_path / "flash"
    board = Direct(micropython_command, folder, -1)
    files = tiny("new")
    flash.prepare(board)
    flash.copy(board, files)
    flash.verify(board, files)
    path = folder / "new.microshrub" / "lib" / "microshrub" / "a.py"
    data = bytearray(path.read_bytes())
    data[1234] ^= 4
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"a\.py did not arrive"):
        flash.verify(board, files)
    board.close()


def test_programs_that_the_board_cannot_hold_are_refused(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    board = Direct(micropython_command, tmp_path / "flash", -1)
    flash.prepare(board)
    made = build.make(program(), x86(tmp_path), tmp_path / "out")
    files = build.read(made.folder)
    flash.check_fit(board, files)
    other = {name: data[:2] + bytes([4 << 2]) + data[3:] for name, data in files.items()}
    with pytest.raises(UserError, match=r"armv6m, .* runs x86"):
        flash.check_fit(board, other)
    board.run("class os:\n    statvfs = staticmethod(lambda _: (4096, 4096, 100, 10))")
    with pytest.raises(UserError, match=r"flash, .* 40,960 free"):
        flash.check_fit(board, files)
    board.close()


def test_files_that_micropython_does_not_load_are_refused(
    tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    """Only the versions, architectures and versions of machine code that load are accepted."""
    board = Direct(micropython_command, tmp_path / "flash", -1)
    flash.prepare(board)
    mpy.compile_text("A = 1\n", tmp_path / "m.mpy", "x86", "m.py")
    whole = (tmp_path / "m.mpy").read_bytes()
    loaded = []
    for head in itertools.product((5, 6, 7), range(16), range(4)):
        version, arch, sub = head
        name = "m{}_{}_{}".format(*head)
        data = whole[:1] + bytes((version, arch << 2 | sub)) + whole[3:]
        (tmp_path / "flash" / f"{name}.mpy").write_bytes(data)
        board.run(f"try:\n import {name}\n loads = 1\nexcept ValueError:\n loads = 0")
        if board.value("loads"):
            flash.check_fit(board, {f"{name}.mpy": data})
            loaded.append(head)
        else:
            with pytest.raises(UserError, match="this board"):
                flash.check_fit(board, {f"{name}.mpy": data})
    board.close()
    assert {(version, arch) for version, arch, _ in loaded} == {(6, 0), (6, 1)}
    assert len({sub for _, arch, sub in loaded if arch}) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_flash_is_reported(tmp_path: Path, micropython_command: tuple[str, ...]) -> None:
    board = Direct(micropython_command, tmp_path / "flash", -1)
    flash.prepare(board)
    (tmp_path / "flash" / "full").symlink_to("/dev/full")
    with pytest.raises(UserError, match="The board's flash is full"):
        flash.write(board, "full", bytes(2000))
    board.close()


# Over a pty, with mpremote


@pytest.fixture
def board(tmp_path: Path, micropython_command: tuple[str, ...]) -> Iterator[UnixBoard]:
    with UnixBoard(micropython_command, tmp_path / "flash") as board:
        yield board


def test_flash_over_a_line(
    tmp_path: Path, board: UnixBoard, capsys: pytest.CaptureFixture[str]
) -> None:
    x86(tmp_path)
    words = ["flash", "--board", str(tmp_path / "x86.toml"), "--port", board.port]
    for k, name in enumerate(("shrub", "tree")):  # the second stops the first, which is running
        made = build.make(program(name), x86(tmp_path), tmp_path / name)
        crc = flash.expected_crc32(build.read(made.folder))
        assert main([*words, str(made.folder)]) == 0
        captured = capsys.readouterr()
        assert f"model is the simulator's (CRC32 {crc:08x} after 200" in captured.out
        assert "us per sample" in captured.out
        assert "heap free before the import" in captured.out
        assert "microshrub: starting fresh" in captured.out
        assert "has started the program" in captured.out
        assert f"{len(made.files)} files on the board" in captured.err
        (slot,) = board.flash.glob("microshrub.*")
        assert slot.name == f"microshrub.000{k + 1}"
        assert {p.relative_to(slot).as_posix() for p in slot.rglob("*") if p.is_file()} == set(
            made.files
        )


def test_bench_names_the_programs_learner_and_starts_the_program_again(
    tmp_path: Path, board: UnixBoard, capsys: pytest.CaptureFixture[str]
) -> None:
    # Kernels of a native module would have other shapes
    made = build.make(program("shrub"), x86(tmp_path), tmp_path / "out", emit="viper")
    words = ["flash", "--board", str(tmp_path / "x86.toml"), "--port", board.port]
    assert main([*words, str(made.folder)]) == 0
    capsys.readouterr()
    assert main(["bench", "--port", board.port]) == 2
    captured = capsys.readouterr()
    assert "for ShrubEnsemble features=2" in captured.err
    assert "or use --mount" in captured.err
    assert "HoeffdingTree is not on" in captured.err
    assert "The board's program runs again." in captured.err
    with HostLink(SerialLine(board.port)) as link:
        assert link.connect().features == 2


def test_a_program_that_cannot_start_is_an_error(
    tmp_path: Path, board: UnixBoard, capsys: pytest.CaptureFixture[str]
) -> None:
    made = build.make(program(), x86(tmp_path), tmp_path / "out")
    config = made.folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"model": "gone"}))
    words = ["flash", "--board", str(tmp_path / "x86.toml"), "--port", board.port]
    assert main([*words, str(made.folder)]) == 1
    captured = capsys.readouterr()
    assert "microshrub: gone cannot be read" in captured.out
    assert "did not start" in captured.err


def test_a_failed_selftest_changes_nothing(
    tmp_path: Path, board: UnixBoard, capsys: pytest.CaptureFixture[str]
) -> None:
    old, started = "open('started', 'a').write('x')", board.flash / "started"
    (board.flash / "main.py").write_text(old)
    made = build.make(program(), x86(tmp_path), tmp_path / "out")
    words = ["flash", "--board", str(tmp_path / "x86.toml"), "--port", board.port]
    selftest = made.folder / build.LIBRARY / "device" / "selftest.mpy"
    seeds = [b"\x22\x8f" + last for last in (b"\x6a", b"\x6b")]  # 2026 and 2027 in bytecode
    assert selftest.read_bytes().count(seeds[0]) == 1
    selftest.write_bytes(selftest.read_bytes().replace(*seeds))  # now it learns other samples
    assert main([*words, str(made.folder)]) == 2
    assert re.search("self-test failed: .*checksum", capsys.readouterr().err)
    assert (board.flash / "main.py").read_text() == old
    assert not list(board.flash.glob("microshrub.*"))
    end = time.monotonic() + PATIENCE
    while not started.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert started.read_text() == "x"  # the stopped program runs again


def test_the_power_is_cut_while_copying(board: UnixBoard) -> None:
    (board.flash / "main.py").write_text("print('old')\n")
    with Device(board.port) as line:
        line._repl._transport.use_raw_paste = False  # mpremote would wait for ten seconds
        flash.prepare(line)

        def cut(done: int, total: int) -> None:
            if done > 4000:
                board.cut_power()
                time.sleep(0.5)  # long enough to restart and lose its memory

        with pytest.raises(UserError, match=r"is gone|The board says"):
            flash.copy(line, tiny("new") | {"z.py": bytes(9000)}, cut)
    assert (board.flash / "main.py").read_text() == "print('old')\n"


def test_a_long_answer_is_not_read_byte_by_byte(
    board: UnixBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Device(board.port) as line:
        serial = line._repl.line._serial
        plain, reads = serial.read, []

        def read(size: int = 1) -> bytes:
            reads.append(size)
            return bytes(plain(size))

        monkeypatch.setattr(serial, "read", read)
        assert line.run("print('learned' * 3000)").strip() == "learned" * 3000
        assert line.value("6 * 7") == 42
    assert len(reads) < 2000


def test_a_path_from_the_root_is_in_the_flash_of_the_board(board: UnixBoard) -> None:
    with Device(board.port) as line:
        line.run("open('/counts.txt', 'w').write('7')")
        line.run("import os; os.mkdir('/logs'); os.chdir('/logs')")
        assert line.value("os.getcwd()") == "/logs"
        assert line.value("open('../counts.txt').read()") == "7"
        assert "lib" not in line.value("os.listdir('/')")
    assert (board.flash / "counts.txt").read_text() == "7"
    assert (board.flash / "logs").is_dir()


@pytest.mark.parametrize(
    ("package", "learner"),
    [
        ("package.json", "HoeffdingTree(features=2, classes=2)"),
        ("package-shrub.json", "ShrubEnsemble(features=2, classes=2)"),
        ("package-hoeffding.json", "HoeffdingTree(features=2, classes=2)"),
        ("package-thicket.json", "Thicket(features=2, classes=2, bytes=4096)"),
        ("package-device.json", "ShrubEnsemble(features=2, classes=2)"),
    ],
)
def test_installing_with_mip(board: UnixBoard, package: str, learner: str) -> None:
    mpremote = [sys.executable, "-m", "mpremote", "connect", board.port]
    install = [*mpremote, "mip", "install", f"./firmware/{package}"]
    done = subprocess.run(install, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    with Device(board.port) as line:
        line.run("import microshrub")
        line.run(f"model = microshrub.{learner}")
        line.run("from array import array")
        assert line.value("model.learn(array('H', [1, 2]), 1)") in (0, 1)
        line.run("with open('state', 'wb') as file: model.write(file)")
        line.run("crc = model.state_crc32(); model.reset()")
        line.run("with open('state', 'rb') as file: model.read(file)")
        assert line.value("model.state_crc32() == crc") is True
    program = board.flash / "lib" / "microshrub" / "device" / "program.py"
    assert program.is_file() == (package == "package-device.json")


def test_installing_machine_code_with_mip(
    tmp_path: Path, board: UnixBoard, native_tools_for: Callable[[str], object]
) -> None:
    native_tools_for("x86")
    package_list.write_compiled(tmp_path / "mip", ["x86"])
    mpremote = [sys.executable, "-m", "mpremote", "connect", board.port]
    package = tmp_path / "mip" / "package-shrub-x86.json"
    install = [*mpremote, "mip", "install", str(package)]
    done = subprocess.run(install, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.suffix for path in (board.flash / "lib").rglob("*.*")} == {".mpy"}
    mine = loader.load(loader.fastest()).ShrubEnsemble(features=2, classes=2)
    rows = [(array("H", [257 * k, 65535 - 99 * k]), k % 2) for k in range(90)]
    for row, label in rows:
        mine.learn(row, label)
    with Device(board.port) as line:
        line.run("from array import array\nimport sys, microshrub")
        line.run("model = microshrub.ShrubEnsemble(features=2, classes=2)")
        line.run(f"for row, label in {rows}:\n model.learn(row, label)")
        assert line.value("'microshrub.native' in sys.modules")
        assert line.value("model.state_crc32()") == mine.state_crc32()


# Ports


@pytest.mark.usefixtures("no_virtual_board")
def test_ports(tmp_path: Path, board: UnixBoard, capsys: pytest.CaptureFixture[str]) -> None:
    made = build.make(program(), x86(tmp_path), tmp_path / "out")
    words = ["flash", "--board", str(tmp_path / "x86.toml"), str(made.folder)]
    assert main(words) == 2
    assert "--port" in capsys.readouterr().err
    assert main([*words, "--port", "/dev/nothing"]) == 2
    assert "there is no such port" in capsys.readouterr().err
    with Device(board.port):
        assert main([*words, "--port", board.port]) == 2
        assert "another program uses it" in capsys.readouterr().err


@pytest.mark.usefixtures("impatient")
def test_a_port_without_a_board_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_repl, "_PATIENCE", 0.5)
    master, slave = pty.openpty()
    tty.setraw(slave)
    process = subprocess.Popen(["cat"], stdin=master, stdout=master)
    try:
        with pytest.raises(UserError, match="MicroPython does not answer at"):
            Device(os.ttyname(slave))
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)


def test_a_slow_start_is_waited_for(
    tmp_path: Path, board: UnixBoard, capsys: pytest.CaptureFixture[str]
) -> None:
    made = build.make(program(), x86(tmp_path), tmp_path / "out")
    main_py = made.folder / "main.py"
    main_py.write_bytes(b"import time\ntime.sleep(6)\n" + main_py.read_bytes())
    words = ["flash", "--board", str(tmp_path / "x86.toml"), "--port", board.port]
    assert main([*words, str(made.folder)]) == 0
    assert "has started the program" in capsys.readouterr().out
