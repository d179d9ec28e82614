"""The PC's end of the serial link: with the device's end, on a damaged line, on a real pty."""

from __future__ import annotations

import os
import pty
import random
import subprocess
import tracemalloc
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from line_support import Cable, Damaged
from patience import PATIENCE

from microshrub_host.library import library_files
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.frames import LONGEST, Frame, pack
from microshrub_tools.link.link_errors import LinkError, LostError, RefusedError, RestartedError
from microshrub_tools.link.messages import (
    CHECKPOINT,
    STATUS,
    WELCOME,
    DeviceStatus,
    Request,
    confusion,
    sample,
)
from microshrub_tools.link.serial_line import PortError, SerialLine
from microshrub_tools.link_fuzz import device_end
from microshrub_tools.link_fuzz.fuzz import FuzzedLine, answer, fuzz, request

NEVER = 10**9  # bytes between two faults
FRAMES = 2000  # over a pty


def undamaged(seed: int = 1) -> FuzzedLine:
    return FuzzedLine(device_end.CheckingApplication(), seed, NEVER)


def connected(line: FuzzedLine) -> HostLink:
    link = HostLink(line, clock=line.clock)
    link.connect()
    return link


# Both ends in this process, with a simulated clock


@pytest.mark.parametrize(
    ("seed", "every", "sessions"), [(1, 400, 1), (2, 150, 1000), (3, 3000, 3)]
)
def test_on_any_damaged_line_each_request_is_applied_once(
    seed: int, every: int, sessions: int
) -> None:
    state = random.getstate()
    try:
        random.seed(sessions)  # source of a program's session number
        report = fuzz(20_000, seed, every)
    finally:
        random.setstate(state)
    assert report.wrong == 0
    assert report.frames == 20_000
    assert report.faults > 20_000 * 50 // every
    assert min(report.resent, report.programs, report.resets, report.pulled) > 0


def test_both_ends_hold_fixed_memory() -> None:
    sizes: list[int] = []
    tracemalloc.start()
    try:
        fuzz(3_000, 5, 300, lambda *_: sizes.append(tracemalloc.get_traced_memory()[0]))
    finally:
        tracemalloc.stop()
    assert len(sizes) > 3
    assert max(sizes[1:]) - sizes[0] < 16_384


def test_the_fuzzer_is_a_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["dev", "fuzz-link", "--frames", "300", "--seed", "4"]) == 0
    captured = capsys.readouterr()
    assert "300 requests applied" in captured.out
    assert "once and in order, none" in captured.out


def test_no_more_than_a_window_is_in_flight() -> None:
    line = undamaged()
    link = connected(line)
    pending = [link.post(request(k)) for k in range(8)]
    assert [p.answer for p in pending] == [None] * 8
    link.post(request(8))
    assert pending[0].answer == answer(0)
    assert [link.wait(p) for p in pending] == [answer(k) for k in range(8)]
    assert link.resent == 0
    assert all(p.latency > 0 for p in pending)


def test_the_device_may_shrink_the_window() -> None:
    line = undamaged()
    link = connected(line)
    line.device.allow(2)
    link.ask(request(0))
    pending = [link.post(request(k)) for k in range(1, 3)]
    assert [p.answer for p in pending] == [None] * 2
    link.post(request(3))
    assert pending[0].answer is not None


def test_the_answers_of_a_stream_are_in_order() -> None:
    line = undamaged()
    link = connected(line)
    answers = [pending.answer for pending in link.stream(request(k) for k in range(500))]
    assert answers == [answer(k) for k in range(500)]
    assert link.ask(STATUS) == DeviceStatus(500, 500, *[0] * 16)


def test_a_refusal_of_the_device_is_reported() -> None:
    link = connected(undamaged())
    for wrong in (CHECKPOINT, confusion(1)):
        with pytest.raises(RefusedError, match="has no attribute"):
            link.ask(wrong)
    with pytest.raises(RefusedError, match="no request of this type") as refused:
        link.ask(Request(99))
    assert refused.value.failure.code == 4
    with pytest.raises(RefusedError):
        list(link.stream([request(0), Request(99)]))
    assert link.ask(request(1)) == answer(1)


