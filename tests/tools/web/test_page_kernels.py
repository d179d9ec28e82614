"""The page's library: its modules have the same imports, and only kernels that take functions."""

from __future__ import annotations

import ast

from microshrub_host.library import library_files
from microshrub_host.library.kernel_sources import select
from microshrub_tools.web.page_kernels import without_kernels


def test_modules_import_the_same_and_have_only_the_kernels_that_take_functions() -> None:
    names = [library_files.module_name(path) for path in library_files.sources()]
    _, kernels = select(names)
    for name in names:
        source = library_files.source_of(name).read_text(encoding="utf-8")
        kernels_of_module = [kernel for kernel in kernels.values() if kernel.module == name]
        made = without_kernels(source, kernels_of_module)
        before, after = (library_files.imports_in(name, text) for text in (source, made))
        assert after == before
        functions = {
            node.name for node in ast.parse(made).body if isinstance(node, ast.FunctionDef)
        }
        left = {kernel.node.name for kernel in kernels_of_module} & functions
        assert left == {kernel.node.name for kernel in kernels_of_module if kernel.takes_function}
