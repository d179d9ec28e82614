"""The kernels compiled by the system's C compiler: the engine `c`."""

from __future__ import annotations

import ctypes
import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..base import child_process
from ..base.cache import remembered
from ..base.terminal import messages
from . import c_translate
from .compiled_kernels import CompilerError, KernelCompiler
from .kernel_sources import Kernel

FLAGS = (
    *("-std=gnu11", "-O2", "-fwrapv", "-fPIC", "-shared"),
    "-fno-semantic-interposition",  # kernels may be inlined into each other
    "-fno-ivopts",  # -fivopts would slow down the scan over a window by 5 %
)
_COMPILERS = ("cc", "gcc", "clang")
_NONE = "There is no C compiler: install one, name it in CC, or take the engine llvm."
_HEAD = c_translate.TYPES + c_translate.DIVISION


_TRIAL, _LONGEST = 60.0, 300.0  # time limits of a compiler, in seconds: for the trial; for a room
_SILENT = 10.0  # seconds between messages while a compiler runs
_TRIALS = 8  # number of compilers whose trial is cached


@functools.cache
def compiler() -> tuple[str, ...] | None:
    """Return the command of the C compiler: the value of CC, maybe with options, or the system's.

    None if there is none.
    """
    try:
        wanted = shlex.split(os.environ.get("CC", ""))
    except ValueError:  # an unclosed quote
        return None
    for name, *options in [wanted] if wanted else [[name] for name in _COMPILERS]:
        path = shutil.which(name)
        if path:
            return path, *options
    return None


@functools.cache
def works() -> bool:
    """Return whether there is a C compiler with the necessary headers."""
    try:
        trial = functools.partial(compile_text, _HEAD, _TRIAL)
        return bool(remembered("trial", repr((COMPILER.key(), _HEAD)).encode(), trial, _TRIALS))
    except CompilerError:
        return False


def compile_text(text: str, seconds: float) -> bytes:
    """Compile a C text to a shared library. Raises CompilerError, also after `seconds`."""
    result = compiler()
    if result is None:
        raise CompilerError(_NONE)
    with tempfile.TemporaryDirectory(prefix="microshrub-") as name:
        folder = Path(name)
        (folder / "kernels.c").write_text(text, encoding="utf-8")
        # a name without a path: the same text makes the same bytes
        log_file = _run([*result, *FLAGS, "-o", "kernels.so", "kernels.c"], folder, seconds)
        try:
            return (folder / "kernels.so").read_bytes()
        except OSError:
            raise CompilerError(f"{result[0]} makes no file: {log_file}") from None


def _run(command: Sequence[str], folder: Path, seconds: float) -> str:
    """Run the compiler; return its output. Raises CompilerError if it fails.

    If it takes too long, or at Ctrl-C, the compiler is ended with its own processes.
    """
    log_file = folder / "output"
    with log_file.open("wb") as output:
        try:
            process = child_process.start(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CompilerError(f"{command[0]} does not start: {error.strerror}") from None
        try:
            code = _waited_for(process, command[0], seconds)
        finally:
            if process.poll() is None:
                child_process.end_session(process)
                process.wait()
    words = log_file.read_text(encoding="utf-8", errors="replace").strip()
    if code != 0:
        raise CompilerError(f"{command[0]} cannot compile the kernels: {words}")
    return words


def _waited_for(process: subprocess.Popen[bytes], name: str, seconds: float) -> int:
    """Wait for the process, with messages; return its exit code.

    Raises CompilerError after `seconds`.
    """
    waited = 0.0
    while waited < seconds:
        step = min(_SILENT, seconds - waited)
        try:
            return process.wait(step)
        except subprocess.TimeoutExpired:
            waited += step
        if waited < seconds:
            messages.say(
                f"{name} is still compiling the kernels: {waited:g} of at most {seconds:g} seconds"
            )
    raise CompilerError(f"{name} has not compiled the kernels within {seconds:g} seconds")


class CCompiler(KernelCompiler):
    """The compiler of a room's kernels to a shared library."""

    name, file = "c", "kernels.so"
    translator = (c_translate,)

    def key(self) -> object:
        result = compiler()
        if result is None:
            raise CompilerError(_NONE)
        state = Path(result[0]).resolve().stat()
        return result, state.st_size, state.st_mtime_ns, FLAGS

    def translate(self, modules: Sequence[str], of: Sequence[str]) -> tuple[str, list[Kernel]]:
        text, kernels = c_translate.translate(modules, of=of)
        return _HEAD + text, kernels

    def compile(self, text: str) -> bytes:
        return compile_text(text, _LONGEST)

    def addresses(self, folder: Path, names: Sequence[str]) -> Mapping[str, int]:
        try:
            library = ctypes.CDLL(str(folder / self.file))
        except OSError as error:
            raise CompilerError(f"the compiled kernels cannot be loaded: {error}") from None
        return {name: ctypes.cast(library[name], ctypes.c_void_p).value or 0 for name in names}


COMPILER = CCompiler()
