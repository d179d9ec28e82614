"""The largest model of the cost page fits the smallest board that counts its instructions."""

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
def test_the_largest_model_fits_and_learns_as_in_the_simulator() -> None:
    what = shortened(counted_models.thickets()[-1])
    with instruction_counts.Counter("cortex-m0", [what]) as counter:
        cost = counter.count(0, what.learner, what.parameters)
    assert cost.crc == instruction_counts.learned_on_pc(what)
    assert len(cost.predict) == len(cost.learn) == 50


@pytest.mark.long
def test_the_largest_rehearsal_fits() -> None:
    what = shortened(counted_models.for_rehearsals()[-1])
    with instruction_counts.Counter("cortex-m0", [what]) as counter:
        counts, _ = counter.count_rehearsal(0)
    assert len(counts) == 50
    assert counts.max() > 10_000


def shortened(whole: counted_models.CountedModel) -> counted_models.CountedModel:
    end = whole.warmup + 50
    return dataclasses.replace(whole, codes=whole.codes[:end], labels=whole.labels[:end])
