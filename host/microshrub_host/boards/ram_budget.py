"""The RAM of a learner on a board: its buffers, MicroPython's overhead, the code.

Everything is computed by rules, for a 32-bit MicroPython whose heap has blocks of 16 bytes. The
rules for objects (heap_sizes.py) are exact; the rules for the imported code (import_heap.py) hold
within 1 %. Tests compare the results with MicroPython (tests/support/ram_measure.py). The rest of
the program, and its garbage, are additional.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..library import loader
from ..simulation.companion import BoardObjects, Companions, config_of, freezes
from ..simulation.pipeline import Extracted
from .board_files import Board
from .heap_sizes import address_tables, heap_bytes, planned, size_of
from .import_heap import (
    BLOCK,
    WORD,
    LibraryHeap,
    ModuleHeap,
    blocks,
    library_heap,
    table,
    texts,
)

Value = int | float | str
Parameters = Mapping[str, Value]

START_BYTES = 7 * 1024  # free RAM that a program's start needs; measured in emulation
_REGISTRY = "learners"  # the module that gives a program the learner's class
_NARROWEST: Parameters = {"features": 1}
_SMALLEST: Parameters = {**_NARROWEST, "classes": 2}


@dataclass(frozen=True)
class Part:
    """One line of a budget.

    `owner` is "model", "quantizer", "metrics" or, for a regressor, "target", "rows", the title of
    a companion, or "code". In the budget of a whole program, it may also be "program".
    """

    name: str
    bytes: int
    note: str
    owner: str = "code"
    elsewhere: int = 0


@dataclass(frozen=True)
class Shortage:
    """A buffer or block that does not fit a board's RAM, in bytes."""

    needed: int
    available: int  # in all, or in one block for a buffer
    buffer: str = ""  # name of a buffer that is longer than any block of the heap
    construction: bool = False  # only while buffers are made, or a program starts


@dataclass(frozen=True)
class Kernels:
    """The kernels that stay bytecode, as machine code has too little room.

    `of` is the number of all kernels, and `slower` is about how many times as long a sample takes.
    """

    names: tuple[str, ...] = ()
    of: int = 0
    slower: float = 1.0

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Kernels:
        """Return the kernels of a row from asdict(), perhaps after JSON."""
        return cls(**{**row, "names": tuple(row["names"])})

    @property
    def plain(self) -> int:
        """The number of kernels that stay bytecode."""
        return len(self.names)


@dataclass(frozen=True)
class Budget:
    """RAM on a board, in bytes: the parts, the free RAM, and the largest possible buffer."""

    buffers: list[Part]
    overhead: list[Part]
    code: list[Part]
    free_bytes: int
    board: str
    largest_block_bytes: int
    peak_bytes: int  # while the buffers are made, or a program starts
    executable_bytes: int | None = None  # RAM for machine code outside the heap
    kernels: Kernels = Kernels()
    less_in_rom: int = 0  # RAM saved by a ROM file system, if possible

    @property
    def model_bytes(self) -> int:
        """The bytes of the learner's own buffers, as in its nbytes()."""
        return sum(part.bytes for part in self.buffers if part.owner == "model")

    @property
    def ram_bytes(self) -> int:
        """The bytes of all used RAM, including the imported code."""
        return sum(part.bytes for part in (*self.buffers, *self.overhead, *self.code))

    @property
    def of_program(self) -> list[Part]:
        """The objects that the program creates besides its learner."""
        return [part for part in self.overhead if part.owner == "program"]

    @property
    def machine_code_bytes(self) -> int:
        """The bytes of machine code outside the heap."""
        return sum(part.elsewhere for part in self.code)

    @property
    def code_fits(self) -> bool:
        """Whether there is enough executable RAM for the machine code, as far as is known."""
        return self.executable_bytes is None or self.machine_code_bytes <= self.executable_bytes

    @property
    def largest_buffer(self) -> Part:
        """The buffer with the most bytes."""
        return max(self.buffers, key=lambda part: part.bytes)

    @property
    def fits(self) -> bool:
        """Whether the model can be created, on a heap that holds nothing else."""
        return self.shortage is None

    @property
    def shortage(self) -> Shortage | None:
        """The reason why the model cannot be created; None if it can."""
        free, longest = self.free_bytes, self.largest_buffer
        if self.peak_bytes > free:
            return Shortage(self.peak_bytes, free, construction=self.peak_bytes > self.ram_bytes)
        if longest.bytes > self.largest_block_bytes:
            return Shortage(longest.bytes, self.largest_block_bytes, longest.name)
        return None


