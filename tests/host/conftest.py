"""Files for the tests of the host."""

import gzip

import pytest


@pytest.fixture
def put(tmp_path):
    """Writes a text, or bytes, to a file and gives its path."""

    def put(text, name="t.csv"):
        path = tmp_path / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return put
