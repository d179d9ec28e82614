"""Frames: COBS compared with a slow version and the cobs package, CRC with zlib, bit flips."""

from __future__ import annotations

import random
import re
import sys
import zlib
from array import array
from typing import Any

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st
from tests_support import ROOT

from microshrub_host.library import loader
from microshrub_tools.link.frames import LONGEST, Frame, Splitter, pack, unpack
from microshrub_tools.link.messages import sample

ENGINES = ["checked", "python", "llvm"]
TABLE = sys.modules[loader.load("python").__name__ + ".device.frames"].crc_table()


def frames(engine: str) -> Any:
    return loader.load(engine).device.frames


def slow_cobs(body: bytes) -> bytes:
    """Encode as in the paper: each zero becomes the distance to the next one, or 255 for none."""
    out = b""
    rest = body + b"\0"
    while rest:
        run = rest[: rest.index(0)][:254]
        out += bytes([len(run) + 1]) + run
        rest = rest[len(run) + (len(run) < 254) :]
        if rest == b"\0" and len(run) == 254:
            break
    return out


def stuff(engine: str, body: bytes) -> bytes:
    line = bytearray(frames(engine).stuffed(len(body)) + 2)
    n = frames(engine).stuff(bytearray(body), 0, len(body), line)
    assert line[0] == line[n - 1] == 0
    return bytes(line[1 : n - 1])


def unstuff(engine: str, stuffed: bytes) -> bytes | None:
    buffer = bytearray(stuffed)
    n = frames(engine).unstuff(buffer, len(buffer))
    return None if n < 0 else bytes(buffer[:n])


def bodies(length: int) -> list[bytes]:
    random_bytes = random.Random(length).randbytes(length)
    return [bytes(length), b"\1" * length, b"\1" * (length - 1) + b"\0", random_bytes]


@pytest.mark.parametrize("engine", ENGINES)
def test_cobs_of_all_lengths(engine: str) -> None:
    for length in [*range(1, 600), 1016, 1017, 1270, 1271]:
        for body in bodies(length):
            stuffed = stuff(engine, body)
            assert 0 not in stuffed
            assert stuffed == cobs.encode(body) == slow_cobs(body)
            assert unstuff(engine, stuffed) == body
    assert stuff(engine, b"") == cobs.encode(b"") == b"\1"


@given(st.binary(min_size=1, max_size=700).map(lambda data: data.replace(b"\0", b"\1")))
def test_invalid_cobs_is_refused(data: bytes) -> None:
    try:
        body = cobs.decode(data)
    except cobs.DecodeError:
        body = None
    for engine in ENGINES:
        assert unstuff(engine, data) == body


@pytest.mark.parametrize("engine", ENGINES)
@given(body=st.binary(max_size=300), at=st.integers(0, 300))
def test_the_crc_matches_zlib(engine: str, body: bytes, at: int) -> None:
    out = bytearray(6)
    at = min(at, len(body))
    frames(engine).checksum(TABLE, bytearray(body), at, len(body) - at, out, 1)
    assert out == b"\0" + zlib.crc32(body[at:]).to_bytes(4, "little") + b"\0"


@pytest.mark.parametrize("engine", ENGINES)
@given(
    parts=st.lists(st.binary(max_size=30), max_size=12),
    cuts=st.lists(st.integers(1, 40), min_size=1),
)
def test_frames_are_split_at_zeros_in_any_chunks(
    engine: str, parts: list[bytes], cuts: list[int]
) -> None:
    room = 20
    state, frame = array("i", [room, 0, 0]), bytearray(room)
    data = b"".join(part + b"\0" for part in parts)
    split_frames, at, k = [], 0, 0
    while at < len(data):
        piece = bytearray(data[at : at + cuts[k % len(cuts)]])
        at, k, done = at + len(piece), k + 1, 0
        while done < len(piece):
            done = frames(engine).split(state, frame, piece, done, len(piece))
            if state[2]:
                split_frames.append(bytes(frame[: state[2]]) if state[2] <= room else None)
    wanted = [run for part in parts for run in part.split(b"\0") if run]
    assert split_frames == [run if len(run) <= room else None for run in wanted]


