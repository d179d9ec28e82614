"""The link over TCP: the program on a real 32-bit MicroPython, with its sockets on loopback."""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from device_support import (
    configuration,
    connected,
    frozen_quantizer,
    learn,
    nothing_allocated,
    run_device,
)
from mqtt_support import SENSOR, Relay, fast, settings, stream
from patience import PATIENCE, wait_until
from recorded_board import observe
from script_support import output_in_time
from tcp_support import (
    KEY,
    PROOF,
    THICKET,
    Crowd,
    NetworkBoard,
    number,
    proof,
    rest,
    unheard,
    until_it_ends,
)

from microshrub_host import Stream, open_stream
from microshrub_tools.board.simulated_device import find_twin
from microshrub_tools.cli.main import main
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.link_errors import RestartedError
from microshrub_tools.link.messages import FINGERPRINT, STATUS, DeviceStatus, configure
from microshrub_tools.link.serial_line import PortError
from microshrub_tools.link.tcp_line import CODE, NONCE, SignedRecords, TcpLine, signed
from microshrub_tools.watch.streaming import DeviceRun

SOURCE, SAMPLES = "synth:sea_a", 500
HOME = settings(0) | {"mqtt": None}


@pytest.fixture
def board(micropython_command: tuple[str, ...], tmp_path: Path) -> Iterator[NetworkBoard]:
    made = NetworkBoard(micropython_command, tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def data() -> Stream:
    return open_stream(SOURCE, limit=2 * SAMPLES)


def at_home(board: NetworkBoard, **fields: object) -> None:
    """Start a board that reads a sensor of its own."""
    files = {
        "own_level.py": SENSOR.encode(), "level": b"100",
        "quantizer.state": frozen_quantizer(stream()),
    }  # fmt: skip
    board.start(files=files, **HOME | fields)


def samples_of(link: HostLink) -> int:
    status = link.ask(STATUS)
    assert isinstance(status, DeviceStatus)
    return status.samples


def test_the_tcp_link_works_like_the_serial_one_and_leaves_no_garbage(
    board: NetworkBoard, data: Stream
) -> None:
    device = board.start()
    with board.connected() as link:
        first = learn(link, data, 0, SAMPLES)
        # The board accepts others again 100 ms after this client. Its poll.modify() looks up
        # the id() of the listener: on a PC a large integer, of 32 bytes, on no board.
        time.sleep(0.2)
        with nothing_allocated(link):
            learn(link, data, SAMPLES, 2 * SAMPLES)
        over_tcp = link.ask(FINGERPRINT)
        with connected(device) as cable:  # in parallel with the TCP link
            assert cable.ask(FINGERPRINT) == over_tcp
            assert samples_of(cable) == samples_of(link) == 2 * SAMPLES - 256
    device.kill()
    device.start()
    with connected(device) as cable:
        assert learn(cable, data, 0, SAMPLES) == first
        learn(cable, data, SAMPLES, 2 * SAMPLES)
        assert cable.ask(FINGERPRINT) == over_tcp


@pytest.mark.parametrize("step", [37, pytest.param(2, marks=pytest.mark.long)])
def test_a_line_that_is_cut_at_any_byte_loses_nothing(
    step: int, board: NetworkBoard, data: Stream, tmp_path: Path
) -> None:
    """Each sample is learned once and in order, wherever in a message the connection ends."""
    names = {"feature_names": data.feature_names, "class_names": data.class_names}
    with unheard(board.start(**names)), Relay(board.tcp) as relay:
        for n in range(1, 150, step):
            relay.cuts.extend([(n, None), (600 + 7 * n, None), (None, n), (None, 500 + 5 * n)])
        with board.connected(relay.port, timeout=0.2) as link:
            twin = find_twin(link.connect().configuration_hash, tmp_path)
            rows = twin.raw_rows(data)
            twin.prepare(rows)
            again = False
            while relay.cuts or not again:
                run = DeviceRun(link, twin, rows, data.labels)
                run.run(reset=again)  # compares each prediction, and the state at the end
                assert run.figures.restarts == 0
                again = True


def test_a_client_without_the_key_gets_a_random_number_and_nothing_else(
    board: NetworkBoard,
) -> None:
    at_home(board)
    with board.connected() as link:
        observe(link, 5)
        with pytest.raises(PortError, match="another board's key"):
            TcpLine(f"127.0.0.1:{board.tcp}", bytes(32))
        seen = set()
        for greeting in (
            bytes(PROOF),
            os.urandom(PROOF),
            b"GET / HTTP/1.1\r\nHost: board\r\n\r\n" * 3,
        ):
            with board.stranger() as line:
                line.sendall(greeting)
                seen.add(number(line))
                assert rest(line) == b""
        assert len(seen) == 3
        observe(link, 5)  # the client with the key is still served
        assert samples_of(link) == 0


def test_a_recorded_proof_is_useless(board: NetworkBoard) -> None:
    """A proof signs the board's number, which differs on each connection and after a reset."""
    board.start()
    earlier, seen = b"", []
    for k in range(2):
        with board.stranger() as line:
            theirs = number(line)
            seen.append(theirs)
            earlier = earlier or proof(KEY, theirs, os.urandom(NONCE))
            up = SignedRecords(signed(KEY, b"u", earlier[:NONCE] + seen[0]))
            line.sendall(earlier + up.seal(b""))
            if k == 0:
                answer = line.recv(CODE + 2 + CODE, socket.MSG_WAITALL)
                assert answer[:CODE] == signed(KEY, b"b", earlier[:NONCE] + theirs)[:CODE]
            else:
                assert rest(line) == b""
    device = board.device
    assert device
    device.kill()
    device.start()
    with board.stranger() as line:
        seen.append(number(line))
    assert len(set(seen)) == 3


@pytest.mark.parametrize("what", [b"", b"x" * (PROOF - 2)], ids=["silent", "31 bytes"])
def test_three_clients_without_the_key_do_not_lock_out_the_owner(
    what: bytes, board: NetworkBoard
) -> None:
    board.start()
    board.line().close()
    with Crowd(board.tcp, what):
        TcpLine(f"127.0.0.1:{board.tcp}", KEY).close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda one, two: one[:5] + bytes([one[5] ^ 1]) + one[6:],  # altered
        lambda one, two: two,  # one is missing
        lambda one, two: two + one,  # moved
        lambda one, two: one + one,  # repeated
        lambda one, two: struct.pack("<H", 257) + bytes(300),  # too long
        lambda one, two: one[:-1] + bytes([one[-1] ^ 128]),
    ],
)  # fmt: skip
def test_a_wrong_record_ends_the_line(spoil: object, board: NetworkBoard) -> None:
    assert callable(spoil)
    board.start()
    line = board.line()
    one, two = line._up.seal(b"\0"), line._up.seal(b"\0\0")
    line._socket.sendall(spoil(one, two))
    assert until_it_ends(line)
    line.close()
    with board.connected() as link:
        assert samples_of(link) == 0


