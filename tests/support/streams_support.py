"""Helpers for the tests of streams."""

import pytest

from microshrub_host.base.errors import DataError
from microshrub_host.streams.open_stream import open_stream


def complaint(source, **arguments):
    """Return the error message for a source that is refused: one line, for people."""
    with pytest.raises(DataError) as caught:
        open_stream(source, **arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    return message
