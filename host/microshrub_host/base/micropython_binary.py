"""A 32-bit MicroPython for the PC, the reference for the simulator.

Only a 32-bit build has the object sizes, the 31-bit small ints and the 32-bit viper of a board, so
every candidate is run and checked before it is used. `find()` looks in the environment variable
MICROPYTHON, on PATH and in the cache; `fetch()` fills the cache with Debian's i386 packages
(debian_packages.py).
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import debian_packages
from .cache import cache_folder, work_folder
from .debian_packages import CommandError, PackagesError, Progress, silent
from .errors import UserError

CACHE = "micropython-i386"
SUITES = ("trixie", "forky")  # the second if a mirror has the first only in part
NEWEST_CACHE = "micropython-i386-newest"
NEWEST_SUITE = "sid"  # the suite with Debian's newest version
PACKAGES = ("micropython", "libc6", "libffi8", "libmbedcrypto16", "libmbedtls21", "libmbedx509-7")

PROBE_SECONDS = 20
_SHOWN = 200  # most characters of a candidate's output in a message

WAYS = (
    "Ways to get one: `microshrub micropython` fetches Debian's into the cache (on x86 Linux with "
    "apt-get, no root needed); or install a 32-bit build of MicroPython's unix port so that "
    "`micropython` is on PATH; or set MICROPYTHON to the command that starts one."
)

# The program that checks a candidate. 1 << 31 >> 31 is -1 with viper's ints of 32 bits, and 1 with
# 64 bits. The exec avoids a SyntaxError on a build without viper.
PROBE = r"""
import sys
bits = width = 0
try:
    from array import array
    width = len(bytes(array("i", [0])))
except ImportError:  # CPython, which is given no folder to import from
    pass
try:
    exec("import micropython\n@micropython.viper\ndef f(a: int) -> int:\n  return a << 31 >> 31\n")
    bits = 32 if f(1) < 0 else 64
except Exception:
    pass
about = sys.implementation
print("microshrub", about.name, "%d.%d.%d" % about.version[:3], sys.maxsize,
    width, bits, getattr(about, "_mpy", 0),
    getattr(about, "_machine", sys.platform), sep="\t")
"""


class NoMicroPython(UserError):  # noqa: N818, a state of affairs, like StopIteration
    """There is no usable MicroPython; the message lists the attempts and how to get one."""


class _UnfitError(Exception):
    """A candidate is not suitable; the message continues its name: "is a 64-bit build"."""


@dataclass(frozen=True)
class MicroPython:
    """A MicroPython that was run and is suitable.

    `command` is the argv prefix that starts MicroPython, `version` is like "1.25.0", `machine` and
    `mpy` are the raw sys.implementation._machine and ._mpy, and `origin` says where it was found.
    """

    command: tuple[str, ...]
    version: str
    machine: str
    mpy: int
    origin: str = ""


def find() -> MicroPython:
    """Return the MicroPython from MICROPYTHON, else from PATH, else from the cache.

    Raises NoMicroPython if there is no suitable one, or if MICROPYTHON names an unsuitable one.
    """
    notes: list[str] = []
    micropython = _look(notes)
    if micropython is None:
        raise NoMicroPython(" ".join(("There is no 32-bit MicroPython.", *notes, WAYS)))
    return micropython


def fetch(progress: Progress | None = None) -> MicroPython:
    """Return find()'s result, or else unpack Debian's i386 packages, some 15 MB, into the cache.

    `progress` receives a line of text before each step. Raises NoMicroPython if that fails.
    """
    notes: list[str] = []
    return _look(notes) or _fetch(progress or silent)


def fetch_newest(progress: Progress | None = None) -> MicroPython:
    """Return Debian's newest version, from its own cache folder or fetched into that folder.

    This version differs from the result of fetch() only while Debian's releases differ. It is used
    only if MICROPYTHON names its command. Raises NoMicroPython if fetching fails.
    """
    return _cached([], NEWEST_CACHE) or _fetch(progress or silent, NEWEST_CACHE, (NEWEST_SUITE,))


find_or_fetch = fetch  # a clearer name for callers that just need one


def code_words(code: str, *folders: Path) -> tuple[str, str]:
    """Return arguments for MicroPython to run code that imports from these folders alone.

    A plain `micropython -c` looks into the working folder first, even for built-in modules.
    """
    return "-c", f"import sys; sys.path[:] = {list(map(str, folders))!r}\n{code}"


def describe(mp: MicroPython) -> str:
    """Return the version, the origin and the command, as lines of text for people."""
    return "\n".join(
        (
            f"MicroPython {mp.version}, 32 bits, {mp.machine}",
            f"  .mpy     version {mp.mpy & 0xFF}.{mp.mpy >> 8 & 3}",
            f"  found    {mp.origin}",
            f"  command  {shlex.join(mp.command)}",
        )
    )


# --- Looking -------------------------------------------------------------------------------------


def _look(notes: list[str]) -> MicroPython | None:
    """Return the first suitable candidate; add a sentence to `notes` for each rejected one."""
    return _given(notes) or _on_path(notes) or _cached(notes)


def _given(notes: list[str]) -> MicroPython | None:
    text = os.environ.get("MICROPYTHON", "").strip()
    if not text:
        notes.append("MICROPYTHON is not set.")
        return None
    try:
        return _probe(_split(text), "the environment variable MICROPYTHON")
    except _UnfitError as reason:
        raise NoMicroPython(f"MICROPYTHON is set to {text}, which {reason}. {WAYS}") from reason


def _split(text: str) -> tuple[str, ...]:
    """Split MICROPYTHON into an argv: a program's path, or a program and its arguments."""
    try:
        words = [text] if shutil.which(text) else shlex.split(text)
    except ValueError as error:
        raise _UnfitError(f"cannot be read as a command ({error})") from error
    program = shutil.which(words[0])
    return (os.path.abspath(program) if program else words[0], *words[1:])


