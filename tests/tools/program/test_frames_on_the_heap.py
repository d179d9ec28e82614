"""No function that a program calls repeatedly while it serves has its frame on the heap.

test_moments_on_the_heap.py says why this matters, and measures it for requests over the link.
Here are the functions that need a network, a slow flash, or growing ranges. Functions that are
called for one message, event or client only are not included.
"""

from __future__ import annotations

import pytest

from microshrub_host.boards.program_heap import frame_bytes, functions
from microshrub_host.library import library_files
from microshrub_host.programs import mpy

SERVING = {
    "device.mqtt_client": (
        *("turn", "_go_on", "_serve", "_packet", "put_number"),
        "begin",
        "put",
        "put_form",
        "next_value",
        "put_text",
        "put_digits",
        "send",
        "write",
        "read",
        "_take",
        "_keep",
        "_head",
    ),
    "device.tcp": (
        *("take", "_wait", "_knocks", "_serve", "_answer", "_read", "_take", "_send"),
        *("read", "_check", "put", "write", "_trail"),
    ),
    "device.sha256": ("sign", "give", "is_right"),
    "device.sharing": ("count", "step", "turn", "due"),
    "device.sharing_mqtt": ("turn", "talk", "_tell", "_send_piece"),
    "device.sharing_datagrams": ("turn", "_turn", "_choose", "_wanted", "_hear", "_head"),
    "device.networking": ("take", "give"),
    "device.application": ("sample", "predict", "_checked", "_count", "label", "learn", "tick"),
    "device.mqtt_companion": ("_fill", "_put", "_put_kind", "put", "show", "count", "turn"),
    "device.saving": ("predict", "turn", "has_time", "_defer", "_class_of", "_queue"),
    "checkpoint": ("due", "_pass", "note"),
    "growing_ranges": ("encode", "encode_from", "_prepare", "_grow", "_move", "code"),
    "delayed_labels": ("move_codes", "add", "take"),
    "quantizer": ("encode", "observe", "code"),
}
# Functions of the same name that are called for a client only
FOR_A_CLIENT = {"device.tcp": ["read"]}


@pytest.mark.parametrize("module", SERVING)
def test_no_frame_is_on_the_heap(module: str) -> None:
    path = next(p for p in mpy.compiled("armv6m") if library_files.module_name(p) == module)
    frames = list(functions(path, SERVING[module]))  # several classes may have that method
    assert {name for name, _ in frames} == set(SERVING[module])
    on_heap = [name for name, code in frames if not code.native and frame_bytes(code.data)]
    assert on_heap == FOR_A_CLIENT.get(module, [])
