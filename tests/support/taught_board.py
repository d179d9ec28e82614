"""A board on this PC that is taught, on a clock of its own, and loses its power at any moment.

The real Service of the device library runs in this process. Its flash are files in memory: each
write takes as long as a Pico's, and leaves a copy of what a power cut would leave.
"""

from __future__ import annotations

import errno
import importlib
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from microshrub_host.library import loader
from microshrub_tools.link.frames import Frame, pack
from microshrub_tools.link.messages import HELLO, Request

TICKS = (1 << 30) - 1
_ERASE = 45_000  # microseconds, of a sector
_SECTOR = 4096
_TURN = 1_000  # microseconds of the loop
_SESSION = 77


class Flash:
    """Files, and what there was of them after each operation: (seconds, files)."""

    def __init__(self, board: TaughtBoard, files: dict[str, bytes]) -> None:
        self.board = board
        self.files = files
        self.left: list[tuple[float, dict[str, bytes]]] = [(0.0, files)]

    def change(self, path: str, data: bytes | None, sectors: float) -> None:
        self.board.now += int(_ERASE * sectors)
        self.files = {name: old for name, old in self.files.items() if name != path}
        if data is not None:
            self.files[path] = data
        self.left.append((self.board.seconds, self.files))

    def remove(self, path: str) -> None:
        if path not in self.files:
            raise OSError(errno.ENOENT, "no such file")
        self.change(path, None, 1)

    def open(self, path: str, mode: str) -> _File:
        if mode == "wb":
            self.change(path, b"", 1)
        elif path not in self.files:
            raise OSError(errno.ENOENT, "no such file")
        return _File(self, path)


