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

from collections.abc import Collection, Iterable

from .c_function import CFunction, head_of
from .kernel_sources import Kernel, select

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

    Of which modules and of `functions`, `roots` and `of`, see kernel_sources.select(). `linkage`
    stands before each function ("static "). What has to stand before the text: TYPES and DIVISION,
    or the like. Raises TranslationError.
    """
    files, kernels = select(modules, functions=functions, roots=roots, of=of)
    texts = [f"{linkage}{head_of(kernel)};" for kernel in kernels.values()]
    for file in files:
        for node in file.nodes:
            if (file.name, node.name) in kernels:
                texts.append(linkage + CFunction(file, kernels, node).text())
    return "\n".join(texts) + "\n", list(kernels.values())
