"""A model as a header for C99 and C++ that predicts and learns, bit for bit as on the device.

The code is the device library's kernels, translated; the buffers hold the learned state. The
header allocates nothing, has no floats and includes only limits.h and stdint.h.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..base.errors import UserError
from ..library import c_translate, library_files
from ..library.c_translate import DIVISION, TYPES
from ..library.kernel_sources import TranslationError, symbol
from ..library.python_pointers import AddressTable
from ..streams.units import MISSING
from . import c_growing, c_spare, c_text
from .model_files import OpenModel

ENCODE = ("quantizer", "encode_rows")
_C_TYPES = {"B": "uint8_t", "H": "uint16_t", "i": "int32_t"}
_RENAMED = r"\b(floor_div|floor_mod|item(?:8|16|32)_t)\b"  # names that other headers may define
_LEAST = 12  # items; in a smaller array, gcc warns of reads that only more features cause
LOST = "Include it in one C or C++ file; it predicts and learns."
_TAKEN = (
    "buffers",
    "codes",
    "crc32",
    "encode",
    "learn",
    "parts",
    "predict",
    "ranges",
    "table",
    "votes",
)

_HEAD = """\

   int microshrub_predict(const int32_t *raw) gives the class of a sample, and microshrub_votes
   the votes for each class. int microshrub_learn(const int32_t *raw, int label) learns the sample
   and gives the class that was predicted before, or -1 if there is no such class as the label.
   A missing value is MICROSHRUB_MISSING: the feature keeps its last code. What these do is what
   predict() and learn() of the model do; microshrub_crc32() of the state is its state_crc32().
"""
_ALIGNED = """\
#if defined(__GNUC__)
#define MICROSHRUB_ALIGNED __attribute__((aligned(4))) /* words are read of bytes */
#else
#define MICROSHRUB_ALIGNED
#endif
"""
_CLASSES = (
    """
static inline void microshrub_encode(const int32_t *raw)
{
    ENCODE(microshrub_ranges, (void *)raw, microshrub_codes, 1);
}

static inline int microshrub_predict(const int32_t *raw)
{
    microshrub_encode(raw);
    return PREDICT(TABLE, microshrub_codes, 0);
}
"""
    + c_growing.LEARN
)
CRC32 = """
static inline uint32_t microshrub_crc32(void)
{
    uint32_t crc = 0xffffffffUL, i, k;
    int bit;
    for (i = 0; i < sizeof microshrub_buffers / sizeof microshrub_buffers[0]; i++)
        for (k = 0; k < microshrub_buffers[i].bytes; k++) {
            crc ^= ((const uint8_t *)microshrub_buffers[i].at)[k];
            for (bit = 0; bit < 8; bit++)
                crc = crc & 1 ? crc >> 1 ^ 0xedb88320UL : crc >> 1;
        }
    return crc ^ 0xffffffffUL;
}
"""


def exported(model: OpenModel) -> tuple[bytes, str]:
    """Return a header and a note on its use. Raises UserError if the translation fails."""
    learner = model.learner
    roots = [place(learner._predict), place(learner._learn)]
    if c_growing.grows(model):
        roots += [*c_growing.ROOTS, place(learner._mover())]
    else:
        roots.append(ENCODE)
    head = c_spare.HEAD if model.spare else _HEAD
    code = (
        opening(_sizes(model)),
        kernels(model, roots + [c_spare.NAMED_CLASS] * bool(model.spare)),
        "\n".join(_state(model)) + "\n",
        _functions(model) + CRC32,
    )
    return header(model, head, code), LOST


def header(model: OpenModel, head: str, code: Iterable[str]) -> bytes:
    """Return the header of a model that goes on learning; head explains how to call it."""
    names = "\n".join(c_text.names(model.file))
    return c_text.header(
        f"/* {c_text.described(model.file)}; it learns on.\n{head}\n{names}", "".join(code)
    )


def opening(sizes: str) -> str:
    """Return the text before the kernels: types, and macros for the sizes."""
    return _prefixed(TYPES) + _ALIGNED + "\n" + sizes


def _sizes(model: OpenModel) -> str:
    return (
        f"#define MICROSHRUB_FEATURES {len(model.file.feature_names)}\n"
        f"#define MICROSHRUB_CLASSES {len(model.file.class_names)}\n"
        f"#define MICROSHRUB_MISSING ({MISSING}L)\n"
    )


def _prefixed(text: str) -> str:
    return re.sub(_RENAMED, r"microshrub_\1", text)


Place = tuple[str, str]  # of a kernel: its module within the library, and its name


def place(kernel: Any) -> Place:
    """Return the place of a learner's kernel."""
    return kernel.__module__.partition(".")[2], kernel.__name__


def called(place: Place) -> str:
    """Return the name of a kernel in a header."""
    return f"microshrub_{symbol(*place)}"