def test_a_reset_of_the_device_is_detected() -> None:
    line = undamaged()
    link = connected(line)
    link.ask(request(0))
    line.reset_device()
    with pytest.raises(RestartedError, match="was reset"):
        link.ask(request(1))
    late = link.post(request(1))
    link.connect()
    with pytest.raises(RestartedError):
        link.wait(late)
    assert link.ask(request(1)) == answer(1)


def test_a_request_that_is_too_long_is_not_sent() -> None:
    link = connected(undamaged())
    with pytest.raises(LinkError, match=r"64 bytes, .* 68"):
        link.post(sample([1] * 17))
    assert link.ask(request(0)) == answer(0)


def test_a_late_poll_is_no_timeout() -> None:
    line = undamaged()
    link = connected(line)
    pending = link.post(request(0))
    line.now += 100
    line._to_device.clear()
    assert link.wait(pending) == answer(0)


def test_a_session_number_that_is_in_use_is_not_taken() -> None:
    line = undamaged()
    state = random.getstate()
    try:
        for k in range(5):
            random.seed(7)  # all programs draw the same numbers
            link = connected(line)
            assert link.ask(request(k)) == answer(k)
    finally:
        random.setstate(state)


def test_a_pulled_cable_is_waited_for() -> None:
    line = undamaged()
    link = connected(line)
    results = []
    for pending in link.stream(request(k) for k in range(300)):
        results.append(pending.answer)
        if len(results) % 50 == 0:
            line.pull()
    assert results == [answer(k) for k in range(300)]


def test_observations_and_text_arrive_between_the_answers() -> None:
    line = undamaged()
    text: list[bytes] = []
    link = HostLink(line, clock=line.clock, on_text=text.append)
    link.connect()
    link.ask(request(1))
    for label in (3, -1):
        line.device.observe(6, label)
    line._to_host += b"x:12 y:-3 pred:1\r\n"
    link.poll(0.1)
    link.ask(request(2))
    assert [(seen.number, seen.label) for seen in link.observed] == [(1, 3), (2, None)]
    assert {seen.prediction.label for seen in link.observed} == {6}
    assert text == [b"x:12 y:-3 pred:1\r\n"]


def test_few_unread_observations_are_kept() -> None:
    line = undamaged()
    link = connected(line)
    for _ in range(300):
        line.device.observe(1, 1)
    link.poll(1.0)
    assert [seen.number for seen in link.observed] == list(range(45, 301))


class Answering:
    """A line whose other end always sends the same."""

    def __init__(self, says: Callable[[bytes], bytes]) -> None:
        self.now = 0.0
        self._says = says
        self._answer = b""

    def read(self, seconds: float) -> bytes:
        data, self._answer = self._answer, b""
        self.now += 0.001 if data else seconds
        return data

    def write(self, data: bytes) -> None:
        self._answer = self._says(data)

    def reopen(self, seconds: float) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    def close(self) -> None:
        pass


def test_a_device_of_another_version_is_named() -> None:
    line = Answering(lambda _: pack(Frame(143, 0, 0, b"\1what", version=3)))
    with pytest.raises(LinkError, match=r"version 3 .*version 1"):
        HostLink(line, clock=lambda: line.now).connect()


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "says",
    [b"", b">>> ", b"\0\0\0", os.urandom(200), b"y" * LONGEST],
    ids=["silence", "prompt", "zeros", "noise", "letters"],
)
def test_a_missing_answer_is_reported(says: bytes) -> None:
    line = Answering(lambda _: says)
    with pytest.raises(LostError, match=r"program running|no program starts"):
        HostLink(line, clock=lambda: line.now).connect()
    assert 10 < line.now < 12


@pytest.mark.usefixtures("impatient")
def test_an_echo_is_not_taken_for_an_answer() -> None:
    line = Answering(lambda data: data)
    with pytest.raises(LostError):
        HostLink(line, clock=lambda: line.now).connect()


@pytest.mark.usefixtures("impatient")
def test_a_device_that_falls_silent_times_out() -> None:
    line = undamaged()
    link = connected(line)
    link.ask(request(0))
    line.device.feed = lambda *_: None
    began = line.now
    with pytest.raises(LostError, match="for 10 seconds"):
        link.ask(request(1))
    assert 10 < line.now - began < 12


@pytest.mark.usefixtures("impatient")
def test_a_line_that_does_not_come_back_times_out() -> None:
    def gone(_: bytes) -> bytes:
        raise OSError("pulled")

    line = Answering(gone)
    with pytest.raises(LostError, match="is gone: No such file"):
        HostLink(line, clock=lambda: line.now).connect()


