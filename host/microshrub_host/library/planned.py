"""The device library as a plan, `load("plan")`: objects whose buffers have no bytes.

Objects are made as on a board, by their own constructors, whatever their size: buffers are Unmade,
kernels do nothing, nothing is started, and a program's environment takes no room. So the heap of
an object can be computed from the object itself, see boards/heap_sizes.py.
"""

from __future__ import annotations

import errno
import functools
import io
from array import array
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .python_pointers import write_addresses


class Unmade:
    """A buffer of a plan: its length on a board, but no bytes; every item is 0."""

    def __init__(self, typecode: str, length: int) -> None:
        self.itemsize = 1 if typecode == "B" else array(typecode).itemsize
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> int:
        return 0

    def __setitem__(self, index: int, value: int) -> None:
        pass


class Outside(ModuleType):
    """The firmware's objects, such as line, clock and pins; only bound methods take room."""

    def __init__(self) -> None:
        super().__init__("outside")

    @property
    def buffer(self) -> Outside:
        return self

    def nothing(self, *_: Any, **__: Any) -> int:
        return 0

    write = readinto = writeto_mem = readfrom_mem_into = milliseconds = microseconds = nothing
    mem_free = collect = memory = nothing

    def adc(self, _: Any) -> object:
        return object()

    button = light = pixel = watchdog = adc

    def i2c(self, *_: Any, **__: Any) -> Any:
        return self

    def of_machine(self, name: str) -> Any:
        """Return a stand-in for the clock, a USB device, or a reset cause that never matches."""
        made = {"RTC": lambda: self, "USBDevice": _Usb, "DEEPSLEEP_RESET": 1}
        return made.get(name, self.nothing)

    def station(self) -> None:
        """Return None as the radio."""

    def wake_by(self, *_: Any) -> None:
        """Do nothing, as no pin wakes the board."""

    @property
    def ipoll(self) -> Any:
        return self.nothing


class _Usb(Outside):
    """The port of a USB device, with descriptors as long as on a Raspberry Pi Pico."""

    desc_dev, desc_cfg, itf_max, ep_max = bytes(18), bytes(75), 2, 3
    config = active = Outside.nothing

    @property
    def BUILTIN_DEFAULT(self) -> _Usb:  # noqa: N802  (MicroPython's name)
        return self


class Files(dict[str, bytes]):
    """The only files in a program's folder."""

    def open(self, name: str, mode: str = "r") -> Any:
        """Open a file, as the built-in open() does."""
        if name not in self:
            raise OSError(errno.ENOENT, "there is no such file")
        return io.BytesIO(self[name]) if "b" in mode else io.StringIO(self[name].decode())


class _System(Outside):
    """The parts of the module sys that a program uses at its start."""

    stdin = stdout = Outside()


FILES = Files()
NAMES: dict[str, Any] = {"write_addresses": write_addresses}
# Replacements, in a plan, of the modules' own functions and imports
STANDINS: dict[str, dict[str, Any]] = {
    "buffers": {"allocate": Unmade},
    "checkpoint": {"open": FILES.open},
    "device.config": {"open": FILES.open, "gc": Outside()},
    "device.application": {"gc": Outside()},
    "device.network_start": {"open": FILES.open},
    "device.service": {"sys": _System(), "gc": Outside()},
    "device.states": {"load": lambda app: ""},
    "device.hardware": {"sys": _System(), "_poll": Outside},
}


def viper(kernel: Callable[..., Any]) -> Callable[..., int]:
    """Replace a kernel by a function that does nothing."""
    return functools.wraps(kernel)(lambda *_: 0)
