"""The device library with its kernels in one C module: what a native build is made of.

The C of `microshrub/native.mpy` is the translated kernels, and a wrapper for each one that Python
calls, and the methods in viper (c_method.py); the library's other files import them from there. A
kernel that calls a function it was given stays in viper, since only Python objects can be passed
to it.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ..kernels import c_method
from ..kernels.c_method import ViperMethod
from ..kernels.c_translate import DIVISION, TYPES, translate
from ..kernels.kernel_rewriting import in_viper
from ..kernels.kernel_sources import INT, NOTHING, OBJECT, Kernel, is_kernel, read, symbol
from ..kernels.syntax_tree import source_text, walk
from ..sources import library_files

MODULE = "native"  # of the device library
_IN_LIBRARY = f"{library_files.PACKAGE}.{MODULE}"
_HEAD = """\
#include "py/dynruntime.h"
#include "py/smallint.h"
"""
_DIVISION = (
    """
#ifdef __ARM_ARCH_6M__ /* it cannot divide, and a native module has no library that could */
#define floor_div mp_fun_table.small_int_floor_divide
#define floor_mod mp_fun_table.small_int_modulo
#else
"""
    + DIVISION
    + """#endif
"""
)
_OBJECTS = """
static void *buffer_of(mp_obj_t object) {
    mp_buffer_info_t info;
    mp_get_buffer_raise(object, &info, MP_BUFFER_READ);
    return info.buf;
}
"""


_BUFFERS = """
#define MOST_BUFFERS 16

static void **buffers_of(mp_obj_t tuple, void **found) {
    size_t count;
    mp_obj_t *items;
    mp_obj_get_array(tuple, &count, &items);
    for (size_t i = 0; i < count && i < MOST_BUFFERS; i++) {
        found[i] = buffer_of(items[i]);
    }
    return found;
}
"""
_WRAPPER = """
static mp_obj_t w_NAME(size_t n, const mp_obj_t *a) {
    (void)n;
BODY
}
static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(o_NAME, COUNT, COUNT, w_NAME);
"""
_INIT = """
mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t n_args, size_t n_kw, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
STORES
    MP_DYNRUNTIME_INIT_EXIT
}
"""


@dataclass(frozen=True)
class NativeLibrary:
    """The C of the module, and the library's files by module name, kernels left out.

    A file that held nothing but kernels is not among them.
    """

    c: str
    sources: Mapping[str, str]


def native_library(modules: Iterable[str]) -> NativeLibrary:
    """The parts of a native build of these modules of the device library."""
    names = tuple(modules)
    paths = map(library_files.source_of, names)
    return _native_library(names, tuple(path.read_text(encoding="utf-8") for path in paths))


@functools.cache
def _native_library(names: tuple[str, ...], _: tuple[str, ...]) -> NativeLibrary:
    """The same for modules with these sources."""
    text, kernels = translate(names, functions=False, linkage="static ")
    translated = {(kernel.module, kernel.node.name): kernel for kernel in kernels}
    files = _needed([_File(name, translated) for name in names])
    methods = [method for file in files for method in file.methods]
    exported = dict.fromkeys(place for file in files for place in file.wanted)
    known = _names(exported)
    wrapped = [(known[place], translated[place]) for place in exported]
    tuples = _takes_tuples(kernels)
    parts = [
        _HEAD, TYPES, _DIVISION, text, _OBJECTS, c_method.OBJECTS, _BUFFERS if tuples else "",
        *(_wrapper(kernel, tuples) for _, kernel in wrapped), c_method.METHODS if methods else "",
        *(method.text() for method in methods), _init(wrapped, methods),
    ]  # fmt: skip
    return NativeLibrary("".join(parts), {file.name: file.text(known) for file in files})


def _needed(files: list[_File]) -> list[_File]:
    """All but those that only provided kernels, and now provide nothing."""
    gave = {home for file in files for home in library_files.imports(file.name)}
    while True:
        imported = {home for file in files for home in file.imported}
        useless = {f.name for f in files if not f.has_class} & gave - imported
        if not useless:
            return files
        files = [file for file in files if file.name not in useless]


def _names(exported: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """What Python calls a kernel: by its own name if it is the only one, which costs no RAM."""
    often = Counter(function for _, function in exported)
    return {
        (module, function): function if often[function] == 1 else symbol(module, function)
        for module, function in exported
    }


class _File(ast.NodeTransformer):
    """One file of the library, without those of its kernels that are translated.

    What else it does with a kernel, its own or an imported one, it does with the native one.
    """

    def __init__(self, name: str, translated: Mapping[tuple[str, str], Kernel]) -> None:
        self.name, self.translated = name, translated
        self.wanted: dict[tuple[str, str], None] = {}
        self.imported: set[str] = set()  # modules
        self.methods: list[ViperMethod] = []
        tree = ast.parse(library_files.source_of(name).read_text(encoding="utf-8"))
        tree.body = [node for node in tree.body if not self._is_translated(node)]
        self.has_class = any(isinstance(node, ast.ClassDef) for node in tree.body)
        self._used = {node.id for node in walk(tree) if isinstance(node, ast.Name)}
        self._tree = self.visit(tree)
        own = [ast.alias(function) for module, function in translated if module == name]
        first = int(ast.get_docstring(self._tree) is not None)
        self._tree.body[first:first] = self._native(name, own)

    def text(self, names: Mapping[tuple[str, str], str]) -> str:
        """The file as it is compiled for a board; names are those of the native module."""
        given = {symbol(*place): name for place, name in names.items()}
        for node in walk(self._tree):
            if isinstance(node, ast.ImportFrom) and node.module == _IN_LIBRARY:
                for alias in node.names:
                    alias.name = given.get(alias.name, alias.name)
        return source_text(self._tree)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Methods that are translated come from the native module."""
        self.generic_visit(node)
        for place, part in enumerate(node.body):
            if in_viper(part):
                method = ViperMethod(self.name, part)
                self.methods.append(method)
                names = [ast.alias(method.name, part.name)]
                node.body[place] = ast.ImportFrom(_IN_LIBRARY, names, 0)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        """Names of kernels come from the native module, if they are used at all."""
        if not library_files.is_of_library(node):
            return [node]
        home = library_files.imported_from(self.name, node)
        kernels = [alias for alias in node.names if (home, alias.name) in self.translated]
        node.names = [alias for alias in node.names if alias not in kernels]
        if node.names:
            self.imported.add(home)
        return [*self._native(home, kernels), *([node] if node.names else [])]

    def _is_translated(self, node: ast.stmt) -> bool:
        return is_kernel(node) and (self.name, node.name) in self.translated

    def _native(self, home: str, kernels: Iterable[ast.alias]) -> list[ast.stmt]:
        """The import of those kernels of a module that this file uses, by their names in C."""
        names = []
        for alias in kernels:
            local = alias.asname or alias.name
            if local in self._used:
                self.wanted[home, alias.name] = None
                names.append(ast.alias(symbol(home, alias.name), local))
        return [ast.ImportFrom(_IN_LIBRARY, names, 0)] if names else []