def kernels(model: OpenModel, roots: Sequence[Place]) -> str:
    """Return these kernels and their callees in C. Raises UserError if a translation fails."""
    modules = library_files.closure(module for module, _ in roots)
    try:
        text, result = c_translate.translate(modules, linkage="static ", roots=roots)
    except (TranslationError, KeyError) as error:
        raise UserError(f"{model.file.learner} cannot be exported as c: {error}") from None
    names = "|".join(kernel.name for kernel in result)
    return _prefixed(DIVISION + re.sub(rf"\b({names})\b", r"microshrub_\1", text)) + "\n"


def _functions(model: OpenModel) -> str:
    words = {
        "ENCODE": called(ENCODE),
        "PREDICT": called(place(model.learner._predict)),
        "LEARN": called(place(model.learner._learn)),
        "TABLE": "microshrub_table",
    }
    if model.spare:
        words["NAMED_CLASS"] = called(c_spare.NAMED_CLASS)
        return filled(c_spare.functions(model), words)
    if not c_growing.grows(model):
        return filled(_CLASSES, words)
    words |= {kernel.upper(): called((home, kernel)) for home, kernel in c_growing.ROOTS}
    words |= {"MOVE": called(place(model.learner._mover())), **c_growing.words()}
    return filled(c_growing.FUNCTIONS, words)


def filled(text: str, words: Mapping[str, str]) -> str:
    """Return the text with some words replaced."""
    for word, instead in words.items():
        text = re.sub(rf"\b{word}\b", instead, text)
    return text


def _state(model: OpenModel) -> Iterator[str]:
    names = [model.spare.names] if model.spare else []
    state = State(model, model.quantizer, model.learner, *names)
    yield from state.buffers(without=("names.words", "names.sizes", "names.texts"))
    yield f"static uint16_t microshrub_codes[{len(model.file.feature_names)}];"
    yield from state.tables()


class State:
    """The buffers of a model and of its companions, and the tables of their addresses."""

    def __init__(self, model: OpenModel, *parts: Any) -> None:
        self.model = model
        self._parts = parts
        self._names: dict[int, str] = {}
        votes = getattr(model.learner, "votes", None)
        for name, _, buffer in (row for part in parts for row in part.buffers()):
            free = self._free(name.replace(".", "_"))
            self._names[id(buffer)] = "votes" if buffer is votes else free

    def buffers(self, without: Collection[str] = ()) -> Iterator[str]:
        """Yield the definitions of the buffers, except those in `without`."""
        for part in self._parts:
            for name, typecode, buffer in part.buffers():
                if name not in without:
                    yield from self._buffer(typecode, buffer)

    def tables(self) -> Iterator[str]:
        """Yield the learner's and the quantizer's tables, and the table of buffers for the CRC."""
        model = self.model
        yield from self.table(model.learner._addresses, "table")
        yield from self.table(model.quantizer._addresses, c_growing.TABLE)
        yield "static const struct { const void *at; uint32_t bytes; } microshrub_buffers[] = {"
        for _, _, buffer in model.learner.buffers():
            if len(buffer):
                name = self._names[id(buffer)]
                size = len(buffer) * memoryview(buffer).itemsize
                yield f"    {{microshrub_{name}, {size}}},"
        yield "};"

    def _free(self, name: str) -> str:
        """Return the name, or a similar one that no other buffer has."""
        taken = {*self._names.values(), *_TAKEN}
        return next(n for n in (name, *(f"{name}_{k}" for k in range(99))) if n not in taken)

    def _buffer(self, typecode: str, buffer: Any) -> Iterator[str]:
        """Yield a buffer's definition, up to the last item that is not 0; C adds the zeros."""
        used = next((k for k in range(len(buffer), 0, -1) if buffer[k - 1]), 1)
        declared = f"MICROSHRUB_ALIGNED {_C_TYPES[typecode]} microshrub_{self._names[id(buffer)]}"
        yield from c_text.array(declared, list(buffer[:used]) or [0], max(len(buffer), _LEAST))

    def table(self, table: Any, name: str) -> Iterator[str]:
        """Yield a table of addresses, preceded by its entries that are not yet defined."""
        entries = []
        for k, item in enumerate(table):
            if id(item) in self._names:
                entries.append(f"microshrub_{self._names[id(item)]}")
            elif isinstance(item, (tuple, AddressTable)):
                yield from self.table(item, f"{name}_{k}")
                entries.append(f"microshrub_{name}_{k}")
            elif isinstance(item, bytes):  # never written by a kernel
                yield from c_text.array(f"const uint8_t microshrub_{name}_{k}", item)
                entries.append(f"(void *)microshrub_{name}_{k}")
            else:
                learner = self.model.file.learner
                raise UserError(f"{learner} cannot be exported as c: it has buffers of its own")
        self._names[id(table)] = name
        yield f"static void *microshrub_{name}[] = {{"
        yield from (f"    {entry}," for entry in entries)
        yield "};"