def test_a_new_host_replaces_one_that_is_cut_off(board: NetworkBoard, data: Stream) -> None:
    board.start()
    old_line = board.line()
    with HostLink(old_line) as old:
        old.connect()
        learn(old, data, 0, 300)
        with board.connected() as new:
            assert samples_of(new) == 44
            assert until_it_ends(old_line)


def test_half_open_connections_are_closed_in_time(board: NetworkBoard) -> None:
    """The board's clock runs ten times as fast."""
    board.start(fast(10))
    board.line().close()  # wait until it listens
    with board.stranger() as line:
        assert len(rest(line)) == NONCE  # three seconds without a proof
    with board.stranger() as line:
        line.sendall(proof(KEY, number(line), bytes(NONCE))[:-1])
        assert rest(line) == b""  # and with half of one
    line = board.line()
    assert rest(line._socket) == b""  # fifteen without a record


def test_another_configuration_comes_over_tcp(board: NetworkBoard, tmp_path: Path) -> None:
    board.start()
    other = configuration(*THICKET, pending=7, tcp={"port": board.tcp})
    with board.connected() as link:
        for piece in configure(json.dumps(other).encode(), link.connect().longest_payload - 1):
            link.ask(piece)
        with pytest.raises(RestartedError):  # the connection ends, and opens again
            link.poll(PATIENCE)
        link.connect()
        assert samples_of(link) == 0
        # The board renames the file after its answer to the hello
        wait_until(lambda: json.loads((tmp_path / "config.json").read_text()) == other)


def test_the_commands_accept_a_board_in_the_network(
    board: NetworkBoard, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at_home(board)
    board.line().close()
    key = tmp_path / "home.key"
    key.write_text(KEY.hex() + "\n")
    there = ["--port", f"tcp://localhost:{board.tcp}", "--key", str(key)]
    file = tmp_path / "out.csv"

    def recorded(seconds: float) -> str:
        assert main(["record", *there, "-o", str(file), "--seconds", str(seconds)]) == 1
        return capsys.readouterr().err

    skipped = "without a label skipped"
    assert skipped in output_in_time(recorded, skipped)
    assert main(["monitor", *there, "--seconds", "0.5"]) == 0
    assert "accuracy" in capsys.readouterr().out
    key.write_text(bytes(32).hex())
    assert main(["monitor", *there, "--seconds", "1"]) == 2
    err = capsys.readouterr().err
    assert "another board's key" in err
    assert bytes(32).hex() not in err
    assert main(["monitor", "--port", "tcp://", "--key", str(key)]) == 2
    assert "tcp://HOST" in capsys.readouterr().err


def test_a_lost_connection_costs_no_reading(board: NetworkBoard) -> None:
    """A host connects, reads nothing, and is cut off: the readings on the cable have no gap."""
    at_home(board)
    device = board.device
    assert device
    with connected(device) as cable:
        for _ in range(2):
            line = board.line()
            HostLink(line).connect()  # from now on it is sent each sample
            seen = observe(cable, 20)
            numbers = [each.number for each in seen]
            assert numbers == list(range(numbers[0], numbers[0] + 20))
            line.close()


def test_without_its_key_the_program_reports_it(
    board: NetworkBoard, tmp_path: Path, micropython_command: tuple[str, ...]
) -> None:
    board.start()
    for secrets, words in (("{}", "has no key"), ('{"key": "12"}', "damaged"), ("[", "damaged")):
        (tmp_path / "secrets.json").write_text(secrets)
        output = run_device(micropython_command, tmp_path, heap="256k")
        assert words in output
        assert "Traceback" not in output
