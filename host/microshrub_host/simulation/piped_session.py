"""The program that runs a session on MicroPython, driven over a pipe.

It reads commands from its standard input and answers on its standard output. A command is a
letter, a little-endian u32 length and that many bytes; the answer is a u32 length and that many
bytes.

    C  create: JSON {"kind", "parameters", "companions", "growing",
       "own"}                                                       -> nothing
    O  observe raw rows, i32                                        -> nothing
    F  freeze the quantizer and the target                          -> nothing
    R  run: u32 number of labels, raw rows as i32, labels as u8 (none
       for a regressor)                     -> a prediction for each row, u8 or raw as i32
    P  predict raw rows, i32, without learning                      -> the classes, u8
    D  finish the work that the learner postpones                   -> nothing
    X  the outputs of a companion, u8, for the last run             -> bytes, see its class
    S  status                                                       -> JSON
    B  buffers                                                      -> all, one after another
    L  saved states              -> for each: u8 size and name, u32 size and bytes
    H  heap                                                         -> u32 bytes in use
"""

import gc
import json
import sys
from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from collections.abc import Callable
    from typing import Any


def _serve(read: "Callable[[int], bytes]", write: "Callable[[bytes], Any]") -> None:
    session: Any = None
    while True:
        head = read(5)
        if len(head) < 5:
            return
        command = head[:1]
        body = read(int.from_bytes(head[1:], "little"))
        answer = b""
        if command == b"C":
            session = _create(json.loads(str(body, "utf-8")))
        elif command == b"O":
            session.observe(array("i", body))
        elif command == b"F":
            session.freeze()
        elif command == b"R":
            split = len(body) - int.from_bytes(body[:4], "little")
            answer = bytes(session.run(array("i", body[4:split]), bytearray(body[split:])))
        elif command == b"P":
            answer = bytes(session.ask(array("i", body)))
        elif command == b"D":
            session.settle()
        elif command == b"X":
            answer = session.outputs(body[0])
        elif command == b"S":
            answer = json.dumps(session.status()).encode()
        elif command == b"B":
            answer = b"".join([bytes(buffer) for _, _, buffer in session.buffers()])
        elif command == b"L":
            for name, state in session.states():
                head = bytes([len(name)]) + name.encode() + len(state).to_bytes(4, "little")
                answer += head + state
        elif command == b"H":
            gc.collect()
            answer = gc.mem_alloc().to_bytes(4, "little")  # type: ignore[attr-defined]
        write(len(answer).to_bytes(4, "little"))
        write(answer)


def _create(config: "dict[str, Any]") -> "Any":
    from session import open_session  # type: ignore[import-not-found]

    import microshrub
    from microshrub.learners import register

    for name, module in config["own"]:
        register(name, module)  # type: ignore[no-untyped-call]
    names = ("kind", "parameters", "companions", "growing")
    return open_session(microshrub, *[config[name] for name in names])


def serve(library: str) -> None:
    """Answer commands until the input ends; `library` is the device library's folder."""
    sys.path.insert(0, library)
    _serve(sys.stdin.buffer.read, sys.stdout.buffer.write)


if __name__ == "__main__":
    serve(sys.argv[1])
