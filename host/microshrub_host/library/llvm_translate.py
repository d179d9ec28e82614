"""The device library's kernels in LLVM's language, with the integers of viper.

Each of the things that kernels consist of (see c_translate.py) means exactly one thing here, too:
integers have 32 bits and wrap around, loads of 8 and 16 bits are unsigned, and `//` rounds down.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .kernel_sources import Kernel, select
from .llvm_function import LlvmFunction

_ROUNDED = """
define internal i32 @floor_div(i32 %a, i32 %b) alwaysinline {
    %q = sdiv i32 %a, %b
    %r = srem i32 %a, %b
    %rest = icmp ne i32 %r, 0
    %signs = xor i32 %a, %b
    %other = icmp slt i32 %signs, 0
    %down = and i1 %rest, %other
    %less = sext i1 %down to i32
    %rounded = add i32 %q, %less
    ret i32 %rounded
}

define internal i32 @floor_mod(i32 %a, i32 %b) alwaysinline {
    %r = srem i32 %a, %b
    %rest = icmp ne i32 %r, 0
    %signs = xor i32 %r, %b
    %other = icmp slt i32 %signs, 0
    %down = and i1 %rest, %other
    %more = select i1 %down, i32 %b, i32 0
    %rounded = add i32 %r, %more
    ret i32 %rounded
}

"""


def translate(modules: Iterable[str], of: Collection[str]) -> tuple[str, list[Kernel]]:
    """The text for the kernels of some modules of the device library, and which they are.

    What these call is in the text, too, for their use alone; the modules `modules` have to hold
    it. Raises TranslationError.
    """
    files, kernels = select(modules, of=of)
    texts = [_ROUNDED]
    for file in files:
        linkage = "" if file.name in of else "internal "
        for node in file.nodes:
            if (file.name, node.name) in kernels:
                texts.append(LlvmFunction(file, kernels, node).text(linkage))
    return "\n".join(texts), [kernel for kernel in kernels.values() if kernel.module in of]
