"""The device's end of the serial link applies requests once and in order, and never raises."""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_support import examples

from microshrub_host.library import loader
from microshrub_tools.link import messages
from microshrub_tools.link.frames import Frame, Splitter, pack
from microshrub_tools.link.messages import (
    CHECKPOINT,
    FINGERPRINT,
    RESET,
    STATUS,
    Answer,
    Counts,
    DeviceStatus,
    Done,
    Failure,
    Fingerprint,
    Piece,
    Prediction,
    Request,
    Welcome,
    configuration,
    configure,
    confusion,
    late_label,
    read_answer,
    read_observed,
    sample,
)

CRC = 0xFEDCBA98
ROW = [1, -2, 2**29 - 1]
TEXT = bytes(range(200))


class Application:
    """An application that records the calls."""

    features, classes, hash = 3, 40, CRC
    more: ClassVar[dict[int, Any]] = {}

    def __init__(self) -> None:
        self.values = array("i", [0] * self.features)
        self.sample_id, self.confidence = 0x1234, 200
        self.calls: list[Any] = []

    def sample(self, label: int) -> int:
        self.calls.append((list(self.values), label))
        if label >= self.classes:
            raise ValueError("label has to be smaller")
        return 39

    def label(self, sample_id: int, label: int) -> None:
        self.calls.append((sample_id, label))
        if sample_id == 0:
            raise KeyError

    def status(self, words: array[int]) -> None:
        for i in range(len(words)):
            words[i] = -i

    def confusion(self, label: int, prediction: int) -> int:
        return label * 1000 + prediction

    def configure(self, piece: bytes, last: bool) -> None:
        self.calls.append((piece, last))

    def read_text(self, at: int, buffer: memoryview) -> int:
        piece = TEXT[at : at + len(buffer)]
        buffer[: len(piece)] = piece
        return len(piece)

    def state_crc32(self) -> int:
        return CRC

    def checkpoint(self) -> None:
        raise OSError(28)

    def reset(self) -> None:
        self.calls.append("reset")


class Device:
    """A Link of the device library, with a record of its output."""

    def __init__(self, engine: str = "checked", **options: Any) -> None:
        self.app = Application()
        self.sent = b""
        self.link = loader.load(engine).device.link.Link(self.app, self._write, **options)

    def _write(self, buffer: bytearray, n: int) -> None:
        self.sent += bytes(buffer[:n])

    def feed(self, data: bytes) -> list[Frame]:
        self.sent = b""
        self.link.feed(data, len(data))
        frames = list(Splitter().feed(self.sent))
        assert all(isinstance(frame, Frame) for frame in frames)
        return frames  # type: ignore[return-value]

    def ask(self, request: Request, sequence: int, session: int = 77) -> Answer | None:
        frames = self.feed(line(request, sequence, session))
        assert len(frames) <= 1
        if not frames:
            return None
        assert (frames[0].session, frames[0].sequence) == (session, sequence)
        return read_answer(frames[0])

    def open(self, session: int = 77) -> Device:
        assert isinstance(self.ask(HELLO, 0, session), Welcome)
        return self


HELLO = Request(messages.HELLO)


def line(request: Request, sequence: int, session: int = 77) -> bytes:
    return pack(Frame(request.kind, session, sequence, request.payload))


def again(frames: list[Frame]) -> list[int]:
    assert all(frame.kind == messages.AGAIN for frame in frames)
    return [frame.sequence for frame in frames]


