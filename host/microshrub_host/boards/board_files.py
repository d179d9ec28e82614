"""The boards for which a model can be planned: one TOML file for each board, data only.

`load("rpi_pico")` reads a board that comes with microshrub, `load("mine.toml")` a board of the
user's own.
"""

from __future__ import annotations

import datetime
import difflib
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from .energy import Currents, currents
from .toml_section import BoardFileError, TomlSection

# The -march values of mpy-cross whose ints and pointers have 32 bits.
ARCHITECTURES = (
    "armv6m",
    "armv7m",
    "armv7em",
    "armv7emsp",
    "armv7emdp",
    "xtensa",
    "xtensawin",
    "rv32imc",
    "x86",
)
INTERFACES = ("usb", "uart")

REPORTER = "YOUR NAME"  # the blank that `microshrub report` prints

LAYOUTS = ("rp2",)  # layouts of pins; rp2: RP2040 and RP2350
LAST_PIN = 48  # by default, the last pin of an ESP32-S3


@dataclass(frozen=True)
class Serial:
    """The port of the REPL: `interface` is "usb" or "uart", `baud` its rate in bits a second."""

    interface: str
    baud: int


@dataclass(frozen=True)
class Pins:
    """Arguments of machine.Pin(), each a GPIO number or a name.

    `led` is None on a board without an LED. `last` is the greatest GPIO number. `layout` names the
    rules for the functions of pins, "rp2", or is None if no rules are known. The GPIO numbers in
    `taken` belong to another chip of the board, `taken_by`; those in `inputs` have neither an
    output nor a pull-up.
    """

    adc: int | str
    led: int | str | None
    last: int = LAST_PIN
    layout: str | None = None
    taken: tuple[int, ...] = ()
    taken_by: str = ""
    inputs: tuple[int, ...] = ()


@dataclass(frozen=True)
class Radio:
    """The RAM of a wireless network: bytes of the heap that a program lacks."""

    heap_bytes: int
    source: str


