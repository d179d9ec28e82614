"""The power is cut in any step in which a board judges and learns what another one was taught."""

from __future__ import annotations

import io
import json
import random
from array import array
from typing import Any

import pytest
from parcel_pupil import group_config
from parcel_replay import parcel_of, replayed
from parcel_support import NAMES, rows_of

from microshrub_host.library import loader

OTHERS = 1  # the class of the parcel
LONGEST = 400  # steps that a parcel may take
ORIGIN = "attic"


class Pupil:
    """The application of a board on this PC, with what it was taught."""

    def __init__(self, library: Any, config: dict[str, Any]) -> None:
        device = library.device
        told = json.dumps(config | {"checkpoint": None}).encode()
        self.app = device.device_model.Application(device.config.Configuration(told))
        self.app.parcels.turn()

    def teach(self, rows: list[tuple[Any, int]]) -> None:
        for row, label in rows:
            self.app.values[:] = array("i", row.tolist())
            self.app.sample(label)

    def turns(self, data: bytes, most: int) -> int:
        """Take a parcel if there is something to do of it, and go on for so many steps at most;
        returns how many there were.
        """
        parcels = self.app.parcels
        key = int.from_bytes(data[-4:], "little") & 0x3FFFFFFF
        if parcels.is_new(key):
            parcels.take(key, data, 0, len(data), OTHERS, ORIGIN)
        done = 0
        while parcels.is_busy and done < most:
            self.app.seconds += 1
            parcels.turn()
            done += 1
        return done

    def saved(self) -> bytes:
        file = io.BytesIO()
        for part in self.app.parts:
            part.write(file)
        return file.getvalue()

    def restore(self, saved: bytes) -> None:
        file = io.BytesIO(saved)
        for part in self.app.parts:
            part.read(file)


@pytest.mark.parametrize("taught", [12, 40], ids=["in the first 16 samples", "later"])
def test_a_power_cut_in_any_step_changes_nothing(taught: int) -> None:
    library = loader.load(loader.fastest())
    packets = {"by": "udp", "port": 1, "to": ["127.0.0.1", 2]}
    config = group_config("kitchen", (), NAMES, packets=packets)
    rows = [(row, 0) for row in rows_of(0, taught, 7)]
    random.Random(1).shuffle(rows)
    data = parcel_of(OTHERS, ORIGIN, most=min(taught, 20))
    whole = replayed(config, rows, data)

    def pupil() -> Pupil:
        made = Pupil(library, config)
        made.teach(rows)
        return made

    before = pupil()
    count = before.turns(data, LONGEST)
    assert before.app.state_crc32() == whole
    assert 3 * min(taught, 20) < count < LONGEST
    for cut in range(count + 1):
        first, second = pupil(), Pupil(library, config)
        first.turns(data, cut)
        second.restore(first.saved())
        second.turns(data, LONGEST)
        assert second.app.state_crc32() == whole, cut
