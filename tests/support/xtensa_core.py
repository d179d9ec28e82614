"""Kernels of a native module for ESP32, S2 and S3 in an emulated Xtensa core, bit for bit.

A Recording notes which kernels Python calls, with which arguments and results, while learners run
in this process. run() has an emulated core with register windows do the same, with the native
module as `build` links it: it starts the module as MicroPython does, and calls its functions. Both
have the same bytes in all buffers in the end, and each call has the same result.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from microshrub_host.base import debian_packages, native_tools
from microshrub_host.library import loader
from microshrub_host.library.compiled_kernels import LateFunction, write_addresses
from microshrub_host.library.kernel_sources import symbol
from microshrub_host.programs import machine_code, mpy, native_files, native_module

ARCH = "xtensawin"
_TEXT, _HARNESS, _MEMORY = 0x400000, 0x480000, 0x20000000
_NONE, _MODULE_TYPE, _TUPLE_TYPE, _OTHER_TYPE = 6, 16, 32, 48
_HARNESS_C = Path(__file__).with_name("xtensa_core.c")
_TABLE = {  # places in MicroPython's table of functions
    3: "native_from_obj", 4: "native_to_obj", 5: "swap_globals", 13: "store_global",
    19: "new_tuple", 26: "make_function", 44: "wrong_count",
}  # fmt: skip


def _imported() -> list[str]:
    return [name for name in sys.modules if name.split(".")[0] == "_microshrub_c"]


class Recording:
    """`with Recording(monkeypatch) as recording:`, and learners of recording.library run."""

    def __init__(self, monkeypatch: Any) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._tables: dict[int, tuple[Any, ...]] = {}
        self._known: dict[int, tuple[Any, bytes]] = {}  # buffers, and their bytes as last seen
        self._patch = monkeypatch
        self._inside = False

    def __enter__(self) -> Recording:
        call = LateFunction.__call__

        def recorded(kernel: Any, *given: Any) -> Any:
            place = f"{kernel._module}.{kernel.__name__}"
            self._look(given)
            found = call(kernel, *given)
            words = [each if isinstance(each, int) else self._place(each) for each in given]
            self.calls.append(("call", place, words, found))
            for key, (buffer, _) in self._known.items():
                self._known[key] = buffer, bytes(buffer)
            return found

        def addresses(buffers: tuple[Any, ...], table: object) -> Any:
            made = write_addresses(buffers, table)
            self._tables[id(made)] = (made, buffers)
            return made

        self._patch.setattr(LateFunction, "__call__", recorded)
        self._patch.setattr(loader, "write_addresses", addresses)
        for name in _imported():
            self._patch.delitem(sys.modules, name)  # with the addresses of the others
        self.library = loader.load.__wrapped__("c")
        return self

    def __exit__(self, *_: object) -> None:
        for name in _imported():
            del sys.modules[name]
        self._patch.undo()

    def _look(self, given: tuple[Any, ...]) -> None:
        """Note the buffers that are new, and what Python has changed in others."""
        waiting = list(given)
        while waiting:
            each = waiting.pop()
            if isinstance(each, tuple):
                waiting += each
            elif id(each) in self._tables:
                waiting += self._tables[id(each)][1]
            elif not isinstance(each, int) and id(each) not in self._known:
                self._known[id(each)] = each, b""
        for key, (buffer, before) in self._known.items():
            now = bytes(buffer)
            if now != before:
                self.calls.append(("put", key, now))
                self._known[key] = buffer, now

    def _place(self, each: Any) -> Any:
        if isinstance(each, tuple):
            return ("tuple", [self._place(item) for item in each])
        if id(each) in self._tables:
            return ("table", [self._place(item) for item in self._tables[id(each)][1]])
        return ("buffer", id(each))

    def at_the_end(self) -> dict[int, bytes]:
        """All buffers, as they are now."""
        return {key: now for key, (_, now) in self._known.items()}


@cache
def emulator() -> str:
    """QEMU for programs of Linux on Xtensa, from Debian's package."""

    def fetch(work: Path) -> Path:
        return debian_packages.fetch(
            native_tools.TOOLS_SUITE, ["qemu-user-static"], work, debian_packages.silent,
            architecture=native_tools.architecture(), wanted=lambda name: "qemu-xtensa-" in name,
        )  # fmt: skip

    root = native_tools.kept("qemu-xtensa", (native_tools.TOOLS_SUITE, "qemu-user-static"), fetch)
    return str(root / "usr" / "bin" / "qemu-xtensa-static")


class _Memory:
    """What is at _MEMORY: 64 words, and behind them what is added."""

    def __init__(self) -> None:
        self.data = bytearray(256)

    def add(self, data: bytes) -> int:
        self.data += bytes(-len(self.data) % 8)
        self.data += data
        return _MEMORY + len(self.data) - len(data)

    def words(self, *words: int) -> int:
        return self.add(struct.pack(f"<{len(words)}I", *(word & 0xFFFFFFFF for word in words)))


