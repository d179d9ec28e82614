"""The kernels compiled by LLVM in this process: the engine `llvm`, which needs no C compiler.

LLVM comes with the package llvmlite, for every common system.
"""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import llvm_translate
from .compiled_kernels import CompilerError, KernelCompiler
from .kernel_sources import Kernel

SPEED = 3  # LLVM's -O3


@functools.cache
def _processor() -> tuple[str, str, str]:
    """Return LLVM's names of the system, the processor and its features. Imports llvmlite."""
    from llvmlite import binding

    try:
        features = binding.get_host_cpu_features().flatten()
    except RuntimeError:
        features = ""  # LLVM does not know of this processor
    return binding.get_process_triple(), binding.get_host_cpu_name(), features


@functools.cache
def _machine() -> Any:
    """Return LLVM's machine for this processor. Imports llvmlite."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    system, name, features = _processor()
    target = binding.Target.from_triple(system)
    return target.create_target_machine(cpu=name, features=features, opt=SPEED, jit=True)


def emitted(text: str, machine: Any) -> bytes:
    """Compile a text in LLVM's language to an object file for a machine. Raises CompilerError."""
    from llvmlite import binding

    try:
        module = binding.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise CompilerError(f"LLVM cannot compile the kernels: {error}") from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=SPEED)
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    code: bytes = machine.emit_object(module)
    return code


class LlvmCompiler(KernelCompiler):
    """The compiler of a room's kernels to an object file, which is linked into this process."""

    name, file = "llvm", "kernels.o"
    translator = (llvm_translate,)

    def __init__(self) -> None:
        self._linked: list[Any] = []  # references, without which LLVM drops the code

    def key(self) -> object:
        return importlib.metadata.version("llvmlite"), _processor(), SPEED

    def translate(self, modules: Sequence[str], of: Sequence[str]) -> tuple[str, list[Kernel]]:
        return llvm_translate.translate(modules, of)

    def compile(self, text: str) -> bytes:
        return emitted(text, _machine())

    def addresses(self, folder: Path, names: Sequence[str]) -> Mapping[str, int]:
        from llvmlite import binding

        library = binding.JITLibraryBuilder()
        library.add_current_process()  # kernels may call memset and memcpy
        library.add_object_img((folder / self.file).read_bytes())
        for name in names:
            library.export_symbol(name)
        linker = binding.create_lljit_compiler(_machine())
        try:
            linked = library.link(linker, folder.name)
        except RuntimeError as error:
            raise CompilerError(
                f"LLVM cannot load the kernels in {folder}: {error}. Delete this folder: they are "
                "compiled again then."
            ) from error
        self._linked.append((linker, linked))
        return {name: linked[name] for name in names}


COMPILER = LlvmCompiler()
