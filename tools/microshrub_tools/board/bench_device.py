"""The program that `microshrub bench` runs on a device: it times predict and learn.

main() gets lists of a number, a learner and the learner's parameters, and prints a line for each:
`row NUMBER P50 P99 P50 P99`, in microseconds, predict first, or `no NUMBER REASON`. Without the
library, the only line after `device` is `missing`.
"""

import gc
import sys
import time
from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from typing import Any

_LEARNED = 200  # samples before any is timed
_TIMED = 300


def _describe() -> None:
    hertz: Any = 0
    try:
        import machine

        hertz = machine.freq()
        hertz = hertz if isinstance(hertz, int) else hertz[0]
    except (ImportError, AttributeError):
        pass
    version = ".".join([str(part) for part in sys.implementation.version[:3]])
    print("device", hertz, "MicroPython", version, getattr(sys.implementation, "_machine", ""))


def _next(random: int) -> int:
    return (random * 1103 + 12345) % 1048573


def _has_library() -> bool:
    """Return whether the library can be imported."""
    try:
        import microshrub  # noqa: F401
    except ImportError:
        return False
    return True


def _find_library() -> None:
    """Make the library that `microshrub flash` has put on the device importable."""
    try:
        import os

        folders = [e[0] for e in os.ilistdir() if e[1] == 0x4000]  # type: ignore[attr-defined]
        names = [n for n in folders if len(n) == 15 and n[:11] == "microshrub."]
        programs = [n for n in names if n[11:].isdigit() and "main.py" in os.listdir(n)]
        sys.path.insert(0, max(programs) + "/lib")
    except (ImportError, OSError, ValueError):  # there is no file system, or no such folder
        pass


def _measure(learner: str, parameters: "dict[str, Any]") -> "list[int]":
    """Return medians and 99th percentiles for samples whose label lasts for six on average."""
    import microshrub

    model: Any = getattr(microshrub, learner)(**parameters)
    classes = model.classes
    row = array("H", [0] * model.features)
    times = array("i", [0] * _TIMED), array("i", [0] * _TIMED)
    ticks: Any = time.ticks_us  # type: ignore[attr-defined]
    since: Any = time.ticks_diff  # type: ignore[attr-defined]
    random = 1
    label = 0
    for i in range(-_LEARNED, _TIMED):
        random = _next(random)
        if random % 6 == 0:
            label = random // 6 % classes
        for f in range(model.features):
            random = _next(random)
            row[f] = (random // 16 % 32768 + label * (f % 4) * 8192) % 65536
        begin = ticks()
        model.predict(row)
        middle = ticks()
        model.learn(row, label)
        end = ticks()
        if i >= 0:
            times[0][i] = since(middle, begin)
            times[1][i] = since(end, middle)
    result = []
    for some in times:
        ordered = sorted(some)
        result += [ordered[_TIMED // 2], ordered[_TIMED * 99 // 100]]
    return result


def main(configurations: "list[Any]") -> None:
    """Measure all models, one after another, each with the whole heap."""
    _describe()
    if not _has_library():
        _find_library()
        if not _has_library():
            print("missing")
            return
    for number, learner, parameters in configurations:
        gc.collect()
        try:
            print("row", number, *_measure(learner, parameters))
        except MemoryError:
            print("no", number, "it does not fit into the RAM")
        except (ImportError, AttributeError):
            print("no", number, learner, "is not on the device")
        except ValueError as error:  # the kernels are for another learner
            print("no", number, str(error) + ", or use --mount")