@pytest.mark.parametrize("engine", ["checked", "python", "llvm", "c"])
def test_every_request_has_its_answer(engine: str) -> None:
    device = Device(engine)
    assert not device.link.is_open()
    assert device.ask(HELLO, 0) == Welcome(8, CRC, 3, 40, 64, 1)
    assert device.link.is_open()
    assert device.ask(sample(ROW), 1) == Prediction(0x1234, 39, 200)
    assert device.ask(sample(ROW, 5), 2) == Prediction(0x1234, 39, 200)
    assert device.ask(late_label(65535, 255), 3) == Done()
    assert device.ask(STATUS, 4) == DeviceStatus(
        *range(0, -13, -1), damaged=0, missed=-14, asleep=-15, unsaved=-16, saved_ago=-17
    )
    assert device.ask(confusion(3), 5) == Counts(tuple(range(3000, 3014)))
    assert device.ask(confusion(39, 30), 6) == Counts(tuple(range(39030, 39040)))
    assert device.ask(confusion(0, 200), 7) == Counts(())
    assert device.ask(FINGERPRINT, 8) == Fingerprint(CRC)
    assert device.ask(RESET, 9) == Done()
    text = b'{"model": "ShrubEnsemble"}' * 3
    for i, piece in enumerate(configure(text, 63)):
        assert device.ask(piece, 10 + i) == Done()
    for i, (at, end) in enumerate([(0, 96), (96, 192), (192, 200), (200, 200), (65535, 65535)]):
        assert device.ask(configuration(at), 12 + i) == Piece(TEXT[at:end])
    assert device.app.calls[:4] == [(ROW, -1), (ROW, 5), (65535, 255), "reset"]
    assert device.app.calls[4:] == [(text[:63], False), (text[63:], True)]


def test_refusals_have_a_message_and_count_as_answered() -> None:
    device = Device().open()
    wrong = [
        (sample(ROW, 40), 6, "label has to be smaller"),
        (late_label(0, 1), 6, "KeyError"),
        (CHECKPOINT, 6, "28"),
        (sample([*ROW[:2], 2**29]), 6, "a value is not of -2**29..2**29 - 1"),
        (sample(ROW[:2]), 5, "the payload has a wrong length"),
        (sample([*ROW, 1], 1), 5, "the payload has a wrong length"),
        (Request(RESET.kind, b"!"), 5, "the payload has a wrong length"),
        (Request(2), 5, "the payload has a wrong length"),
        (Request(11), 5, "the payload has a wrong length"),
        (Request(12), 5, "the payload has a wrong length"),
        (Request(13), 5, "the payload has a wrong length"),
        (Request(14, b"!"), 5, "the payload has a wrong length"),
        (Request(16), 5, "the payload has a wrong length"),
        (Request(17), 4, "there is no request of this type"),
        (Request(0), 4, "there is no request of this type"),
        (Request(127, bytes(64)), 4, "there is no request of this type"),
    ]
    for i, (request, code, words) in enumerate(wrong):
        assert device.ask(request, 1 + i) == Failure(code, words)
    assert device.app.calls == [(ROW, 40), (0, 1)]
    assert device.ask(RESET, len(wrong) + 1) == Done()


def test_long_messages_are_cut() -> None:
    device = Device(answer=76).open()

    def refuse(*_: object) -> None:
        raise ValueError("é" * 100)

    device.app.label = refuse  # type: ignore[method-assign, assignment]
    assert device.ask(late_label(1, 1), 1) == Failure(6, "é" * 37 + "�")


def test_a_repeated_request_is_answered_again_and_not_applied() -> None:
    device = Device(window=4).open()
    first = [device.feed(line(sample([k, k, k], k), k)) for k in range(1, 9)]
    device.app.confidence = 0
    assert [device.feed(line(sample([k, k, k], k), k)) for k in range(5, 9)] == first[4:]
    assert not device.feed(line(sample([1, 1, 1], 1), 1))  # no host can still wait for its answer
    assert [label for _, label in device.app.calls] == list(range(1, 9))
    assert device.ask(RESET, 9) == Done()


def test_a_missing_frame_is_requested_once() -> None:
    device = Device(window=4).open()
    assert again(device.feed(line(RESET, 3))) == [1]
    assert again(device.feed(line(RESET, 2) + line(RESET, 5))) == []
    assert device.ask(RESET, 1) == Done()
    assert again(device.feed(line(RESET, 6) + line(RESET, 3))) == [2]
    assert again(device.feed(line(RESET, 7))) == []
    assert again(device.feed(line(RESET, 60000))) == []
    device.open()  # after another hello, a missing frame is requested again
    assert again(device.feed(line(RESET, 4))) == [2]
    assert device.app.calls == ["reset"]