def _on_path(notes: list[str]) -> MicroPython | None:
    program = shutil.which("micropython")
    if program is None:
        notes.append("On PATH there is no micropython.")
        return None
    try:
        return _probe((os.path.abspath(program),), "PATH")
    except _UnfitError as reason:
        notes.append(f"On PATH, {program} {reason}.")
        return None


def _cached(notes: list[str], cache: str = CACHE) -> MicroPython | None:
    try:
        folder = cache_folder(cache)
    except OSError as error:
        notes.append(f"There is no cache ({error}).")
        return None
    if not (folder / "usr").is_dir():
        notes.append(f"In the cache folder {folder} there is none.")
        return None
    try:
        return _probe(_command_in(folder), f"the cache folder {folder}")
    except _UnfitError as reason:
        notes.append(f"The one in the cache folder {folder} {reason}.")
        return None


def _command_in(root: Path) -> tuple[str, ...]:
    """Return the command of Debian's loader, libraries and program in an unpacked folder."""
    lib = root / "usr" / "lib"
    program = str(root / "usr" / "bin" / "micropython")
    return (str(lib / "ld-linux.so.2"), "--library-path", str(lib / "i386-linux-gnu"), program)


def _probe(command: tuple[str, ...], origin: str) -> MicroPython:
    """Run a candidate and identify it. Raises _UnfitError if it is unsuitable."""
    try:
        printed = debian_packages.run((*command, *code_words(PROBE)), PROBE_SECONDS)
    except CommandError as error:
        if _repeats_probe(error.last_line):
            raise _UnfitError("did not answer as a MicroPython does") from error
        reason = error.last_line[-_SHOWN:]
        raise _UnfitError(f"does not run as a MicroPython ({reason})") from error
    answers = [
        line.split("\t") for line in printed.splitlines() if line.startswith("microshrub\t")
    ]
    if len(answers) != 1 or len(answers[0]) != 8:
        raise _UnfitError(f"did not answer as a MicroPython does{_last_printed(printed)}")
    _, name, version, maxsize, int_bytes, viper_bits, mpy, machine = answers[0]
    if name != "micropython":
        raise _UnfitError(f"is not MicroPython but {name}")
    if maxsize != str(2**31 - 1) or int_bytes != "4":
        raise _UnfitError("is a 64-bit build; it does not compute what a 32-bit board computes")
    if viper_bits != "32":
        raise _UnfitError("has no working 32-bit viper")
    return MicroPython(command, version, machine, int(mpy), origin)


def _last_printed(printed: str) -> str:
    """Return the last line of the output, in brackets, unless the line repeats the probe."""
    line = printed.strip().rpartition("\n")[2]
    return f" (it printed {line[-_SHOWN:]!r})" if line and not _repeats_probe(line) else ""


def _repeats_probe(line: str) -> bool:
    """Return whether a line repeats the probe, as error messages of other programs do."""
    parts = re.split(r"[\n\\]", PROBE)  # a shell's echo interprets backslashes
    return any(part in line for part in map(str.strip, parts) if len(part) > 8)


# --- Fetching ------------------------------------------------------------------------------------


def _fetch(progress: Progress, cache: str = CACHE, suites: Sequence[str] = SUITES) -> MicroPython:
    """Fill the cache folder in one step: `usr` is either complete or absent."""
    try:
        debian_packages.check_machine()
        folder = cache_folder(cache)
        with work_folder(folder) as work:
            root = _packages(work, progress, suites)
            _probe(_command_in(root), "")
            _put_in_place(root / "usr", folder / "usr", cache)
            return _probe(_command_in(folder), f"the cache folder {folder}")
    except PackagesError as error:
        raise NoMicroPython(error.with_advice(WAYS)) from error
    except OSError as error:
        text = f"The cache folder cannot be written: {error}."
        raise NoMicroPython(f"{text} {WAYS}") from error
    except (_UnfitError, CommandError) as error:
        text = f"Debian's MicroPython was fetched, but cannot be used here ({error})."
        raise NoMicroPython(f"{text} {WAYS}") from error


def _packages(work: Path, progress: Progress, suites: Sequence[str]) -> Path:
    """Unpack the packages of the first suite that a mirror has completely; return their root.

    While a mirror is being updated, the index of a suite may not match its signature. Raises
    PackagesError if no mirror has a whole suite.
    """
    tried: list[str] = []
    for suite in suites:
        folder = work / suite
        folder.mkdir()
        try:
            return debian_packages.fetch(suite, PACKAGES, folder, progress)
        except PackagesError as error:
            tried += [f"{suite}, {line}" for line in error.tried]
            progress(f"{suite} cannot be had: {error.reason} {' '.join(error.tried)}")
    raise PackagesError("No mirror gave Debian's packages:", tried)


def _put_in_place(fresh: Path, target: Path, cache: str = CACHE) -> None:
    try:
        fresh.rename(target)
    except OSError:  # the folder exists: from a faster fetch, or broken
        if _cached([], cache) is None:
            target.rename(fresh.with_name("broken"))
            fresh.rename(target)
