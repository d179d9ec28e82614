"""Kernels for ESP32, S2 and S3 in an emulated Xtensa core, bit for bit, and their instructions.

KernelCalls records the kernels that Python calls, with arguments and results, while learners run
in this process. run() repeats the calls in an emulated core with register windows, with the native
module as `build` links it, or with viper's machine code as mpy-cross makes it. Both end with the
same bytes in all buffers, and each call has the same result. The core's log has a line for each
instruction of the kernels, which run() counts.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from microshrub_host.base import child_process, debian_packages, native_tools
from microshrub_host.base.errors import UserError
from microshrub_host.library import kernel_sources, loader
from microshrub_host.library.compiled_kernels import LateFunction, write_addresses
from microshrub_host.library.kernel_sources import symbol
from microshrub_host.library.library_files import PACKAGE
from microshrub_host.programs import machine_code, mpy, native_files, native_module

ARCH = "xtensawin"
_TEXT, _HARNESS, _MEMORY = 0x400000, 0x480000, 0x20000000
_NONE, _MODULE_TYPE, _TUPLE_TYPE, _OTHER_TYPE = 6, 16, 32, 48
_HARNESS_C = Path(__file__).with_name("xtensa_core.c")
_TABLE = {  # places in MicroPython's table of functions
    3: "native_from_obj", 4: "native_to_obj", 5: "swap_globals", 7: "load_global",
    13: "store_global", 15: "subscript", 19: "new_tuple", 26: "make_function",
    27: "call_function", 44: "wrong_count", 46: "floor_divide", 47: "floor_modulo",
}  # fmt: skip
_COUNTED = ("floor_divide", "floor_modulo")  # functions that count as a kernel's work
_SECONDS = 600
_BLOCK = 1 << 20


class XtensaCoreError(UserError):
    """The core failed, or its results differ from this process's."""


def _imported() -> list[str]:
    return [name for name in sys.modules if name.split(".")[0] == "_microshrub_c"]


class KernelCalls:
    """A recording of kernel calls: `with KernelCalls() as recording:`,
    then run recording.library's learners.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._tables: dict[int, tuple[Any, ...]] = {}
        self._known: dict[int, tuple[Any, bytes]] = {}  # buffers, and their last known bytes

    def __enter__(self) -> KernelCalls:
        call = LateFunction.__call__

        def recorded(kernel: Any, *given: Any) -> Any:
            place = f"{kernel._module}.{kernel.__name__}"
            self._look(given)
            returned = call(kernel, *given)
            words = [each if isinstance(each, int) else self._place(each) for each in given]
            self.calls.append(("call", place, words, returned))
            for key, (buffer, _) in self._known.items():
                self._known[key] = buffer, bytes(buffer)
            return returned

        def addresses(buffers: tuple[Any, ...], table: object) -> Any:
            made = write_addresses(buffers, table)
            self._tables[id(made)] = (made, buffers)
            return made

        self._loaded = {name: sys.modules.pop(name) for name in _imported()}
        self._before = call
        LateFunction.__call__ = recorded  # type: ignore[method-assign, assignment]
        loader.write_addresses = addresses  # type: ignore[attr-defined]
        self.library = loader.load.__wrapped__("c")
        return self

    def __exit__(self, *_: object) -> None:
        LateFunction.__call__ = self._before  # type: ignore[method-assign]
        loader.write_addresses = write_addresses  # type: ignore[attr-defined]
        for name in _imported():
            del sys.modules[name]
        sys.modules.update(self._loaded)

    def forget(self) -> None:
        """Forget all calls so far; the recording begins with the buffers in their
        present state.
        """
        self.calls.clear()
        self._known = {key: (buffer, b"") for key, (buffer, _) in self._known.items()}

    def mark(self) -> None:
        """Start a separate count of instructions."""
        self.calls.append(("mark",))

    def _look(self, given: tuple[Any, ...]) -> None:
        """Record the buffers that are new, and the bytes that Python has changed in others."""
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
        """Return all buffers in their present state."""
        return {key: now for key, (_, now) in self._known.items()}


@cache
def emulator(progress: debian_packages.Progress = debian_packages.silent) -> str:
    """Return QEMU for Linux programs on Xtensa, fetched once from Debian's package."""

    def fetch(work: Path) -> Path:
        return debian_packages.fetch(
            native_tools.TOOLS_SUITE, ["qemu-user-static"], work, progress,
            architecture=native_tools.architecture(), wanted=lambda name: "qemu-xtensa-" in name,
        )  # fmt: skip

    root = native_tools.kept("qemu-xtensa", (native_tools.TOOLS_SUITE, "qemu-user-static"), fetch)
    return str(root / "usr" / "bin" / "qemu-xtensa-static")


class _Memory:
    """The memory from _MEMORY on: 64 words, followed by everything that is added."""

    def __init__(self) -> None:
        self.data = bytearray(256)

    def add(self, data: bytes) -> int:
        self.data += bytes(-len(self.data) % 8)
        self.data += data
        return _MEMORY + len(self.data) - len(data)

    def words(self, *words: int) -> int:
        return self.add(struct.pack(f"<{len(words)}I", *(word & 0xFFFFFFFF for word in words)))


