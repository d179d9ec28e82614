"""Constants that the page shares with the simulator and the tools: `make constants` writes them.

    python -m microshrub_tools.web.page_constants [--check]

writes tools/web/src/shared.ts, from which the page's program is built.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from microshrub_host.cli import project_file
from microshrub_host.library import loader
from microshrub_host.library.learners import WARMUP
from microshrub_host.streams import log_lines
from microshrub_host.streams.columns import MAX_CATEGORIES, MAX_DECLARED, MISSING_CELLS
from microshrub_host.streams.label_leakage import TELLTALE_NAMES
from microshrub_host.streams.source_file import KINDS, LOOKED_AT
from microshrub_host.streams.stream import MAX_CLASSES, MAX_FEATURES
from microshrub_host.streams.text_lines import LONGEST_LINE

from ..board.flash import ARCHITECTURES
from ..board.keyboard_keys import KEYS
from ..board.program_pins import RP2_ADC, companion_flags
from ..board.program_switches import COLOURS
from ..link import class_messages, messages

FILE = Path(__file__).parents[2] / "web" / "src" / "shared.ts"
_HEAD = "// Constants of the simulator and the tools; `make constants` writes this file.\n\n"
_LINK = (
    *("HELLO", "SAMPLE", "LABELLED", "LABEL", "STATUS", "CONFUSION", "FINGERPRINT", "RESET"),
    *("CONFIGURATION", "ANOMALY", "REGRESSION", "QUERIES", "CLASSES"),
    *("WELCOME", "AGAIN", "ERROR", "OBSERVED"),
    *("OTHER_VERSION", "NO_SESSION", "USED_SESSION"),
)
_TEXTS, _NUMBERS = "readonly string[]", "readonly number[]"
_WORDS = (messages.DeviceStatus, messages.RegressionErrors, messages.AnomalyStatus, messages.Query)


def source() -> str:
    """Return the text of shared.ts."""
    rows = []
    for declared, what, value in _constants():
        suffix = " as const" if declared == "WORDS" else ""  # the names are types, too
        rows.append(f"/** {what} */\nexport const {declared} = {json.dumps(value)}{suffix};\n")
    return _HEAD + "\n".join(rows)


def _constants() -> Iterator[tuple[str, str, Any]]:
    """Yield each constant's name, with a type if TypeScript needs one, description, and value."""
    device: Any = loader.load("python").device
    codes = {name: getattr(device.link, f"_{name}") for name in _LINK}
    yield "LINK", "The kinds of requests and answers, and the codes of errors.", codes
    frame = {
        name: getattr(device.frames, name.upper()) for name in ("version", "header", "trailer")
    }
    yield "FRAME", "The link's version, and a frame's bytes before and after the payload.", frame
    words = {each.__name__: [field.name for field in fields(each)] for each in _WORDS}
    yield "WORDS", "The names of the words in an answer, in their order.", words
    yield "CLASS_REQUESTS", "The first byte of a request about classes.", class_messages.REQUESTS
    yield "UNKNOWN", "The code of an unknown label.", messages.UNKNOWN
    yield "COUNTS", "The most counts of the confusion matrix in one answer.", device.link._ROW
    yield f"ARCHITECTURES: {_TEXTS}", "Architectures, by number in MicroPython.", ARCHITECTURES
    yield f"RP2_ADC: {_NUMBERS}", "The analog pins of RP2040 and RP2350.", RP2_ADC
    flags = companion_flags()
    yield (
        f"COMPANION_FLAGS: {_by_name('string')}",
        "The companions' options, by name in config.json.",
        flags,
    )
    yield (
        f"PIXEL_COLOURS: {_by_name(_NUMBERS)}",
        "Red, green and blue of a NeoPixel's colours, by name.",
        COLOURS,
    )
    yield f"KEY_NUMBERS: {_by_name('number')}", "The numbers of a USB keyboard's keys.", KEYS
    yield f"PROJECT_KEYS: {_TEXTS}", "The keys of microshrub.toml.", tuple(project_file.KEYS)
    yield f"PROJECT_COMMANDS: {_TEXTS}", "The sections of microshrub.toml.", project_file.COMMANDS
    limits = {
        **{"features": MAX_FEATURES, "classes": MAX_CLASSES, "warmup": WARMUP},
        **{"categories": MAX_CATEGORIES, "declared": MAX_DECLARED},
        **{"line": LONGEST_LINE, "start": LOOKED_AT},
    }
    yield "LIMITS", "Limits of a stream, of a column of texts, and of a file in bytes.", limits
    yield f"MISSING_CELLS: {_TEXTS}", "Cells that have no value.", sorted(MISSING_CELLS)
    kinds = [(pattern.decode("latin-1"), what, remedy) for pattern, what, remedy in KINDS]
    yield (
        "FILE_KINDS: readonly (readonly [pattern: string, what: string, remedy: string])[]",
        "Files other than CSV: start, a character a byte; kind; and advice, or pandas' reader.",
        kinds,
    )
    yield (
        "TELLTALE_NAMES: readonly (readonly [pattern: string, what: string])[]",
        "Names of columns that may give the label away, and their meaning.",
        [(pattern.pattern, what) for pattern, what in TELLTALE_NAMES],
    )
    boot, prompt = log_lines.BOOT_LINE.pattern, log_lines.PROMPT_LINE.pattern
    yield "BOOT", "The beginnings of lines that a board prints when it starts or crashes.", boot
    yield "PROMPT", "The beginnings of lines that belong to MicroPython's prompt.", prompt


def _by_name(value_type: str) -> str:
    return f"Readonly<Record<string, {value_type}>>"


def main(arguments: list[str]) -> int:
    """Write the file, or with --check report whether it is up to date."""
    text = source()
    if not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        if arguments == ["--check"]:
            print(f"{FILE.name}: constants from elsewhere are out of date; run `make constants`")
            return 1
        FILE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
