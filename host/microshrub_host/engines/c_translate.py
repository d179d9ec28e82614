"""The device library's kernels as C: one function a kernel, with the integers of viper.

A kernel is restricted Python: integers of 32 bits that wrap around, loops, pointers of three
widths, and objects that are only passed on or cast to a pointer. Each of these means exactly one
thing in C, so the translation just walks over the syntax tree:

    x = ptr8(buffer)      x = (item8_t *)buffer;   loads of 8 and 16 bits are unsigned
    ptr8(a[3])            the buffer whose address is item 3 of the table a
    a // b, a % b         rounded down, as Python rounds
    for i in range(n)     n is evaluated once

The text is C99 and C++ at once and clean of warnings. The library's tests hold every sum and
product within 32 bits, so nothing in it depends on how a compiler treats an overflow.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping

from .c_declarations import Kernel, KernelFile, head_of, kernel_of, read, works_on_objects
from .c_function import KernelBody

TYPES = """\
#include <limits.h>
#include <stdint.h>

#if INT_MAX < 2147483647
#error the kernels need an int of 32 bits
#endif
#if defined(__GNUC__)
#define MICROSHRUB_ANY __attribute__((may_alias)) /* a buffer is read at one width or another */
#else
#define MICROSHRUB_ANY
#endif
typedef uint8_t MICROSHRUB_ANY item8_t;
typedef uint16_t MICROSHRUB_ANY item16_t;
typedef int32_t MICROSHRUB_ANY item32_t;
"""
DIVISION = """
static inline int32_t floor_div(int32_t a, int32_t b) {
    int32_t q = a / b;
    return q - (a % b != 0 && (a ^ b) < 0);
}

static inline int32_t floor_mod(int32_t a, int32_t b) {
    int32_t r = a % b;
    return r != 0 && (r ^ b) < 0 ? r + b : r;
}
"""


def translate(
    modules: Iterable[str],
    *,
    functions: bool = True,
    linkage: str = "",
    roots: Iterable[tuple[str, str]] | None = None,
    of: Collection[str] | None = None,
) -> tuple[str, list[Kernel]]:
    """C for the kernels of these modules of the device library, and what they are.

    The modules that they import from have to be among them. Those of the room device/ that work
    on Python's objects are left out, and without `functions` those that take a function are, too.
    Of `roots`, pairs of module and name, only these and what they call are taken; of `of`, some of
    the modules, their kernels and what these call. `linkage` stands before each function
    ("static "). What has to stand before the text: TYPES and DIVISION, or the like. Raises
    TranslationError.
    """
    found = [read(name) for name in modules]
    for module in found:
        module.nodes = [node for node in module.nodes if not works_on_objects(module, node)]
    kernels = {(m.name, node.name): kernel_of(m.name, node) for m in found for node in m.nodes}
    if not functions:
        kernels = {place: k for place, k in kernels.items() if not k.takes_function}
    if of is not None:
        roots = [place for place in kernels if place[0] in of]
    if roots is not None:
        kernels = _needed(found, kernels, roots)
    texts = [f"{linkage}{head_of(kernel)};" for kernel in kernels.values()]
    for module in found:
        for node in module.nodes:
            if (module.name, node.name) in kernels:
                texts.append(linkage + KernelBody(module, kernels, node).text())
    return "\n".join(texts) + "\n", list(kernels.values())


def _needed(
    modules: Iterable[KernelFile],
    kernels: Mapping[tuple[str, str], Kernel],
    roots: Iterable[tuple[str, str]],
) -> dict[tuple[str, str], Kernel]:
    """The kernels that are roots, or called by one that is needed. Raises KeyError."""
    imported = {module.name: module.imported for module in modules}
    needed: set[tuple[str, str]] = set()
    waiting = list(roots)
    while waiting:
        place = waiting.pop()
        if place not in needed:
            needed.add(place)
            home = place[0]
            names = {n.id for n in ast.walk(kernels[place].node) if isinstance(n, ast.Name)}
            called = {imported[home].get(name, (home, name)) for name in names}
            waiting += called & kernels.keys()
    return {place: kernel for place, kernel in kernels.items() if place in needed}
