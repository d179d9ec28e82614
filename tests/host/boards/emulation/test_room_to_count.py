"""The largest model of the page of costs, whose instructions are counted on the smallest board."""

from __future__ import annotations

import dataclasses

import pytest

from microshrub_host.boards import counted_models, emulated_boards, instruction_counts


@pytest.fixture(autouse=True)
def board() -> None:
    try:
        emulated_boards.find_or_build("cortex-m0")
    except emulated_boards.NoEmulator as reason:
        pytest.skip(str(reason))


@pytest.mark.long
def test_it_finds_room_and_learns_what_the_simulator_learns() -> None:
    what = shortened(counted_models.thickets()[-1])
    with instruction_counts.Counter("cortex-m0", [what]) as counter:
        cost = counter.count(0, what.learner, what.parameters)
    assert cost.crc == instruction_counts.learned_on_pc(what)
    assert len(cost.predict) == len(cost.learn) == 50


@pytest.mark.long
def test_what_is_learned_between_labels_finds_room() -> None:
    what = shortened(counted_models.for_rehearsals()[-1])
    with instruction_counts.Counter("cortex-m0", [what]) as counter:
        counts, _ = counter.count_rehearsal(0)
    assert len(counts) == 50
    assert counts.max() > 10_000


def shortened(whole: counted_models.CountedModel) -> counted_models.CountedModel:
    end = whole.warmup + 50
    return dataclasses.replace(whole, codes=whole.codes[:end], labels=whole.labels[:end])
