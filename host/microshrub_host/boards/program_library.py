"""The device library of a program: its modules, their files, and what they take of RAM."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..beside import registry
from ..beside.watcher import CONFIG
from ..library import loader
from ..programs import frozen_files, merged_files, mpy, plain_kernels
from ..programs.settled_words import settled
from ..sources import library_files
from ..streams.stream import modules_by_need
from . import import_heap
from .board_files import Board
from .program import Program
from .ram_budget import Kernels, modules_of
from .scarce_machine_code import ANY, able, kernel_work, plain_of_heap, plain_within

_FROZEN_RANGES = "quantizer"  # of which ranges that grow take some parts
_SELFTEST = "device.selftest"
_FIELDS = "device.config_fields"
_PARTS = "device.config_parts"
_STATES = "device.states"
_FOR_A_WHILE = {  # imported by a program in a network, and given back
    "mqtt": tuple(
        f"device.{name}"
        for name in ("house_start", "mqtt_open", "house_introduction", "house_ears")
    ),
    "tcp": ("device.renewing",),
    "packets": (),
}
_NETWORKING = "device.networking"
_CHECK = ".check"  # ends the name of the module that looks at a learner's saved state


def arch_of(board: Board, emit: str) -> str:
    """What its files are compiled for: an -march of mpy-cross, or mpy.BYTECODE_ONLY."""
    return mpy.BYTECODE_ONLY if emit == "bytecode" else board.arch


@dataclass(frozen=True)
class ProgramLibrary:
    """The library as a program has it: compiled into its folder, or for a firmware (`freeze`).

    own are the sources of the user's own that run with it. Unless it is `merged`, each module has
    a file of its own, which takes more RAM. Where machine code is on the heap, kernels stay
    bytecode to save so many bytes, while a sample takes at most `slowest` times as long.
    """

    program: Program
    board: Board
    emit: str = "viper"
    freeze: bool = False
    own: tuple[Path, ...] = ()
    merged: bool = True
    saved: int = 0
    slowest: float = ANY

    @property
    def arch(self) -> str:
        return arch_of(self.board, self.emit)

    def files(self) -> dict[str, bytes]:
        """The files, by their paths in the program's folder."""
        if self.freeze:
            found = frozen_files.files(self.arch, modules(self.program, self.emit))
            return {f"firmware/{place}": data for place, data in found.items()}
        if not self.merged:
            names = modules(self.program, self.emit)
            single = mpy.compiled(self.arch, names)
            return {f"lib/{mpy.in_library(path)}": path.read_bytes() for path in single}
        merged = self._merged
        paths = {mpy.in_library(path): path for path in (*merged.imported, *merged.others())}
        paths[f"{library_files.PACKAGE}/{merged.errors.name}"] = merged.errors
        return {f"lib/{place}": path.read_bytes() for place, path in paths.items()}

    @property
    def imported(self) -> tuple[Path, ...]:
        """The files of those modules that the program has imported while it runs."""
        return self._merged.imported

    @property
    def _forgotten(self) -> list[Path]:
        """The files of those that it has imported only for a while."""
        return self._merged.others(_read_once(self.program))

    def heap(self) -> import_heap.LibraryHeap:
        """What it takes of the heap once the program runs."""
        if self.freeze:
            return import_heap.library_heap(self.arch, self._running, import_heap.FROZEN)
        if not self.merged:
            return import_heap.library_heap(self.arch, self._running)
        return import_heap.files_heap(self.imported, forgotten=self._forgotten)

    def texts(self) -> frozenset[str]:
        """Texts that are on the board anyway, as names of the firmware's or of these modules."""
        if self.freeze or not self.merged:
            return import_heap.texts(self.arch, self._running)
        return import_heap.texts_in(self.imported)

    @property
    def _running(self) -> tuple[str, ...]:
        return running(self.program, modules(self.program, self.emit))

    @functools.cached_property
    def _merged(self) -> merged_files.MergedFiles:
        plain = self.kernels.names
        return self._compiled(plain) if plain else self._all_kernels

    @functools.cached_property
    def kernels(self) -> Kernels:
        """Which kernels stay bytecode, as the board has too little room for machine code."""
        room = self.board.executable_bytes
        if not self.can_be_mixed or (room is None and not self.saved):
            return Kernels()
        work = kernel_work(self.program.learner, self.program.parameters)
        whole = self._all_kernels
        if room is not None:
            return plain_within(whole, room, work)
        plain = self._compiled(able(whole, work))
        return plain_of_heap(whole, plain, self.saved, self.slowest, work)

    @property
    def can_be_mixed(self) -> bool:
        """Whether some of its kernels can be bytecode while others are machine code."""
        on_heap = self.board.native and self.slowest > 1
        limited = on_heap or self.board.executable_bytes is not None
        return limited and self.emit == "viper" and not self.freeze and self.merged

    @functools.cached_property
    def _all_kernels(self) -> merged_files.MergedFiles:
        """The files whose kernels are all of one kind."""
        return self._compiled()

    def _compiled(self, plain: Collection[str] = ()) -> merged_files.MergedFiles:
        texts = tuple(path.read_text(encoding="utf-8") for path in self.own)
        names = modules(self.program, self.emit)
        native = self.emit == "native"
        only = settled(self.program.learner, self.program.parameters)
        unasked = [_FROZEN_RANGES] if self.program.warmup is None else []
        return merged_files.compiled(
            self.arch, names, self._running, native, texts, only, unasked, plain
        )


