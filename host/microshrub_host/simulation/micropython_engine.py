"""The engine `micropython`: a real MicroPython in a process of its own, over a pipe."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base import child_process
from ..base.micropython_binary import code_words, find_or_fetch
from ..base.terminal import messages
from ..library import library_files, loader
from ..library.library_files import user_companions, user_learners
from ..programs import mpy, native_files
from ..streams.units import Raw
from . import piped_session, session, session_companions, spare_person
from .engine_interface import (
    NO_LABELS,
    EngineError,
    HasPlan,
    Labels,
    Parameters,
    Predictions,
    States,
    Status,
    prediction_type,
)


class PipedProgram:
    """A program in a real MicroPython in a process of its own, which answers commands over a pipe.

    A command is a letter, a little-endian u32 length and that many bytes; the answer is a u32
    length and that many bytes.
    """

    def __init__(self, words: Sequence[str], heap: str) -> None:
        """Start the program; words are the program and its arguments, after the options."""
        command = [*find_or_fetch(messages.say).command, "-X", f"heapsize={heap}", *words]
        pipe = subprocess.PIPE
        self._process: subprocess.Popen[bytes] = child_process.start(
            command, stdin=pipe, stdout=pipe, stderr=pipe
        )

    def ask(self, command: bytes, body: bytes = b"") -> bytes:
        """Send a command, and return the answer. Raises EngineError if the program stops."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(command + len(body).to_bytes(4, "little") + body)
            self._process.stdin.flush()
            size = self._process.stdout.read(4)
            if len(size) == 4:
                return self._process.stdout.read(int.from_bytes(size, "little"))
        except BrokenPipeError:
            pass
        assert self._process.stderr is not None
        printed = self._process.stdout.read() + self._process.stderr.read()
        self._process.wait()
        last = printed.decode(errors="replace").strip().splitlines()[-1:]
        raise EngineError(f"MicroPython stopped: {''.join(last) or 'it printed nothing'}")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


class MicroPythonEngine:
    """A real 32-bit MicroPython in a process of its own, driven over a pipe."""

    def __init__(
        self,
        learner: str,
        parameters: Parameters,
        companions: Sequence[HasPlan] = (),
        growing: bool = False,
        *,
        heap: str = "64m",
        compiled: bool = False,
        native: bool = False,
    ) -> None:
        """Start the process; with `compiled`, it loads .mpy files: sources take more heap.

        It also loads .mpy files if there are learners or companions of the user's own, whose
        sources are in other places. With `native`, the kernels of these files are in a native
        module; raises NoNativeTools.
        """
        learners = [(each.name, each.module) for each in user_learners()]
        # The layout of the buffers is the same on every engine; only their contents may differ.
        library = loader.load("python")
        plans = [each.plan() for each in companions]
        plan = session.open_session(library, learner, parameters, plans, growing)
        self._dtype = prediction_type(plan)
        self._layout = [(n, code, len(bytes(memoryview(b)))) for n, code, b in plan.buffers()]
        if compiled or native or learners or user_companions():
            programs = [
                mpy.compiled_program(Path(module.__file__ or ""), "x86")
                for module in (piped_session, session, session_companions, spare_person)
            ]
            files = native_files.compiled("x86") if native else mpy.compiled("x86")
            folder = files[0].parent.parent
            code = f"import piped_session; piped_session.serve({str(folder)!r})"
            words = [*code_words(code, *(program.parent for program in programs))]
        else:
            words = [piped_session.__file__, str(library_files.folder().parent)]
        self._program = PipedProgram(words, heap)
        self._ask = self._program.ask
        config: dict[str, Any] = {"kind": learner, "parameters": dict(parameters), "own": learners}
        config |= {"companions": plans, "growing": growing}
        self._ask(b"C", json.dumps(config).encode())

    def observe(self, raw: Raw) -> None:
        self._ask(b"O", raw.astype("<i4").tobytes())

    def freeze(self) -> None:
        self._ask(b"F")

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Predictions:
        known = len(labels).to_bytes(4, "little")
        answer = self._ask(b"R", known + raw.astype("<i4").tobytes() + labels.tobytes())
        return np.frombuffer(answer, dtype=self._dtype)

    def ask(self, raw: Raw) -> Predictions:
        return np.frombuffer(self._ask(b"P", raw.astype("<i4").tobytes()), dtype=self._dtype)

    def settle(self) -> None:
        self._ask(b"D")

    def outputs(self, part: int = 0) -> bytes:
        return self._ask(b"X", bytes([part]))

    def status(self) -> Status:
        return Status.of(json.loads(self._ask(b"S")))

    def buffers(self) -> list[tuple[str, str, bytes]]:
        data = self._ask(b"B")
        contents, at = [], 0
        for name, typecode, size in self._layout:
            contents.append((name, typecode, data[at : at + size]))
            at += size
        return contents

    def saved(self) -> States:
        data, states, at = self._ask(b"L"), [], 0
        while at < len(data):
            name = data[at + 1 : at + 1 + data[at]].decode()
            at += 1 + data[at]
            end = at + 4 + int.from_bytes(data[at : at + 4], "little")
            states.append((name, data[at + 4 : end]))
            at = end
        return States.of(states)

    def heap_bytes(self) -> int:
        """Return the bytes in use on the heap after a garbage collection (gc.mem_alloc)."""
        return int.from_bytes(self._ask(b"H"), "little")

    def __enter__(self) -> MicroPythonEngine:
        return self

    def __exit__(self, *error: object) -> None:
        self._program.close()
