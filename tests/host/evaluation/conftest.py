"""Fixtures for tests of several kinds of run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from microshrub_tools.cli.main import main


@pytest.fixture
def output_of(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A function that runs a command and returns its standard output."""

    def output_of(*arguments: str) -> str:
        assert main([*arguments]) == 0
        return capsys.readouterr().out

    return output_of
