"""A running emulated board: QEMU, and the raw REPL on the serial line.

QEMU counts instructions (-icount): its clock advances by 2**SHIFT ns with each instruction and
with nothing else. So every run on the board is the same, and the board's timers count
instructions.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import signal
import sys
import tempfile
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..base import child_process
from ..base.child_process import patience
from ..base.debian_packages import Progress
from ..base.errors import UserError
from ..base.pseudo_terminal import pseudo_terminal
from ..base.raw_repl import CodeRaisedError, LineLostError, RawRepl
from .emulated_boards import FILES_BYTES, Emulator, find_or_build

ON_BOARD = Path(__file__).with_name("on_board")  # files that run on the emulated board
SHIFT = 10
START_SECONDS = 20
_SILENCE = 10.0  # seconds: on a busy computer, QEMU may pause for a while
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
_CHUNK = 300  # bytes of a file in a line of code

MOUNT = """
import vfs
_ = {{}}
exec({code!r}, _)
_ = _["RamDisk"]({at}, {size})
_.adopt({places!r})
vfs.mount(_, "/")
del _, vfs
"""

PLACES = """
import vfs
print([disk for disk, at in vfs.mount() if at == "/"][0].places())
"""

STREAMS = """
_ = {{}}
exec({code!r}, _)
_["add"](_[{chip!r}])
del _
"""


class EmulatedBoardError(UserError):
    """The emulated board stopped, or does not answer, or its program raised an exception."""


class EmulatedBoard:
    """`with EmulatedBoard("cortex-m0") as board: board.exec("print(6 * 7)")`.

    `board` is the board's name, or the Emulator to start. `port` is the name of the serial line
    while the board runs. The board has a RAM disk of 512 KiB (ram_disk.py) outside the heap, with
    `files`, by path, from the start. QEMU ends with the block.
    """

    def __init__(
        self,
        board: str | Emulator,
        files: Mapping[str, bytes] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.emulator = find_or_build(board, progress) if isinstance(board, str) else board
        self.port = ""
        self._files = files or {}

    def __enter__(self) -> EmulatedBoard:
        self._folder = tempfile.TemporaryDirectory(prefix="microshrub-")
        self._complaints = tempfile.TemporaryFile()
        options = ("-nographic", "-monitor", "null", "-semihosting", "-serial", "stdio")
        count = ("-icount", f"shift={SHIFT},align=off,sleep=off")
        # QEMU's own would check for a reader only once a second
        line, self._end, self.port = pseudo_terminal()
        self._repl = RawRepl(self.port, silence=patience(_SILENCE))
        self._process = child_process.start(
            (*self.emulator.command, *options, *count, *self._loaded()),
            stdin=line,
            stdout=line,
            stderr=self._complaints,
            start_new_session=True,  # Ctrl-C must only reach this program
        )
        os.close(line)
        try:
            self._await_prompt()
            self.connect()
            self._mount(self._places())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()
        self._process.kill()
        self._process.wait()
        os.close(self._end)
        self._complaints.close()
        self._folder.cleanup()

    def connect(self) -> None:
        """Open the serial line, after mpremote or another program has closed it."""
        with self._answering():
            self._repl = RawRepl(self.port, silence=patience(_SILENCE))
            self._repl.enter(reset=False, seconds=patience(START_SECONDS))

    def disconnect(self) -> None:
        """Close the serial line, for mpremote or another program."""
        repl = self.__dict__.pop("_repl", None)
        if repl is not None:
            repl.close()
            self._go_on()

    def exec(self, code: str, seconds: float = 30) -> str:
        """Return the code's output on the board. Raises EmulatedBoardError if the code raises.

        `seconds` is the limit of silence.
        """
        self._go_on()
        try:
            with self._answering():
                return self._repl.run(code, patience(seconds)).replace("\r\n", "\n")
        except CodeRaisedError as error:
            raise EmulatedBoardError(
                f"the emulated {self.emulator.board.name} said: {error}"
            ) from error
        finally:
            if sys.platform != "win32":
                self._process.send_signal(signal.SIGSTOP)

    def _go_on(self) -> None:
        """Let QEMU run again; exec() stops QEMU, which would keep a core busy while waiting."""
        if sys.platform != "win32":
            self._process.send_signal(signal.SIGCONT)

    def put(self, data: bytes, path: str) -> None:
        """Write a file on the board's disk."""
        lines = ["from binascii import a2b_base64 as _a", f"_f = open({path!r}, 'wb')"]
        for at in range(0, len(data), _CHUNK):
            text = b64encode(data[at : at + _CHUNK]).decode()  # mpremote would send twice as much
            lines.append(f"_f.write(_a({text!r}))")
            if len(lines) > 8:
                self.exec("\n".join(lines))
                lines = []
        self.exec("\n".join([*lines, "del _f, _a"]))

    def reset(self) -> None:
        """Reset the board softly; only the files on its disk are kept."""
        output = self.exec(PLACES)
        places = ast.literal_eval(output)
        self._go_on()
        with self._answering():
            self._repl.enter(reset=True, seconds=patience(START_SECONDS))
        self._mount(places)

    def start(self, code: str) -> None:
        """Start code that uses the board's serial line, and close the line here.

        The code has sys.stdin.buffer and sys.stdout.buffer: see on_board/streams.py.
        """
        self.exec(STREAMS.format(code=_short("streams.py"), chip=self.emulator.board.streams))
        self._go_on()
        with self._answering():
            self._repl.begin(code)
        self.disconnect()

    def _await_prompt(self) -> None:
        """Wait until the board reads its line, then wake QEMU.

        QEMU blocks the signal, but the signal wakes its main loop, which otherwise checks the line
        only once a second.
        """
        with self._answering():
            self._repl.await_prompt(patience(START_SECONDS))
        self.disconnect()
        if sys.platform != "win32":
            self._process.send_signal(signal.SIGIO)

    def _loaded(self) -> tuple[str, ...]:
        """Return QEMU's options that load the files into the board's memory."""
        if not self._files:
            return ()
        file = Path(self._folder.name) / "files"
        file.write_bytes(b"".join(self._files.values()))
        name = str(file).replace(",", ",,")
        at = self.emulator.board.files_at
        return ("-device", f"loader,file={name},addr={at:#x},force-raw=on")

    def _places(self) -> list[tuple[str, int, int]]:
        """Return path, address and size of each of the first files."""
        at = self.emulator.board.files_at
        places = []
        for path, data in self._files.items():
            places.append((path, at, len(data)))
            at += len(data)
        return places

    def _mount(self, places: list[tuple[str, int, int]]) -> None:
        """Mount a disk with these files, and delete the names used."""
        code = _short("ram_disk.py")
        at = self.emulator.board.files_at
        self.exec(MOUNT.format(code=code, at=at, size=FILES_BYTES, places=places))

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Raise EmulatedBoardError if the board does not answer."""
        try:
            yield
        except LineLostError as error:
            raise EmulatedBoardError(self._lost(error)) from error

    def _lost(self, error: Exception) -> str:
        name = self.emulator.board.name
        if self._process.poll() is not None:
            self._complaints.seek(0)
            output = self._complaints.read().decode(errors="replace").strip() or "no reason given"
            return f"the emulated {name} has stopped ({self._process.returncode}): {output}"
        return f"the emulated {name} does not answer: {error}"


@functools.cache
def _short(name: str) -> str:
    """Return a file of on_board/, shortened for the slow line: no docstrings or comments."""
    tree = ast.parse((ON_BOARD / name).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    text = ast.unparse(tree)
    return re.sub("^ +", lambda indent: indent[0][: len(indent[0]) // 4], text, flags=re.MULTILINE)