@dataclass(frozen=True)
class Growth:
    """RAM by which a full heap grows while no radio is on: one block, in bytes.

    Machine code outside the heap is in the same block, and is loaded first.
    """

    block_bytes: int
    source: str

    def heap_bytes(self, machine_code: int) -> int:
        """Return the bytes by which the heap grows, with `machine_code` bytes outside the heap."""
        left = self.block_bytes - machine_code * 33 // 32 - 16  # with a header for each piece
        size = _allocator_size(left)
        return max(0, (size - 64) * 8 // 528 * 64)  # without the area's own tables (py/gc.c)


def _allocator_size(free: int) -> int:
    """Return a free block's size as the IDF reports it: down to a sixteenth of a power of two.

    heap_caps_get_largest_free_block(), from which MicroPython makes an area, rounds in the same
    way (TLSF's classes, such as 53248 and 139264).
    """
    step = max(16, 1 << max(free, 1).bit_length() >> 5)
    return free // step * step


@dataclass(frozen=True)
class Report:
    """Measurements on a physical board, as `microshrub report` prints them.

    `source` names the reporter and the place of the whole report. `heap_free_bytes` is the free
    heap after a reset, `executable_bytes` the largest block for machine code at that time,
    `program_free_bytes` the free heap with a thicket's program, `sample_us` the time of a sample
    in its self-test, and `served` the number of samples that the program predicted and learned as
    the simulator did. None: not measured.
    """

    firmware: str
    date: datetime.date
    source: str
    heap_free_bytes: int
    executable_bytes: int | None = None
    program_free_bytes: int | None = None
    sample_us: int | None = None
    served: int | None = None


@dataclass(frozen=True)
class CostRow:
    """The cost of a sample with one model, as `--ours` names it: median and 99th percentile.

    The unit is microseconds in [measured], instructions in [cost]. The kernels are native; `viper`
    has the same figures for viper's kernels, if known.
    """

    model: str
    features: int
    classes: int
    predict: tuple[int, int]
    learn: tuple[int, int]
    viper: tuple[tuple[int, int], tuple[int, int]] | None = None


@dataclass(frozen=True)
class Costs:
    """A table of costs, and its source.

    In a table of instructions, `cycles` is the number of clock cycles of an instruction on the
    real chip, and `uncached_us` the additional microseconds of a sample whose code has to come
    from flash.
    """

    source: str
    rows: tuple[CostRow, ...]
    cycles: float = 1.0
    uncached_us: int = 0

    def of_viper(self) -> tuple[CostRow, ...]:
        """Return the rows for viper's kernels."""
        return tuple(
            replace(row, predict=row.viper[0], learn=row.viper[1])
            for row in self.rows
            if row.viper
        )


@dataclass(frozen=True)
class Board:
    """A board and its stock firmware. Sizes are bytes.

    `key` is the file's name without .toml; `arch` is the -march of mpy-cross; `native` tells
    whether the machine code of a .mpy takes space on the GC heap. `heap_free_bytes` is the free
    heap after boot with the network off, `largest_block_bytes` its largest block, and
    `heap_source` the source of these figures. If `native` is false, `executable_bytes` is the RAM
    for machine code, and `executable_source` the source of that figure. `firmware` is the name of
    its stock firmware on micropython.org/download, "" if there is none. `flash_bytes` is the size
    of that firmware's file system, None if unknown. `romfs_source` tells since when that firmware
    has a partition for a ROM file system, "" if never, and `usb_device_source` since when programs
    can make the board a USB keyboard, "" if never. `measured` has microseconds from `microshrub
    bench`, `cost` instructions counted in emulation; None without such a section. `currents` are
    the currents in [energy]. `wifi` is None without a Wi-Fi that programs can use. `growth` is the
    growth of the heap while no radio is on, None if there is none. `reports` are from physical
    boards, sorted by date.
    """

    key: str
    name: str
    arch: str
    native: bool
    clock_hz: int
    sram_bytes: int
    heap_free_bytes: int
    largest_block_bytes: int
    heap_source: str
    model_budget_bytes: int
    serial: Serial
    pins: Pins
    watchdog_ms: int | None = None  # the watchdog's longest time-out, if limited
    executable_bytes: int | None = None
    executable_source: str = ""
    firmware: str = ""
    flash_bytes: int | None = None
    romfs_source: str = ""
    usb_device_source: str = ""
    measured: Costs | None = None
    cost: Costs | None = None
    currents: Currents | None = None
    wifi: Radio | None = None
    growth: Growth | None = None
    reports: tuple[Report, ...] = ()

    def grown_bytes(self, machine_code: int) -> int:
        """Return the bytes by which heap_free_bytes grows while no radio is on.

        machine_code is the size of the program's machine code outside the heap.
        """
        return self.growth.heap_bytes(machine_code) if self.growth else 0


def names() -> list[str]:
    """Return the keys of the boards that come with microshrub, sorted."""
    return sorted(path.stem for path in _folder().glob("*.toml"))


def load(name: str | os.PathLike[str]) -> Board:
    """Return the board `name`: a key from names(), or the path of a .toml file.

    Raises BoardFileError if there is no such board or file, or if the file is invalid.
    """
    text = os.fspath(name)
    if text.endswith(".toml"):
        return _read(Path(text))
    if text not in names():
        raise BoardFileError(_unknown(text))
    return _read(_folder() / f"{text}.toml")


def _folder() -> Path:
    here = Path(__file__).resolve()
    installed = here.with_name("data")  # in a wheel; a checkout has it at the top
    return installed if installed.is_dir() else here.parents[3] / "boards"


def _unknown(name: str) -> str:
    known = names()
    full = {load(key).name.lower(): key for key in known}
    spoken = name.strip().lower()
    near = difflib.get_close_matches(spoken.replace("-", "_").replace(" ", "_"), known, n=1)
    if not near or spoken in full:
        near = [full[each] for each in difflib.get_close_matches(spoken, full, n=1)]
    hint = f" Did you mean {near[0]}?" if near else ""
    return (
        f"There is no board {name!r}.{hint} Known boards: {', '.join(known)}. "
        "You can also give the path of your own .toml file."
    )


def _read(path: Path) -> Board:
    return _board(path.stem, _table(path))


def _table(path: Path) -> TomlSection:
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise BoardFileError(f"Cannot read the board file {path}: {error.strerror}.") from error
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError
        raise BoardFileError(f"{path} is not a TOML file: {error}") from error
    return TomlSection(str(path), table)


def _board(key: str, table: TomlSection) -> Board:
    free = table.positive("heap_free_bytes")
    in_pieces = "largest_block_bytes" in table.rest
    largest = table.positive("largest_block_bytes") if in_pieces else free
    board = Board(
        key=key,
        name=table.text("name"),
        arch=table.choice("arch", ARCHITECTURES),
        native=table.take("native", bool, "true or false"),
        clock_hz=table.positive("clock_hz"),
        sram_bytes=table.positive("sram_bytes"),
        heap_free_bytes=free,
        largest_block_bytes=largest,
        heap_source=table.text("heap_source"),
        model_budget_bytes=table.positive("model_budget_bytes"),
        serial=_serial(table.section("serial")),
        pins=_pins(table.section("pins")),
        watchdog_ms=table.positive("watchdog_ms") if "watchdog_ms" in table.rest else None,
        **_executable(table),
        firmware=table.text("firmware") if "firmware" in table.rest else "",
        flash_bytes=table.positive("flash_bytes") if "flash_bytes" in table.rest else None,
        romfs_source=table.text("romfs_source") if "romfs_source" in table.rest else "",
        usb_device_source=table.text("usb_device_source")
        if "usb_device_source" in table.rest
        else "",
        measured=_costs(table, "measured"),
        cost=_costs(table, "cost"),
        currents=currents(table),
        wifi=_wifi(table.section("wifi")) if "wifi" in table.rest else None,
        growth=_growth(table.section("growth")) if "growth" in table.rest else None,
        reports=_reports(table),
    )
    table.finish()
    if board.native and board.executable_bytes is not None:
        table.fail("executable_bytes", "is for boards whose native is false")
    if board.heap_free_bytes > board.sram_bytes:
        table.fail("heap_free_bytes", f"is above sram_bytes ({board.sram_bytes})")
    if board.largest_block_bytes > board.heap_free_bytes:
        table.fail("largest_block_bytes", f"is above heap_free_bytes ({board.heap_free_bytes})")
    if board.model_budget_bytes > board.heap_free_bytes:
        table.fail("model_budget_bytes", f"is above heap_free_bytes ({board.heap_free_bytes})")
    return board


def _executable(table: TomlSection) -> dict[str, Any]:
    """Return a board file's two figures for the RAM for machine code, or neither."""
    keys = ("executable_bytes", "executable_source")
    if not any(key in table.rest for key in keys):
        return {}
    return {keys[0]: table.positive(keys[0]), keys[1]: table.text(keys[1])}


def _serial(table: TomlSection) -> Serial:
    serial = Serial(table.choice("interface", INTERFACES), table.positive("baud"))
    table.finish()
    return serial


def _pins(table: TomlSection) -> Pins:
    pins = Pins(
        adc=table.pin("adc"),
        led=table.pin("led") if "led" in table.rest else None,
        last=table.positive("last") if "last" in table.rest else LAST_PIN,
        layout=table.choice("layout", LAYOUTS) if "layout" in table.rest else None,
        taken=table.wholes("taken") if "taken" in table.rest else (),
        taken_by=table.text("taken_by") if "taken" in table.taken else "",
        inputs=table.wholes("inputs") if "inputs" in table.rest else (),
    )
    table.finish()
    return pins


def _wifi(table: TomlSection) -> Radio:
    wifi = Radio(table.whole("heap_bytes"), table.text("source"))
    table.finish()
    return wifi


def _growth(table: TomlSection) -> Growth:
    growth = Growth(table.positive("block_bytes"), table.text("source"))
    table.finish()
    return growth


def _reports(table: TomlSection) -> tuple[Report, ...]:
    """Return the reports in sections [[report]], sorted by date."""
    if "report" not in table.rest:
        return ()
    rows = table.take("report", list, "sections [[report]]")
    reports = [
        _report(TomlSection(table.path, row, f"report[{i}].")) for i, row in enumerate(rows)
    ]
    return tuple(sorted(reports, key=lambda report: report.date))


def _report(table: TomlSection) -> Report:
    measured = ("executable_bytes", "program_free_bytes", "sample_us", "served")
    report = Report(
        firmware=table.text("firmware"),
        date=table.take("date", datetime.date, "a date such as 2026-11-28"),
        source=table.text("source"),
        heap_free_bytes=table.positive("heap_free_bytes"),
        **{name: table.positive(name) for name in measured if name in table.rest},
    )
    table.finish()
    if report.source.startswith(REPORTER):
        table.fail("source", "has to say who measured it, and where the report is")
    return report


def _costs(table: TomlSection, key: str) -> Costs | None:
    if key not in table.rest:
        return None
    section = table.section(key)
    if "like" in section.rest:
        return _costs_of(section, key)
    source = section.text("source")
    rows = section.take("row", list, f"sections [[{key}.row]]")
    sections = [TomlSection(table.path, row, f"{key}.row[{i}].") for i, row in enumerate(rows)]
    cycles, uncached = 1.0, 0
    if "cycles" in section.rest:
        cycles = section.take("cycles", float, "a number such as 1.67")
        if not 1 <= cycles <= 100:
            section.fail("cycles", f"has to be a number of 1.0..100.0, not {cycles}")
    if "uncached_us" in section.rest:
        uncached = section.positive("uncached_us")
    section.finish()
    return Costs(source, tuple(_cost_row(row) for row in sections), cycles, uncached)


def _costs_of(section: TomlSection, key: str) -> Costs:
    """Return the costs of another of microshrub's boards with the same processor."""
    board = section.text("like")
    section.finish()
    path = _folder() / f"{board}.toml"
    costs = _costs(_table(path), key) if board in names() else None
    if costs is None:
        section.fail("like", f"has to be a board whose file has [{key}], not {board!r}")
    return costs


def _cost_row(table: TomlSection) -> CostRow:
    viper = None
    if "viper_predict" in table.rest:
        viper = table.rising_pair("viper_predict"), table.rising_pair("viper_learn")
    row = CostRow(
        model=table.text("model"),
        features=table.positive("features"),
        classes=table.positive("classes"),
        predict=table.rising_pair("predict"),
        learn=table.rising_pair("learn"),
        viper=viper,
    )
    table.finish()
    return row