def run(recording: Recording, modules: list[str]) -> set[str]:
    """Have the core do the same; returns the kernels that were called. Raises AssertionError."""
    library = native_module.native_library(sorted(modules))
    file = mpy.read(native_files.module(ARCH, modules))
    harness, entries = _harness()
    memory = _Memory()
    numbers = {each.function: i + 1 for i, each in enumerate(library.exported)}
    ends = recording.at_the_end()
    places = {key: memory.add(bytes(len(now) + 8)) for key, now in ends.items()}
    first, last = min(places.values()), _MEMORY + len(memory.data)
    objects: dict[int, int] = {}
    tables: dict[tuple[int, ...], int] = {}

    def thing(each: Any) -> int:
        """An argument as an object."""
        if isinstance(each, int):
            small = -(2**30) <= each < 2**30
            return each << 1 | 1 if small else memory.words(_OTHER_TYPE, each)
        kind, what = each
        if kind == "tuple":
            return memory.words(_TUPLE_TYPE, len(what), *map(thing, what))
        at = place(each)
        if at not in objects:
            objects[at] = memory.words(_OTHER_TYPE, at)
        return objects[at]

    def place(each: Any) -> int:
        kind, what = each
        if kind == "buffer":
            return places[what]
        inner = tuple(place(item) for item in what)
        if inner not in tables:
            tables[inner] = memory.words(*inner, 0)
        return tables[inner]

    plan: list[int] = []
    called = set()
    for what, *rest in recording.calls:
        if what == "put":
            key, now = rest
            padded = now + bytes(-len(now) % 4)
            plan += [
                2,
                places[key],
                len(padded) // 4,
                *struct.unpack(f"<{len(padded) // 4}I", padded),
            ]
            continue
        name, given, found = rest
        module, _, function = name.rpartition(".")
        number = numbers.get(symbol(module, function))
        assert number, f"{name} is not in the native module"
        called.add(name)
        result = _NONE if found is None else thing(int(found))
        plan += [1, number, len(given), *map(thing, given), result]
    names = memory.add(struct.pack(f"<{len(numbers) + 2}H", *range(len(numbers) + 2)))
    table = [0] * 64
    table[0] = _NONE
    for number, function in _TABLE.items():
        table[number] = entries[function]
    functions = memory.words(*[0] * (len(numbers) + 2))
    rows = int(file.constants[1][1])
    constants = memory.words(memory.words(*table), rows << 1 | 1)
    context = memory.words(_MODULE_TYPE, 0, names, constants)
    module_at = memory.words(0, context, 0, _TEXT)
    empty = memory.words(_TUPLE_TYPE, 0)
    plan_at = memory.words(*plan, 0)
    pool = memory.add(bytes(1 << 20))
    head = (module_at, _TEXT, plan_at, functions, pool, empty, first, last - first)
    struct.pack_into("<8I", memory.data, 0, *head)
    parts = ((_TEXT, file.code.data), (_HARNESS, harness), (_MEMORY, bytes(memory.data)))
    done = _run(_program(entries["begin"], parts))
    assert done.returncode == 0, f"the core ended with {done.returncode}: {done.stderr!r}"
    for key, now in ends.items():
        at = places[key] - first
        assert done.stdout[at : at + len(now)] == now, "a buffer has other bytes"
    return called


@cache
def _harness() -> tuple[bytes, dict[str, int]]:
    """Its code, linked to be at _HARNESS, and where its functions are."""
    elf = native_tools.find_or_fetch(ARCH).compile(_HARNESS_C.read_text(encoding="utf-8"))
    archive = machine_code.archive_of(elf, ARCH)
    text, starts = bytearray(), {}
    for name, each in archive.items():
        text += bytes(-len(text) % 4)
        starts[name] = len(text)
        text += each.code
    for name, each in archive.items():
        for at, to in each.calls:
            here = starts[name] + at
            distance = starts[to] + archive[to].entry - here
            machine_code._CALLS[ARCH].put(text, here, distance)
    return bytes(text), {name: _HARNESS + starts[name] + archive[name].entry for name in archive}


def _program(entry: int, parts: Any) -> bytes:
    """A program of Linux with these parts in its memory."""
    head = b"\x7fELF\x01\x01\x01" + bytes(9)
    head += struct.pack(
        "<HHIIIIIHHHHHH", 2, 94, 1, entry, 52, 0, 0x300, 52, 32, len(parts), 0, 0, 0
    )
    at, heads, body = 0x1000, b"", b""
    for address, data in parts:
        size = len(data)
        heads += struct.pack("<8I", 1, at, address, address, size, size, 7, 0x1000)
        body += data + bytes(-size % 0x1000)
        at += size + -size % 0x1000
    return (head + heads).ljust(0x1000, b"\0") + body


def _run(program: bytes) -> subprocess.CompletedProcess[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program")
        file.write_bytes(program)
        file.chmod(0o700)
        words = [emulator(), "-cpu", "dc232b", str(file)]
        return subprocess.run(words, capture_output=True, timeout=200, check=False)