def test_sequence_numbers_wrap_around() -> None:
    device = Device("llvm", window=2).open()
    for k in range(1, 65536 + 3):
        data = line(late_label(k % 65536, 0), k % 65536)
        device.link.feed(bytearray(data), len(data))
        device.sent = b""
    assert [i for i, _ in device.app.calls] == [k % 65536 for k in range(1, 65536 + 3)]
    assert device.ask(late_label(1, 0), 1) == device.ask(late_label(2, 0), 2) == Done()
    assert len(device.app.calls) == 65536 + 2


def refused(answer: object) -> None:
    """Check that the answer says that the session is not open."""
    assert isinstance(answer, Failure)
    assert answer.code == 2
    assert "not open" in answer.words


def test_only_the_open_session_is_served() -> None:
    device = Device()
    refused(device.ask(RESET, 1))
    device.open()
    assert device.ask(RESET, 1) == Done()
    refused(device.ask(RESET, 2, 78))
    assert device.ask(HELLO, 0, 0) == Failure(3, "this session is over")
    assert device.ask(HELLO, 0, 77) == Welcome(8, CRC, 3, 40, 64, 2)  # still open
    device.open(78)
    assert device.ask(RESET, 1, 78) == Done()
    refused(device.ask(RESET, 2, 77))
    assert device.ask(HELLO, 0, 77) == Failure(3, "this session is over")  # a late hello
    assert device.ask(RESET, 2, 78) == Done()
    assert device.app.calls == ["reset"] * 3


def test_a_new_session_has_no_old_answers() -> None:
    device = Device().open()
    for k in range(1, 9):
        device.ask(RESET, k)
    device.open(78)
    for k in (0, 65535, 65530):
        assert device.ask(RESET, k, 78) is None
    assert len(device.app.calls) == 8


def test_a_foreign_version_is_reported() -> None:
    device = Device().open()
    for kind in (messages.HELLO, RESET.kind, 77):
        (frame,) = device.feed(pack(Frame(kind, 5, 6, b"", version=2)))
        assert (frame.version, frame.session, frame.sequence) == (1, 0, 0)
        answer = read_answer(frame)
        assert isinstance(answer, Failure)
        assert answer.code == 1
        assert "version 1" in answer.words
    assert device.link.foreign == 2
    assert device.app.calls == []


def test_an_echo_is_not_a_request() -> None:
    device = Device().open()
    device.feed(line(RESET, 1) + line(RESET, 7))
    for _ in range(3):
        assert device.feed(device.sent) == []
    assert device.feed(pack(Frame(messages.WELCOME, 77, 2, b"", version=3))) == []
    assert device.ask(RESET, 2) == Done()


def test_observations_are_sent_to_the_host_of_the_session() -> None:
    device = Device()
    device.app.values[:] = array("i", ROW)
    device.link.observe(4, 5)
    assert device.sent == b""
    device.open()
    for label in (5, -1):
        device.sent = b""
        device.link.observe(4, label)
        (frame,) = Splitter().feed(device.sent)
        assert isinstance(frame, Frame)
        observed = read_observed(frame)
        assert observed is not None
        assert observed.prediction == Prediction(0x1234, 4, 200)
        assert observed.label == (None if label < 0 else label)
        assert list(observed.values) == ROW
    assert observed.number == 2


def test_answers_carry_the_window() -> None:
    device = Device(window=4).open()
    assert [device.feed(line(RESET, k))[0].credits for k in (1, 2)] == [4, 4]
    device.link.allow(1)
    assert [device.feed(line(RESET, k))[0].credits for k in (2, 3)] == [4, 1]
    for wrong in (0, 5, 1.0):
        with pytest.raises(ValueError, match=r"^requests .* 1\.\.4"):
            device.link.allow(wrong)