def budget(
    learner_kwargs: Parameters,
    board: Board,
    learner: str,
    code: list[Part] | None = None,
    program_objects: list[Part] | None = None,
    companions: Companions = (),
    native: bool = False,
    frozen: bool = False,
    kernels: Kernels = Kernels(),
) -> Budget:
    """Return the RAM of a learner, a quantizer, metrics and a row of a stream, raw and as codes.

    A regressor has a target instead of metrics. `companions` are the learner's companions, in the
    order of companion_registry.py. code is the program's code, if it imports more; see parts_of().
    program_objects are the program's further objects; its start needs START_BYTES more. With
    `native`, the kernels are in a native module; raises NoNativeTools. With `frozen`, the ranges
    do not grow. kernels tells which kernels of the code are bytecode. Raises ValueError for
    parameters that the learner refuses.
    """
    library, model = loader.load("plan"), planned(learner, learner_kwargs)
    made = {each.title: each.on_board(library, model) for each in companions}
    objects = _objects(library, model, learner, frozen or freezes(companions))
    objects |= {title: each.part for title, each in made.items() if each.part}
    buffers = [part for owner, thing in objects.items() for part in _buffers(owner, thing)]
    growing = isinstance(objects["quantizer"], loader.load("plan").GrowingQuantizer)
    names = texts(board.arch, _modules(model, learner, growing))
    start = 0 if program_objects is None else START_BYTES
    program_objects = (program_objects or []) + _others(made, names)
    if kernels.plain:
        program_objects.append(_tables(objects))
    if code is None:
        code = code_parts(board, learner, learner_kwargs, native, companions, growing)
    overhead = _overhead(objects, buffers, names) + program_objects
    ram = sum(part.bytes for part in (*buffers, *overhead, *code))
    machine_code = sum(part.elsewhere for part in code)
    return Budget(
        buffers=buffers,
        overhead=overhead,
        code=code,
        free_bytes=board.heap_free_bytes + board.grown_bytes(machine_code),
        board=board.name,
        largest_block_bytes=board.largest_block_bytes,
        executable_bytes=board.executable_bytes,
        kernels=kernels,
        peak_bytes=max(
            ram + start, sum(part.bytes for part in (*code, *program_objects)) + _peak(objects)
        ),
    )


def in_program(alone: Budget, board: Board, program: Budget) -> Budget:
    """Return a program's budget with another learner, whose budget without code is `alone`."""
    objects = program.of_program
    more = sum(part.bytes for part in (*program.code, *objects))
    grown = board.grown_bytes(program.machine_code_bytes)
    return replace(
        alone,
        overhead=alone.overhead + objects,
        code=program.code,
        free_bytes=board.heap_free_bytes + grown,
        peak_bytes=more + max(alone.ram_bytes + START_BYTES, alone.peak_bytes),
    )


def _objects(library: Any, model: Any, learner: str, frozen: bool) -> dict[str, Any]:
    """Return the learner, its quantizer, its metrics or target, and the rows of a sample."""
    features = model.features
    return {
        "quantizer": _quantizer(library, model, frozen),
        **_of_targets(library, learner, model),
        "rows": (array("i", bytes(4 * features)), array("H", bytes(2 * features))),
        "model": model,
    }


def _quantizer(library: Any, model: Any, frozen: bool) -> Any:
    """Make the quantizer; its ranges grow if the model can follow and they are not frozen."""
    if getattr(model, "moves", False) and not frozen:
        return library.GrowingQuantizer(model.features, (model,))
    return library.Quantizer(model.features)


def _others(made: Mapping[str, BoardObjects], names: Collection[str]) -> list[Part]:
    """Return the objects that companions make besides their buffers, by title."""
    parts = []
    for title, each in made.items():
        if each.others:
            seen = {id(thing) for thing in each.elsewhere}
            size = sum(heap_bytes(thing, names, seen) for thing in each.others)
            parts.append(Part(f"{title}: objects", size, each.note, title))
    return parts


def _of_targets(library: Any, learner: str, model: Any) -> dict[str, Any]:
    """Return the metrics for a classifier, or the target for a regressor."""
    if library.learners.is_regressor(learner):
        return {"target": library.Target()}
    return {"metrics": library.Metrics(model.classes)}


def _buffers(owner: str, thing: Any) -> list[Part]:
    named = [("raw", "i", thing[0]), ("codes", "H", thing[1])] if owner == "rows" else []
    return [
        Part(name, size_of(buffer), f"{len(buffer)} x {_ITEMS[code]}", owner)
        for name, code, buffer in named or thing.buffers()
    ]


