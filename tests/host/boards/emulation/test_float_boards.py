"""An emulated Cortex-M4 and M7, with the floating-point units of such boards."""

from __future__ import annotations

import pytest

from microshrub_host.boards import counted_models, emulated_boards, instruction_counts
from microshrub_host.boards.emulator import EmulatedBoard

NAMES = [name for name in emulated_boards.BOARDS if name not in emulated_boards.COUNTED]
WARMUP = 40
PROGRAM = "import sys\nprint(sys.implementation._machine, sum([k / 4 for k in range(9)]))"


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    for each in (request.param, "cortex-m3"):
        try:
            emulated_boards.find_or_build(each)
        except emulated_boards.NoEmulator as reason:
            pytest.skip(str(reason))
    return str(request.param)


@pytest.mark.long
def test_boards_compute_with_floats(name: str) -> None:
    with EmulatedBoard(name) as board:
        assert board.exec(PROGRAM).lower().split()[-2:] == [name, "9.0"]


@pytest.mark.long
def test_models_match_the_simulator_at_the_cost_on_a_cortex_m3(name: str) -> None:
    """The boards run the machine code for their chips."""
    assert emulated_boards.BOARDS[name].arch == "armv7emsp"
    first = counted_models.configurations(100)[0]
    small = {"features": 14, "classes": 2, "bytes": 12000}
    thicket = counted_models.CountedModel(
        "Thicket", "Thicket", small, first.codes, first.labels, WARMUP
    )
    for what in (first, thicket):
        results = []
        for board in (name, "cortex-m3"):
            with instruction_counts.Counter(board, [what], warmup=WARMUP) as counter:
                results.append(counter.count(0))
        assert results[0].crc == results[1].crc == instruction_counts.learned_on_pc(what)
        for call in ("predict", "learn"):
            here, there = (getattr(cost, call).mean() for cost in results)
            assert here == pytest.approx(there, rel=0.05)