@dataclass(frozen=True)
class _Kernels:
    """Kernels in the core's memory: code for _TEXT, the address of the module to start, or 0,
    the numbers of the kernels by their names in C, and the address of the table of functions.
    """

    text: bytes
    module: int
    numbers: dict[str, int]
    functions: int


def _native(memory: _Memory, modules: Sequence[str], table: int) -> _Kernels:
    """Put the native module of a program with these modules into the memory."""
    library = native_module.native_library(sorted(modules))
    file = mpy.read(native_files.module(ARCH, modules))
    numbers = {each.function: i + 1 for i, each in enumerate(library.exported)}
    names = memory.add(struct.pack(f"<{len(numbers) + 2}H", *range(len(numbers) + 2)))
    functions = memory.words(*[0] * (len(numbers) + 2))
    constants = memory.words(table, int(file.constants[1][1]) << 1 | 1)
    context = memory.words(_MODULE_TYPE, 0, names, constants)
    return _Kernels(file.code.data, memory.words(0, context, 0, _TEXT), numbers, functions)


def _viper(memory: _Memory, modules: Sequence[str], table: int) -> _Kernels:
    """Put the kernels of these modules, as mpy-cross compiles them, into the memory."""
    kernels = kernel_sources.select(sorted(modules), functions=False)[1]
    numbers = {kernel.name: i + 1 for i, kernel in enumerate(kernels.values())}
    homes = {name: kernel_sources.read(name).imported for name in modules}
    built_in = _built_in({function for _, function in kernels})
    text, made = bytearray(), [0] * (len(numbers) + 1)
    for path in mpy.compiled(ARCH, modules):
        file = mpy.read(path)
        known = (
            built_in.get(name, "") if isinstance(name, int) else name for name in file.all_names
        )
        places = [homes[file.name].get(name, (file.name, name)) for name in known]
        names = [numbers[kernels[place].name] if place in kernels else 0 for place in places]
        objects = [table if kind == mpy.FUN_TABLE else _NONE for kind, _ in file.constants]
        name_table = memory.add(struct.pack(f"<{len(names)}H", *names))
        context = memory.words(_MODULE_TYPE, 0, name_table, memory.words(*objects, 0))
        for place, code in _functions(file):
            if places[place] in kernels:
                text += bytes(-len(text) % 4)
                function = memory.words(_OTHER_TYPE, context, 0, _TEXT + len(text))
                made[names[place]] = function
                text += code
    return _Kernels(bytes(text), 0, numbers, memory.words(*made))


def _functions(file: mpy.Module) -> Iterator[tuple[int, bytes]]:
    """Yield the functions to which a module's body gives a name: the name's place,
    and the code.
    """
    for (code, number), (after, place) in pairwise(mpy.operations(file.code.data)):
        if code in (mpy.MAKE_FUNCTION, mpy.MAKE_DEFAULTS) and after == mpy.STORE_NAME:
            yield place, file.code.children[number].data


def _built_in(names: set[str]) -> dict[int, str]:
    """Return which of these names are built into MicroPython, by their numbers."""
    given = sorted(names)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, PACKAGE, "names.mpy")
        target.parent.mkdir()
        mpy.compile_text("\n".join(f"{name} = 1" for name in given), target, ARCH, "names.py")
        file = mpy.read(target)
    places = [place for code, place in mpy.operations(file.code.data) if code == mpy.STORE_NAME]
    pairs = ((file.all_names[place], name) for place, name in zip(places, given, strict=True))
    return {number: name for number, name in pairs if isinstance(number, int)}


MAKERS: dict[str, Callable[[_Memory, Sequence[str], int], _Kernels]] = {
    "native": _native,
    "viper": _viper,
}


@dataclass(frozen=True)
class Ran:
    """The kernels that were called, and the instructions before the first mark, between each two,
    and behind the last; no instructions unless run() was to count them.
    """

    called: set[str]
    instructions: list[int]


