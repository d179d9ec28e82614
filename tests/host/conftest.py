"""Files for the tests of the host."""

import contextlib
import gzip

import pytest
from script_support import running


@pytest.fixture
def put(tmp_path):
    """Writes a text, or bytes, to a file and gives its path."""

    def put(text, name="t.csv"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return put


@pytest.fixture
def device(micropython_command, tmp_path):
    """Starts a program on a real MicroPython behind a pty and gives its port."""
    with contextlib.ExitStack() as stack:
        yield lambda script: stack.enter_context(running(micropython_command, script, tmp_path))
