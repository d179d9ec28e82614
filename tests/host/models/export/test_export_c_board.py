"""`microshrub export --format c` on an emulated Cortex-M0: 2,000 samples, and the PC's CRC32."""

from __future__ import annotations

import subprocess
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_support import MODELS, export, rows, save_model, stream
from patience import PATIENCE

from microshrub_host.boards import emulated_boards
from microshrub_host.models import model_files

SAMPLES = 2000
LEARNERS = {name: MODELS[name] for name in ("either", "narrow")} | {
    "thicket": ("thicket", {"bytes": 6000})
}
# RAM is loaded like flash, so the start copies nothing.
_PLACES = """
MEMORY { flash : ORIGIN = 0, LENGTH = 1M
         ram : ORIGIN = 0x20000000, LENGTH = 256K }
SECTIONS {
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > flash
    .data : { *(.data*) } > ram
    .bss : { *(.bss*) *(COMMON) } > ram
}
"""
_MAIN = """
#include "model.h"
#include "samples.h"
static int ask(int what, const void *with)
{
    register int r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = with;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static void tell(uint32_t word)
{
    char text[10];
    int i;
    for (i = 0; i < 8; i++)
        text[i] = "0123456789abcdef"[word >> (28 - 4 * i) & 15];
    text[8] = '\\n';
    text[9] = 0;
    ask(4, text); /* print */
}
void *memset(void *to, int value, unsigned int n)
{
    unsigned char *p = to;
    while (n--)
        *p++ = (unsigned char)value;
    return to;
}
void *memcpy(void *to, const void *from, unsigned int n)
{
    unsigned char *p = to;
    const unsigned char *q = from;
    while (n--)
        *p++ = *q++;
    return to;
}
void start(void)
{
    uint32_t right = 0;
    int i;
    for (i = 0; i < SAMPLES; i++)
        right += microshrub_learn(samples[i], samples[i][MICROSHRUB_FEATURES])
            == samples[i][MICROSHRUB_FEATURES];
    tell(right);
    tell(microshrub_crc32());
    ask(24, (void *)0x20026); /* end */
    for (;;)
        ;
}
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    (void *)0x20040000, (void *)start,
};
"""


@pytest.fixture(scope="module")
def qemu() -> list[str]:
    """QEMU's command with the emulated board, without a program."""
    try:
        command = emulated_boards.find_or_build("cortex-m0").command
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    assert command[-2] == "-kernel"
    quiet = ["-nographic", "-monitor", "none", "-serial", "none"]
    return [*command[:-2], *quiet, "-semihosting-config", "enable=on,target=native"]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_header_learns_on_a_cortex_m0_like_the_model(
    name: str, native_tools_for: Callable[[str], Any], qemu: list[str], tmp_path: Path
) -> None:
    tools = native_tools_for("armv6m")
    file = save_model(tmp_path / "m.mshrub", stream(), *LEARNERS[name])
    raw = rows(SAMPLES)
    labels = (raw[:, 0] > 0).astype(np.int32) + (raw[:, 1] > 6000)
    export(file, "c", tmp_path / "model.h")
    table = np.column_stack([raw, labels]).tolist()
    lines = ",\n".join(f"{{{', '.join(map(str, row))}}}" for row in table)
    declared = f"static const int32_t samples[SAMPLES][{len(table[0])}]"
    (tmp_path / "samples.h").write_text(
        f"#define SAMPLES {SAMPLES}\n{declared} = {{\n{lines}}};\n"
    )
    (tmp_path / "main.c").write_text(_MAIN)
    (tmp_path / "places.ld").write_text(_PLACES)
    options = ("-std=c99", "-O2", "-ffreestanding", "-nostdlib", "-T", "places.ld")
    words = [*tools.compiler, *options, "-o", "program.elf", "main.c", "-lgcc"]
    subprocess.run(words, cwd=tmp_path, check=True)
    command = [*qemu, "-kernel", str(tmp_path / "program.elf")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert [int(word, 16) for word in (done.stdout + done.stderr).split()] == learned(
        file, raw, labels
    )


def learned(file: Path, raw: Any, labels: Any) -> list[int]:
    """Return the number of samples that the model predicts right before it learns them,
    and its CRC32.
    """
    model = model_files.open_model(file)
    codes, right = array("H", [0, 0, 0]), 0
    for row, label in zip(raw.tolist(), labels.tolist(), strict=True):
        model.quantizer.encode(array("i", row), codes)
        right += model.learner.learn(codes, label) == label
    return [right, model.learner.state_crc32() & 0xFFFFFFFF]
