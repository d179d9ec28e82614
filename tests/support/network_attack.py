"""An attacker in a board's network: forged, replayed and reordered records, and random bytes.

    python tests/support/network_attack.py --frames 100000 --seed 1

A board, the real program on a 32-bit MicroPython, reads its sensor at the same time. It must keep
running, and nothing may reach its link. The attacker has recorded all messages of a host and the
board, and takes over a host's connection; he does not have the key. Prints the number of records
that passed.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from device_support import connected, frozen_quantizer
from mqtt_support import SENSOR, fast, settings, stream
from recorded_board import observe
from tcp_support import KEY, PROOF, Crowd, NetworkBoard, number, rest

from microshrub_host.base.micropython_binary import find_or_fetch
from microshrub_tools.link.client import HostLink
from microshrub_tools.link.messages import STATUS, DeviceStatus, sample
from microshrub_tools.link.tcp_line import CODE, FLASH, NONCE, TcpLine, signed

RECORDS = 20  # sent at once on a connection; the first wrong one ends it
EDGES = (0, 1, 2, 255, 256, 257, 4095, 32768, 65535)


class Heard(TcpLine):
    """A host's line that records all its messages: a proof, then records."""

    def _greet(self, seconds: float) -> None:
        self.records_put: list[bytes] = []
        super()._greet(seconds)

    def _put(self, data: bytes) -> None:
        self.records_put.append(data)
        super()._put(data)


def altered(records: list[bytes], draw: random.Random) -> Iterator[bytes]:
    """Yield altered, mixed and replayed records of hosts, and random bytes."""
    while True:
        one, two = draw.choice(records), draw.choice(records)
        change = draw.randrange(6)
        if change == 0:
            at = draw.randrange(len(one))
            yield one[:at] + bytes([one[at] ^ 1 << draw.randrange(8)]) + one[at + 1 :]
        elif change == 1:
            yield one[: draw.randrange(len(one))] + two
        elif change == 2:
            yield draw.choice(EDGES).to_bytes(2, "little") + draw.randbytes(draw.randrange(300))
        elif change == 3:
            yield one[:-CODE] + two[-CODE:]
        elif change == 4:
            yield draw.randbytes(draw.choice((1, 2, 18, 48, 300)))
        else:
            yield one


def no_proof(heard: Heard, theirs: bytes, draw: random.Random) -> bytes:
    """Return an invalid proof for a board that has drawn the number `theirs`."""
    message = heard.records_put[0]
    ours = message[:NONCE]
    wrong = signed(draw.randbytes(len(KEY)), FLASH, ours + theirs)[:CODE]
    return draw.choice(
        (
            message,  # a proof from another connection
            ours + FLASH + message[-CODE:],
            ours + FLASH + wrong,
            draw.randbytes(PROOF),
            draw.randbytes(draw.randrange(PROOF)),
            theirs + message[NONCE:],
        )
    )


def say(board: NetworkBoard, heard: Heard, draw: random.Random) -> None:
    """Connect as a stranger with recorded messages; one attack in four takes over a connection."""
    records = heard.records_put[1:]
    source = altered(records, draw)
    with contextlib.suppress(OSError):
        if draw.randrange(4):
            with board.stranger() as line:
                line.sendall(no_proof(heard, number(line), draw))
                line.sendall(b"".join(next(source) for _ in range(RECORDS)))
                rest(line)
            return
        taken = board.line()
        later = [taken._up.seal(b"\0") for _ in range(3)][1:]  # the first one would be valid
        source = altered([*records, *later], draw)
        taken._socket.sendall(b"".join(next(source) for _ in range(RECORDS)))
        rest(taken._socket)
        taken.close()


def main() -> int:
    """Run the attack; fail if a message had an effect or a sample was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        board = NetworkBoard(find_or_fetch().command, Path(name))
        files = {
            "own_level.py": SENSOR.encode(), "level": b"100",
            "quantizer.state": frozen_quantizer(stream()),
        }  # fmt: skip
        try:
            home = settings(0) | {"mqtt": None, "text": False}
            device = board.start(fast(40), files, **home)
            board.line().close()
            heard = Heard(f"127.0.0.1:{board.tcp}", KEY)
            with HostLink(heard) as link:
                link.connect()
                for k in range(20):
                    link.ask(sample([k, 100 - k], k % 2))
            lines = 0
            with connected(device) as cable:
                before = cable.ask(STATUS)
                while lines * RECORDS < arguments.frames:
                    say(board, heard, draw)
                    lines += 1
                    if lines % 50 == 0:
                        observe(cable, 1)  # the sensor still reads
                after = cable.ask(STATUS)
            assert isinstance(before, DeviceStatus)
            assert isinstance(after, DeviceStatus)
            assert after.samples == before.samples == 20, "something was learned"
            for what in (b"", draw.randbytes(PROOF - 2), heard.records_put[0]):
                with Crowd(board.tcp, what):
                    board.line().close()  # otherwise the owner of the key could not connect
        finally:
            board.close()
    print(f"{lines * RECORDS:,} passed on {lines:,} lines: nothing in, nothing lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
