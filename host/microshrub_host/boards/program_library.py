"""The device library of a program: its modules, their files, and their RAM."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..library import library_files, loader
from ..programs import frozen_files, merged_files, mpy, plain_kernels
from ..programs.settled_words import settled
from ..programs.unused_code import home_of
from ..simulation import companion_registry
from ..simulation.anomaly import Anomaly
from ..simulation.watcher import CONFIG
from ..streams.stream import methods_by_need, modules_by_need
from . import emits, import_heap
from .board_files import Board
from .program import Program
from .ram_budget import Kernels, modules_of
from .scarce_machine_code import ANY, able, kernel_work, plain_of_heap, plain_within

_FROZEN_RANGES = "quantizer"  # a module that growing ranges use in part
_SELFTEST = "device.selftest"
_FIELDS = "device.config_fields"
_STATES = "device.states"
_FOR_A_WHILE = {  # imported and later released by a program in a network
    "mqtt": ("device.mqtt_connect", "device.mqtt_discovery", "device.mqtt_subscriber"),
    "tcp": ("device.network_update",),
    "datagrams": (),
}
_NETWORK_START = "device.network_start"
_CHECK = ".state_check"  # end of the name of a module that checks a learner's saved state


def arch_of(board: Board, emit: str) -> str:
    """Return the target of the files: an -march of mpy-cross, or mpy.BYTECODE_ONLY."""
    return mpy.BYTECODE_ONLY if emit == "bytecode" else board.arch


@dataclass(frozen=True)
class MadeAhead:
    """A library that is made before its programs are known, as for the page.

    Modules are merged for program; modules of `more`, for other programs, have their own files. A
    module can have several files, see merged_files.compiled().
    """

    program: Program
    more: tuple[str, ...]


@dataclass(frozen=True)
class ProgramLibrary:
    """A program's library: compiled into the program's folder, or for a firmware (`freeze`).

    user_sources are the user's files in the program. If machine code is on the heap, kernels
    become bytecode to save `saved` bytes, as long as a sample takes at most `slowest` times as
    long. emit is one of EMITS, or empty for the best form. ahead is set for files made for more
    programs than this one.
    """

    program: Program
    board: Board
    emit: str = ""
    freeze: bool = False
    user_sources: tuple[Path, ...] = ()
    saved: int = 0
    slowest: float = ANY
    ahead: MadeAhead | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "emit", emits.chosen(self.board, self.emit, self.freeze))

    @property
    def arch(self) -> str:
        return arch_of(self.board, self.emit)

    def files(self) -> dict[str, bytes]:
        """Return the files, by path in the program's folder; with `ahead`, of all programs."""
        if self.freeze:
            frozen = frozen_files.files(self.arch, self._modules)
            return {f"firmware/{place}": data for place, data in frozen.items()}
        merged = self._merged
        paths = {mpy.in_library(path): path for path in (*merged.imported, *merged.others())}
        paths[f"{library_files.PACKAGE}/{merged.errors.name}"] = merged.errors
        return {f"lib/{place}": path.read_bytes() for place, path in paths.items()}

    @property
    def imported(self) -> tuple[Path, ...]:
        """The files of the modules that stay imported while the program runs."""
        merged = self._merged
        if not self.ahead:
            return merged.imported
        others = set(self._running) - set(running(*self._merged_for))
        parts = {part for name in self.ahead.more for part in merged_files.parts_without(name)}
        gone = parts.intersection(left_out(self.program))
        names = {merged_files.file_without(name, gone) for name in others}
        return (*merged.imported, *merged.others(names))

    @property
    def _forgotten(self) -> list[Path]:
        """The files of the modules that the program imports only for a while."""
        return self._merged.others(_read_once(self.program))

    def heap(self) -> import_heap.LibraryHeap:
        """Return the library's heap once the program runs."""
        if self.freeze:
            return import_heap.library_heap(self.arch, self._running, import_heap.FROZEN)
        return import_heap.files_heap(self.imported, forgotten=self._forgotten)

    def less_in_rom(self) -> int:
        """Return the heap bytes that a ROM file system saves; 0 without such a file system."""
        if self.freeze or not self.board.romfs_source:
            return 0
        rom = import_heap.files_heap(self.imported, import_heap.ROM, self._forgotten)
        return self.heap().bytes - rom.bytes

    def texts(self) -> frozenset[str]:
        """Return texts that are on the board anyway, as names in the firmware or these modules."""
        if self.freeze:
            return import_heap.texts(self.arch, self._running)
        return import_heap.texts_in(self.imported)

    @property
    def _running(self) -> tuple[str, ...]:
        return running(self.program, self._modules)

    @functools.cached_property
    def _modules(self) -> tuple[str, ...]:
        return modules(self.program, self.emit)

    @functools.cached_property
    def _merged_for(self) -> tuple[Program, tuple[str, ...]]:
        """The program for which modules are merged, and all of its modules."""
        if not self.ahead:
            return self.program, self._modules
        return self.ahead.program, modules(self.ahead.program, self.emit)

    @functools.cached_property
    def _merged(self) -> merged_files.MergedFiles:
        plain = self.kernels.names
        return self._compiled(plain) if plain else self._all_kernels

    @functools.cached_property
    def kernels(self) -> Kernels:
        """The kernels that stay bytecode, as the board has too little room for machine code."""
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
        """Whether some kernels can be bytecode while others are machine code."""
        on_heap = self.board.native and self.slowest > 1
        limited = on_heap or self.board.executable_bytes is not None
        return limited and self.emit == "viper" and not self.freeze

    @functools.cached_property
    def _all_kernels(self) -> merged_files.MergedFiles:
        """The files with all kernels in the same form."""
        return self._compiled()

    def _compiled(self, plain: Collection[str] = ()) -> merged_files.MergedFiles:
        texts = tuple(path.read_text(encoding="utf-8") for path in self.user_sources)
        program, merged_modules = self._merged_for
        names = {*merged_modules, *(self.ahead.more if self.ahead else ())}
        native = self.emit == "native"
        only = settled(program.learner, program.parameters)
        unasked = [_FROZEN_RANGES] if program.warmup is None else []
        merged = running(program, merged_modules)
        # in the page's programs, other parts are in files that are not merged
        unused = [n for n in left_out(program) if not self.ahead or home_of(n) in merged]
        return merged_files.compiled(
            self.arch,
            sorted(names),
            merged,
            native,
            texts,
            only,
            unasked,
            plain,
            unused,
        )


