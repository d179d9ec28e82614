"""The engines behind one interface: `python`, `llvm`, `c` and `micropython`."""

from __future__ import annotations

import json
import subprocess
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..base.terminal import messages
from ..streams.units import Raw
from . import asked_labels, library_files, loader, mpy, native_files, session, spare_person
from .micropython_binary import find_or_fetch
from .own_learners import own_learners
from .status import Status

Parameters = Mapping[str, Any]
Labels = NDArray[np.uint8]
Said = NDArray[Any]  # predictions: classes as uint8, or raw numbers as int32
NO_LABELS: Labels = np.zeros(0, dtype=np.uint8)  # of rows that have their target in a column
NAMES = ("python", "llvm", "c", "micropython")
NATIVE = "native"


@dataclass(frozen=True)
class States:
    """The saved states of a learner and its quantizer, as firmware's buffers.py describes them.

    A learner of numbers has those of its target's range and of its interval, too; one with spare
    classes those of the names and of what is new.
    """

    learner: bytes
    quantizer: bytes
    target: bytes = b""
    interval: bytes = b""
    names: bytes = b""
    newcomers: bytes = b""


@dataclass(frozen=True)
class Anomalies:
    """Of each row its anomaly score, 0..255, and whether that was above the threshold."""

    scores: NDArray[np.uint8]
    unlike: NDArray[np.bool_]

    @classmethod
    def of(cls, data: bytes) -> Anomalies:
        """From all scores, then for each row 1 or 0."""
        both = np.frombuffer(data, dtype=np.uint8).reshape(2, -1)
        return cls(both[0], both[1].astype(np.bool_))


class EngineError(UserError):
    """An engine could not do what it was asked to; the message is for people."""


class Engine(Protocol):
    """One run of one learner over one stream."""

    def observe(self, raw: Raw) -> None:
        """Show the quantizer rows, shape (rows, features); of a stream of numbers, all columns."""

    def freeze(self) -> None:
        """Fix the quantizer's ranges, and that of the targets."""

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Said:
        """Predict and then learn each of the rows; returns the predictions, shape (rows,).

        A learner of numbers takes rows of all columns, without labels.
        """

    def anomalies(self) -> Anomalies:
        """What the anomaly score said of the rows of the last run, if there is one."""

    def newcomers(self) -> NDArray[np.bool_]:
        """Which rows of the last run were unlike all that had a name, with spare classes."""

    def questions(self) -> NDArray[np.uint8]:
        """Of each row of the last run: 1 if it was asked for, 2 if that is answered, else 0."""

    def halves(self) -> Said:
        """Of a learner of numbers: half the width of the interval of each row of the last run."""

    def status(self) -> Status:
        """Counts, ratios in percent and the model's hash after the last sample."""

    def buffers(self) -> list[tuple[str, str, bytes]]:
        """(name, typecode, bytes) of every buffer of quantizer, model, metrics and anomaly."""

    def saved(self) -> States:
        """What save() of the learner and of the quantizer gives."""

    def __enter__(self) -> Engine:
        """Return the engine, for use in a with statement."""

    def __exit__(self, *error: object) -> None:
        """Release what the engine holds."""


class LocalEngine:
    """`python`, `llvm` or `c`, in this process."""

    def __init__(
        self,
        engine: str,
        kind: str,
        parameters: Parameters,
        anomaly: Parameters | None = None,
        target: Parameters | None = None,
        spare: Parameters | None = None,
        asking: Parameters | None = None,
    ) -> None:
        library = loader.load(engine)
        beside = anomaly, target, spare, asking
        self._session = session.open_session(library, kind, parameters, *beside)
        self._said = np.int32 if target else np.uint8

    def observe(self, raw: Raw) -> None:
        self._session.observe(ints(raw))

    def freeze(self) -> None:
        self._session.freeze()

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Said:
        said = self._session.run(ints(raw), bytearray(labels.tobytes()))
        return np.frombuffer(said, dtype=self._said)

    def halves(self) -> Said:
        return np.array(self._session.halves, dtype=np.int32)

    def anomalies(self) -> Anomalies:
        return Anomalies.of(bytes(self._session.scores + self._session.unlike))

    def newcomers(self) -> NDArray[np.bool_]:
        return np.frombuffer(bytes(self._session.person.new), dtype=np.bool_)

    def questions(self) -> NDArray[np.uint8]:
        return np.frombuffer(bytes(self._session.asked.questions), dtype=np.uint8)

    def status(self) -> Status:
        return Status.of(self._session.status())

    def buffers(self) -> list[tuple[str, str, bytes]]:
        return [(name, code, bytes(memoryview(b))) for name, code, b in self._session.buffers()]

    def saved(self) -> States:
        states = self._session.model.save(), self._session.quantizer.save()
        return States(*states, *self._session.more_states())

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def ints(raw: NDArray[Any]) -> array[int]:
    """Raw integers as the device library takes them, one row after the other."""
    values = array("i")
    values.frombytes(np.ascontiguousarray(raw, dtype=np.int32).tobytes())
    return values


