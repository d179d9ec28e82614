"""Fixtures for tests of the search: a cluster whose worker starts at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster whose only worker is a thread of this process.

    All messages are bytes on a socket, as for workers that are processes.
    """
    distributed = pytest.importorskip("distributed", reason="comes with the extra tune")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        yield cluster.scheduler_address
