"""QEMU, sources and firmware of emulated boards: one of several processes makes them."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from microshrub_host.base import debian_packages, native_tools
from microshrub_host.base.debian_packages import Progress
from microshrub_host.boards import emulated_boards, firmware_build
from microshrub_host.boards.emulated_boards import BOARDS
from microshrub_host.boards.firmware_build import Compiler

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="they are made on Linux only")
SLOW = 0.2  # seconds of a step, in which the other threads start


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MICROSHRUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def at_once(*works: Callable[[], object]) -> list[object]:
    """Return the results of all functions, each run in its own thread."""
    results: list[object] = []
    threads = [threading.Thread(target=lambda do=do: results.append(do())) for do in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == len(works)
    return results


def test_one_of_several_threads_makes_a_folder() -> None:
    made = []

    def fetch(work: Path) -> Path:
        made.append(work)
        time.sleep(SLOW)
        (work / "unpacked").mkdir()
        return work / "unpacked"

    def want() -> Path:
        return native_tools.kept("things", (native_tools.SOURCE_SUITE, "x"), fetch)

    places = at_once(want, want, want)
    assert places == [want()] * 3
    assert want().is_dir()
    assert len(made) == 1


class Makers:
    """Stand-ins for apt-get and make, which record every download and each firmware's sources."""

    def __init__(self, source: Path) -> None:
        self.source = source
        (source / "ports" / "qemu" / "boards").mkdir(parents=True)
        self.fetched: list[str] = []
        self.compiled: list[str] = []

    def fetch(self, suite: str, packages: Any, work: Path, *_: Any, **more: Any) -> Path:
        self.fetched.append(packages[0])
        time.sleep(SLOW)
        programs = work / "root" / "usr" / "bin"
        programs.mkdir(parents=True)
        for program in ("qemu-system-arm", "qemu-system-riscv32"):
            (programs / program).touch()
        return work / "root"

    def compile_firmware(
        self, port: str, flags: str, compiler: Compiler, heap: int, build: Path, progress: Progress
    ) -> Path:
        """Compile like make: existing files are not compiled again."""
        (board,) = (each for each in BOARDS.values() if each.port == port)
        time.sleep(SLOW)
        build.mkdir(exist_ok=True)
        for name, text in (("core", board.arch), ("port", board.machine[1])):
            if not (build / f"{name}.o").exists():
                (build / f"{name}.o").write_text(text)
                self.compiled.append(f"{name} {text}")
        parts = [(build / f"{name}.o").read_text() for name in ("core", "port")]
        (build / "firmware.elf").write_text(" ".join(parts))
        return build / "firmware.elf"


@pytest.fixture
def makers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Makers:
    made = Makers(tmp_path / "source")
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "make" else None)
    monkeypatch.setattr(debian_packages, "check_machine", lambda machines: None)
    monkeypatch.setattr(debian_packages, "fetch", made.fetch)
    monkeypatch.setattr(debian_packages, "run", lambda *_, **more: "")
    monkeypatch.setattr(firmware_build, "source", lambda progress: made.source)
    monkeypatch.setattr(firmware_build, "compile_firmware", made.compile_firmware)
    return made


def test_one_of_several_threads_makes_a_board(makers: Makers) -> None:
    def want() -> str:
        return emulated_boards.find_or_build("cortex-m3").firmware.read_text()

    assert at_once(want, want, want) == ["armv7m mps2-an385"] * 3
    assert makers.fetched == ["qemu-system-arm"]
    wanted = ["core armv6m", "core armv7m", "port microbit", "port mps2-an385"]
    assert sorted(makers.compiled) == wanted


def test_boards_with_a_shared_compilation_differ_in_their_names(makers: Makers) -> None:
    for name, machine in (("cortex-m4", "mps2-an386"), ("cortex-m7", "mps2-an500")):
        board = emulated_boards.find_or_build(name)
        assert board.firmware.read_text() == f"armv7emsp {machine}"
        assert machine in board.command
        port = makers.source / "ports" / "qemu" / "boards" / board.board.port
        assert machine in (port / "mpconfigboard.mk").read_text()
    assert makers.compiled == ["core armv7emsp", "port mps2-an386", "port mps2-an500"]


def test_families_with_the_same_qemu_fetch_it_once(makers: Makers, cache: Path) -> None:
    roots = {emulated_boards.find_or_build(name).qemu for name in ("cortex-m0", "cortex-m4")}
    assert makers.fetched == ["qemu-system-arm"]
    (root,) = roots
    assert Path(root).is_relative_to(cache)
    assert emulated_boards.find_or_build("rv32").qemu not in roots
    assert makers.fetched == ["qemu-system-arm", "qemu-system-misc"]