class MicroPythonEngine:
    """A real 32-bit MicroPython in a process of its own, driven over a pipe."""

    def __init__(
        self,
        kind: str,
        parameters: Parameters,
        heap: str = "64m",
        compiled: bool = False,
        native: bool = False,
        anomaly: Parameters | None = None,
        target: Parameters | None = None,
        spare: Parameters | None = None,
        asking: Parameters | None = None,
    ) -> None:
        """With `compiled`, it loads .mpy files: compiling the sources there takes more heap.

        So it does if there are learners of the user's own, which stand elsewhere as sources. With
        `native`, the kernels of these files are in a native module; raises NoNativeTools.
        """
        own = [(learner.name, learner.module) for learner in own_learners()]
        # The layout of the buffers is the same on every engine; only their contents may differ.
        library = loader.load("python")
        plan = session.open_session(library, kind, parameters, anomaly, target, spare, asking)
        self._said = np.dtype("<i4") if target else np.dtype(np.uint8)
        self._layout = [(n, code, len(bytes(memoryview(b)))) for n, code, b in plan.buffers()]
        command = [*find_or_fetch(messages.say).command, "-X", f"heapsize={heap}"]
        if compiled or native or own:
            programs = [
                mpy.compiled_program(Path(module.__file__ or ""), "x86")
                for module in (session, spare_person, asked_labels)
            ]
            files = native_files.compiled("x86") if native else mpy.compiled("x86")
            folder = files[0].parent.parent
            places = [str(program.parent) for program in programs]
            path = f"import sys; sys.path[:] = {places!r}"
            command += ["-c", f"{path}; import session; session.serve({str(folder)!r})"]
        else:
            command += [session.__file__, str(library_files.folder().parent)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        config: dict[str, Any] = {"kind": kind, "parameters": dict(parameters), "own": own}
        config |= {"anomaly": anomaly, "target": target, "spare": spare}
        config["asking"] = asking
        self._ask(b"C", json.dumps(config).encode())

    def observe(self, raw: Raw) -> None:
        self._ask(b"O", raw.astype("<i4").tobytes())

    def freeze(self) -> None:
        self._ask(b"F")

    def run(self, raw: Raw, labels: Labels = NO_LABELS) -> Said:
        known = len(labels).to_bytes(4, "little")
        answer = self._ask(b"R", known + raw.astype("<i4").tobytes() + labels.tobytes())
        return np.frombuffer(answer, dtype=self._said)

    def halves(self) -> Said:
        return np.frombuffer(self._ask(b"W"), dtype="<i4")

    def anomalies(self) -> Anomalies:
        return Anomalies.of(self._ask(b"A"))

    def newcomers(self) -> NDArray[np.bool_]:
        return np.frombuffer(self._ask(b"N"), dtype=np.bool_)

    def questions(self) -> NDArray[np.uint8]:
        return np.frombuffer(self._ask(b"K"), dtype=np.uint8)

    def status(self) -> Status:
        return Status.of(json.loads(self._ask(b"S")))

    def buffers(self) -> list[tuple[str, str, bytes]]:
        data = self._ask(b"B")
        found, at = [], 0
        for name, typecode, size in self._layout:
            found.append((name, typecode, data[at : at + size]))
            at += size
        return found

    def saved(self) -> States:
        return States(*(self._ask(letter) for letter in (b"L", b"Q", b"Y", b"I", b"M", b"E")))

    def heap_bytes(self) -> int:
        """Bytes in use on the heap after a garbage collection (gc.mem_alloc)."""
        return int.from_bytes(self._ask(b"H"), "little")

    def __enter__(self) -> MicroPythonEngine:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def _ask(self, command: bytes, body: bytes = b"") -> bytes:
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
        said = self._process.stdout.read() + self._process.stderr.read()
        self._process.wait()
        last = said.decode(errors="replace").strip().splitlines()[-1:]
        raise EngineError(f"MicroPython stopped: {''.join(last) or 'it printed nothing'}")


def available() -> tuple[str, ...]:
    """The engines of this machine; a real MicroPython, which can be fetched, is always one."""
    from . import c_kernels

    return NAMES if c_kernels.works() else tuple(name for name in NAMES if name != "c")


def start(
    engine: str,
    kind: str,
    parameters: Parameters,
    anomaly: Parameters | None = None,
    target: Parameters | None = None,
    spare: Parameters | None = None,
    asking: Parameters | None = None,
) -> Engine:
    """A fresh learner on the engine of that name, to be used in a with statement.

    anomaly has the parameters of an anomaly score beside it, but for the features; None: without.
    target has those of a learner of numbers' Forecaster, but for the model. spare is what a Person
    of spare_person.py takes, for a learner with spare classes; asking what AskedLabels of
    asked_labels.py does, for one that learns only the labels that it asks for.

    Raises ValueError for parameters that the learner refuses, EngineError when the engine cannot
    run, and NoMicroPython when a real one is wanted and cannot be had. NATIVE is a real one with
    the kernels in a native module; NoNativeTools is raised where none can be made.
    """
    if engine in ("micropython", NATIVE):
        native = engine == NATIVE
        return MicroPythonEngine(
            kind,
            parameters,
            native=native,
            anomaly=anomaly,
            target=target,
            spare=spare,
            asking=asking,
        )
    return LocalEngine(engine, kind, parameters, anomaly, target, spare, asking)
