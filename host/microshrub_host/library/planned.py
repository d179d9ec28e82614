"""The device library as a plan, `load("plan")`: objects whose buffers have no bytes.

Its classes are made as on a board, by their own constructors, whatever their size: buffers are
Unmade, kernels do nothing, nothing is started, and what a program finds around it takes no room.
So the heap that an object takes is known from the object itself, see boards/heap_sizes.py.
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
    """A buffer of a plan: how long it is on a board, and none of its bytes, which read as 0."""

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
    """The line, a clock, pins: what the firmware has, takes no room; a bound method of it does."""

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
        """The clock, for its memory, and a reset cause that no comparison matches."""
        made = {"RTC": lambda: self, "USBDevice": _Usb, "DEEPSLEEP_RESET": 1}
        return made.get(name, self.nothing)

    def station(self) -> None:
        """The radio."""

    def wake_by(self, *_: Any) -> None:
        """No pin does."""

    @property
    def ipoll(self) -> Any:
        return self.nothing


class _Usb(Outside):
    """The port of a USB device: its descriptions are as long as a Raspberry Pi Pico's."""

    desc_dev, desc_cfg, itf_max, ep_max = bytes(18), bytes(75), 2, 3
    config = active = Outside.nothing

    @property
    def BUILTIN_DEFAULT(self) -> _Usb:  # noqa: N802  (MicroPython calls it so)
        return self


class Files(dict[str, bytes]):
    """What a program finds in its folder: nothing but these."""

    def open(self, name: str, mode: str = "r") -> Any:
        """As the built-in one."""
        if name not in self:
            raise OSError(errno.ENOENT, "there is no such file")
        return io.BytesIO(self[name]) if "b" in mode else io.StringIO(self[name].decode())


class _System(Outside):
    """The module sys, as far as a program uses it when it starts."""

    stdin = stdout = Outside()


FILES = Files()
NAMES: dict[str, Any] = {"write_addresses": write_addresses}
# What the modules' own functions and imports are in a plan
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
    """In place of a kernel: it does nothing."""
    return functools.wraps(kernel)(lambda *_: 0)