def _tables(objects: Mapping[str, Any]) -> Part:
    """Return the extra RAM of tables of addresses that bytecode reads: see mixed_pointers.py."""
    tables = address_tables(objects)
    size = sum(BLOCK + table(1) + blocks((2 + len(each)) * WORD) for each in tables)
    return Part("tables", size, "of addresses, which bytecode reads, too", "program")


_ITEMS = {"B": "1 byte", "H": "2 bytes", "i": "4 bytes"}


def _overhead(
    objects: Mapping[str, Any], buffers: list[Part], names: Collection[str]
) -> list[Part]:
    parts = []
    for owner, thing in objects.items():
        owned = [part for part in buffers if part.owner == owner]
        without = () if owner == "model" else (id(objects["model"]),)
        headers = BLOCK * len(owned)
        lost = sum(blocks(part.bytes) - part.bytes for part in owned)
        # the program has no tuple that holds the two rows
        whole = (
            sum(map(heap_bytes, thing)) if owner == "rows" else heap_bytes(thing, names, without)
        )
        rest = whole - headers - lost - sum(part.bytes for part in owned)
        parts.append(Part(f"{owner}: headers", headers, f"{len(owned)} buffers", owner))
        parts.append(Part(f"{owner}: rounding", lost, "up to blocks of 16 bytes", owner))
        if rest:
            parts.append(Part(f"{owner}: objects", rest, "attributes, tuples, texts", owner))
    return parts


def _peak(objects: Mapping[str, Any]) -> int:
    """Return the peak bytes of construction: an array is made from as many zero bytes."""
    held = peak = 0
    for owner, thing in objects.items():
        for _, code, buffer in [] if owner == "rows" else thing.buffers():
            held += heap_bytes(buffer)
            peak = max(peak, held + (0 if code == "B" else heap_bytes(buffer)))
    return peak


def modules_of(
    learner: str, learner_kwargs: Parameters | None = None, growing: bool = False
) -> tuple[str, ...]:
    """Return the modules of the device library that a program with such a learner imports.

    With `growing`, the ranges grow.
    """
    library = loader.load("plan")
    numbers = library.learners.is_regressor(learner)
    model = planned(learner, learner_kwargs or (_NARROWEST if numbers else _SMALLEST))
    return _modules(model, learner, growing)


def _modules(model: Any, learner: str, growing: bool) -> tuple[str, ...]:
    library = loader.load("plan")
    numbers = library.learners.is_regressor(learner)
    quantizer = library.GrowingQuantizer if growing else library.Quantizer
    parts = [*_used(model), quantizer, library.Target if numbers else library.Metrics]
    homes = [part.__module__.partition(".")[2] for part in parts]
    return tuple(dict.fromkeys([*homes, _REGISTRY]))


def _used(model: Any) -> list[Any]:
    """Return the model's class, its kernel, and its members' kernels, which are attributes."""
    members = (part for member in _members(model) for part in _used(member))
    return [type(model), model._learn, *members]


def _members(model: Any) -> list[Any]:
    base = loader.load("plan").learner.Learner
    return [item for item in vars(model).values() if isinstance(item, base)]


def code_parts(
    board: Board,
    learner: str,
    learner_kwargs: Parameters | None = None,
    native: bool = False,
    companions: Companions = (),
    growing: bool = False,
) -> list[Part]:
    """Return the RAM of the imported library, by modules; raises NoNativeTools with `native`."""
    config = config_of(companions)
    more = [
        name
        for each in companions
        for name, needed in each.modules(config, learner).items()
        if needed and (isinstance(each, Extracted) or not name.startswith("device."))
    ]
    modules = (*modules_of(learner, learner_kwargs, growing), *more)
    return parts_of(board, library_heap(board.arch, modules, native=native))


def parts_of(board: Board, heap: LibraryHeap) -> list[Part]:
    """Return the RAM of an imported library on the board, by modules."""
    parts = [_module_part(module, board.native) for module in heap.modules]
    parts.append(Part("names", heap.names, "that the firmware does not have"))
    return [*parts, Part("modules", heap.module_table, "growth of their table")]


def _module_part(module: ModuleHeap, native: bool) -> Part:
    if not module.native:
        return Part(module.name, module.other, "bytecode")
    if native:
        note = f"{module.native:,} of it machine code"
        return Part(module.name, module.other + module.native, note)
    note = f"and {module.native:,} of machine code elsewhere"
    return Part(module.name, module.other, note, elsewhere=module.native)