@pytest.mark.parametrize("engine", ENGINES)
def test_values_are_32_bits_within_30(engine: str) -> None:
    good = [0, 1, -1, 255, -256, 70000, -(2**29), 2**29 - 1]
    body, values = bytearray(2 + 4 * len(good)), array("i", [9] * len(good))
    frames(engine).write_values(body, 2, array("i", good), len(good))
    assert bytes(body[2:]) == b"".join(v.to_bytes(4, "little", signed=True) for v in good)
    assert frames(engine).read_values(body, 2, values, len(good)) == 1
    assert list(values) == good
    for wrong in (-(2**29) - 1, 2**29, 2**31 - 1, -(2**31)):
        body = bytearray(wrong.to_bytes(4, "little", signed=True))
        assert frames(engine).read_values(body, 0, values, 1) == 0
    assert list(values) == good


FRAMES = [
    Frame(3, 777, 0, b""),
    Frame(4, 0xFFFF, 0xFF00, bytes(60), 8),
    Frame(143, 1, 2, b"\1words of three hundred bytes" * 10, 255),
]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_round_trips(frame: Frame) -> None:
    line = pack(frame)
    assert line[0] == line[-1] == 0
    assert unpack(line[1:-1]) == frame
    assert list(Splitter().feed(b"text" + line + line)) == [b"text", frame, frame]


@pytest.mark.parametrize("frame", FRAMES)
def test_every_flip_of_one_bit_is_detected(frame: Frame) -> None:
    line = pack(frame)
    device = frames("llvm")
    for at in range(1, len(line) - 1):
        for bit in range(8):
            flipped = bytearray(line)
            flipped[at] ^= 1 << bit
            assert not [f for f in Splitter().feed(bytes(flipped)) if isinstance(f, Frame)]
            if flipped[at]:
                body = bytearray(flipped[1:-1])
                n = device.unstuff(body, len(body))
                assert not device.is_intact(TABLE, body, n, bytearray(4))


def test_the_examples_of_the_specification() -> None:
    text = (ROOT / "docs" / "reference" / "link.md").read_text(encoding="utf-8")
    hello, welcome, request, prediction = re.findall(r"^    (00 .* 00)$", text, re.MULTILINE)
    payload = bytes.fromhex("11eeffc0 0200 0200 4000 0100")
    assert pack(Frame(1, 0x1234, 0, b"")).hex(" ") == hello
    assert pack(Frame(129, 0x1234, 0, payload, 8)).hex(" ") == welcome
    assert pack(Frame(4, 0x1234, 1, sample([258, -1], 1).payload)).hex(" ") == request
    assert pack(Frame(131, 0x1234, 1, bytes([0, 0, 1, 200]), 8)).hex(" ") == prediction


@pytest.mark.parametrize("features", [1, 8, 60, 61, 124, 256])
def test_the_longest_sample_of_the_specification(features: int) -> None:
    lines = [pack(Frame(4, 0x1111, 0x1111, bytes([b]) * (4 * features + 1))) for b in (0, 1)]
    most = 4 * features + 15 + (4 * features + 12) // 254
    assert most - 1 <= max(map(len, lines)) <= most


@given(st.lists(st.binary(max_size=50), max_size=20))
def test_the_splitter_on_the_pc_loses_nothing(pieces: list[bytes]) -> None:
    splitter = Splitter()
    frames = [part for piece in pieces for part in splitter.feed(piece)]
    frames += splitter.feed(b"\0")
    runs = [run for run in b"".join(pieces).split(b"\0") if run]
    assert frames == [unpack(run) or run for run in runs]


def test_text_without_a_zero_is_passed_on() -> None:
    splitter = Splitter()
    given_away = [part for _ in range(100) for part in splitter.feed(b"x" * 1000)]
    assert sum(map(len, given_away)) > 100_000 - 2 * LONGEST