def modules(program: Program, emit: str = emits.VIPER) -> tuple[str, ...]:
    """Return the modules of the device library that the program imports, sorted."""
    needs = _needs(program)
    roots = [name for name, needed in needs.items() if needed and name == home_of(name)]
    roots += _imported_by("device.program", set(needs))
    growing = program.warmup is None
    learner = modules_of(program.learner, program.parameters, growing)
    roots += [*learner, _SELFTEST]
    roots += {
        name for part in learner for name in library_files.imports(part) if name.endswith(_CHECK)
    }
    if emit == "bytecode":
        roots.append(plain_kernels.MODULE)
    return tuple(library_files.closure(roots))


def left_out(program: Program) -> tuple[str, ...]:
    """Return the unused functions and classes of the modules that the program imports."""
    return tuple(
        name for name, needed in _needs(program).items() if not needed and name != home_of(name)
    )


def _needs(program: Program) -> dict[str, Any]:
    """Return the modules, functions and classes that only some programs need.

    A name is like "device.saving", or like "device.saving:LabelsHeld"; its value tells whether
    this program needs it.
    """
    config = program.config
    fields = loader.load("python").device.config_fields
    datagrams = config.get("datagrams")
    sensors = config["sensor"].get("sensors", [config["sensor"]])
    kinds = [sensor["kind"] for sensor in sensors]
    return {
        "drift_alarm": config["alarm"],
        "adwin": config["alarm"] and config["alarm"].get("detector") == "adwin",
        **_of_companions(program),
        "device.watchers": config.get(CONFIG) or config.get(Anomaly.name),
        "device.watchers:Watchers": config.get(CONFIG),
        **_of_makers(config),
        "device.companions:make": any(map(config.get, fields.COMPANIONS)),
        "device.companions:make_for_board": _is_for_board(config),
        "device.companion": _companions_of(config) > 1,
        "device.config_fields:check_parts": not _is_plain(config),
        "device.config_fields:take_regression": program.regression,
        "checkpoint": config["checkpoint"],
        "device.sleep": config.get("sleep"),
        "device.sleep:DeepSleep": config.get("sleep") and "deep" in config["sleep"],
        **_of_network(config),
        "device.mqtt_companion": config.get("mqtt"),
        f"{_NETWORK_START}:make_mqtt": config.get("mqtt"),
        f"{_NETWORK_START}:hello_of": config.get("mqtt"),
        f"{_NETWORK_START}:_share_by_datagrams": datagrams,
        "device.tcp": config.get("tcp"),
        "device.sharing": config.get("share"),
        "device.sharing_mqtt": config.get("share") and not datagrams,
        "device.sharing_datagrams": datagrams,
        "device.networking:UdpCarrier": datagrams and datagrams["by"] == "udp",
        "device.networking:EspNowCarrier": datagrams and datagrams["by"] == "espnow",
        "device.switches": config.get("switches"),
        "device.switches:Buzzer": has_tone(config.get("switches") or ()),
        "device.switches:UsbKeyboard": has_key(config.get("switches") or ()),
        "device.service:Plotter": config["text"],
        "device.saving": config["checkpoint"],
        "device.saving:LabelsHeld": config["checkpoint"]
        and config["sensor"]["kind"] != "serial"
        and not program.regression,
        "device.sensors": config["label_pin"] or config["sensor"]["kind"] != "serial",
        "device.sensor_start:print_readings": False,
        "device.sensors:Motion": "mpu6050" in kinds,
        "device.motion_fifo": any(sensor.get("fifo") for sensor in sensors),
        "device.custom_sensor": "own" in kinds,
        "device.combined_sensor": config["sensor"]["kind"] == "several",
        **modules_by_need(config.get("extraction")),
        **methods_by_need(config.get("extraction")),
        "metrics": not program.regression,
        "growing_ranges": program.warmup is None,
        "quantizer": program.warmup is not None,
        "delayed_labels": not program.regression,
        "device.regression_app": program.regression,
        "prediction_interval": program.regression and program.regression["interval"],
        "naive_forecasts": program.regression and program.regression["horizon"],
    }