class _File:
    def __init__(self, flash: Flash, path: str) -> None:
        self.flash, self.path, self.at = flash, path, 0

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing has to be done."""

    def write(self, data: Any) -> int:
        raw = bytes(memoryview(data).cast("B"))
        whole = self.flash.files[self.path] + raw
        self.flash.change(self.path, whole, len(raw) / _SECTOR)
        return len(raw)

    def read(self, count: int) -> bytes:
        data = self.flash.files[self.path][self.at : self.at + count]
        self.at += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)


class DeepSleep(BaseException):
    """The board has lost its RAM, and starts again."""


class _Sensor:
    """Three values; while `teaching` is set, somebody shows a class."""

    names = ("x", "y", "z")

    def __init__(self, board: TaughtBoard) -> None:
        self.board = board

    def read(self, values: Any) -> bool:
        board = self.board
        board.readings += 1
        for k in range(3):
            values[k] = board.readings * (k + 7) % 50 + 300 * board.teaching
        if board.teaching:
            board.given.append(board.seconds)
        return True


class TaughtBoard:
    """The board: `until(second)` lets it live; `doings` are (second, what happens then)."""

    def __init__(
        self, config: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.library: Any = loader.load(loader.fastest())
        self.config, self.folder = config, folder
        self.patch = monkeypatch
        (folder / "config.json").write_text(json.dumps(config))
        self.readings = 0
        self.teaching = False  # somebody shows a class, and says so
        self.given: list[float] = []  # when something was taught
        self.messages: list[str] = []
        self.sent = bytearray()
        self.remembered = b""
        self.lit = 0  # what the light was set to last
        self.doings: list[tuple[float, Callable[[], None]]] = []
        self.start({})

    # What the program needs of a board

    def milliseconds(self) -> int:
        return self.now // 1000 & TICKS

    def microseconds(self) -> int:
        return self.now & TICKS

    def button(self, pin: int) -> TaughtBoard:
        return self

    def light(self, pin: int) -> Any:
        return SimpleNamespace(value=lambda on: setattr(self, "lit", int(on)))

    def value(self) -> int:
        return int(not self.teaching)

    def station(self) -> Any:
        return SimpleNamespace(isconnected=bool, active=bool, connect=lambda *_: None)

    def of_machine(self, name: str) -> Any:
        return {
            "lightsleep": self.sleep,
            "deepsleep": self.sleep_deeply,
            "RTC": lambda: SimpleNamespace(memory=self.clock_memory),
            "reset_cause": lambda: int(bool(self.remembered)),
            "DEEPSLEEP_RESET": 1,
            "wake_reason": lambda: 1,
            "TIMER_WAKE": 1,
        }[name]

    def clock_memory(self, data: bytes | None = None) -> bytes:
        """What the clock remembers while there is no power for the RAM."""
        if data is not None:
            self.remembered = data
        return self.remembered

    def sleep_deeply(self, milliseconds: int) -> None:
        raise DeepSleep

    def sleep(self, milliseconds: int) -> None:
        self.now += 1000 * milliseconds

    # Its life

    def skip(self) -> None:
        """Nothing came before the program began."""

    def watch(self) -> None:
        """Is called in each turn."""

    @property
    def seconds(self) -> float:
        return self.now / 1e6

    def start(self, files: dict[str, bytes]) -> None:
        """After power-on, with these files in its flash."""
        self.now = 0
        self.flash = Flash(self, files)
        self.sequence = 0
        self._queue = bytearray()
        streams = SimpleNamespace(
            stdin=SimpleNamespace(buffer=1), stdout=SimpleNamespace(buffer=self), modules={}
        )
        device = self.library.device
        for name in ("service", "saving", "program"):
            importlib.import_module(f"{device.__name__}.{name}")
        self.patch.setitem(sys.modules, "taught_sensor", SimpleNamespace(Sensor=_Sensor))  # type: ignore[arg-type]
        self.patch.setattr(self.library.checkpoint, "open", self._open, raising=False)
        self.patch.setattr(self.library.checkpoint, "os", self)
        self.patch.setattr(device.service, "sys", streams)
        heap = SimpleNamespace(collect=int, mem_free=int, mem_alloc=int)
        for each in (device.service, device.application, device.saving):
            self.patch.setattr(each, "gc", heap)
        self.service = device.service.Service(self, f"{self.folder}/", self, self.messages.append)
        self.app = self.service._app
        self.now = 0
        self.flash.left = [(0.0, files)]

    def _open(self, path: str, mode: str) -> _File:
        return self.flash.open(path, mode)

    def remove(self, path: str) -> None:
        self.flash.remove(path)

    def write(self, data: Any, n: int | None = None) -> None:
        """What the program writes to its line."""
        self.sent += bytes(data[:n])

    def take(self, link: Any, milliseconds: int) -> int:
        """What the program calls where it waits for its input."""
        self.watch()
        while self.doings and self.doings[0][0] <= self.seconds:
            self.doings.pop(0)[1]()
        if self.seconds >= self.end:
            raise KeyboardInterrupt
        n = len(self._queue)
        if n:
            link.feed(self._queue, n)
            self._queue = bytearray()
        else:
            step = max(1000 * milliseconds, _TURN)
            if self.doings:
                step = min(step, max(int(1e6 * self.doings[0][0]) - self.now, _TURN))
            self.now += step
        return n

    def until(self, end: float) -> None:
        """Let it live until that second."""
        self.end = end
        with pytest.raises(KeyboardInterrupt):
            self.service.serve()

    def request(self, *requests: Request) -> None:
        """What a PC sends; it says hello first."""
        if not self.sequence:
            requests = (Request(HELLO), *requests)
        for each in requests:
            self._queue += pack(Frame(each.kind, _SESSION, self.sequence, each.payload))
            self.sequence += 1

    # What a power cut would leave

    def restored(self, files: dict[str, bytes]) -> Any:
        """The application that such files give, after a start."""
        kept, self.flash = self.flash, Flash(self, files)
        try:
            configuration = self.library.device.config.read_configuration(f"{self.folder}/")
            app = self.library.device.application.Application(configuration, f"{self.folder}/")
            app.begin()
            return app
        finally:
            self.flash = kept


def check(
    board: TaughtBoard,
    count: Callable[[Any], int],
    *,
    pause: float = 5.0,
    longest: float = 60.0,
) -> int:
    """Whenever the power is cut, at most what was given within those seconds is lost.

    The power is cut after each operation of the flash, when each time is over, and at random.
    count(app) says how much of it a board that has started again still knows. Returns how many
    cuts that were.
    """
    kept = [(at, count(board.restored(files))) for at, files in board.flash.left]
    cuts = {board.seconds, *(at for at, _ in kept), *moments(board)}
    cuts |= {at + wait for at in board.given for wait in (pause, longest)}
    for now in sorted(cuts):
        there = [number for at, number in kept if at <= now][-1]
        assert there >= sum(at < now - longest for at in board.given), now
        if now <= board.seconds and not any(now - pause < at <= now for at in board.given):
            assert there >= sum(at <= now for at in board.given), now
    return len(kept)


def check_acts(board: TaughtBoard, acts: list[tuple[float, Callable[[Any], bool]]]) -> None:
    """Five seconds after an act, and until the next one, a power cut leaves it done.

    Each act is (seconds, is_done), where is_done(app) asks a board that has started again.
    """
    kept = [(at, board.restored(files)) for at, files in board.flash.left]
    ends = [*(at for at, _ in acts[1:]), board.seconds]
    for k, ((act, is_done), end) in enumerate(zip(acts, ends, strict=True)):
        cuts = {act + 5.0, *(at for at, _ in kept), *moments(board)}
        for now in sorted(now for now in cuts if act + 5 <= now < end):
            assert is_done([app for at, app in kept if at <= now][-1]), (k, now)


def moments(board: TaughtBoard) -> list[float]:
    """Of its life so far, drawn with a seed."""
    rng = random.Random(1)
    return [rng.uniform(0, board.seconds) for _ in range(200)]