@pytest.mark.parametrize("payload", [b"", b"\1", bytes(5), bytes(57)])
@pytest.mark.parametrize("kind", [0, 5, WELCOME, 130, 131, 132, 133, 134, 142, 143, 144, 255])
def test_strange_answers_do_no_harm(kind: int, payload: bytes) -> None:
    line = undamaged()
    link = connected(line)
    link.ask(request(0))
    if kind == 143 and payload:
        return  # an error message
    for sequence in (0, 2, 9, 65535):
        line._to_host += pack(Frame(kind, link._session, sequence, payload))
    line._to_host += pack(Frame(131, link._session ^ 1, 2, bytes(4)))
    link.poll(0.01)
    assert link.ask(request(1)) == answer(1)


@pytest.mark.usefixtures("impatient")
def test_a_line_that_is_always_lost_times_out() -> None:
    line = undamaged()
    line.reopen = lambda _: None  # type: ignore[method-assign]
    line.pull()
    with pytest.raises(LostError, match="the cable was pulled"):
        HostLink(line, clock=line.clock).connect()


# A real MicroPython behind a real pty

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(micropython_command: tuple[str, ...]) -> Iterator[Start]:
    """A function that starts the device's program with these ends as its input and output."""
    program = [str(Path(device_end.__file__)), str(library_files.folder().parent)]
    running = []

    def start(stdin: int, stdout: int) -> subprocess.Popen[bytes]:
        command = [*micropython_command, "-X", "heapsize=64k", *program]
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def port(start: Start) -> Iterator[str]:
    """The name of the pty with the device at its other end."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    process = start(master, master)
    yield os.ttyname(slave)
    assert process.poll() is None, process.stderr and process.stderr.read()
    os.close(master)
    os.close(slave)


def stream_all(link: HostLink) -> None:
    """Send FRAMES requests; the device must report that it got each one once and in order."""
    welcome = link.connect()
    assert (welcome.configuration_hash, welcome.features) == (device_end.HASH, 5)
    answers = [pending.answer for pending in link.stream(request(k) for k in range(FRAMES))]
    assert answers == [answer(k) for k in range(FRAMES)]
    status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    assert (status.samples, status.right) == (FRAMES, FRAMES)


def test_a_real_device_over_a_real_line(port: str) -> None:
    with HostLink(SerialLine(port), timeout=PATIENCE) as link:
        stream_all(link)
        assert link.resent == 0


def test_a_real_device_over_a_damaged_line(port: str) -> None:
    with HostLink(Damaged(SerialLine(port), 9), timeout=0.03) as link:
        stream_all(link)
        assert link.resent > 0


def test_a_restarted_program_continues(port: str) -> None:
    for k in range(4):
        with HostLink(SerialLine(port)) as link:
            link.connect()
            assert link.ask(STATUS) == DeviceStatus(3 * k, 3 * k, *[0] * 16)
            assert [link.ask(request(3 * k + i)) for i in range(3)] == [
                answer(3 * k + i) for i in range(3)
            ]


def test_a_cable_is_pulled_and_plugged_in_again(start: Start, tmp_path: Path) -> None:
    process = start(subprocess.PIPE, subprocess.PIPE)
    with (
        Cable(tmp_path / "port", process) as cable,
        HostLink(SerialLine(str(tmp_path / "port")), timeout=0.2) as link,
    ):
        link.connect()
        results = []
        for pending in link.stream(request(k) for k in range(600)):
            results.append(pending.answer)
            if len(results) % 150 == 0:
                cable.pull()
        assert results == [answer(k) for k in range(600)]
        assert link.ask(STATUS) == DeviceStatus(600, 600, *[0] * 16)


def test_ports_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(PortError, match=r"none .*no such port"):
        SerialLine(str(tmp_path / "none"))
    (tmp_path / "file").write_text("")
    with pytest.raises(PortError, match="file cannot be opened"):
        SerialLine(str(tmp_path / "file"))
    master, slave = pty.openpty()
    with (
        HostLink(SerialLine(os.ttyname(slave))),
        pytest.raises(PortError, match="another program uses it"),
    ):
        SerialLine(os.ttyname(slave))
    os.close(master)
    os.close(slave)