def has_tone(switches: Iterable[Iterable[Any]]) -> bool:
    """Return whether a class sounds a buzzer, [pin, hertz]."""
    return _has(2, switches)


def has_key(switches: Iterable[Iterable[Any]]) -> bool:
    """Return whether a class presses a key, [usage]."""
    return _has(1, switches)


def _has(length: int, switches: Iterable[Iterable[Any]]) -> bool:
    return any(isinstance(what, list) and len(what) == length for row in switches for what in row)


def _of_companions(program: Program) -> dict[str, bool]:
    """Return the modules of companions, and whether the program has each companion."""
    config = program.config
    needed: dict[str, bool] = {}
    for each in companion_registry.all_companions():
        needed |= each.modules(config, program.learner)
    return needed


def running(program: Program, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modules that stay imported while the program serves.

    The self-test is for `flash`, the check of a saved state is only for programs with one, and the
    modules that read the configuration are forgotten afterwards.
    """
    idle = {_SELFTEST, *_read_once(program)}
    states = program.learner_state or program.config["checkpoint"]
    return tuple(
        name for name in names if name not in idle and (states or not name.endswith(_CHECK))
    )


def _read_once(program: Program) -> list[str]:
    """Return the modules that read the configuration and the states named there."""
    config = program.config
    needs = _of_makers(config) | _of_network(config)
    return [_STATES, _FIELDS, *(name for name, needed in needs.items() if needed)]


def _is_plain(config: Mapping[str, Any]) -> bool:
    """Return whether a program has no optional parts."""
    fields = loader.load("python").device.config_fields
    optional = (*fields.OPTIONAL, *fields.NETWORK)
    return config["sensor"] == {"kind": "serial"} and not any(map(config.get, optional))


def _companions_of(config: Mapping[str, Any]) -> int:
    """Return the number of companions, without the companions for MQTT and sharing."""
    fields = loader.load("python").device.config_fields
    names = (*fields.COMPANIONS, "switches", "mqtt", "datagrams")
    return sum(bool(config.get(name)) for name in names)


def _is_for_board(config: Mapping[str, Any]) -> bool:
    """Return whether a program has companions for a board's pins or network."""
    fields = loader.load("python").device.config_fields
    return any(map(config.get, ("switches", *fields.NETWORK)))


def _of_makers(config: Mapping[str, Any]) -> dict[str, bool]:
    """Return the modules that make companions and the sensor, and whether each is needed."""
    fields = loader.load("python").device.config_fields
    of_model = any(map(config.get, fields.COMPANIONS))
    return {
        "device.companions": of_model or _is_for_board(config),
        "device.sensor_start": config["sensor"]["kind"] != "serial",
    }


def _of_network(config: Mapping[str, Any]) -> dict[str, bool]:
    """Return the modules that start or serve the network, and whether each is needed."""
    needed = {name: bool(config.get(key)) for key, names in _FOR_A_WHILE.items() for name in names}
    return needed | {_NETWORK_START: any(map(config.get, _FOR_A_WHILE))}


def _imported_by(name: str, left_out: set[str]) -> set[str]:
    """Return the module and all its direct and indirect imports, except those left out."""
    return library_files.reached([name], lambda each: library_files.imports(each) - left_out)
