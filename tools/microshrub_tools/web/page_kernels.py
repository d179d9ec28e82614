"""The device library for the page, with its kernels as a module of WebAssembly: kernels.py."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

from microshrub_host.library import library_files, wasm_kernels
from microshrub_host.library.kernel_sources import INT, Kernel
from microshrub_host.library.library_files import WRITE_ADDRESSES
from microshrub_host.library.syntax_tree import source_text
from microshrub_host.programs import mpy

CODE = "kernels.wasm"
_DRIVER = "kernels"  # kernels.py


def files(modules: Collection[str]) -> dict[str, bytes]:
    """Return the compiled files of these modules of the library, and the code of their kernels."""
    code, kernels = wasm_kernels.compiled(modules)
    by_name = {(kernel.module, kernel.node.name): kernel for kernel in kernels}
    result = {CODE: code}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "made.mpy")
        for path in map(library_files.source_of, sorted(modules)):
            name = library_files.module_name(path)
            its_kernels = [kernel for (module, _), kernel in by_name.items() if module == name]
            text = without_kernels(path.read_text(encoding="utf-8"), its_kernels)
            mpy.compile_text(text, target, mpy.BYTECODE_ONLY, path.name)
            result[mpy.in_library(path)] = target.read_bytes()
    return result


def without_kernels(source: str, kernels: Iterable[Kernel]) -> str:
    """Return a module's source with the kernels' names bound to functions of kernels.py.

    A kernel that takes a function stays as it is: machine code cannot call Python's.
    """
    named = {kernel.node.name: kernel for kernel in kernels if not kernel.takes_function}
    tree = ast.parse(source)
    wanted = set()
    for place, node in enumerate(tree.body):
        if not isinstance(node, ast.FunctionDef):
            continue
        if node.name == WRITE_ADDRESSES:
            wanted.add(node.name)
            tree.body[place] = ast.Pass()
        elif node.name in named:
            wanted.add("kernel")
            tree.body[place] = _stand_in(named[node.name])
    if wanted:
        names = [ast.alias(name) for name in sorted(wanted)]
        first = int(ast.get_docstring(tree) is not None)
        tree.body.insert(first, ast.ImportFrom(_DRIVER, names, 0))
    return source_text(tree)


def _stand_in(kernel: Kernel) -> ast.stmt:
    pointers = tuple(place for place, kind in enumerate(kernel.arguments) if kind != INT)
    return ast.parse(f"{kernel.node.name} = kernel({kernel.name!r}, {pointers!r})").body[0]