class _Plan:
    """The calls for the core, and the addresses of the objects in its memory."""

    def __init__(self, memory: _Memory, recording: KernelCalls, numbers: dict[str, int]) -> None:
        self.ends = recording.at_the_end()
        self.places = {key: memory.add(bytes(len(now) + 8)) for key, now in self.ends.items()}
        self.first, self.last = min(self.places.values()), _MEMORY + len(memory.data)
        self.called: set[str] = set()
        self.words: list[int] = []
        self._memory, self._numbers = memory, numbers
        self._objects: dict[int, int] = {}
        self._tables: dict[tuple[int, ...], int] = {}
        for what, *rest in recording.calls:
            if what == "put":
                self._put(*rest)
            elif what == "call":
                self._call(*rest)
            else:
                self.words.append(3)

    def _put(self, key: int, now: bytes) -> None:
        padded = now + bytes(-len(now) % 4)
        count = len(padded) // 4
        self.words += [2, self.places[key], count, *struct.unpack(f"<{count}I", padded)]

    def _call(self, name: str, given: list[Any], returned: Any) -> None:
        module, _, function = name.rpartition(".")
        number = self._numbers.get(symbol(module, function))
        if not number:
            raise XtensaCoreError(f"{name} is not among the kernels")
        self.called.add(name)
        result = _NONE if returned is None else self._object(int(returned))
        self.words += [1, number, len(given), *map(self._object, given), result]

    def _object(self, each: Any) -> int:
        """Return an argument's address, or the number itself as MicroPython represents it."""
        if isinstance(each, int):
            small = -(2**30) <= each < 2**30
            return each << 1 | 1 if small else self._memory.words(_OTHER_TYPE, each)
        kind, what = each
        if kind == "tuple":
            return self._memory.words(_TUPLE_TYPE, len(what), *map(self._object, what))
        at = self._place(each)
        if at not in self._objects:
            self._objects[at] = self._memory.words(_OTHER_TYPE, at)
        return self._objects[at]

    def _place(self, each: Any) -> int:
        kind, what = each
        if kind == "buffer":
            return self.places[what]
        inner = tuple(self._place(item) for item in what)
        if inner not in self._tables:
            self._tables[inner] = self._memory.words(*inner, 0)
        return self._tables[inner]


def run(
    recording: KernelCalls, modules: Sequence[str], kind: str = "native", *, count: bool = False
) -> Ran:
    """Repeat the calls in the core with kernels of a kind of MAKERS. Raises XtensaCoreError."""
    harness, entries, counted = _harness()
    memory = _Memory()
    table = [0] * 64
    table[0] = _NONE
    for number, function in _TABLE.items():
        table[number] = entries[function]
    kernels = MAKERS[kind](memory, modules, memory.words(*table))
    plan = _Plan(memory, recording, kernels.numbers)
    empty = memory.words(_TUPLE_TYPE, 0)
    plan_at = memory.words(*plan.words, 0)
    pool = memory.add(bytes(1 << 20))
    head = (kernels.module, _TEXT, plan_at, kernels.functions, pool, empty)
    struct.pack_into("<8I", memory.data, 0, *head, plan.first, plan.last - plan.first)
    parts = ((_TEXT, kernels.text), (_HARNESS, harness), (_MEMORY, bytes(memory.data)))
    ranges = [f"{_TEXT:#x}+{len(kernels.text):#x}", *counted] if count else []
    program = _program(entries["begin"], parts)
    output, instructions = _run(program, ranges, entries["mark"])
    for key, now in plan.ends.items():
        at = plan.places[key] - plan.first
        if output[at : at + len(now)] != now:
            raise XtensaCoreError("a buffer of the Xtensa core has other bytes")
    return Ran(plan.called, instructions)


@cache
def _harness() -> tuple[bytes, dict[str, int], list[str]]:
    """Return the harness's code for _HARNESS, its functions' addresses,
    and the ranges to count.
    """
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
    entries = {name: _HARNESS + starts[name] + archive[name].entry for name in archive}
    ranges = [f"{entries[name]:#x}+{len(archive[name].code):#x}" for name in _COUNTED]
    return bytes(text), entries, [*ranges, f"{entries['mark']:#x}+1"]


def _program(entry: int, parts: Any) -> bytes:
    """Return a Linux program with these parts in its memory."""
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


def _run(program: bytes, ranges: Sequence[str], mark: int) -> tuple[bytes, list[int]]:
    """Run a program; return its output, and its instructions in these ranges from mark to mark."""
    with tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder, "program"), Path(folder, "log")
        file.write_bytes(program)
        file.chmod(0o700)
        words = [emulator(), "-cpu", "dc232b"]
        if ranges:  # a line in the log for each instruction in the ranges
            words += ["-singlestep", "-d", "exec,nochain", "-dfilter", ",".join(ranges)]
            words += ["-D", str(log)]
        words.append(str(file))
        pipe = subprocess.PIPE
        with child_process.start(words, stdout=pipe, stderr=pipe) as core:
            try:
                output, complaints = core.communicate(timeout=_SECONDS)
            except BaseException as error:
                core.kill()
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                late = f"the Xtensa core was not ready in {_SECONDS} seconds"
                raise XtensaCoreError(late) from error
        if core.returncode:
            how = f"the Xtensa core ended with {core.returncode}"
            raise XtensaCoreError(f"{how}: {complaints.decode(errors='replace').strip()}")
        return output, _counted(log, mark) if ranges else []


def _counted(log: Path, mark: int) -> list[int]:
    """Count the lines of a log from mark to mark."""
    counts, left = [0], b""
    with log.open("rb") as file:
        while block := file.read(_BLOCK):
            whole, newline, left = (left + block).rpartition(b"\n")
            first, *more = (whole + newline).split(b"/%08x/" % mark)
            counts[-1] += first.count(b"\n")
            counts += [part.count(b"\n") - 1 for part in more]  # without the mark's own line
    return counts