def modules(program: Program, emit: str = "viper") -> tuple[str, ...]:
    """The modules of the device library that the program imports, sorted."""
    around = program.around
    packets = around.get("packets")
    sensors = around["sensor"].get("sensors", [around["sensor"]])
    kinds = [sensor["kind"] for sensor in sensors]
    by_need = {
        "drift_alarm": around["alarm"],
        "adwin": around["alarm"] and around["alarm"].get("detector") == "adwin",
        **_of_companions(program),
        "device.beside": around.get(CONFIG),
        "checkpoint": around["checkpoint"],
        "device.sleep": around.get("sleep"),
        "device.deep_sleep": around.get("sleep") and "deep" in around["sleep"],
        **_of_network(around),
        "device.house": around.get("mqtt"),
        "device.tcp": around.get("tcp"),
        "device.parcels": around.get("share"),
        "device.parcel_topics": around.get("share") and not packets,
        "device.parcel_packets": packets,
        "device.packets_udp": packets and packets["by"] == "udp",
        "device.packets_espnow": packets and packets["by"] == "espnow",
        "device.switches": around.get("switches"),
        "device.buzzer": has_tone(around.get("switches") or ()),
        "device.plotter": around["text"],
        "device.saving": around["checkpoint"]
        and around["sensor"]["kind"] != "serial"
        and not program.numbers,
        "device.sensors": around["label_pin"] or around["sensor"]["kind"] != "serial",
        "device.motion": "mpu6050" in kinds,
        "device.motion_fifo": any(sensor.get("fifo") for sensor in sensors),
        "device.own": "own" in kinds,
        "device.several": around["sensor"]["kind"] == "several",
        **modules_by_need(around.get("extraction")),
        "metrics": not program.numbers,
        "growing": program.warmup is None,
        "quantizer": program.warmup is not None,
        "pending": not program.numbers,
        "device.numbers": program.numbers,
        "interval": program.numbers and program.numbers["interval"],
        "outlook": program.numbers and program.numbers["horizon"],
    }
    roots = [name for name, needed in by_need.items() if needed]
    roots += _imported_by("device.program", set(by_need))
    growing = program.warmup is None
    learner = modules_of(program.learner, program.parameters, growing)
    roots += [*learner, _SELFTEST]
    roots += {
        name for part in learner for name in library_files.imports(part) if name.endswith(_CHECK)
    }
    if emit == "bytecode":
        roots.append(plain_kernels.MODULE)
    return tuple(library_files.closure(roots))


def has_tone(switches: Iterable[Iterable[Any]]) -> bool:
    """Whether a class sounds a buzzer, [pin, hertz]."""
    return any(isinstance(what, list) and len(what) == 2 for row in switches for what in row)


def _of_companions(program: Program) -> dict[str, bool]:
    """The modules of what may stand beside the learner, and whether it does."""
    around = program.around
    found: dict[str, bool] = {}
    for kind in registry.companions():
        found |= kind.program_modules(around.get(kind.name), around, program.learner)
    return found


def running(program: Program, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the modules that the program has imported while it serves.

    The self-test is for `flash`, a saved state is looked at only where there is one, and what
    reads the configuration is forgotten afterwards.
    """
    idle = {_SELFTEST, *_read_once(program), _PARTS}
    states = program.learner_state or program.around["checkpoint"]
    return tuple(
        name for name in names if name not in idle and (states or not name.endswith(_CHECK))
    )


def _read_once(program: Program) -> list[str]:
    """The modules that read the configuration, and the states that it names."""
    around = program.around
    fields = loader.load("python").device.config_fields
    plain = around["sensor"] == {"kind": "serial"} and not any(
        map(around.get, (*fields.OPTIONAL, *fields.NETWORK))
    )
    parts = [] if plain else [_PARTS]
    network = [name for name, needed in _of_network(around).items() if needed]
    return [_STATES, _FIELDS, *parts, *network]


def _of_network(around: Mapping[str, Any]) -> dict[str, bool]:
    """The modules that make what a program has in a network or serve it now and then: whether
    they are needed."""
    found = {
        name: bool(around.get(kind)) for kind, names in _FOR_A_WHILE.items() for name in names
    }
    return found | {_NETWORKING: any(map(around.get, _FOR_A_WHILE))}


def _imported_by(name: str, left_out: set[str]) -> set[str]:
    """The module, and all that it and these import, at once or later, but what is left out."""
    return library_files.reached([name], lambda each: library_files.imports(each) - left_out)
