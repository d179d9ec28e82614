"""No function that a program calls again and again while it serves has its frame on the heap.

Why that counts is in test_moments_on_the_heap.py, which counts it for what comes over the link.
Here are the functions for which that takes a network, a flash that is slow, or ranges that grow.
What is called for one message, event or guest only is not among them.
"""

from __future__ import annotations

import pytest

from microshrub_host.boards.program_heap import frame_bytes, functions
from microshrub_host.programs import mpy
from microshrub_host.sources import library_files

SERVING = {
    "device.mqtt": ("turn", "_go_on", "_serve", "_packet", "put_number"),
    "device.mqtt_packets": (
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
    "device.house_voice": ("_fill", "_put", "_put_kind"),
    "device.house_names": ("put",),
    "device.tcp": ("take", "_wait", "_knocks", "_serve", "_answer", "_read", "_take", "_send"),
    "device.channel": ("read", "_check", "put", "write", "_trail"),
    "device.sha256": ("sign", "give", "is_right"),
    "device.parcels": ("count", "turn"),
    "device.parcel_post": ("tick", "due"),
    "device.parcel_topics": ("tick", "talk", "_tell", "_send_piece"),
    "device.parcel_packets": ("tick", "_turn", "_choose", "_wanted", "_hear", "_head"),
    "device.packets_udp": ("take", "give"),
    "device.packets_espnow": ("take", "give"),
    "device.saving": ("_predict", "_class_of", "_queue"),
    "growing": ("encode", "encode_from", "_prepare", "_grow", "_move", "code"),
    "pending": ("move_codes", "add", "take"),
    "quantizer": ("encode", "observe", "code"),
}


@pytest.mark.parametrize("module", SERVING)
def test_no_frame_is_on_the_heap(module: str) -> None:
    path = next(p for p in mpy.compiled("armv6m") if library_files.module_name(p) == module)
    found = dict(functions(path, SERVING[module]))
    assert set(found) == set(SERVING[module])
    assert not {name for name, code in found.items() if not code.native and frame_bytes(code.data)}
