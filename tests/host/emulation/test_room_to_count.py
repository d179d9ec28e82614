"""The largest model of the page of costs, whose instructions are counted on the smallest board."""

from __future__ import annotations

import dataclasses

import pytest

from microshrub_host.emulation import counted_models, emulated_boards, instruction_counts


@pytest.mark.long
def test_it_finds_room_and_learns_what_the_simulator_learns() -> None:
    try:
        emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))
    whole = counted_models.thickets()[-1]
    end = whole.warmup + 50
    what = dataclasses.replace(whole, codes=whole.codes[:end], labels=whole.labels[:end])
    with instruction_counts.Counter("cortex-m0", [what]) as counter:
        cost = counter.count(0, what.kind, what.parameters)
    assert cost.crc == instruction_counts.learned_on_pc(what)
    assert len(cost.predict) == len(cost.learn) == 50
