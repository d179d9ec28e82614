"""Text that the headers of exported models share: the description, and arrays."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from ..base.text import printable
from .model_files import ModelFile

_WIDTH = 96
_GUARDED = """\
{head}
*/
#ifdef MICROSHRUB_MODEL_H
#if MICROSHRUB_MODEL_H != {this}
#error this file has another model: include each model in a file of its own
#endif
#else
#define MICROSHRUB_MODEL_H {this}

{code}
#endif
"""


def described(file: ModelFile) -> str:
    """Return a description of the model, for a comment."""
    return f"{file.learner} of {comment(file.stream)}, {file.samples} samples"


def names(file: ModelFile) -> Iterator[str]:
    """Yield a comment's lines: the features with their units, and the classes."""
    units = file.scale.units()
    for i, (name, (offset, digits)) in enumerate(zip(file.feature_names, units, strict=True)):
        yield f"    raw[{i}]  {comment(name)}, raw = (value - {offset}) * 10**{digits}"
    for c, name in enumerate(file.class_names):
        yield f"    class {c}  {comment(name)}"


def comment(name: str) -> str:
    """Return a name that neither begins nor ends a comment."""
    return printable(name).replace("\\", "|").replace("*/", "* /").replace("/*", "/ *")


def header(head: str, code: str) -> bytes:
    """Return a header of a comment and code; a file that includes two models' fails to compile."""
    this = f"0x{zlib.crc32(f'{head}{code}'.encode()):08x}UL"
    return _GUARDED.format(head=head, code=code, this=this).encode()


def array(declared: str, numbers: Sequence[int], length: int | None = None) -> list[str]:
    """Return the definition of an array with these numbers, filled up with zeros."""
    lines = [f"static {declared}[{length or len(numbers)}] = {{"]
    line = "   "
    for number in numbers:
        if len(line) + len(str(number)) + 2 > _WIDTH:
            lines.append(line)
            line = "   "
        line += f" {number},"
    return [*lines, line, "};", ""]
