"""A thicket on a board of a fleet: it learns, sends and takes packets, and predicts.

This file runs on CPython and, over a pipe, on MicroPython, where it is the program. As in
piped_session.py, a command is a letter, a little-endian u32 length and that many bytes.

    C  create: JSON {"parameters", "features", "units", "classes"} -> nothing
    L  load: u32 size of the learner's state, it, the quantizer's  -> nothing
    R  learn: u32 number of labels, raw rows as i32, labels as u8  -> nothing
    G  give: JSON {"origin", "class", "most"}                      -> a packet
    T  take a packet                                               -> number of samples to learn
    E  learn all waiting samples, and finish postponed work        -> nothing
    P  predict raw rows, i32, without learning                     -> the classes, u8
    S  save                                                        -> as L takes it
"""

import json
import sys
from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


class FleetBoard:
    """One board. `library` is the device library, loaded for an engine."""

    def __init__(self, library: "ModuleType") -> None:
        self._library = library

    def do(self, command: str, body: bytes) -> bytes:
        """Run a command, and return its answer."""
        if command == "C":
            self._create(json.loads(str(body, "utf-8")))
        elif command == "L":
            split = 4 + int.from_bytes(body[:4], "little")
            self._model.load(body[4:split])
            self._quantizer.load(body[split:])
        elif command == "R":
            split = len(body) - int.from_bytes(body[:4], "little")
            self._learn(array("i", body[4:split]), body[split:])
        elif command == "G":
            wanted = json.loads(str(body, "utf-8"))
            given: bytes = self._sharing.collect(
                wanted["origin"], (wanted["class"],), wanted["most"]
            )
            return given
        elif command == "T":
            taken = self._sharing.take(self._library.SamplePacket(body))
            return sum([len(which) for _, _, which in taken]).to_bytes(4, "little")
        elif command == "E":
            while self._sharing.step():
                pass
            while self._model.idle():
                pass
        elif command == "P":
            return bytes(self._ask(array("i", body)))
        elif command == "S":
            state = self._model.save()
            return bytes(len(state).to_bytes(4, "little") + state + self._quantizer.save())
        return b""

    def _create(self, config: "dict[str, Any]") -> None:
        library = self._library
        self._model = library.Thicket(**config["parameters"])
        self._quantizer = library.GrowingQuantizer(self._model.features, (self._model,))
        names = config["features"], config["units"], config["classes"]
        self._sharing = library.Sharing(self._model, self._quantizer, *names)
        self._raw = array("i", bytes(4 * self._model.features))
        self._codes = array("H", bytes(2 * self._model.features))

    def _read(self, raw: "array[int]", i: int) -> None:
        for f in range(len(self._raw)):
            self._raw[f] = raw[i * len(self._raw) + f]

    def _learn(self, raw: "array[int]", labels: bytes) -> None:
        """Learn rows; after each, learn one sample of another board, if any are waiting."""
        for i in range(len(labels)):
            self._read(raw, i)
            self._quantizer.encode(self._raw, self._codes)
            self._model.learn(self._codes, labels[i])
            self._sharing.step()

    def _ask(self, raw: "array[int]") -> bytearray:
        predictions = bytearray(len(raw) // len(self._raw))
        for i in range(len(predictions)):
            self._read(raw, i)
            self._quantizer.code(self._raw, self._codes)
            predictions[i] = self._model.predict(self._codes)
        return predictions


def serve(folder: str) -> None:
    """Answer commands until the input ends; folder is the device library's."""
    sys.path.insert(0, folder)
    import microshrub

    board = FleetBoard(microshrub)
    read: Callable[[int], bytes] = sys.stdin.buffer.read
    while True:
        head = read(5)
        if len(head) < 5:
            return
        answer = board.do(str(head[:1], "ascii"), read(int.from_bytes(head[1:], "little")))
        sys.stdout.buffer.write(len(answer).to_bytes(4, "little"))
        sys.stdout.buffer.write(answer)


if __name__ == "__main__":
    serve(sys.argv[1])
