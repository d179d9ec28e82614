"""A board on this PC that is taught, on a simulated clock, and loses its power at any moment.

The real Service of the device library runs in this process. Its flash holds files in memory: each
write takes as long as a Pico's, and records the files that a power cut would leave.
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
_ERASE = 45_000  # microseconds to erase a sector
_SECTOR = 4096
_TURN = 1_000  # microseconds of a turn of the loop
_SESSION = 77


class Flash:
    """Files, and a copy of them after each operation: (seconds, files)."""

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
        """Do nothing."""

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
    """A deep sleep: the board loses its RAM, and starts again."""


class _Sensor:
    """Three values; while `teaching` is set, they belong to a class that is being taught."""

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
    """The board: `until(second)` runs it; `doings` are pairs of a second and an action."""

    def __init__(
        self, config: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.library: Any = loader.load(loader.fastest())
        self.config, self.folder = config, folder
        self.patch = monkeypatch
        (folder / "config.json").write_text(json.dumps(config))
        self.readings = 0
        self.teaching = False  # a person is teaching a class
        self.given: list[float] = []  # the seconds at which something was taught
        self.messages: list[str] = []
        self.sent = bytearray()
        self.remembered = b""
        self.lit = 0  # the last state of the light
        self.doings: list[tuple[float, Callable[[], None]]] = []
        self.start({})

    # The hardware that the program needs

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
        """Set (if `data` is given) and return the clock's memory, kept while the RAM is off."""
        if data is not None:
            self.remembered = data
        return self.remembered

    def sleep_deeply(self, milliseconds: int) -> None:
        raise DeepSleep

    def sleep(self, milliseconds: int) -> None:
        self.now += 1000 * milliseconds

    # Its run

    def skip(self) -> None:
        """Do nothing: there was no input before the program began."""

    def watch(self) -> None:
        """Called in each turn."""

    @property
    def seconds(self) -> float:
        return self.now / 1e6

    def start(self, files: dict[str, bytes]) -> None:
        """Start after power-on, with these files in the flash."""
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
        """Record the program's output."""
        self.sent += bytes(data[:n])

    def take(self, link: Any, milliseconds: int) -> int:
        """Called by the program where it waits for input."""
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
        """Run the board until that second."""
        self.end = end
        with pytest.raises(KeyboardInterrupt):
            self.service.serve()

    def request(self, *requests: Request) -> None:
        """Send requests of a PC, with a hello before the first one."""
        if not self.sequence:
            requests = (Request(HELLO), *requests)
        for each in requests:
            self._queue += pack(Frame(each.kind, _SESSION, self.sequence, each.payload))
            self.sequence += 1

    # The state after a power cut

    def restored(self, files: dict[str, bytes]) -> Any:
        """Return the application that starts with these files."""
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
    """Check that a power cut loses at most the labels of the last seconds.

    The power is cut after each operation of the flash, at the end of each limit, and at random
    times. count(app) returns how many labels a restarted board still knows. Returns the number of
    cuts.
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
    """Check that an act survives a power cut from five seconds after it until the next act.

    Each act is (seconds, is_done), where is_done(app) is evaluated on a board that has restarted.
    """
    kept = [(at, board.restored(files)) for at, files in board.flash.left]
    ends = [*(at for at, _ in acts[1:]), board.seconds]
    for k, ((act, is_done), end) in enumerate(zip(acts, ends, strict=True)):
        cuts = {act + 5.0, *(at for at, _ in kept), *moments(board)}
        for now in sorted(now for now in cuts if act + 5 <= now < end):
            assert is_done([app for at, app in kept if at <= now][-1]), (k, now)


def moments(board: TaughtBoard) -> list[float]:
    """Return random times of the board's run so far, drawn with a seed."""
    rng = random.Random(1)
    return [rng.uniform(0, board.seconds) for _ in range(200)]
