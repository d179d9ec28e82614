"""The link in TypeScript against the device's own end, over a line with heavy damage."""

from __future__ import annotations

import pytest
from page_link_fuzz import fuzz, missing

NEVER = 10**9  # bytes between two faults


@pytest.mark.parametrize(
    ("every", "frames", "mishap"), [(NEVER, 2000, NEVER), (NEVER, 1500, 150), (400, 2000, 500)]
)
def test_each_request_is_applied_once_and_in_order(every: int, frames: int, mishap: int) -> None:
    if reason := missing():
        pytest.skip(reason)
    report = fuzz(frames, 1, every, mishap)
    assert (report.applied, report.wrong) == (frames, 0)
    assert (report.faults > 100) == (every < NEVER)
    mishaps = report.pulled + report.resets
    assert (min(mishaps, report.sessions - 1) > 0) == (mishap < NEVER)


def test_many_faults_are_withstood() -> None:
    if reason := missing():
        pytest.skip(reason)
    report = fuzz(800, 2, 120, NEVER)
    assert (report.applied, report.wrong) == (800, 0)