def test_layouts_in_several_files_agree() -> None:
    library = loader.load("python")
    frames, link = library.device.frames, library.device.link
    assert (link._ROOM, link._CAME) == (frames._ROOM, frames._CAME)
    assert frames._LEAST == frames.HEADER + frames.TRAILER == len(pack(Frame(1, 1, 1, b""))) - 3
    names = [field.name for field in fields(DeviceStatus)]
    assert len(names) == link.STATUS_WORDS
    assert names[link._DAMAGED] == "damaged"


@pytest.mark.parametrize("options", [{"window": 3}, {"window": 0}, {"window": 128}, {"answer": 9}])
def test_wrong_options(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"^(window|answer) has to be"):
        Device(**options)


@given(st.lists(st.binary(max_size=100), max_size=30))
@settings(max_examples=examples(50))
def test_no_bytes_raise_an_exception(pieces: list[bytes]) -> None:
    device = Device().open()
    for piece in pieces:
        device.feed(piece)
        body = Frame(piece[0] if piece else 3, 77, 1, piece[1:])
        device.feed(pack(body))
    assert device.ask(HELLO, 0) is not None


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_bytes_arrive_in_chunks_of_any_size(size: int) -> None:
    device = Device().open()
    noise = random.Random(size)
    data = b""
    for k in range(1, 60):
        data += line(sample([k, 0, -k], k % 40), k) + noise.randbytes(noise.randrange(90)) + b"\0"
    for at in range(0, len(data), size):
        device.feed(data[at : at + size])
    assert device.app.calls == [([k, 0, -k], k % 40) for k in range(1, 60)]
    assert device.link.damaged > 0


SCRIPT = """
import gc, micropython
from array import array
from microshrub.device.link import Link

class Application:
    features, classes, hash = 3, 40, 0xFEDCBA98
    more = {}
    values = array("i", [0] * 3)
    sample_id, confidence = 0x1234, 200
    def sample(self, label):
        return 39
    def label(self, sample_id, label):
        pass
    def status(self, words):
        words[0] = 1 << 29
    def confusion(self, label, prediction):
        return 1000 * label + prediction
    def checkpoint(self):
        pass
    def reset(self):
        pass

sent, fill = bytearray(100000), [0]
def write(buffer, n):
    for i in range(n):
        sent[fill[0] + i] = buffer[i]
    fill[0] += n

def feed(link):
    link.feed(DATA, len(DATA))
    link.observe(3, 4)

gc.collect()
before = gc.mem_alloc()
link = Link(Application(), write)
gc.collect()
print(gc.mem_alloc() - before)
micropython.heap_lock()
try:
    feed(link)
finally:
    micropython.heap_unlock()
print(bytes(memoryview(sent)[:fill[0]]).hex())
"""


def test_nothing_is_allocated_on_a_32_bit_micropython(
    run_micropython: Callable[[str], str],
) -> None:
    requests = [HELLO, sample(ROW), sample(ROW, 3), late_label(1, 2), STATUS, confusion(7)]
    requests += [CHECKPOINT, RESET, Request(99), Request(RESET.kind, b"!"), sample([2**30] * 3)]
    good = [line(request, k) for k, request in enumerate(requests)]
    noise = random.Random(3)
    damaged = [bytes([b ^ 1 if b > 1 and noise.random() < 0.1 else b for b in g]) for g in good]
    foreign = [line(RESET, 1, 5), pack(Frame(3, 77, 1, b"", version=2)), line(HELLO, 0)]
    data = b"".join([*good, *damaged, *good, *foreign, line(RESET, 15), b"x" * 5000, b"\0"])
    heap, sent = run_micropython(f"DATA = {data!r}" + SCRIPT).split()
    assert int(heap) < 2048
    device = Device()
    device.app.checkpoint = lambda: None  # type: ignore[method-assign]
    device.app.status = lambda words: words.__setitem__(0, 1 << 29)  # type: ignore[method-assign]
    device.app.values[:] = array("i", ROW)
    device.feed(data)
    device.link.observe(3, 4)
    assert sent == device.sent.hex()