def _takes_tuples(kernels: Iterable[Kernel]) -> set[tuple[str, int]]:
    """The arguments, as (kernel in C, place), that are tuples.

    One of their items is taken, by the kernel or by one that it passes them on to.
    """
    by_place = {(kernel.module, kernel.node.name): kernel for kernel in kernels}
    imported = {module: read(module).imported for module in {module for module, _ in by_place}}
    found: set[tuple[str, int]] = set()
    passed: list[tuple[tuple[str, int], tuple[str, int]]] = []  # what is passed on, and as what
    for (module, _), kernel in by_place.items():
        objects = {
            arg.arg: (kernel.name, place)
            for place, arg in enumerate(kernel.node.args.args)
            if kernel.arguments[place] == OBJECT
        }
        for node in walk(kernel.node):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                found |= {objects[node.value.id]} if node.value.id in objects else set()
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                called = by_place.get(imported[module].get(name, (module, name)))
                for place, given in enumerate(node.args if called else ()):
                    if called and isinstance(given, ast.Name) and given.id in objects:
                        passed.append((objects[given.id], (called.name, place)))
    while more := {here for here, there in passed if there in found} - found:
        found |= more
    return found


def _wrapper(kernel: Kernel, tuples: Collection[tuple[str, int]]) -> str:
    before, given = [], []
    for place, kind in enumerate(kernel.arguments):
        if (kernel.name, place) in tuples:
            before.append(f"    void *found{place}[MOST_BUFFERS];")
            given.append(f"buffers_of(a[{place}], found{place})")
        else:
            given.append(f"{'int_of' if kind == INT else 'buffer_of'}(a[{place}])")
    call = f"{kernel.name}({', '.join(given)})"
    if kernel.returns == NOTHING:
        after = [f"    {call};", "    return mp_const_none;"]
    else:
        after = [f"    return object_of({call});"]
    body = "\n".join([*before, *after])
    text = _WRAPPER.replace("BODY", body).replace("COUNT", str(len(kernel.arguments)))
    return text.replace("NAME", kernel.name)


def _init(kernels: Iterable[tuple[str, Kernel]], methods: Iterable[ViperMethod]) -> str:
    stores = [
        f"    mp_store_global(MP_QSTR_{name}, MP_OBJ_FROM_PTR(&o_{kernel.name}));"
        for name, kernel in kernels
    ]
    stores += [
        f"    mp_store_global(MP_QSTR_{m.name}, MP_DYNRUNTIME_MAKE_FUNCTION(m_{m.name}));"
        for m in methods
    ]
    return _INIT.replace("STORES", "\n".join(stores))
